"""What was read and when: the files that were looked at, and the runs that looked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import orjson

from pastchats_memory.errors import ModelChanged
from pastchats_memory.store.database import Database


@dataclass(frozen=True, slots=True)
class SourceState:
    """A file as it was when it was last read to its end."""

    path: str
    size: int
    mtime_ns: int
    recipe: str
    """Readers' versions and the options that decide what is made of the file."""
    format: str | None = None
    """None where it was not taken."""
    note: str | None = None
    """Why it was not taken, or what in it was not understood."""


def known_sources(database: Database) -> dict[str, SourceState]:
    """Every file that was ever read to its end, by path. Raises StoreFault."""
    rows = database.run("SELECT path, size, mtime_ns, recipe, format, note FROM sources")
    return {row[0]: SourceState(*row) for row in rows}


def begin_source(database: Database, path: str, mtime_ns: int) -> int:
    """The id of a file whose turns are about to be stored; a new one counts as unread until `finish_source`."""
    database.run(
        "INSERT INTO sources(path, size, mtime_ns, recipe) VALUES (?, -1, ?, '') "
        "ON CONFLICT(path) DO UPDATE SET size = -1, mtime_ns = excluded.mtime_ns",
        (path, mtime_ns),
    )
    return int(database.value("SELECT id FROM sources WHERE path = ?", (path,)))


def finish_source(database: Database, state: SourceState) -> None:
    """Remember that a file was read to its end, or looked at and not taken. Raises StoreFault."""
    database.run(
        "INSERT INTO sources(path, size, mtime_ns, recipe, format, note) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT(path) DO UPDATE SET size = excluded.size, mtime_ns = excluded.mtime_ns, recipe = excluded.recipe, "
        "format = excluded.format, note = excluded.note, indexed_at = CURRENT_TIMESTAMP",
        (state.path, state.size, state.mtime_ns, state.recipe, state.format, state.note),
    )


def begin_run(database: Database, inputs: list[str], model: str) -> int:
    """The id of a run that has just started. Raises StoreFault."""
    return int(
        database.value(
            "INSERT INTO runs(started_at, inputs, model) VALUES (strftime('%Y-%m-%dT%H:%M:%fZ'), ?, ?) RETURNING id",
            (orjson.dumps(inputs).decode(), model),
        )
    )


def finish_run(database: Database, run_id: int, counts: Mapping[str, int], duration_s: float, outcome: str) -> None:
    """Write down how a run ended.

    Args:
        database: open for writing.
        run_id: of `begin_run`.
        counts: files_scanned, turns_added, turns_skipped, unreadable.
        duration_s: seconds.
        outcome: `done`, `interrupted` or `failed`.

    Raises:
        StoreFault: it was not written.
    """
    database.run(
        "UPDATE runs SET files_scanned = :files_scanned, turns_added = :turns_added, turns_skipped = :turns_skipped, "
        "unreadable = :unreadable, duration_s = :duration_s, outcome = :outcome WHERE id = :run_id",
        {**counts, "duration_s": duration_s, "outcome": outcome, "run_id": run_id},
    )


def set_meta(database: Database, values: Mapping[str, str]) -> None:
    """Write keys of `embedding_meta`. Raises StoreFault."""
    database.run_many("INSERT OR REPLACE INTO embedding_meta(key, value) VALUES (?, ?)", list(values.items()))


def meta(database: Database) -> dict[str, str]:
    """All of `embedding_meta`. Raises StoreFault."""
    return dict(database.run("SELECT key, value FROM embedding_meta"))


def require_model(database: Database, name: str, version: str) -> None:
    """Let only the model pass whose vectors are stored, or any where none are: two models' vectors cannot be compared.

    Raises:
        ModelChanged: they were made by another model, or by another version of it.
    """
    known = meta(database)
    if "model_name" in known and (known["model_name"], known.get("model_version")) != (name, version):
        raise ModelChanged(
            f"the vectors in {database.path} are of {known['model_name']} {known.get('model_version')}, "
            f"and this release has {name} {version}",
            "Change the vectors to it: pastchats-memory reindex --embeddings.",
        )


@contextmanager
def vectors_of(database: Database, name: str, version: str) -> Iterator[None]:
    """A transaction that writes vectors of a model; ModelChanged where another process has changed it meanwhile."""
    with database.transaction():
        require_model(database, name, version)
        yield


def claim_model(database: Database, name: str, version: str, dim: int) -> None:
    """Write down whose vectors the database has from now on. Raises ModelChanged where it has another's."""
    require_model(database, name, version)
    if "model_name" not in meta(database):
        now = datetime.now(UTC).isoformat(timespec="seconds")
        written = {"model_name": name, "model_version": version, "embedding_dim": str(dim), "last_reindex_at": now}
        set_meta(database, written)
