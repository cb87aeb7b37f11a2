"""Keep a local copy of what others share, in a database of its own beside the memory, which hooks can read."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from pastchats_memory.embed.session import ModelSession
from pastchats_memory.episodes.derive import derive
from pastchats_memory.episodes.replies import classify_replies, open_packaged
from pastchats_memory.files.exclusion import SharingLimits
from pastchats_memory.maintenance.known_secrets import remove_known
from pastchats_memory.redact.known_secrets import KnownSecrets
from pastchats_memory.store import deletion, scrub, sources, sync, team, tombstone_transfer, vectors
from pastchats_memory.store.copy_path import copy_path, delete_copy
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.store.deletion import ChosenRows
from pastchats_memory.store.sources import set_meta
from pastchats_memory.store.team import Member, PulledRow
from pastchats_memory.sync import merge
from pastchats_memory.team.report import AuthorCount, PullReport
from pastchats_memory.team.rows import EPISODE, TURN, Received, build_body, build_judgement, make_model_key, read_row
from pastchats_memory.team.server import IDS, Changes, Condition, TeamServer

ENDPOINT = "team_endpoint"
"""Key of the copy's `embedding_meta`: where its rows are from."""
DAY = 86_400
HORIZON = "team_horizon"
"""Key of the copy's `embedding_meta`: up to where the server's changes have been read."""


class CopyLimits(NamedTuple):
    """What of the team's rows the copy has."""

    projects: tuple[str, ...] = ()
    """Empty for all."""
    days: int | None = None
    """Age of the oldest turn; None for any."""

    def choose(self, member: Member) -> Condition:
        """Return the condition for the rows of others."""
        return Condition(other_than=member.id, projects=self.projects, since=self.days and _count_days_back(self.days))


def _count_days_back(days: int) -> int:
    """Return the beginning of a day in milliseconds: within a day, two pulls ask for the same."""
    return (int(time.time()) // DAY - days) * DAY * 1000


@contextmanager
def open_copy(database: Database, endpoint: str) -> Iterator[Database | None]:
    """Open the copy of an endpoint's rows, without what was forgotten here since; None if there is none."""
    path = copy_path(database.path)
    if not path.is_file():
        yield None
        return
    with open_database(path, vec0=database.vec0_loaded) as copy:
        if sources.meta(copy).get(ENDPOINT) != endpoint:
            yield None
            return
        forget_as_here(database, copy)
        yield copy.hide(database.hidden)


def forget_as_here(database: Database, copy: Database) -> int:
    """Delete from the copy what was forgotten here, and return the number of rows."""
    here, there = sync.forgetting_identities(database), sync.forgetting_identities(copy)
    if here == there:
        return 0
    with copy.transaction():
        for identity in there - here:
            sync.lift(copy, identity)
    new = [row for identity, row in sync.forgettings(database).items() if identity not in there]
    return tombstone_transfer.apply_tombstones(copy, new)


def forget_in_copy(database: Database) -> None:
    """Delete from the copy, which has to be there, what was forgotten here."""
    with open_database(copy_path(database.path), vec0=database.vec0_loaded) as copy:
        forget_as_here(database, copy)


def pull(
    database: Database,
    session: ModelSession,
    server: TeamServer,
    member: Member,
    limits: SharingLimits,
    wanted: CopyLimits,
    known: KnownSecrets | None,
) -> PullReport:
    """Make the copy equal to what others share, but for known secrets and what was forgotten or is excluded here.

    Raises TeamUnavailable, when what was read stays, or StoreFault.
    """
    report = PullReport()
    _drop_foreign(database, session, member.endpoint)
    with open_database(copy_path(database.path), create=True, vec0=database.vec0_loaded) as copy:
        with copy.transaction():
            sources.claim_model(copy, session)
            set_meta(copy, {ENDPOINT: member.endpoint})
        report.deleted = forget_as_here(database, copy)
        _receive(copy, session, server, wanted.choose(member), limits, report)
        vectors.catch_up_in_steps(copy)
        classify_replies(copy, open_packaged(session))
        derive(copy)
        if known is not None:
            remove_known(copy, session, known)
        scrub.finish_scrub(copy, wait_ms=0)
        report.authors = [AuthorCount(author, turns) for author, turns in team.count_pulled(copy)]
    report.embedded = session.embedded
    return report


def _drop_foreign(database: Database, session: ModelSession, endpoint: str) -> None:
    """Delete a copy of another team, or with vectors of another model."""
    path = copy_path(database.path)
    if not path.is_file():
        return
    with open_database(path, vec0=database.vec0_loaded) as copy:
        meta = sources.meta(copy)
    is_same_model = (meta.get("model_name"), meta.get("model_version")) == (session.name, session.version)
    if meta.get(ENDPOINT) != endpoint or not is_same_model:
        delete_copy(database.path)


def _receive(
    copy: Database,
    session: ModelSession,
    server: TeamServer,
    condition: Condition,
    limits: SharingLimits,
    report: PullReport,
) -> None:
    changes = Changes({}, None)
    if server.exists:
        server.load()
        changes = server.list_changes(condition, sources.meta(copy).get(HORIZON, ""))
    there, here = changes.digests, team.pulled_digests(copy)
    gone = sorted(here.keys() - there.keys() if changes.deleted is None else here.keys() & changes.deleted)
    for start in range(0, len(gone), IDS):
        with copy.transaction():
            report.deleted += _delete(copy, gone[start : start + IDS])
    changed = [id_ for id_, digest in there.items() if here.get(id_) != digest]
    new = sorted({*changed, *team.episodes_of(copy, changed)} & there.keys())
    episodes: list[Received] = []
    for start in range(0, len(new), IDS):
        found = server.get(new[start : start + IDS])
        rows = [row for row in map(read_row, found) if row is not None and not limits.keep_here(row.project)]
        report.refused += len(found) - len(rows)
        _store_turns(copy, session, [row for row in rows if row.kind == TURN], report)
        episodes += [row._replace(text="", vector=[]) for row in rows if row.kind == EPISODE]
    _judge(copy, episodes)
    with copy.transaction():  # what was refused today may be wanted tomorrow, so it is listed again
        set_meta(copy, {HORIZON: "" if report.refused else changes.horizon})


def _store_turns(copy: Database, session: ModelSession, rows: Sequence[Received], report: PullReport) -> None:
    """Store some turns in place of their earlier versions, in one transaction."""
    own_model = make_model_key(session)
    bodies = {row.id: body for row in rows if (body := build_body(row)) is not None}
    with sources.vector_transaction(copy, session):
        _delete(copy, [row.id for row in rows])
        for is_own in (True, False):
            records = [
                {"body": bodies[row.id]} for row in rows if row.id in bodies and (row.model == own_model) == is_own
            ]
            merge.take_turns(copy, session, records, has_same_model=is_own)
        stored = team.stored_hashes(copy, list(bodies))
        stored_rows = [row for row in rows if row.id in stored]
        team.add_pulled(copy, [PulledRow(row.id, row.digest, row.kind, row.author, row.id) for row in stored_rows])
        vectors.catch_up(copy)
    report.received += len(stored)
    report.refused += len(rows) - len(stored)


def _delete(copy: Database, ids: Sequence[str]) -> int:
    """Delete rows inside the caller's transaction, and return the number of turns among them."""
    turns = team.drop_pulled(copy, ids)
    if turns:
        deletion.delete_rows(copy, ChosenRows(turns, [], [], []))
    return len(turns)


def _judge(copy: Database, episodes: Sequence[Received]) -> None:
    """Apply the judgements of episodes, whose turns are all here by now."""
    with copy.transaction():
        for row in episodes:
            judgement, turn = build_judgement(row), row.body.get("turn")
            if judgement is not None and isinstance(turn, str) and team.stored_hashes(copy, [turn]):
                sync.apply_judgement(copy, turn, judgement)
                team.add_pulled(copy, [PulledRow(row.id, row.digest, row.kind, row.author, turn)])
