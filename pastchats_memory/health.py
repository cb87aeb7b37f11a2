"""How the memory is: what it holds, and whether all of it is whole."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pastchats_memory.embed import Embedder
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.errors import ModelChanged, ModelUnavailable
from pastchats_memory.model import utf8
from pastchats_memory.redact.rules_version import rules_version
from pastchats_memory.store import checks, deletion, redactions, sources, trigrams, turns, vectors
from pastchats_memory.store.database import Database, side_files
from pastchats_memory.store.recover import Saved
from pastchats_memory.store.tasks import TaskTexts
from pastchats_memory.store.vectors import vec0

MEND = "Run `pastchats-memory doctor --yes`: it saves what can be saved in a new database and keeps this one beside it."


@dataclass(frozen=True, slots=True)
class Status:
    """What a memory holds and how it answers."""

    database: str
    bytes: int
    turns: int
    by_role: dict[str, int]
    projects: int
    sources: int
    gone: int
    """Of the files those that are no longer there; what was read from them is kept."""
    embeddings: int
    indexed: int
    """Rows that have a vector: turns, notes, and texts of tasks."""
    going: int
    """Rows that are forgotten and found by nobody, but still to be deleted, and counted until then."""
    pending: int
    """Rows that await a vector of `next_model`."""
    model: str | None
    model_version: str | None
    next_model: str | None
    """What the database is being changed to; None where it is not."""
    last_reindex_at: str | None
    dim: int | None
    engine: str
    """`vec0` (sqlite-vec) or `exact` (NumPy)."""
    behind: int
    """Rows that the engine has yet to catch up with; they are searched all the same."""
    whole_words_only: int
    """Rows of an older release in which no parts of words are found until the next index run."""
    unpacked: int
    """Vectors of an older release that are read as JSON, which takes longer, until then."""
    first: str | None
    last: str | None
    """Timestamps of the oldest and the newest turn."""
    last_run: dict[str, object] | None
    is_redacted: bool
    """All that is stored was redacted by the rules of this release."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One check of the doctor."""

    check: str
    is_well: bool
    detail: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Mended:
    """What became of a damaged database."""

    saved: Saved
    lacked: int
    """Turns that had no vector any more, and have one again."""
    put_aside: Path | None
    """Where the damaged file is now."""

    @property
    def detail(self) -> str:
        """In a sentence."""
        rows = self.saved.rows
        altered = f", {self.saved.altered:,} of them altered" if self.saved.altered else ""
        return f"saved {rows['prompts']:,} turns{altered} and {rows['tasks']:,} tasks; the damaged file is {self.put_aside}"

    @property
    def remedy(self) -> str:
        """What a person does next."""
        lost = "Run `pastchats-memory index` on your transcripts: it brings back what they still have."
        if {"forgettings", "forgotten"} & set(self.saved.damaged):
            return f"Some of what was forgotten is not known any more: forget it again after indexing. {lost}"
        return lost


def status(database: Database) -> Status:
    """Count what is there. Raises StoreFault."""
    counts = checks.counts(database)
    size = sum(path.stat().st_size for path in (database.path, *side_files(database.path)) if path.exists())
    return Status(
        database=utf8(str(database.path)),
        bytes=size,
        gone=_gone(checks.source_paths(database)),
        is_redacted=redactions.are_all_by(database, rules_version()),
        **counts,
    )


def examine(database: Database, embedder: Embedder) -> list[Finding]:
    """Every check, the damaging ones first. Raises StoreFault when the file cannot even be read."""
    return [
        *_database_findings(database),
        _derived(database),
        _erased(database),
        _redacted(database),
        _permissions(database.path),
        _model(database, embedder),
        _extension(database),
        _sources(database),
    ]


def complete(database: Database, embedder: Embedder) -> int:
    """Give all that was saved what is derived from it: vectors, texts of tasks, both engines; how many turns lacked a vector.

    Raises:
        ModelUnavailable: the database's model cannot be had.
        StoreFault: it cannot be written.
    """
    embedder.load()
    with database.transaction():
        sources.claim_model(database, embedder.name, embedder.version, embedder.dim)
    done = 0
    while lacking := checks.some_without_embedding(database):
        encoded = zip(lacking, embedder.embed([text for _, text in lacking]), strict=True)
        with database.transaction():
            for (id_, _), vector in encoded:
                turns.embed(database, id_, embedder.name, vectors.encode(vector))
        done += len(lacking)
    with database.transaction():
        texts = TaskTexts(
            database, embedder.name, lambda some: [vectors.encode(one) for one in embedder.embed(some)], {}
        )
        for id_ in checks.task_ids(database):
            texts.refresh(id_)
        vectors.catch_up(database)
    vectors.pack_all(database)
    return done


def _database_findings(database: Database) -> list[Finding]:
    damage = checks.damage(database) or checks.faulty(database)
    findings = [
        Finding("database", not damage, "whole" if not damage else "; ".join(damage[:3]), MEND if damage else "")
    ]
    orphans = checks.without_embedding(database)
    findings.append(
        Finding(
            "embeddings",
            orphans == 0,
            "one for every turn" if not orphans else f"{orphans} turns without one",
            MEND if orphans else "",
        )
    )
    return findings


def _derived(database: Database) -> Finding:
    left = {
        "rows of an older release are searched for whole words only": trigrams.behind(database),
        "vectors of an older release are read as JSON, which takes longer": vectors.unpacked(database),
    }
    said = [f"{count:,} {what}" for what, count in left.items() if count]
    return Finding(
        "derived",
        not said,
        "; ".join(said) or "all that is made of the rows is there",
        "Run `pastchats-memory index`: it makes what is missing.",
    )


def _erased(database: Database) -> Finding:
    """Finishes what is left to do."""
    is_erased = deletion.finish_scrub(database) if database.writable else not deletion.is_due(database)
    return Finding(
        "deletions",
        is_erased,
        "nothing that was deleted is in the file" if is_erased else "what was deleted last is still in the file",
        ""
        if is_erased
        else "End the other processes that read this database, and run `pastchats-memory doctor` again.",
    )


def _redacted(database: Database) -> Finding:
    is_redacted = redactions.are_all_by(database, rules_version())
    return Finding(
        "secrets",
        is_redacted,
        "taken out by the rules of this release" if is_redacted else "taken out by other rules than this release has",
        "Run `pastchats-memory redact --rescan`.",
    )


def _permissions(path: Path) -> Finding:
    open_to = [
        file for file in (path, *side_files(path)) if file.exists() and stat.S_IMODE(file.stat().st_mode) & 0o077
    ]
    return Finding(
        "permissions",
        not open_to or os.name == "nt",
        "only you can read it" if not open_to else f"others may read {open_to[0]}",
        f"Run `chmod 600 {open_to[0]}`." if open_to else "",
    )


def _model(database: Database, embedder: Embedder) -> Finding:
    try:
        if isinstance(embedder, PackagedEmbedder):
            embedder.refuse_altered()
        embedder.embed_query("ready")
        sources.require_model(database, embedder.name, embedder.version)
    except (ModelUnavailable, ModelChanged) as fault:
        return Finding("model", is_well=False, detail=fault.message, remedy=fault.hint)
    return Finding("model", is_well=True, detail=f"{embedder.name} answers")


def _extension(database: Database) -> Finding:
    if vectors.engine_of(database) == "vec0":
        detail = "sqlite-vec is loaded"
    elif not database.vec0_loaded:
        detail = "sqlite-vec does not load; the exact engine answers the same"
    elif vec0.is_there(database):
        detail = f"from about {vectors.VEC0_ROWS:,} vectors on the exact engine is faster than sqlite-vec, and answers the same"
    else:
        detail = "sqlite-vec is loaded and its table not made yet; the exact engine answers the same"
    return Finding("engine", is_well=True, detail=detail)


def _sources(database: Database) -> Finding:
    paths = checks.source_paths(database)
    gone = _gone(paths)
    return Finding(
        "sources",
        is_well=True,
        detail=f"{len(paths)} file{'' if len(paths) == 1 else 's'}"
        + (f", {gone} of them gone; what was read from them is kept" if gone else ", all there"),
    )


def _gone(paths: Iterable[str]) -> int:
    return sum(not sources.is_there(path) for path in paths)
