"""What was read and when: the files that were looked at, and the runs that looked."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import orjson

from pastchats_memory.errors import ModelChanged
from pastchats_memory.model import Filters, Prompt
from pastchats_memory.store.database import Database
from pastchats_memory.store.filters import conditions
from pastchats_memory.store.live_events import LIVE


class SourceState(NamedTuple):
    """A file as it was when it was last read to its end."""

    path: str
    size: int
    """-1: it is being read, or the run that read it was ended."""
    mtime_ns: int
    recipe: str
    """Versions that decide what is made of the file."""
    format: str | None = None
    """None where it was not taken."""
    note: str | None = None
    """Why it was not taken, or what in it was not understood."""
    file_id: str | None = None
    """Device and inode."""
    fingerprint: str | None = None
    """Of its bytes (`ingest.changes.fingerprint`)."""
    project: str | None = None
    """What --project said of it."""
    problems: str | None = None
    """JSON: line and reason of what was not understood."""


COLUMNS = "path, size, mtime_ns, recipe, format, note, file_id, fingerprint, project, problems"


def known_sources(database: Database) -> dict[str, SourceState]:
    """Every file that was ever looked at, by path. Raises StoreFault."""
    return {row[0]: SourceState(*row) for row in database.run(f"SELECT {COLUMNS} FROM sources")}


def resume_of(database: Database, path: str) -> str | None:
    """The JSON that says where to go on in a file that has grown. Raises StoreFault."""
    found = database.value("SELECT resume FROM sources WHERE path = ?", (path,))
    return None if found is None else str(found)


def is_there(path: str) -> bool:
    """Whether a source still exists: the file, or of a member of an archive the archive."""
    return os.path.exists(path) or any(map(os.path.isfile, Path(path).parents))  # noqa: PTH110 - pathlib's raise below a closed folder on Python 3.11


def begin_source(database: Database, path: str, mtime_ns: int) -> int:
    """The id of a file whose turns are about to be stored; a new one counts as unread until `finish_source`."""
    database.run(
        "INSERT INTO sources(path, size, mtime_ns, recipe) VALUES (?, -1, ?, '') "
        "ON CONFLICT(path) DO UPDATE SET size = -1, mtime_ns = excluded.mtime_ns",
        (path, mtime_ns),
    )
    return int(database.value("SELECT id FROM sources WHERE path = ?", (path,)))


def finish_source(database: Database, state: SourceState, resume: str | None = None) -> None:
    """Remember that a file was read to its end, or looked at and not taken. Raises StoreFault."""
    names = COLUMNS.split(", ")
    database.run(
        f"INSERT INTO sources({COLUMNS}, resume) VALUES ({', '.join('?' * len(names))}, ?) ON CONFLICT(path) DO UPDATE SET "
        + ", ".join(f"{name} = excluded.{name}" for name in (*names[1:], "resume"))
        + ", indexed_at = CURRENT_TIMESTAMP",
        (*state, resume),
    )
    database.run("UPDATE tasks SET passage = NULL WHERE source_path = ? AND passage IS NOT NULL", (state.path,))


def move_source(database: Database, old: str, new: str, mtime_ns: int, file_id: str) -> None:
    """File everything of a source under its new path. Raises StoreFault."""
    database.run("UPDATE sources SET path = ?, mtime_ns = ?, file_id = ? WHERE path = ?", (new, mtime_ns, file_id, old))
    database.run("UPDATE prompts SET source_path = ? WHERE source_path = ?", (new, old))


def supersede(database: Database, source_id: int, seen: Iterable[int]) -> int:
    """Delete the rows of a rewritten file that are no longer in it nor anywhere else; how many. Raises StoreFault."""
    before = database.value("SELECT count(*) FROM prompts")
    gone = database.run(
        "SELECT prompt_id FROM sightings WHERE source_id = ? AND prompt_id NOT IN (SELECT value FROM json_each(?))",
        (source_id, orjson.dumps(list(seen)).decode()),
    )
    database.run_many(
        "DELETE FROM sightings WHERE source_id = ? AND prompt_id = ?", [(source_id, id_) for (id_,) in gone]
    )
    database.run_many(
        "DELETE FROM prompts WHERE id = ? AND NOT EXISTS (SELECT 1 FROM sightings WHERE prompt_id = prompts.id)", gone
    )
    return int(before - database.value("SELECT count(*) FROM prompts"))


def earlier_in(database: Database, path: str, content_hash: str, line: int) -> bool:
    """Whether a turn of this identity stands in the file before the line. Raises StoreFault."""
    return bool(
        database.run(
            "SELECT 1 FROM prompts p JOIN sightings g ON g.prompt_id = p.id JOIN sources s ON s.id = g.source_id "
            "WHERE p.content_hash = ? AND s.path = ? AND g.line < ?",
            (content_hash, path, line),
        )
    )


def runs_under_way(database: Database) -> list[int]:
    """Process ids of the runs that have not ended, or were ended without a word. Raises StoreFault."""
    return [pid for (pid,) in database.run("SELECT pid FROM runs WHERE outcome = 'running' AND pid IS NOT NULL")]


def begin_run(database: Database, inputs: list[str], model: str, pid: int) -> int:
    """The id of a run that has just started. Raises StoreFault."""
    return int(
        database.value(
            "INSERT INTO runs(started_at, inputs, model, pid) VALUES (strftime('%Y-%m-%dT%H:%M:%fZ'), ?, ?, ?) "
            "RETURNING id",
            (orjson.dumps(inputs).decode(), model, pid),
        )
    )


def finish_run(
    database: Database, run_id: int, counts: Mapping[str, int], duration_s: float | None, outcome: str
) -> None:
    """Write down how a run ended, or how far it is.

    Args:
        database: open for writing.
        run_id: of `begin_run`.
        counts: files_scanned, turns_added, turns_skipped, unreadable.
        duration_s: seconds.
        outcome: `done`, `interrupted` or `failed`; `running` says how far a run is.

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


# The rows of commands that were run, by which a command is found that nobody spoke of.

LINE = 400
"""Characters of a row in which its command stands."""


def latest_runs(database: Database, filters: Filters, most: int) -> list[tuple[int, str, str]]:
    """Id, project and command of the latest rows that pass the filters, the newest first. Raises StoreFault."""
    condition, values = conditions(filters._replace(excludes_pending=True))
    rows = database.run(
        f"SELECT p.id, p.source_project, substr(p.content, 3, {LINE}) FROM prompts p "
        f"WHERE p.role = 'tool' AND p.content LIKE '$ %' AND {condition} ORDER BY p.timestamp DESC, p.id DESC LIMIT ?",
        (*values, most),
    )
    return [(id_, project, text.partition("\n")[0].strip()) for id_, project, text in rows]


# Where projects lie, and which of them are private: their text is recalled only inside them.

UNSEEN = -1
"""`is_private` of a folder in which nobody has looked for a project's file yet."""

REDACTED = "[redacted:"
"""In the name of a folder: where it lies is no longer known, so what it says of its project is not, and it counts as private."""


def folders_of(prompts: Iterable[Prompt]) -> dict[str, str]:
    """The folders that turns come from, with their projects."""
    return {
        prompt.turn.cwd or str(Path(prompt.source_path).parent): prompt.project
        for prompt in prompts
        if prompt.turn.cwd or prompt.metadata.get("format") != LIVE
    }


def remember(database: Database, folders: Mapping[str, str]) -> None:
    """Note folders that text comes from, with their projects; inside the caller's transaction. Raises StoreFault."""
    database.run_many(
        "INSERT OR IGNORE INTO project_folders(folder, project, is_private) VALUES (?, ?, ?)",
        [(folder, project, REDACTED in folder or UNSEEN) for folder, project in folders.items()],
    )


def names(database: Database) -> list[str]:
    """Of every project that turns or tasks are filed under. Raises StoreFault."""
    rows = database.run("SELECT source_project FROM prompts UNION SELECT project FROM tasks")
    return [name for (name,) in rows if name]


def folders(database: Database) -> list[tuple[str, str]]:
    """Every folder with its project. Raises StoreFault."""
    return [(folder, project) for folder, project in database.run("SELECT folder, project FROM project_folders")]


def set_private(database: Database, by_folder: Iterable[tuple[str, bool]]) -> None:
    """Remember what folders say of their projects; inside the caller's transaction. Raises StoreFault."""
    database.run_many(
        "UPDATE project_folders SET is_private = ? WHERE folder = ?",
        [(is_private, folder) for folder, is_private in by_folder],
    )


def keep_private(database: Database, names: Iterable[str]) -> None:
    """Let projects stay private whose folders nobody has looked in here; inside the caller's transaction. Raises StoreFault."""
    database.run_many(
        "UPDATE project_folders SET is_private = 1 WHERE project = ? AND is_private = ?",
        [(name, UNSEEN) for name in names],
    )


def private(database: Database) -> tuple[frozenset[str], list[tuple[str, str]]]:
    """Names of the private projects; and folders, with their projects, in which nobody has looked yet. Raises StoreFault."""
    rows = database.run("SELECT folder, project, is_private FROM project_folders WHERE is_private")
    known = frozenset(project for _, project, is_private in rows if is_private != UNSEEN)
    return known, [(folder, project) for folder, project, is_private in rows if is_private == UNSEEN]
