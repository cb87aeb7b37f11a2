"""Exchange the memory between one person's machines through a folder that something else carries.

Each machine writes what the folder lacks into a new file of its own, and reads the files of the others that it has not
read. Nobody's file is changed by another, so two machines may do so at once, and files may arrive in any order.
"""

import secrets
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from pastchats_memory.embed.session import ModelSession
from pastchats_memory.episodes.derive import derive
from pastchats_memory.episodes.replies import classify_replies, open_packaged
from pastchats_memory.errors import InputMissing, UsageFault
from pastchats_memory.files.exclusion import SharingLimits
from pastchats_memory.model import Progress
from pastchats_memory.store import scrub, sources, sync, vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.sync import SyncFile, SyncFolder
from pastchats_memory.sync import folder as files
from pastchats_memory.sync import keys
from pastchats_memory.sync.folder import Json, UnusableFile
from pastchats_memory.sync.receive import receive
from pastchats_memory.sync.report import FolderAccess, Machine, SyncReport
from pastchats_memory.sync.send import note_judgements, send
from pastchats_memory.sync.trust import Trust
from pastchats_memory.text.encoding import utf8

NO_KEY = bytes(32)
"""Stands for the key of a retired machine whose files cannot be read."""


def synchronise(
    database: Database,
    session: ModelSession,
    path: Path,
    access: FolderAccess | None,
    limits: SharingLimits,
    progress: Callable[[Progress], None] = lambda _: None,
) -> SyncReport:
    """Take what is new in the folder, then send what is new here and may leave. The next run does what is left.

    The session of the database's model embeds only texts that come without a vector of the same model. `progress` is called
    after each file that is read. Raises InputMissing, UsageFault if the key is wrong or missing or another run over this
    memory has not ended, StoreFault or OSError; what was done stays.
    """
    known = _open(database, path, access)
    report = SyncReport(str(path))
    with _only_run(database):
        with database.transaction():
            sources.claim_model(database, session)
        _refuse_retired(database, known)
        receive(database, session, known, limits, report, progress)
        _refuse_retired(database, known)
        known = known._replace(reads_again=False)
        with database.transaction():
            sync.store_folder(database, known)
        note_judgements(database, known.machine)
        send(database, session, known, limits, report)
    vectors.catch_up_in_steps(database)
    classify_replies(database, open_packaged(session))
    derive(database)
    scrub.finish_scrub(database, wait_ms=0)
    report.embedded = session.embedded
    report.machines = list(_list_machines(database, known))
    return report


def _refuse_retired(database: Database, known: SyncFolder) -> None:
    if Trust(database, known).machines[known.machine].is_retired:
        raise UsageFault("this machine was retired from the folder", "`sync --rejoin` makes it a new machine there.")


def read_status(database: Database, path: Path, access: FolderAccess | None) -> SyncReport:
    """Return the machines of the folder, and what they have not done yet; change nothing in it.

    Raises InputMissing, UsageFault, StoreFault, OSError.
    """
    known = _open(database, path, access, may_begin=False)
    report = SyncReport(str(path))
    report.machines = list(_list_machines(database, known))
    return report


def retire(database: Database, path: Path, access: FolderAccess | None, machine: str) -> None:
    """Refuse further files of a machine, and take over those that were read here.

    The next run sends what they hold as this machine's. Raises InputMissing, UsageFault, StoreFault, OSError.
    """
    known = _open(database, path, access, may_begin=False)
    trust = Trust(database, known)
    if machine == known.machine or machine not in {*files.list_machines(path), *trust.machines}:
        raise UsageFault(
            f"{machine} is no other machine of this folder", "`pastchats-memory sync --status` lists them."
        )
    found = files.list_numbered_files(path, machine)
    read = {file.number for file in sync.files(database, known.id) if file.machine == machine}
    for number in found.keys() - read:
        with suppress(UnusableFile):
            files.read_segment(found[number], machine, number, known, trust.admit)
            raise UsageFault(f"files of {machine} were not read here yet", "Run `pastchats-memory sync` first.")
    with database.transaction():
        key = _find_key(known, trust, machine) or NO_KEY
        _decide(database, known, trust, machine, key, is_retired=True)
        for number in found.keys() & read:
            sync.store_file(database, known.id, SyncFile(machine, number, is_current=False), ())


def trust_machine(database: Database, path: Path, access: FolderAccess | None, code: str) -> None:
    """Take the files of the machine whose code a person has compared. Raises InputMissing, UsageFault, StoreFault, OSError."""
    known = _open(database, path, access, may_begin=False)
    trust = Trust(database, known)
    for machine in files.list_machines(path):
        key = _find_key(known, trust, machine)
        if key is not None and keys.describe_code(key) == code.strip().lower():
            if machine not in trust.machines:
                _decide(database, known, trust, machine, key)
            return
    raise UsageFault("no machine of this folder has this code", "`pastchats-memory sync --status` shows the codes.")


def _decide(
    database: Database, known: SyncFolder, trust: Trust, machine: str, key: bytes, *, is_retired: bool = False
) -> None:
    """Store what a person decided about a machine; the next run tells the others."""
    trust.remember(machine, key, is_retired=is_retired)
    sync.store_folder(database, known._replace(is_announced=False))


def _find_key(known: SyncFolder, trust: Trust, machine: str) -> bytes | None:
    """Return the key of a machine; for an unknown one, that of its newest readable file, whoever wrote it."""
    if machine in trust.machines:
        return trust.machines[machine].key
    for _, file in sorted(files.list_numbered_files(Path(known.path), machine).items(), reverse=True):
        with suppress(UnusableFile):
            return files.read_signature(file, known)[0].key
    return None


def replace_secret(database: Database, path: Path, access: FolderAccess) -> None:
    """Give the folder a new key, with a new passphrase or from a file; the next run writes this machine's files again.

    The others ask for it at their next run, and do the same. Raises InputMissing, UsageFault, StoreFault, OSError.
    """
    known = _open(database, path, FolderAccess(host=access.host), may_begin=False)
    if known.secret is None:
        raise UsageFault("the files are not encrypted", "A new folder can be encrypted.")
    generation = known.generation + 1
    if access.key_file is not None:
        secret = _read_key_file(access.key_file)
    elif access.passphrase is not None:
        secret = files.write_new_key(files.name_key(path, generation), _ask(access.passphrase))
    else:
        raise UsageFault("there is neither a passphrase nor a key", "Run it on a terminal, or use --key FILE.")
    files.write_marker(path, files.Marker(known.id, is_encrypted=True, generation=generation))
    _take_secret(database, known, secret, generation)
    files.name_key(path, known.generation).unlink(missing_ok=True)


@contextmanager
def _only_run(database: Database) -> Iterator[None]:
    """Keep other runs over this memory out: two would give two files one number. The system frees a killed process's lock."""
    path = database.path.with_name(f"{database.path.name}.sync-lock")
    with suppress(NotImplementedError):  # a file system without locks
        lock = FileLock(path, timeout=0, mode=0o600, fallback_to_soft=False)
        try:
            lock.acquire()
        except Timeout as fault:
            raise UsageFault("another `sync` of this memory is running", "Wait until it has ended.") from fault
    try:
        yield
    finally:
        lock.release()


def _open(database: Database, path: Path, access: FolderAccess | None, *, may_begin: bool = True) -> SyncFolder:
    """Return what is known of the folder, which is set up at its first use."""
    access = access or FolderAccess()
    marker = check_folder(path, access, may_begin=may_begin) or _begin(path, access)
    known = sync.load_folder(database, marker.id)
    host = access.host or utf8(socket.gethostname()).partition(".")[0]
    place = _describe_place(database, marker.id, host)
    if known is None:
        return _join(database, path, marker, (host, place), _find_secret(path, marker, access))
    _check_marker(path, marker, known)
    if known.path != str(path.absolute()):
        known = known._replace(path=str(path.absolute()))
        with database.transaction():
            sync.store_folder(database, known)
    if marker.generation > known.generation and (secret := _find_secret(path, marker, access)) is not None:
        known = _take_secret(database, known, secret, marker.generation)
    if access.joins_again and Trust(database, known).machines[known.machine].is_retired:
        return _join(database, path, marker, (host, place), known.secret)
    return _leave_copy(database, path, marker, known, (host, place))


def _check_marker(path: Path, marker: files.Marker, known: SyncFolder) -> None:
    """Raise UsageFault if a folder says what it cannot have become: a stranger may replace the whole marker."""
    if known.secret is not None and not marker.is_encrypted:
        raise UsageFault(
            f"{path} says that it is not encrypted, and it was before", "Somebody has changed it. Use a new folder."
        )
    if marker.generation < known.generation:
        raise UsageFault(f"{path} names a key that was replaced", "Somebody has put old files back. Use a new folder.")


def _leave_copy(
    database: Database, path: Path, marker: files.Marker, known: SyncFolder, name: tuple[str, str]
) -> SyncFolder:
    """Return this machine, which becomes a new one if it has its id from a copy; a file that was changed is sent again."""
    is_copy, lost = _check_own_files(database, known)
    if is_copy or known.place != name[1]:
        known = _join(database, path, marker, name, known.secret, copied=known)
    with database.transaction():
        for file in lost:
            if is_copy:
                sync.drop_file(database, known.id, file)  # another machine's by now, and not read yet
            else:
                sync.store_file(database, known.id, file._replace(is_current=False), ())
    return known


def _describe_place(database: Database, folder: str, host: str) -> str:
    """Return a digest of what a copy of this memory, on this computer or another, has in a different way."""
    computer = ""
    with suppress(OSError):
        computer = Path("/etc/machine-id").read_text(encoding="ascii", errors="replace").strip()
    return sync.digest_of([folder, host, computer, utf8(str(database.path.resolve()))]).hex()


def _join(
    database: Database, path: Path, marker: files.Marker, name: tuple[str, str], secret: str | None,
    *, copied: SyncFolder | None = None,
) -> SyncFolder:  # fmt: skip
    """Become a new machine of the folder. The machine that this memory is a `copied` one of says that it may."""
    machine, key = secrets.token_hex(8), keys.make_key()
    message = keys.name_machine(marker.id, machine, keys.find_public(key))
    if secret is not None:
        proof = keys.make_mac(secret, message)
    else:
        proof = b"" if copied is None else keys.sign(copied.signing_key, message)
    known = SyncFolder(marker.id, str(path.absolute()), machine, *name, secret, marker.generation, key, proof)
    with database.transaction():
        sync.store_folder(database, known)
        Trust(database, known).remember(machine, keys.find_public(key))
    return known


def _take_secret(database: Database, known: SyncFolder, secret: str, generation: int) -> SyncFolder:
    """Use a new secret of the folder, and let the next run write this machine's files again."""
    message = keys.name_machine(known.id, known.machine, keys.find_public(known.signing_key))
    known = known._replace(secret=secret, generation=generation, proof=keys.make_mac(secret, message))
    with database.transaction():
        sync.store_folder(database, known)
        for file in sync.files(database, known.id):
            if file.machine == known.machine:
                sync.store_file(database, known.id, file._replace(is_current=False), ())
    return known


def _check_own_files(database: Database, known: SyncFolder) -> tuple[bool, list[SyncFile]]:
    """Return whether a copy of this memory writes under its name, and the files that are not as they were written here."""
    written = {file.number: file for file in sync.files(database, known.id) if file.machine == known.machine}
    public, is_copy, lost = keys.find_public(known.signing_key), False, []
    for number, path in files.list_numbered_files(Path(known.path), known.machine).items():
        fingerprint = files.read_fingerprint(path)
        ours = written.get(number)
        if known.pending == f"{number} {fingerprint}" or (ours and fingerprint == ours.fingerprint):
            continue
        if ours is not None and not ours.is_current:
            continue  # it was replaced, has come back, and is deleted again
        with suppress(UnusableFile):
            shown, content = files.read_signature(path, known)
            message = keys.name_file(known.id, known.machine, content)
            is_copy |= shown.key == public and keys.is_signed(public, shown.signature, message)
        if ours is not None:
            lost.append(ours)
    return is_copy, lost


def check_folder(path: Path, access: FolderAccess, *, may_begin: bool) -> files.Marker | None:
    """Return what a folder says of itself, after the checks that need no memory. Raises InputMissing, UsageFault, OSError."""
    if not path.is_dir():
        raise InputMissing(
            f"{path} is no folder", "Create it first, or name a folder that is carried between your machines."
        )
    if utf8(str(path.absolute())) != str(path.absolute()):
        raise UsageFault(f"the name of {utf8(str(path))} is not UTF-8", "Give the folder another name.")
    marker = files.read_marker(path)
    if marker is None and not may_begin:
        raise UsageFault(f"{path} was not used by `sync` yet", "Run `pastchats-memory sync` with it first.")
    if access.key_file is not None:
        _read_key_file(access.key_file)
    elif marker is None and not access.is_plain and access.passphrase is None:
        raise UsageFault(
            "the folder needs a passphrase", "Use --key FILE, or --plain for a folder that nobody else can read."
        )
    return marker


def _begin(path: Path, access: FolderAccess) -> files.Marker:
    key = files.name_key(path, 1)
    if not access.is_plain and access.key_file is None and access.passphrase is not None and not key.exists():
        files.write_new_key(key, _ask(access.passphrase))
    marker = files.Marker(secrets.token_hex(16), is_encrypted=not access.is_plain)
    files.write_marker(path, marker)
    return marker


def _find_secret(path: Path, marker: files.Marker, access: FolderAccess) -> str | None:
    if not marker.is_encrypted:
        if not access.is_plain:
            raise UsageFault(
                "the folder says that its files are not encrypted",
                "Use --plain if nobody else can read and write them.",
            )
        return None
    if access.is_plain:
        raise UsageFault(f"the files in {path} are encrypted", "Leave --plain out.")
    if access.key_file is not None:
        return _read_key_file(access.key_file)
    key = files.name_key(path, marker.generation)
    if not key.exists():
        raise UsageFault("the files are encrypted with a key of your own", "Name its file: --key FILE.")
    if access.passphrase is None:
        raise UsageFault(
            "the folder needs its passphrase", "Run it on a terminal, or set PASTCHATS_MEMORY_SYNC_PASSPHRASE."
        )
    return files.read_key(key, _ask(access.passphrase))


def _read_key_file(path: Path) -> str:
    return files.parse_key(path.read_text(encoding="utf-8", errors="replace"))


def _ask(passphrase: Callable[[], str]) -> str:
    given = passphrase()
    if utf8(given) != given:
        raise UsageFault("the passphrase is not UTF-8", "Check the encoding of your terminal.")
    return given


def _list_machines(database: Database, known: SyncFolder) -> Iterator[Machine]:
    root, here = Path(known.path), sync.forgettings(database).keys()
    stored, trust = sync.files(database, known.id), Trust(database, known)
    for machine in files.list_machines(root):
        present = files.list_numbered_files(root, machine)
        read = {file.number for file in stored if file.machine == machine}
        newest: Json = {}
        for number in sorted(present, reverse=True):
            try:
                newest = files.read_segment(present[number], machine, number, known, trust.admit).header
                break
            except UnusableFile:
                continue
        listed = set(newest.get("files", ()))
        found = trust.machines.get(machine)
        key = _find_key(known, trust, machine)
        yield Machine(
            id=machine,
            host=newest.get("host", ""),
            is_this=machine == known.machine,
            is_known=found is not None,
            is_retired=found is not None and found.is_retired,
            code=keys.describe_code(key) if key else "",
            files=len(present),
            unread=len(present.keys() - read),
            missing=tuple(sorted(listed - present.keys() - read)),
            last_at=newest.get("at"),
            behind=len(here - set(newest.get("forgettings", ()))),
        )
