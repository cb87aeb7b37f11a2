"""Report what a memory holds, check its database, and rebuild what a damaged one lost."""

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pastchats_memory.embed import Embedder
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.embed.session import ModelSession
from pastchats_memory.errors import ModelChanged, ModelUnavailable
from pastchats_memory.fields import As, Count, LooseTime, Narrowed, Time, View, one_of
from pastchats_memory.files.faults import explain_os_error
from pastchats_memory.redact.rules_version import rules_version
from pastchats_memory.store import checks, failures, redactions, scrub, sources, task_rows, turns, vectors
from pastchats_memory.store.atomic_file import remove_abandoned
from pastchats_memory.store.database import Database, side_files
from pastchats_memory.store.probe import find_refusal
from pastchats_memory.store.recalled import Week, list_weeks
from pastchats_memory.store.recover import Recovered
from pastchats_memory.store.tasks import TaskTexts
from pastchats_memory.store.token_use import TokenUse
from pastchats_memory.store.vectors import vec0
from pastchats_memory.text.display import counted
from pastchats_memory.text.encoding import utf8

REPAIR = "Run `pastchats-memory doctor --yes`: it recovers what it can into a new database and keeps the damaged one."


class LastRunView(View):
    """The last indexing run."""

    started_at: Time
    files_scanned: Count
    turns_added: Count
    turns_skipped: Count
    unreadable: Count
    duration_s: Annotated[float | None, {"minimum": 0}]
    outcome: Annotated[str, one_of("running", "done", "interrupted", "failed")]


@dataclass(frozen=True, slots=True)
class Status:
    """Contents and state of the memory."""

    database: Annotated[str, "Path of the file."]
    bytes: Annotated[int, {"minimum": 1}]
    turns: Count
    by_role: dict[str, Annotated[int, {"minimum": 1}]]
    tasks: Annotated[dict[str, Annotated[int, {"minimum": 1}]], "Number of tasks by status."]
    projects: Count
    sources: Annotated[Count, "Files that turns were read from."]
    gone: Annotated[Count, "Files that are no longer on the disk; their turns are kept."]
    embeddings: Count
    indexed: Annotated[Count, "Rows that have a vector: turns, notes, and texts of tasks."]
    going: Annotated[Count, "Forgotten rows that no search finds and that are still to be deleted."]
    pending: Annotated[Count, "Rows that await a vector of next_model."]
    pending_vectors: Annotated[Count, "Rows whose vector awaits a model that can be used; words find them."]
    model: str | None
    model_version: str | None
    next_model: Annotated[str | None, "The model that the database is being changed to."]
    last_reindex_at: LooseTime
    dim: Annotated[int | None, {"minimum": 1}]
    engine: Annotated[str, one_of("vec0", "exact")]
    """`vec0` (sqlite-vec) or `exact` (NumPy)."""
    behind: Annotated[Count, "Rows that the engine has yet to take over; they are searched anyway."]
    first: Time
    last: Time
    """Timestamps of the oldest (`first`) and the newest turn."""
    last_run: Annotated[dict[str, object] | None, As(LastRunView | None)]
    given: Annotated[tuple[Week, ...], "Memories that hooks gave to agents, by week, the newest first."]
    tokens: Annotated[tuple[TokenUse, ...], "Of the 30 days that end with the newest turn, as agents reported them."]
    is_redacted: Annotated[
        bool, "True: all rows were redacted by the rules of this release; else `redact --rescan` does it."
    ]


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """A check of the doctor."""

    check: str
    """Name of the check, such as `database`."""
    is_well: bool
    detail: Annotated[str, {"minLength": 1}]
    remedy: Annotated[
        str, "What to do if the check failed; may be empty otherwise.", Narrowed("is_well", (False,), {"minLength": 1})
    ] = ""


@dataclass(frozen=True, slots=True)
class RepairReport:
    """Rows that were recovered from a damaged database."""

    recovered: Recovered
    lacked: int
    """Number of turns whose vector was lost and computed again."""
    put_aside: Path | None
    """New path of the damaged file."""

    @property
    def detail(self) -> str:
        """The result in one sentence."""
        rows = self.recovered.rows
        altered = f", {self.recovered.altered:,} of them altered" if self.recovered.altered else ""
        return f"recovered {rows['prompts']:,} turns{altered} and {rows['tasks']:,} tasks; the damaged file is {self.put_aside}"

    @property
    def remedy(self) -> str:
        """The next step for the user."""
        index = "Run `pastchats-memory index` on your transcripts: it restores what they still contain."
        if {"forgettings", "forgotten"} & set(self.recovered.damaged):
            return f"Part of the record of forgotten items is lost: forget them again after indexing. {index}"
        return index


def read_status(database: Database, tokens: tuple[TokenUse, ...]) -> Status:
    """Return the contents of a memory in numbers."""
    counts = checks.counts(database)
    size = sum(path.stat().st_size for path in (database.path, *side_files(database.path)) if path.exists())
    return Status(
        database=utf8(str(database.path)),
        bytes=size,
        gone=_count_gone(checks.source_paths(database)),
        given=list_weeks(database),
        tokens=tokens,
        is_redacted=redactions.are_all_by(database, rules_version()),
        tasks=task_rows.count_by_status(database),
        **counts,
    )


def check_health(database: Database, embedder: Embedder) -> list[HealthCheck]:
    """Run every check, the most serious first. Raises StoreFault if the file cannot be read at all."""
    return [
        _check_rows(database),
        _check_embeddings(database),
        _check_deletions(database),
        _check_secrets(database),
        _check_permissions(database.path),
        _check_place(database),
        _check_model(database, ModelSession.of(embedder)),
        _check_engine(database),
        _check_sources(database),
        _check_failures(database),
    ]


def rebuild_derived(database: Database, embedder: Embedder) -> int:
    """Rebuild what is derived from recovered rows: vectors, which may be pending, task texts, both engines.

    Return the number of turns that had no vector.
    """
    session = sources.open_session(database, embedder)
    done = 0
    while lacking := checks.some_without_embedding(database):
        encoded = vectors.encode_or_defer(session, [text for _, text in lacking])
        with sources.vector_transaction(database, session):
            turns.set_vectors(database, session.name, dict(zip([id_ for id_, _ in lacking], encoded, strict=True)))
        done += len(lacking)
    with sources.vector_transaction(database, session):
        texts = TaskTexts(database, session, {})
        for id_ in checks.task_ids(database):
            texts.refresh(id_)
        vectors.catch_up(database)
    return done


def _check_rows(database: Database) -> HealthCheck:
    damage = checks.damage(database) or checks.find_faults(database)
    if damage:
        return HealthCheck("database", is_well=False, detail="; ".join(damage[:3]), remedy=REPAIR)
    return HealthCheck("database", is_well=True, detail="intact")


def _check_embeddings(database: Database) -> HealthCheck:
    missing = checks.without_embedding(database)
    if missing:
        return HealthCheck("embeddings", is_well=False, detail=f"{missing} turns have no vector", remedy=REPAIR)
    pending = vectors.count_pending(database)
    await_model = f"; {pending:,} await a model that can be used" if pending else ""
    return HealthCheck("embeddings", is_well=True, detail=f"every turn has one{await_model}")


def _check_failures(database: Database) -> HealthCheck:
    """Report what hooks can tell before a call and after an error."""
    total, cured = failures.count(database)
    return HealthCheck("failures", is_well=True, detail=f"{total:,} failed commands and edits, {cured:,} with a cure")


def _check_deletions(database: Database) -> HealthCheck:
    """Finish pending deletions if the database can be written."""
    remove_abandoned(database.path)
    is_erased = scrub.finish_scrub(database) if database.writable else not scrub.is_due(database)
    if is_erased:
        detail = "none is unfinished; after each, the file was searched for the text, or written anew"
        return HealthCheck("deletions", is_well=True, detail=detail)
    return HealthCheck(
        "deletions",
        is_well=False,
        detail="the last deleted text is still in the file",
        remedy="End the other processes that read this database, and run `pastchats-memory doctor` again.",
    )


def _check_secrets(database: Database) -> HealthCheck:
    is_redacted = redactions.are_all_by(database, rules_version())
    return HealthCheck(
        "secrets",
        is_redacted,
        "redacted by the rules of this release" if is_redacted else "redacted by the rules of another release",
        "Run `pastchats-memory redact --rescan`.",
    )


def _check_permissions(path: Path) -> HealthCheck:
    exposed = [
        file for file in (path, *side_files(path)) if file.exists() and stat.S_IMODE(file.stat().st_mode) & 0o077
    ]
    return HealthCheck(
        "permissions",
        not exposed or os.name == "nt",
        "only you can read it" if not exposed else f"others may read {exposed[0]}",
        f"Run `chmod 600 {exposed[0]}`." if exposed else "",
    )


def _check_place(database: Database) -> HealthCheck:
    refusal = find_refusal(database.path) if database.writable else None
    fault = explain_os_error(refusal, str(database.path.parent)) if refusal else None
    if fault:
        return HealthCheck("place", is_well=False, detail=utf8(fault.message), remedy=fault.hint)
    return HealthCheck("place", is_well=True, detail="the file system locks, maps and has room")


def _check_model(database: Database, session: ModelSession) -> HealthCheck:
    try:
        if isinstance(session.embedder, PackagedEmbedder):
            session.embedder.refuse_altered()
        session.embed_query("ready")
        sources.require_model(database, session.name, session.version)
    except (ModelUnavailable, ModelChanged) as fault:
        return HealthCheck("model", is_well=False, detail=fault.message, remedy=fault.hint)
    return HealthCheck("model", is_well=True, detail=f"{session.name} answers")


def _check_engine(database: Database) -> HealthCheck:
    if vectors.engine_of(database) == "vec0":
        detail = "sqlite-vec is loaded"
    elif not database.vec0_loaded:
        detail = "sqlite-vec does not load; the exact engine gives the same results"
    elif vec0.is_there(database):
        detail = f"from about {vectors.VEC0_ROWS:,} vectors on, the exact engine is faster than sqlite-vec, with the same results"
    else:
        detail = "sqlite-vec is loaded, but its table is not built yet; the exact engine gives the same results"
    return HealthCheck("engine", is_well=True, detail=detail)


def _check_sources(database: Database) -> HealthCheck:
    paths = checks.source_paths(database)
    gone = _count_gone(paths)
    rest = f", {gone} no longer there; their turns stay in the memory" if gone else ", all there"
    return HealthCheck("sources", is_well=True, detail=f"{counted(len(paths), 'file')}{rest}")


def _count_gone(paths: Iterable[str]) -> int:
    return sum(not sources.is_there(path) for path in paths)
