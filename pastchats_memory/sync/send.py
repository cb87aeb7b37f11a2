"""Write what no file of the folder has, and replace own files with something that was forgotten."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import Any

import orjson

from pastchats_memory.embed.session import ModelSession
from pastchats_memory.files.exclusion import SharingLimits
from pastchats_memory.redact.rules_version import rules_version
from pastchats_memory.store import sync
from pastchats_memory.store.database import Database
from pastchats_memory.store.interchange import export_tasks
from pastchats_memory.store.sync import SyncFile, SyncFolder
from pastchats_memory.store.tombstones import Tombstones
from pastchats_memory.sync import folder as files
from pastchats_memory.sync import merge
from pastchats_memory.sync.folder import Json, Segment, describe_model
from pastchats_memory.sync.report import SyncReport
from pastchats_memory.sync.trust import Trust
from pastchats_memory.text.groups import group_by_key
from pastchats_memory.text.timestamps import current_time

MAX_CHARS = 1 << 24
"""Characters of the texts in a file, about."""
BATCH = 200
"""Turns that are read at once."""


def send(
    database: Database, session: ModelSession, known: SyncFolder, limits: SharingLimits, report: SyncReport
) -> None:
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
    is_unknown = known.machine not in files.list_machines(Path(known.path))
    if not has_written and (is_unknown or not known.is_announced or not done <= sync.acknowledged(database, known.id)):
        _write(database, session, known, [], done)  # the others see by its header who is here, and has forgotten what


def _take_chunk(records: Iterator[Json]) -> Iterator[Json]:
    chars = 0
    for record in islice(records, files.MAX_RECORDS):
        yield record
        chars += len(orjson.dumps(record))
        if chars > MAX_CHARS:
            return


def _write(
    database: Database, session: ModelSession, known: SyncFolder, records: Sequence[Json], done: Iterable[str]
) -> None:
    """Write a file, and store what it holds. A process that is killed in between reads it as another machine's."""
    own = [file for file in sync.files(database, known.id) if file.machine == known.machine]
    header = {
        "host": known.host,
        "place": known.place,
        "machines": Trust(database, known).describe(),
        "at": current_time(),
        "model": describe_model(session),
        "rules": rules_version(),
        "forgettings": sorted(done),
        "files": [file.number for file in own if file.is_current],
    }
    number = max([0, *(file.number for file in own), *files.list_numbered_files(Path(known.path), known.machine)]) + 1
    content = files.build_file(known, number, Segment(header, list(records)))
    fingerprint = files.find_fingerprint(len(content), content)
    pending = known._replace(pending=f"{number} {fingerprint}")
    with database.transaction():
        sync.store_folder(database, pending)
    files.write_file(known, number, content)
    with database.transaction():
        sync.store_file(database, known.id, SyncFile(known.machine, number, True, fingerprint), records)
        sync.store_folder(database, pending._replace(is_announced=True))
        sync.acknowledge(database, known.id, done)


class _NewRecords:
    """Records of everything here that no file of the folder has in this version."""

    def __init__(self, database: Database, known: SyncFolder, limits: SharingLimits) -> None:
        self._database = database
        self._host = known.host
        self._limits = limits
        self._present = sync.known_digests(database, known.id)
        self.held_back = 0
        """Rows that are new and stay here."""

    def __iter__(self) -> Iterator[Json]:
        return chain(self._list_forgettings(), self._list_turns(), self._list_tasks(), self._list_judgements())

    def _is_new(self, kind: str, identity: str, digest: bytes) -> bool:
        return digest not in self._present.get((kind, identity), ())

    def _may_leave(self, project: str, path: str) -> bool:
        stays = self._limits.keep_here(project, path)
        self.held_back += stays
        return not stays

    def _list_forgettings(self) -> Iterator[Json]:
        here = sync.forgettings(self._database)
        for identity, row in here.items():
            if ("forgetting", identity) not in self._present:
                yield _build_record(
                    "forgetting", identity, bytes.fromhex(identity), **merge.build_forgetting_fields(row)
                )
        for kind, identity in sorted(self._present):
            if kind == "forgetting" and identity not in here and ("lifting", identity) not in self._present:
                yield _build_record("lifting", identity, bytes.fromhex(identity))

    def _list_turns(self) -> Iterator[Json]:
        wanted: dict[str, bytes] = {}
        before = group_by_key((new, old) for old, new in sync.growths(self._database).items())
        for identity, project, path, digest in sync.turn_versions(self._database):
            for old in before.get(identity, ()):
                growth = sync.digest_of([old, identity])
                if self._is_new("growth", old, growth) and not self._limits.keep_here(project, path):
                    yield _build_record("growth", old, growth, into=identity)
            if self._is_new("turn", identity, digest) and self._may_leave(project, path):
                wanted[identity] = digest
        names = list(wanted)
        for start in range(0, len(names), BATCH):
            some = names[start : start + BATCH]
            forgotten = sync.forgotten_turns(self._database, some)
            for body in sync.turn_bodies(self._database, [name for name in some if name not in forgotten]):
                identity = body["content_hash"]
                yield _build_record("turn", identity, wanted[identity], body=_name_machine(body, self._host))

    def _list_tasks(self) -> Iterator[Json]:
        tombstones = Tombstones(self._database)
        for body in export_tasks(self._database):
            identity, digest = body["identity"], sync.task_digest(body)
            may_leave = self._is_new("task", identity, digest) and self._may_leave(body["project"], body["source_path"])
            # A task that was added again by hand after it had been forgotten stays on this machine.
            if may_leave and not tombstones.has_task(identity, body["title"], body["description"]):
                named = _name_machine(body, self._host)
                yield _build_record(
                    "task", identity, digest, body=named, vectors=sync.task_vectors(self._database, identity)
                )

    def _list_judgements(self) -> Iterator[Json]:
        for identity, (body, _) in sync.latest_judgements(self._database).items():
            digest = sync.digest_of(body)
            if self._is_new("judgement", identity, digest) and not self._limits.keep_here(body["project"]):
                yield _build_record("judgement", identity, digest, body=body)


def _build_record(kind: str, identity: str, digest: bytes, **more: Any) -> Json:
    return {"kind": kind, "identity": identity, "digest": digest.hex(), **more}


def _name_machine(body: Json, host: str) -> Json:
    """Return a body with `host:` before a path of this machine: elsewhere it may name another file."""
    path = body["source_path"]
    if Path(path).is_absolute():
        body["source_path"] = f"{host}:{path}"
        if "places" in body:
            body["places"] = [[body["source_path"], *place[1:]] for place in body["places"]]
    return body


def _find_outdated(database: Database, known: SyncFolder, limits: SharingLimits) -> list[SyncFile]:
    """Return the own files with something that was forgotten since, or is private or excluded now.

    After a `forget`, a file with an earlier version of a row counts as well: `forget` may have changed the row.
    """
    own = sync.records_of_machine(database, known.id, known.machine)
    turns = {
        identity: (digest, limits.keep_here(project, path))
        for identity, project, path, digest in sync.turn_versions(database)
    }
    tasks = {
        body["identity"]: (sync.task_digest(body), limits.keep_here(body["project"], body["source_path"]))
        for body in export_tasks(database)
    }
    judgements = {
        identity: (sync.digest_of(body), limits.keep_here(body["project"]))
        for identity, (body, _) in sync.latest_judgements(database).items()
    }
    known_rows = {"turn": turns, "task": tasks, "judgement": judgements}
    has_forgotten = not sync.forgettings(database).keys() <= sync.acknowledged(database, known.id)
    found = []
    for number, records in own.items():
        for record in records:
            if record.kind not in known_rows:
                continue
            here = known_rows[record.kind].get(record.identity)
            if (here is not None and here[1]) or (has_forgotten and (here is None or here[0] != record.digest)):
                found.append(SyncFile(known.machine, number, is_current=True))
                break
    return found


def _delete_replaced(database: Database, known: SyncFolder) -> None:
    """Delete own files that are not current. What else they held is sent again."""
    for file in sync.files(database, known.id):
        if not file.is_current:
            path = files.list_numbered_files(Path(known.path), file.machine).get(file.number)
            if path is not None:
                path.unlink(missing_ok=True)


def note_judgements(database: Database, machine: str) -> None:
    """Take this machine's new judgements, and those that were withdrawn here, into the latest ones."""
    here, latest = sync.judgements(database), sync.latest_judgements(database)
    with database.transaction():
        for identity, body in here.items():
            before = latest.get(identity)
            if before is None or (
                before[1] and any(body[name] != before[0].get(name) for name in body if name != "project")
            ):
                at = max(body["judged_at"], _find_next_time(before))
                noted = body | {"at": at, "machine": machine, "is_withdrawn": False}
                sync.store_latest_judgement(database, identity, noted, is_applied=True)
        for identity, (body, is_applied) in latest.items():
            is_gone = is_applied and not body["is_withdrawn"] and identity not in here
            if is_gone and sync.stored_turns(database, [identity]):
                at = max(datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S"), _find_next_time((body, is_applied)))
                noted = {"at": at, "machine": machine, "is_withdrawn": True, "project": body["project"]}
                sync.store_latest_judgement(database, identity, noted, is_applied=True)


def _find_next_time(before: tuple[Json, bool] | None) -> str:
    """Return a time just after that of a judgement that is replaced, whatever the clocks say."""
    return "" if before is None else f"{before[0]['at']}+"
