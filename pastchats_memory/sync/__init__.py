"""Exchange the memory between one person's machines through a folder that something else carries.

Each machine writes what the folder lacks into a new file of its own, and reads the files of the others that it has not
read. Nobody's file is changed by another, so two machines may do so at once, and files may arrive in any order.
"""

from __future__ import annotations

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
from pastchats_memory.sync.folder import Json, UnusableFile
from pastchats_memory.sync.receive import receive
from pastchats_memory.sync.report import FolderAccess, Machine, Refused, SyncReport
from pastchats_memory.sync.send import note_judgements, send
from pastchats_memory.text.encoding import utf8

__all__ = ["FolderAccess", "Machine", "Refused", "SyncReport", "read_status", "retire", "synchronise"]


def synchronise(
    database: Database,
    session: ModelSession,
    path: Path,
    access: FolderAccess,
    limits: SharingLimits,
    progress: Callable[[Progress], None] = lambda _: None,
) -> SyncReport:
    """Take what is new in the folder, then send what is new here and may leave. The next run does what is left.

    The session of the database's model embeds only texts that come without a vector of the same model. `progress` is called
    after each file that is read.

    Raises:
        InputMissing: there is no such folder.
        UsageFault: the key is wrong or missing, or another run over this memory has not ended.
        StoreFault, OSError: the database or the folder cannot be read or written; what was done stays.
    """
    known = _open(database, path, access)
    report = SyncReport(str(path))
    with _only_run(database):
        with database.transaction():
            sources.claim_model(database, session)
        receive(database, session, known, limits, report, progress)
        note_judgements(database, known.machine)
        send(database, session, known, limits, report)
    vectors.catch_up_in_steps(database)
    classify_replies(database, open_packaged(session))
    derive(database)
    scrub.finish_scrub(database, wait_ms=0)
    report.embedded = session.embedded
    report.machines = list(_list_machines(database, known))
    return report


def read_status(database: Database, path: Path, access: FolderAccess) -> SyncReport:
    """Return the machines of the folder, and what they have not done yet; change nothing in it.

    Raises InputMissing, UsageFault, StoreFault, OSError.
    """
    known = _open(database, path, access, may_begin=False)
    report = SyncReport(str(path))
    report.machines = list(_list_machines(database, known))
    return report


def retire(database: Database, path: Path, access: FolderAccess, machine: str) -> None:
    """Take over the files of a machine that is no longer used, so that the next run sends what they hold as this machine's.

    Its files are read first. Raises InputMissing, UsageFault, StoreFault, OSError.
    """
    known = _open(database, path, access, may_begin=False)
    found = files.list_numbered_files(path, machine) if machine in files.list_machines(path) else {}
    if machine == known.machine or not found:
        raise UsageFault(
            f"{machine} is no other machine of this folder", "`pastchats-memory sync --status` lists them."
        )
    read = {file.number for file in sync.files(database, known.id) if file.machine == machine}
    if unread := sorted(found.keys() - read):
        raise UsageFault(
            f"{len(unread)} files of {machine} were not read here yet", "Run `pastchats-memory sync` first."
        )
    with database.transaction():
        for number in found:
            sync.drop_file(database, known.id, SyncFile(machine, number, is_current=True))
            sync.store_file(database, known.id, SyncFile(machine, number, is_current=False), ())


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


def _open(database: Database, path: Path, access: FolderAccess, *, may_begin: bool = True) -> SyncFolder:
    """Return what is known of the folder, which is set up at its first use."""
    if not path.is_dir():
        raise InputMissing(
            f"{path} is no folder", "Create it first, or name a folder that is carried between your machines."
        )
    if utf8(str(path.absolute())) != str(path.absolute()):
        raise UsageFault(f"the name of {utf8(str(path))} is not UTF-8", "Give the folder another name.")
    marker = files.read_marker(path)
    if marker is None:
        if not may_begin:
            raise UsageFault(f"{path} was not used by `sync` yet", "Run `pastchats-memory sync` with it first.")
        marker = _begin(path, access)
    known = sync.load_folder(database, marker.id)
    host = access.host or utf8(socket.gethostname()).partition(".")[0]
    secret = known.secret if known else _find_secret(path, marker, access)  # a stranger may replace the whole marker
    if secret is not None and not marker.is_encrypted:
        raise UsageFault(
            f"{path} says that it is not encrypted, and it was before", "Somebody has changed it. Use a new folder."
        )
    machine = known.machine if known is not None and known.host == host else secrets.token_hex(8)
    folder = SyncFolder(marker.id, str(path.absolute()), machine, host, secret)
    if folder != known:
        with database.transaction():
            sync.store_folder(database, folder)
    return folder


def _begin(path: Path, access: FolderAccess) -> files.Marker:
    if not access.is_plain and access.key_file is None:
        if access.passphrase is None:
            raise UsageFault(
                "the folder needs a passphrase", "Use --key FILE, or --plain for a folder that nobody else can read."
            )
        if not (path / files.KEY_FILE).exists():
            files.write_new_key(path, _ask(access.passphrase))
    return files.write_marker(path, is_encrypted=not access.is_plain)


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
        return files.parse_key(access.key_file.read_text(encoding="utf-8", errors="replace"))
    if not (path / files.KEY_FILE).exists():
        raise UsageFault("the files are encrypted with a key of your own", "Name its file: --key FILE.")
    if access.passphrase is None:
        raise UsageFault(
            "the folder needs its passphrase", "Run it on a terminal, or set PASTCHATS_MEMORY_SYNC_PASSPHRASE."
        )
    return files.read_key(path, _ask(access.passphrase))


def _ask(passphrase: Callable[[], str]) -> str:
    given = passphrase()
    if utf8(given) != given:
        raise UsageFault("the passphrase is not UTF-8", "Check the encoding of your terminal.")
    return given


def _list_machines(database: Database, known: SyncFolder) -> Iterator[Machine]:
    root, here = Path(known.path), sync.forgettings(database).keys()
    stored = sync.files(database, known.id)
    for machine in files.list_machines(root):
        present = files.list_numbered_files(root, machine)
        read = {file.number for file in stored if file.machine == machine}
        newest: Json = {}
        for number in sorted(present, reverse=True):
            try:
                newest = files.read_segment(present[number], machine, number, known.secret).header
                break
            except UnusableFile:
                continue
        listed = set(newest.get("files", ()))
        yield Machine(
            id=machine,
            host=newest.get("host", ""),
            is_this=machine == known.machine,
            files=len(present),
            unread=len(present.keys() - read),
            missing=tuple(sorted(listed - present.keys() - read)),
            last_at=newest.get("at"),
            behind=len(here - set(newest.get("forgettings", ()))),
        )
