"""Share projects with the team: write what is new or changed there, and delete what is no longer shared or forgotten.

What is there is compared with what is here at every run. So a run that was killed anywhere, a lost database and a lost
collection need no repair: the next run does what is missing.
"""

import secrets
import socket
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import orjson

from pastchats_memory.embed.session import ModelSession
from pastchats_memory.episodes.derive import derive
from pastchats_memory.errors import InputMissing, TeamUnavailable, UsageFault
from pastchats_memory.files.exclusion import SharingLimits
from pastchats_memory.model import Progress
from pastchats_memory.redact import redact
from pastchats_memory.redact.rules_version import rules_version
from pastchats_memory.store import sources, sync, team, vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.team import Member, SharedEpisode, TurnVersion
from pastchats_memory.team import rows as team_rows
from pastchats_memory.team.report import PushPreview, PushReport, SharePreview, TeamAccess
from pastchats_memory.team.server import IDS, Condition, Row, TeamServer, split_into_batches
from pastchats_memory.text.encoding import utf8
from pastchats_memory.text.wire import Body

BATCH = 200
"""Turns that are read at once."""
SHOWN_PROMPTS = 5
SHOWN_TEXTS = 10
BYTES_OF_NUMBER = 4

Judgements = Mapping[str, Body]
"""By the content_hash of the turn that asks."""


class _Wanted(NamedTuple):
    """A row that belongs there."""

    digest: str
    project: str
    of: TurnVersion | SharedEpisode


def preview_share(database: Database, access: TeamAccess, limits: SharingLimits, project: str) -> SharePreview:
    """Return what the team would see of a project.

    Raises InputMissing, and UsageFault for a private or excluded project.
    """
    _refuse_unshareable(database, limits, project)
    turns, conversations, first, last = team.describe_project(database, project)
    redactions = 0
    hashes = [version.content_hash for version in team.turn_versions(database, project)]
    for start in range(0, len(hashes), BATCH):
        bodies = sync.turn_bodies(database, hashes[start : start + BATCH])
        redactions += sum(redact(body["content"]).kinds.total() for body in bodies)
    prompts = tuple(redact(text).text for text in team.latest_prompts(database, project, SHOWN_PROMPTS))
    return SharePreview(project, access.endpoint, access.author, turns, conversations, first, last, redactions, prompts)


def share(database: Database, access: TeamAccess, limits: SharingLimits, project: str) -> None:
    """Note that a project is shared; the next `push` writes it. Raises as `preview_share`."""
    _refuse_unshareable(database, limits, project)
    with database.transaction():
        team.add_project(database, access.endpoint, project)


def _refuse_unshareable(database: Database, limits: SharingLimits, project: str) -> None:
    if project not in sources.project_names(database):
        raise InputMissing(f"no project is called {project!r}", "`pastchats-memory status` lists the projects.")
    if project in limits.private:
        raise UsageFault(f"{project} is private or excluded", "Such a project is never shared.")
    if limits.keep_here(project):
        raise UsageFault(f"{project} is excluded", "Such a project is never shared.")


def push(
    database: Database,
    session: ModelSession,
    server: TeamServer,
    access: TeamAccess,
    limits: SharingLimits,
    progress: Callable[[Progress], None] = lambda _: None,
) -> PushReport:
    """Make this memory's rows there equal to the shared projects here; deletions come first.

    Raises TeamUnavailable, when what was written stays, or ModelUnavailable.
    """
    plan = _plan_push(database, session, server, access, limits)
    report = plan.report
    if not server.exists:
        if not report.projects:
            return report
        server.create(session.dim)
        server.load()
    server.delete(plan.gone)
    report.deleted = len(plan.gone)
    has_erased = bool(plan.gone)
    for batch in split_into_batches(plan.rows, _measure_row):
        has_erased = has_erased or _loses_text(server, batch, plan.there)
        server.put(batch)
        report.sent += len(batch)
        progress(Progress(report.sent + report.waiting, plan.changed))
    if has_erased:
        server.erase()
    return report


def preview_push(
    database: Database, session: ModelSession, server: TeamServer, access: TeamAccess, limits: SharingLimits
) -> PushPreview:
    """Return what `push` would write and delete, and do nothing. Raises as `push`."""
    plan = _plan_push(database, session, server, access, limits)
    sample: Row = {}
    rows = size = 0
    longest: list[str] = []
    for row in plan.rows:
        sample = sample or row
        rows, size = rows + 1, size + _measure_row(row)
        longest = sorted([*longest, row["text"]], key=len, reverse=True)[:SHOWN_TEXTS]
    return PushPreview(rows, size, len(plan.gone), plan.report.waiting, plan.author, sample, tuple(longest))


class _Plan(NamedTuple):
    report: PushReport
    author: str
    gone: Sequence[str]
    changed: int
    """Number of rows to write, of which some may wait for a vector."""
    rows: Iterator[Row]
    there: Mapping[str, str]
    """Digests of this memory's rows there, by id."""


def _plan_push(
    database: Database, session: ModelSession, server: TeamServer, access: TeamAccess, limits: SharingLimits
) -> _Plan:
    report = PushReport()
    derive(database)
    member = find_own_member(database, access)
    for project in team.shared_projects(database, access.endpoint):
        (report.held_back if limits.keep_here(project) else report.projects).append(project)
    author = server.author or access.author
    there: dict[str, str] = {}
    if server.exists:
        if server.dim != session.dim:
            raise TeamUnavailable(
                f"the team's vectors have {server.dim} numbers, and those of your model have {session.dim}",
                "Use the team's model: pastchats-memory reindex --embeddings --model NAME.",
            )
        server.load()
        there = {row["id"]: row["digest"] for row in server.select(Condition(owner=member.id), ["id", "digest"])}
    shared = team_rows.Shared(member, author, team_rows.make_model_key(session))
    judgements = sync.judgements(database)
    wanted = _find_wanted(database, shared, judgements, limits, report.projects)
    changed = [id_ for id_, one in wanted.items() if there.get(id_) != one.digest]
    rows = _Source(database, session, shared, judgements, report).rows(wanted, changed)
    gone = sorted(there.keys() - wanted.keys())
    return _Plan(report, author, gone, len(changed), rows, there)


def _loses_text(server: TeamServer, batch: Sequence[Row], there: Container[str]) -> bool:
    """Return whether a row that is replaced has text that its new version lacks, such as a secret."""
    new = {row["id"]: row["text"] for row in batch if row["id"] in there}
    ids = list(new)
    earlier = (row for start in range(0, len(ids), IDS) for row in server.get(ids[start : start + IDS]))
    return any(not new[row["id"]].startswith(row["text"]) for row in earlier)


def withdraw(database: Database, access: TeamAccess, projects: Sequence[str]) -> None:
    """Share projects no more; the next `push` deletes them there. Raises UsageFault, StoreFault."""
    shared = team.shared_projects(database, access.endpoint)
    if unknown := [project for project in projects if project not in shared]:
        raise UsageFault(f"{unknown[0]} is not shared", "`pastchats-memory team status` lists what is.")
    with database.transaction():
        for project in projects:
            team.remove_project(database, access.endpoint, project)


def find_own_member(database: Database, access: TeamAccess) -> Member:
    """Return this memory's name there; a copy of the database on another computer gets a new one."""
    host = access.host or utf8(socket.gethostname()).partition(".")[0]
    known = team.load_member(database, access.endpoint)
    if known is not None and known.host == host:
        return known
    member = Member(access.endpoint, secrets.token_hex(8), host, secrets.token_bytes(32))
    with database.transaction():
        team.store_member(database, member)
    return member


def _measure_row(row: Row) -> int:
    return len(row["text"].encode()) + BYTES_OF_NUMBER * len(row["dense"]) + len(orjson.dumps(row["body"]))


def _find_wanted(
    database: Database, shared: team_rows.Shared, judgements: Judgements, limits: SharingLimits, projects: Iterable[str]
) -> dict[str, _Wanted]:
    """Return the rows that belong there, by id, without their texts."""
    rules, wanted = rules_version(), {}
    for project in projects:
        for turn in team.turn_versions(database, project):
            if not limits.excludes(turn.path):
                id_ = team_rows.make_row_id(shared.member, team_rows.TURN, turn.content_hash)
                wanted[id_] = _Wanted(team_rows.compute_version(turn.digest, shared, rules), project, turn)
        for episode in team.episodes(database, project):
            if not limits.excludes(episode.path):
                digest = sync.digest_of([list(episode), judgements.get(episode.content_hash)])
                id_ = team_rows.make_row_id(shared.member, team_rows.EPISODE, episode.content_hash)
                wanted[id_] = _Wanted(team_rows.compute_version(digest, shared, rules), project, episode)
    return wanted


@dataclass(frozen=True, slots=True)
class _Source:
    """Reads the rows to write from the database, with their vectors."""

    database: Database
    session: ModelSession
    shared: team_rows.Shared
    judgements: Judgements
    report: PushReport

    def rows(self, wanted: dict[str, _Wanted], changed: Sequence[str]) -> Iterator[Row]:
        """Yield the rows of some ids. Rows without a vector stay until one can be made."""
        for start in range(0, len(changed), BATCH):
            some = [wanted[id_] for id_ in changed[start : start + BATCH]]
            bodies = self._load_bodies([one.of.content_hash for one in some])
            for one in some:
                body = bodies.get(one.of.content_hash)
                if body is None or body["vector"] is None:
                    self.report.waiting += isinstance(one.of, TurnVersion)
                elif isinstance(one.of, TurnVersion):
                    yield team_rows.build_turn_row(self.shared, body, one.of, one.digest)
                else:
                    judgement = self.judgements.get(one.of.content_hash)
                    vector = orjson.loads(body["vector"])
                    yield team_rows.build_episode_row(self.shared, one.project, one.of, judgement, vector, one.digest)

    def _load_bodies(self, hashes: Sequence[str]) -> dict[str, Body]:
        """Return redacted turns by content_hash; a text that redaction changed is embedded again."""
        forgotten = sync.forgotten_turns(self.database, hashes)
        bodies = {
            body["content_hash"]: team_rows.redact_body(body)
            for body in sync.turn_bodies(self.database, sorted(set(hashes) - forgotten))
        }
        for body in bodies.values():
            if body["vector"] is None:
                (encoded,) = vectors.encode_or_defer(self.session, [body["content"]])
                body["vector"] = encoded or None
        return bodies


def require_projects(database: Database, access: TeamAccess) -> None:
    """Refuse to push before anything was shared. Raises UsageFault, StoreFault."""
    if not team.shared_projects(database, access.endpoint) and team.load_member(database, access.endpoint) is None:
        raise UsageFault("nothing is shared yet", "Share a project first: pastchats-memory team share PROJECT.")


def require_endpoint(endpoint: str | None) -> str:
    """Return the configured endpoint. Raises TeamUnavailable."""
    if endpoint is None:
        raise TeamUnavailable(
            "no team is configured",
            "Set team_endpoint in your own pastchats-memory.toml, such as postgresql://db.example.com/team.",
        )
    return endpoint
