"""Read the files of the other machines."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.metadata import version
from itertools import chain
from pathlib import Path

from pastchats_memory.embed.session import ModelSession
from pastchats_memory.files.exclusion import SharingLimits
from pastchats_memory.model import Progress
from pastchats_memory.redact.rules_version import rules_version
from pastchats_memory.store import redactions, sources, sync, vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.sync import SyncFile, SyncFolder
from pastchats_memory.sync import folder as files
from pastchats_memory.sync import merge
from pastchats_memory.sync.folder import Json, UntrustedFile, UnusableFile, describe_model
from pastchats_memory.sync.report import Refused, SyncReport
from pastchats_memory.sync.trust import Trust

PROJECT = {"turn": "source_project", "task": "project"}
"""Name of the project in a body, by kind."""


def receive(
    database: Database,
    session: ModelSession,
    known: SyncFolder,
    limits: SharingLimits,
    report: SyncReport,
    progress: Callable[[Progress], None],
) -> None:
    """Read every file that was not read here: forgettings of all of them first, so that no forgotten text is stored.

    Before that comes which machines are known or retired. Turns and tasks that are excluded here are left out.
    """
    waiting = list(_list_waiting(database, known, again=known.reads_again))
    trust = Trust(database, known)
    while _learn_machines(database, known, trust, waiting):
        pass
    forgotten: list[Json] = []
    here = sync.forgetting_identities(database)
    before = {
        identity
        for kind, identity in sync.known_digests(database, known.id)
        if kind == "lifting" or (kind == "forgetting" and identity not in here)  # the latter was undone here just now
    }
    lifted = set(before)
    for machine, number, path in waiting:
        with suppress(UnusableFile):  # it is refused below
            _, records = _read_file(database, known, trust, machine, number, path)
            forgotten += records["forgetting"]
            lifted |= {record["identity"] for record in records["lifting"]}
    with database.transaction():
        for identity in lifted:
            sync.lift(database, identity)
    report.deleted += merge.take_forgettings(database, forgotten, lifted)
    if lifted != before:  # a file that was read may have what is allowed again
        waiting = list(_list_waiting(database, known, again=True))
    for done, (machine, number, path) in enumerate(waiting, start=1):
        try:
            header, records = _read_file(database, known, trust, machine, number, path)
        except UnusableFile as fault:
            report.refused.append(Refused(str(path), str(fault)))
        else:
            report.left_out += _leave_out(records, limits)
            file = SyncFile(machine, number, is_current=True, fingerprint=files.read_fingerprint(path))
            _take_file(database, session, known, file, header, records, report)
        progress(Progress(done, len(waiting)))
    report.received["judgement"] += merge.apply_judgements(database)


def _leave_out(records: merge.Records, limits: SharingLimits) -> int:
    """Remove the turns and tasks that are excluded here, and return their number."""
    before = sum(len(records[kind]) for kind in ("turn", "task"))
    for kind in ("turn", "task"):
        records[kind] = [
            one
            for one in records[kind]
            if not limits.excludes(one["body"][PROJECT[kind]]) and not limits.excludes(one["body"]["source_path"])
        ]
    return before - sum(len(records[kind]) for kind in ("turn", "task"))


def _take_file(
    database: Database, session: ModelSession, known: SyncFolder, file: SyncFile, header: Json, records: merge.Records,
    report: SyncReport,
) -> None:  # fmt: skip
    """Take the records of a file in one transaction."""
    has_same_model = header.get("model") is not None and header["model"] == describe_model(session)
    with sources.vector_transaction(database, session):
        redactions.claim_rules(database, rules_version())
        for kind, take in (("turn", merge.take_turns), ("task", merge.take_tasks)):
            report.received[kind] += take(database, session, records[kind], has_same_model=has_same_model)
        for record in records["growth"]:
            sync.store_growth(database, record["identity"], record["into"])
        sync.delete_outgrown(database)
        merge.take_judgements(database, records["judgement"])
        sync.store_file(database, known.id, file, chain.from_iterable(records.values()))
        vectors.catch_up(database)
    report.received["forgetting"] += len(records["forgetting"])


def _list_waiting(database: Database, known: SyncFolder, *, again: bool) -> Iterator[tuple[str, int, Path]]:
    """Yield the files of all machines that were not read here, or `again` all but replaced ones; our own as well."""
    root = Path(known.path)
    read = {(file.machine, file.number) for file in sync.files(database, known.id) if not again or not file.is_current}
    for machine in files.list_machines(root):
        for number, path in files.list_numbered_files(root, machine).items():
            if (machine, number) not in read:
                yield machine, number, path


def _learn_machines(database: Database, known: SyncFolder, trust: Trust, waiting: list[tuple[str, int, Path]]) -> bool:
    """Take over what the newest waiting file of each machine says of the others; return whether something was new."""
    is_new = False
    for machine, number, path in {machine: (machine, number, path) for machine, number, path in waiting}.values():
        with suppress(UnusableFile):
            header, _ = _read_file(database, known, trust, machine, number, path)
            is_new |= trust.learn(header)
    return is_new


def _read_file(
    database: Database, known: SyncFolder, trust: Trust, machine: str, number: int, path: Path
) -> tuple[Json, merge.Records]:
    """Return header and records of a file, unless its bytes were refused before. Raises UnusableFile."""
    stamp = f"{files.read_stamp(path)} {known.generation} {version('pastchats-memory')}"
    reason = sync.find_refusal(database, known.id, machine, number, stamp)
    if reason is not None:
        raise UnusableFile(reason)
    try:
        segment = files.read_segment(path, machine, number, known, trust.admit)
        return segment.header, merge.check_records(segment, trust.name(machine, segment.header))
    except UntrustedFile:
        raise
    except UnusableFile as fault:
        sync.store_refusal(database, known.id, machine, number, stamp, str(fault))
        raise
