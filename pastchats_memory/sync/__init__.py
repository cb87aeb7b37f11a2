"""Exchange the memory between one person's machines through a folder that something else carries.

Each machine writes what the folder lacks into a new file of its own, and reads the files of the others that it has not
read. Nothing is locked and nobody's file is changed, so two machines may do so at once, and files may arrive in any order.
"""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from pastchats_memory.embed.session import ModelSession
from pastchats_memory.episodes.derive import derive
from pastchats_memory.errors import InputMissing, UsageFault
from pastchats_memory.redact.rules_version import rules_version
from pastchats_memory.store import redactions, scrub, sources, sync, vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.sync import SyncFile, SyncFolder, SyncRecord
from pastchats_memory.sync import folder as files
from pastchats_memory.sync import merge
from pastchats_memory.sync.folder import Json, Segment, UnusableFile

MAX_RECORDS = 2000
"""Of a file."""
MAX_CHARS = 1 << 24
"""Characters of the texts in a file, about."""
BATCH = 200
"""Turns that are read at once."""


class Access(NamedTuple):
    """How this machine opens a folder."""

    passphrase: Callable[[], str] | None = None
    """Asks for the passphrase, if the folder's key is needed and not known here yet."""
    key_file: Path | None = None
    """Of an age identity, instead of a passphrase."""
    is_plain: bool = False
    """Whether a new folder's files are not encrypted."""
    host: str = ""
    """Name of this computer for the others; empty for the system's."""


class Limits(NamedTuple):
    """What never leaves this machine."""

    private: frozenset[str]
    """Projects."""
    excludes: Callable[[str], bool]
    """Says of a project or path whether it is excluded."""


class Progress(NamedTuple):
    """Progress in files that are read."""

    done: int
    total: int


class Refused(NamedTuple):
    """A file that could not be taken, and why; the next run tries again."""

    path: str
    reason: str


class Machine(NamedTuple):
    """A machine that uses the folder."""

    id: str
    host: str
    """Name of the computer, as it wrote it; empty if none of its files could be read."""
    is_this: bool
    files: int
    unread: int
    """Files that were not read here yet."""
    missing: tuple[int, ...]
    """Numbers of files that it names and that have not arrived."""
    last_at: str | None
    """When it wrote its newest file, ISO 8601 in UTC."""
    behind: int
    """Runs of `forget` here that it has not applied yet."""


@dataclass(slots=True)
class SyncReport:
    """What was sent and what was taken, by kind of record."""

    folder: str
    sent: Counter[str] = field(default_factory=Counter)
    received: Counter[str] = field(default_factory=Counter)
    embedded: int = 0
    """Texts that came without a vector of the model in use here."""
    deleted: int = 0
    """Rows that were forgotten here, since another machine had forgotten them."""
    rewritten: int = 0
    """Own files that were replaced, since something in them was forgotten or has become private."""
    held_back: int = 0
    """Turns and tasks that did not leave, since their project is private or excluded."""
    refused: list[Refused] = field(default_factory=list)
    machines: list[Machine] = field(default_factory=list)


def synchronise(
    database: Database,
    session: ModelSession,
    path: Path,
    access: Access,
    limits: Limits,
    progress: Callable[[Progress], None] = lambda _: None,
) -> SyncReport:
    """Take what is new in the folder, then send what is new here.

    After an interruption, the next run does the rest.

    Args:
        database: open for writing.
        session: of the database's model; it embeds only texts that come without a vector of the same model.
        path: of the folder.
        access: how this machine opens the folder.
        limits: what never leaves.
        progress: called after each file that is read.

    Raises:
        InputMissing: there is no such folder.
        UsageFault: the key is wrong or missing, or pyrage is.
        StoreFault, OSError: the database or the folder cannot be read or written; what was done stays.
    """
    known = _open(database, path, access)
    report = SyncReport(str(path))
    with database.transaction():
        sources.claim_model(database, session)
    _read_others(database, session, known, report, progress)
    _note_judgements(database, known.machine)
    _send(database, session, known, limits, report)
    vectors.catch_up_in_steps(database)
    derive(database)
    scrub.finish_scrub(database, wait_ms=0)
    report.embedded = session.embedded
    report.machines = list(_machines(database, known))
    return report


def read_status(database: Database, path: Path, access: Access) -> SyncReport:
    """Return the machines of the folder, and what they have not done yet; change nothing in it.

    Raises InputMissing, UsageFault, StoreFault, OSError.
    """
    known = _open(database, path, access)
    report = SyncReport(str(path))
    report.machines = list(_machines(database, known))
    return report


def retire(database: Database, path: Path, access: Access, machine: str) -> None:
    """Take over the files of a machine that is no longer used, so that the next run sends what they hold as this machine's.

    Its files are read first. Raises InputMissing, UsageFault, StoreFault, OSError.
    """
    known = _open(database, path, access)
    found = files.numbered_files(path, machine) if machine in files.machines(path) else {}
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


def _open(database: Database, path: Path, access: Access) -> SyncFolder:
    """Return what is known of the folder, which is set up at its first use."""
    if not path.is_dir():
        raise InputMissing(
            f"{path} is no folder", "Create it first, or name a folder that is carried between your machines."
        )
    marker = files.read_marker(path) or _begin(path, access)
    known, host = sync.load_folder(database, marker.id), access.host or socket.gethostname()
    secret = known.secret if known else _find_secret(path, marker, access)
    if secret is not None and not marker.is_encrypted:
        raise UsageFault(
            f"{path} says that it is not encrypted, and it was before", "Somebody has changed it. Use a new folder."
        )
    machine = known.machine if known is not None and known.host == host else files.new_machine()
    folder = SyncFolder(marker.id, str(path.absolute()), machine, host, secret)
    if folder != known:
        with database.transaction():
            sync.store_folder(database, folder)
    return folder


def _begin(path: Path, access: Access) -> files.Marker:
    if not access.is_plain and access.key_file is None:
        if access.passphrase is None:
            raise UsageFault(
                "the folder needs a passphrase", "Use --key FILE, or --plain for a folder that nobody else can read."
            )
        if not (path / files.KEY_FILE).exists():
            files.write_key(path, files.new_key(), access.passphrase())
    return files.write_marker(path, is_encrypted=not access.is_plain)


def _find_secret(path: Path, marker: files.Marker, access: Access) -> str | None:
    if not marker.is_encrypted:
        return None
    if access.is_plain:
        raise UsageFault(f"the files in {path} are encrypted", "Leave --plain out.")
    if access.key_file is not None:
        return files.parse_key(access.key_file.read_text(encoding="utf-8"))
    if not (path / files.KEY_FILE).exists():
        raise UsageFault("the files are encrypted with a key of your own", "Name its file: --key FILE.")
    if access.passphrase is None:
        raise UsageFault(
            "the folder needs its passphrase", "Run it on a terminal, or set PASTCHATS_MEMORY_SYNC_PASSPHRASE."
        )
    return files.read_key(path, access.passphrase())


# Reading


def _read_others(
    database: Database,
    session: ModelSession,
    known: SyncFolder,
    report: SyncReport,
    progress: Callable[[Progress], None],
) -> None:
    """Read every file that was not read here: forgettings of all of them first, so that no forgotten text is stored."""
    waiting = list(_unread(database, known))
    forgotten: list[Json] = []
    lifted = {identity for kind, identity in sync.known_digests(database, known.id) if kind == "lifting"}
    for machine, number, path in waiting:
        if found := _read(known, machine, number, path):
            forgotten += found[1].by_kind["forgetting"]
            lifted |= {record["identity"] for record in found[1].by_kind["lifting"]}
    with database.transaction():
        for identity in lifted:
            sync.lift(database, identity)
    report.deleted += merge.take_forgettings(database, forgotten, lifted)
    for done, (machine, number, path) in enumerate(waiting, start=1):
        try:
            header, records = _read_or_refuse(known, machine, number, path)
        except UnusableFile as fault:
            report.refused.append(Refused(str(path), str(fault)))
        else:
            _take(database, session, known, SyncFile(machine, number, is_current=True), header, records, report)
        progress(Progress(done, len(waiting)))
    report.received["judgement"] += merge.apply_judgements(database)


def _take(
    database: Database, session: ModelSession, known: SyncFolder, file: SyncFile, header: Json, records: merge.Records,
    report: SyncReport,
) -> None:  # fmt: skip
    """Take the records of a file in one transaction."""
    has_same_model = header.get("model") == [session.name, _version(session)]
    with sources.vector_transaction(database, session):
        redactions.claim_rules(database, rules_version())
        for kind, take in (("turn", merge.take_turns), ("task", merge.take_tasks)):
            report.received[kind] += take(database, session, records.by_kind[kind], has_same_model=has_same_model)
        merge.take_judgements(database, records.by_kind["judgement"])
        sync.store_file(database, known.id, file, records.versions())
        vectors.catch_up(database)
    report.received["forgetting"] += len(records.by_kind["forgetting"])


def _version(session: ModelSession) -> str | None:
    from pastchats_memory.errors import ModelUnavailable

    try:
        return session.version
    except ModelUnavailable:
        return None


def _unread(database: Database, known: SyncFolder) -> Iterator[tuple[str, int, Path]]:
    """Yield the files of all machines that were not read here; our own after this database was lost."""
    root = Path(known.path)
    read = {(file.machine, file.number) for file in sync.files(database, known.id)}
    for machine in files.machines(root):
        for number, path in files.numbered_files(root, machine).items():
            if (machine, number) not in read:
                yield machine, number, path


def _read(known: SyncFolder, machine: str, number: int, path: Path) -> tuple[Json, merge.Records] | None:
    """Return header and records of a file; None if it cannot be used yet."""
    try:
        return _read_or_refuse(known, machine, number, path)
    except UnusableFile:
        return None


def _read_or_refuse(known: SyncFolder, machine: str, number: int, path: Path) -> tuple[Json, merge.Records]:
    """Return header and records of a file. Raises UnusableFile."""
    segment = files.read_segment(path, machine, number, known.secret)
    return segment.header, merge.Records(segment, known.host)


# Judgements


def _note_judgements(database: Database, machine: str) -> None:
    """Take this machine's new judgements, and those that were withdrawn here, into the latest ones."""
    here, latest = sync.judgements(database), sync.latest_judgements(database)
    with database.transaction():
        for identity, body in here.items():
            before = latest.get(identity)
            if before is None or (before[1] and _differs(body, before[0])):
                at = max(body["judged_at"], _after(before))
                noted = body | {"at": at, "machine": machine, "is_withdrawn": False}
                sync.store_latest_judgement(database, identity, noted, is_applied=True)
        for identity, (body, is_applied) in latest.items():
            is_gone = is_applied and not body["is_withdrawn"] and identity not in here
            if is_gone and sync.stored_turns(database, [identity]):
                at = max(datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S"), _after((body, is_applied)))
                noted = {"at": at, "machine": machine, "is_withdrawn": True, "project": body["project"]}
                sync.store_latest_judgement(database, identity, noted, is_applied=True)


def _differs(here: Json, latest: Json) -> bool:
    return any(here[name] != latest.get(name) for name in here if name != "project")


def _after(before: tuple[Json, bool] | None) -> str:
    """Return a time just after that of a judgement that is replaced, whatever the clocks say."""
    return "" if before is None else f"{before[0]['at']}+"


# Sending


def _send(database: Database, session: ModelSession, known: SyncFolder, limits: Limits, report: SyncReport) -> None:
    """Write what no file of the folder has, and replace own files with something that was forgotten or is private now."""
    replaced = _find_outdated(database, known, limits)
    report.rewritten = len(replaced)
    with database.transaction():
        for file in replaced:
            sync.store_file(database, known.id, file._replace(is_current=False), ())
    _delete_replaced(database, known)
    done, new = sync.forgettings(database).keys(), _NewRecords(database, known, limits)
    records, has_written = iter(new), False
    while chunk := list(_take_chunk(records)):
        _write(database, session, known, chunk, done)
        report.sent.update(record["kind"] for record in chunk)
        has_written = True
    report.held_back = new.held_back
    is_unknown = known.machine not in files.machines(Path(known.path))
    if not has_written and (is_unknown or not done <= sync.acknowledged(database, known.id)):
        _write(database, session, known, [], done)  # the others see by its header who is here, and has forgotten what


def _take_chunk(records: Iterator[Json]) -> Iterator[Json]:
    chars = 0
    for record in islice(records, MAX_RECORDS):
        yield record
        chars += len(str(record))
        if chars > MAX_CHARS:
            return


def _write(
    database: Database, session: ModelSession, known: SyncFolder, records: Sequence[Json], done: Iterable[str]
) -> None:
    """Write a file, and store what it holds. A process that is killed in between reads it as another machine's."""
    header = {
        "host": known.host,
        "at": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "model": [session.name, _version(session)],
        "rules": rules_version(),
        "forgettings": sorted(done),
        "files": [
            file.number for file in sync.files(database, known.id) if file.machine == known.machine and file.is_current
        ],
    }
    number = _next_number(database, known)
    files.write_segment(Path(known.path), known.machine, number, Segment(header, list(records)), known.secret)
    versions = [SyncRecord(one["kind"], one["identity"], bytes.fromhex(one["digest"])) for one in records]
    with database.transaction():
        sync.store_file(database, known.id, SyncFile(known.machine, number, is_current=True), versions)
        sync.acknowledge(database, known.id, done)


def _next_number(database: Database, known: SyncFolder) -> int:
    stored = [file.number for file in sync.files(database, known.id) if file.machine == known.machine]
    return max([0, *stored, *files.numbered_files(Path(known.path), known.machine)]) + 1


class _NewRecords:
    """Records of everything here that no file of the folder has in this version."""

    def __init__(self, database: Database, known: SyncFolder, limits: Limits) -> None:
        self._database = database
        self._host = known.host
        self._limits = limits
        self._present = sync.known_digests(database, known.id)
        self.held_back = 0
        """Rows that are new and stay here."""

    def __iter__(self) -> Iterator[Json]:
        yield from self._forgettings()
        yield from self._turns()
        yield from self._tasks()
        yield from self._judgements()

    def _is_new(self, kind: str, identity: str, digest: bytes) -> bool:
        return digest not in self._present.get((kind, identity), ())

    def _may_leave(self, project: str, path: str) -> bool:
        stays = _stays(self._limits, project, path)
        self.held_back += stays
        return not stays

    def _forgettings(self) -> Iterator[Json]:
        here = sync.forgettings(self._database)
        for identity, row in here.items():
            if ("forgetting", identity) not in self._present:
                yield _record("forgetting", identity, bytes.fromhex(identity), **merge.forgetting_record(row))
        for kind, identity in sorted(self._present):
            if kind == "forgetting" and identity not in here and ("lifting", identity) not in self._present:
                yield _record("lifting", identity, bytes.fromhex(identity))

    def _turns(self) -> Iterator[Json]:
        wanted = {
            identity: digest
            for identity, project, path, digest in sync.turn_versions(self._database)
            if self._is_new("turn", identity, digest) and self._may_leave(project, path)
        }
        names = list(wanted)
        for start in range(0, len(names), BATCH):
            for body in sync.turn_bodies(self._database, names[start : start + BATCH]):
                identity = body["content_hash"]
                yield _record("turn", identity, wanted[identity], body=_name_machine(body, self._host))

    def _tasks(self) -> Iterator[Json]:
        for body in sync.tasks(self._database, ()):
            identity, digest = body["identity"], sync.task_digest(body)
            if self._is_new("task", identity, digest) and self._may_leave(body["project"], body["source_path"]):
                named = _name_machine(body, self._host)
                yield _record("task", identity, digest, body=named, vectors=sync.task_vectors(self._database, identity))

    def _judgements(self) -> Iterator[Json]:
        for identity, (body, _) in sync.latest_judgements(self._database).items():
            digest = sync.digest_of(body)
            if self._is_new("judgement", identity, digest) and not _stays(self._limits, body["project"], ""):
                yield _record("judgement", identity, digest, body=body)


def _record(kind: str, identity: str, digest: bytes, **more: Any) -> Json:
    return {"kind": kind, "identity": identity, "digest": digest.hex(), **more}


def _stays(limits: Limits, project: str, path: str) -> bool:
    return project in limits.private or limits.excludes(project) or limits.excludes(path)


def _name_machine(body: Json, host: str) -> Json:
    """Return a body with `host:` before a path of this machine: elsewhere it may name another file."""
    path = body["source_path"]
    if Path(path).is_absolute():
        body["source_path"] = f"{host}:{path}"
        if "places" in body:
            body["places"] = [[body["source_path"], *place[1:]] for place in body["places"]]
    return body


def _find_outdated(database: Database, known: SyncFolder, limits: Limits) -> list[SyncFile]:
    """Return the own files with something that was forgotten since, or is private or excluded now.

    After a `forget`, a file with an earlier version of a row counts as well: `forget` may have changed the row.
    """
    own = sync.records_of_machine(database, known.id, known.machine)
    turns = {
        identity: (digest, _stays(limits, project, path))
        for identity, project, path, digest in sync.turn_versions(database)
    }
    tasks = {
        body["identity"]: (sync.task_digest(body), _stays(limits, body["project"], body["source_path"]))
        for body in sync.tasks(database, ())
    }
    has_forgotten = not sync.forgettings(database).keys() <= sync.acknowledged(database, known.id)
    found = []
    for number, records in own.items():
        for record in records:
            here = {"turn": turns, "task": tasks}.get(record.kind, {}).get(record.identity)
            is_known_kind = record.kind in ("turn", "task")
            if is_known_kind and (
                (here is not None and here[1]) or (has_forgotten and (here is None or here[0] != record.digest))
            ):
                found.append(SyncFile(known.machine, number, is_current=True))
                break
    return found


def _delete_replaced(database: Database, known: SyncFolder) -> None:
    """Delete own files that are not current. What else they held is sent again."""
    for file in sync.files(database, known.id):
        if not file.is_current:
            path = files.numbered_files(Path(known.path), file.machine).get(file.number)
            if path is not None:
                path.unlink(missing_ok=True)


# Status


def _machines(database: Database, known: SyncFolder) -> Iterator[Machine]:
    root, here = Path(known.path), sync.forgettings(database).keys()
    stored = sync.files(database, known.id)
    for machine in files.machines(root):
        present = files.numbered_files(root, machine)
        read = {file.number for file in stored if file.machine == machine}
        newest: Json = {}
        for number in sorted(present, reverse=True):
            try:
                newest = files.read_segment(present[number], machine, number, known.secret).header
                break
            except UnusableFile:
                continue
        listed = {number for number in newest.get("files", ()) if isinstance(number, int)}
        yield Machine(
            id=machine,
            host=str(newest.get("host", "")),
            is_this=machine == known.machine,
            files=len(present),
            unread=len(present.keys() - read),
            missing=tuple(sorted(listed - present.keys() - read)),
            last_at=newest.get("at") if isinstance(newest.get("at"), str) else None,
            behind=len(here - set(map(str, newest.get("forgettings", ())))),
        )
