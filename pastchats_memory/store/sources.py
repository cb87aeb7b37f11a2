"""Store which files were read and when, the runs that read them, the folders of projects, and `embedding_meta`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import orjson

from pastchats_memory.errors import ModelChanged, ModelUnavailable
from pastchats_memory.model import Filters, Prompt
from pastchats_memory.store.database import LISTED, Database, bind_list
from pastchats_memory.store.filters import conditions
from pastchats_memory.store.live_events import LIVE

if TYPE_CHECKING:
    from pastchats_memory.embed import Embedder
    from pastchats_memory.embed.session import ModelSession, Say


class SourceState(NamedTuple):
    """State of a file when it was last read to its end."""

    path: str
    size: int
    """Bytes; -1 while it is being read, or after an interrupted run."""
    mtime_ns: int
    recipe: str
    """Versions of the format and of the recipe of identities."""
    format: str | None = None
    """None if it was skipped."""
    note: str | None = None
    """Why it was skipped, or which part was not understood."""
    file_id: str | None = None
    """Device and inode."""
    fingerprint: str | None = None
    """Keyed digest of its bytes (`ingest.changes.fingerprint`)."""
    project: str | None = None
    """The project given with --project."""
    problems: str | None = None
    """JSON: line and reason of each unreadable part."""
    read_as: str | None = None
    """JSON of the format and the map that the user named (`ingest.options.ReadAs`); None if it was detected."""


EMPTY = "empty"
"""Note of a file of which nothing was taken, and in which a session may still be written."""
LAST_RUNS = 16
"""Runs among which an unfinished one is looked for; hooks add many runs a day."""
COLUMNS = "path, size, mtime_ns, recipe, format, note, file_id, fingerprint, project, problems, read_as"


def known_sources(database: Database) -> dict[str, SourceState]:
    """Return the state of every known file, by path."""
    return {row[0]: SourceState(*row) for row in database.run(f"SELECT {COLUMNS} FROM sources")}


def unread_sources(database: Database) -> list[SourceState]:
    """Return the files of which some lines, or all, were not understood, by path."""
    found = database.run(f"SELECT {COLUMNS} FROM sources WHERE note IS NOT NULL ORDER BY path")
    return [SourceState(*row) for row in found]


def reading_state(database: Database, path: str) -> str | None:
    """Return the JSON with which a reader resumes in a file that has grown."""
    found = database.value("SELECT resume FROM sources WHERE path = ?", (path,))
    return None if found is None else str(found)


def is_there(path: str) -> bool:
    """Return whether a source still exists; for a member of an archive, the archive."""
    nearest = path
    while not os.path.exists(nearest) and (above := os.path.dirname(nearest)) != nearest:  # noqa: PTH110, PTH120 - pathlib's raise below a closed folder on Python 3.11
        nearest = above
    return nearest == path or os.path.isfile(nearest)  # noqa: PTH113 - as above


def begin_source(database: Database, path: str, mtime_ns: int) -> int:
    """Return the id of a file whose turns are about to be stored. It counts as unread until `finish_source`."""
    database.run(
        "INSERT INTO sources(path, size, mtime_ns, recipe) VALUES (?, -1, ?, '') "
        "ON CONFLICT(path) DO UPDATE SET size = -1, mtime_ns = excluded.mtime_ns",
        (path, mtime_ns),
    )
    return database.number("SELECT id FROM sources WHERE path = ?", (path,))


def name_source(database: Database, path: str) -> int:
    """Return the id of a file that cannot be read here; it counts as unread."""
    database.run("INSERT OR IGNORE INTO sources(path, size, mtime_ns, recipe) VALUES (?, -1, 0, '')", (path,))
    return database.number("SELECT id FROM sources WHERE path = ?", (path,))


def finish_source(database: Database, state: SourceState, resume: str | None = None) -> None:
    """Store that a file was read to its end, or skipped."""
    names = COLUMNS.split(", ")
    database.run(
        f"INSERT INTO sources({COLUMNS}, resume) VALUES ({', '.join('?' * len(names))}, ?) ON CONFLICT(path) DO UPDATE SET "
        + ", ".join(f"{name} = excluded.{name}" for name in (*names[1:], "resume"))
        + ", indexed_at = CURRENT_TIMESTAMP",
        (*state, resume),
    )
    database.run("UPDATE tasks SET passage = NULL WHERE source_path = ? AND passage IS NOT NULL", (state.path,))


def move_source(database: Database, old: str, new: str, mtime_ns: int, file_id: str) -> None:
    """Give a source and its turns a new path."""
    database.run("UPDATE sources SET path = ?, mtime_ns = ?, file_id = ? WHERE path = ?", (new, mtime_ns, file_id, old))
    database.run("UPDATE prompts SET source_path = ? WHERE source_path = ?", (new, old))


def supersede(database: Database, source_id: int, seen: Iterable[int]) -> int:
    """Delete rows of a rewritten file, but for those seen in it, that occur nowhere any more; return their number."""
    before = database.value("SELECT count(*) FROM prompts")
    gone = database.run(
        f"SELECT prompt_id FROM sightings WHERE source_id = ? AND prompt_id NOT IN {LISTED}",
        (source_id, bind_list(seen)),
    )
    database.run_many(
        "DELETE FROM sightings WHERE source_id = ? AND prompt_id = ?", [(source_id, id_) for (id_,) in gone]
    )
    database.run_many(
        "DELETE FROM prompts WHERE id = ? AND NOT EXISTS (SELECT 1 FROM sightings WHERE prompt_id = prompts.id)", gone
    )
    return int(before - database.value("SELECT count(*) FROM prompts"))


def occurs_before(database: Database, path: str, content_hash: str, line: int) -> bool:
    """Return whether a turn with this identity occurs in the file before the line."""
    return bool(
        database.run(
            "SELECT 1 FROM prompts p JOIN sightings g ON g.prompt_id = p.id JOIN sources s ON s.id = g.source_id "
            "WHERE p.content_hash = ? AND s.path = ? AND g.line < ?",
            (content_hash, path, line),
        )
    )


def has_turn(database: Database, content_hash: str) -> bool:
    """Return whether a turn with this identity is stored."""
    return bool(database.run("SELECT 1 FROM prompts WHERE content_hash = ?", (content_hash,)))


def running_processes(database: Database) -> list[int]:
    """Return process ids of the index runs that have not ended, or were killed."""
    return database.column("SELECT pid FROM runs WHERE outcome = 'running' AND pid IS NOT NULL")


class UnfinishedRun(NamedTuple):
    """An index run that has stored a part of what it found."""

    pid: int
    turns: int
    """Turns that it has added."""
    files: int
    """Files that it found."""
    files_read: int
    """Files that were read to their end since it began."""


def find_unfinished_run(database: Database) -> UnfinishedRun | None:
    """Return the newest run that has stored a batch and not ended, or was killed; None if there is none."""
    found = database.run(
        "SELECT pid, turns_added, files_scanned, (SELECT count(*) FROM sources WHERE size >= 0 AND indexed_at >= "
        "strftime('%Y-%m-%d %H:%M:%S', started_at)) FROM runs WHERE outcome = 'running' AND pid IS NOT NULL "
        f"AND turns_added > 0 AND id > (SELECT max(id) FROM runs) - {LAST_RUNS} ORDER BY id DESC LIMIT 1"
    )
    return UnfinishedRun(*found[0]) if found else None


def begin_run(database: Database, inputs: list[str], model: str, pid: int, *, is_narrow: bool = False) -> int:
    """Store the start of an index run and return its id."""
    return database.number(
        "INSERT INTO runs(started_at, inputs, is_narrow, model, pid) "
        "VALUES (strftime('%Y-%m-%dT%H:%M:%fZ'), ?, ?, ?, ?) RETURNING id",
        (orjson.dumps(inputs).decode(), is_narrow, model, pid),
    )


def named_inputs(database: Database) -> list[str]:
    """Return the paths that were ever named for a run that wanted all of their files."""
    return database.column("SELECT DISTINCT value FROM runs, json_each(runs.inputs) WHERE NOT is_narrow ORDER BY value")


def finish_run(
    database: Database, run_id: int, counts: Mapping[str, int], duration_s: float | None, outcome: str
) -> None:
    """Store how a run ended, or how far it is.

    `counts` are files_scanned, turns_added, turns_skipped and unreadable. `outcome` is `done`, `interrupted` or `failed`;
    `running` for its progress.
    """
    database.run(
        "UPDATE runs SET files_scanned = :files_scanned, turns_added = :turns_added, turns_skipped = :turns_skipped, "
        "unreadable = :unreadable, duration_s = :duration_s, outcome = :outcome WHERE id = :run_id",
        {**counts, "duration_s": duration_s, "outcome": outcome, "run_id": run_id},
    )


def set_meta(database: Database, values: Mapping[str, str]) -> None:
    """Write keys of `embedding_meta`."""
    database.run_many("INSERT OR REPLACE INTO embedding_meta(key, value) VALUES (?, ?)", list(values.items()))


def meta(database: Database) -> dict[str, str]:
    """Return all keys of `embedding_meta` with their values."""
    return database.mapping("SELECT key, value FROM embedding_meta")


def require_model(database: Database, name: str, version: str) -> None:
    """Accept only the model of the stored vectors, or any if there are none: vectors of two models cannot be compared.

    Raises ModelChanged.
    """
    known = meta(database)
    if "model_name" in known and (known["model_name"], known.get("model_version")) != (name, version):
        raise ModelChanged(
            f"the vectors in {database.path} are of {known['model_name']} {known.get('model_version')}, "
            f"and this release has {name} {version}",
            "Change the vectors to it: pastchats-memory reindex --embeddings.",
        )


def open_session(database: Database, embedder: Embedder, say: Say | None = None) -> ModelSession:
    """Return the session of an operation that writes or compares vectors; a session is returned as it is.

    If the stored vectors are of another model, it makes none. `say` gets one warning at most.
    """
    from pastchats_memory.embed.session import ModelSession, say_nothing  # brings NumPy, which words alone do without

    if isinstance(embedder, ModelSession):
        return embedder
    return ModelSession(embedder, lambda model: _require_if_known(database, model), say or say_nothing)


def _require_if_known(database: Database, embedder: Embedder) -> None:
    """Compare the models only if there is one to compare with: the version of an endpoint's model costs a request."""
    if "model_name" in meta(database):
        require_model(database, embedder.name, embedder.version)


@contextmanager
def vector_transaction(database: Database, session: ModelSession) -> Iterator[None]:
    """Write vectors in one transaction, and the model of a new database's vectors.

    Raises ModelChanged if another process has changed the model since the session made vectors.
    """
    with database.transaction():
        claim_model(database, session)
        yield


def claim_model(database: Database, session: ModelSession) -> None:
    """Store the model of a new database's vectors, inside the caller's transaction.

    A model that cannot be used claims nothing.

    Raises ModelChanged if the session made vectors of another model than the stored ones.
    """
    if session.has_answered:
        _require_if_known(database, session)
    if session.fault is None and "model_name" not in meta(database):
        try:
            written = (session.name, session.version, str(session.dim), datetime.now(UTC).isoformat(timespec="seconds"))
        except ModelUnavailable as fault:
            session.refuse(fault)
        else:
            keys = ("model_name", "model_version", "embedding_dim", "last_reindex_at")
            set_meta(database, dict(zip(keys, written, strict=True)))


COMMAND_CHARS = 400
"""Characters of a row that are searched for its command."""


def latest_runs(database: Database, filters: Filters, most: int) -> list[tuple[int, str, str]]:
    """Return id, project and command of the latest command runs that pass the filters, newest first."""
    condition, values = conditions(filters)
    rows = database.run(
        f"SELECT p.id, p.source_project, substr(p.content, 3, {COMMAND_CHARS}) FROM visible_prompts p "
        f"WHERE p.role = 'tool' AND p.content LIKE '$ %' AND {condition} ORDER BY p.timestamp DESC, p.id DESC LIMIT ?",
        (*values, most),
    )
    return [(id_, project, text.partition("\n")[0].strip()) for id_, project, text in rows]


UNCHECKED = -1
"""`is_private` of a folder whose project file nobody has read yet."""
REDACTED = "[redacted:"
"""Part of a folder's name whose place is no longer known; its project counts as private."""


def folders_of(prompts: Iterable[Prompt]) -> dict[str, str]:
    """Return the folders that turns come from, with their projects."""
    return {
        prompt.turn.cwd or str(Path(prompt.source_path).parent): prompt.project
        for prompt in prompts
        if prompt.turn.cwd or prompt.metadata.get("format") != LIVE
    }


def remember_folders(database: Database, folders: Mapping[str, str]) -> None:
    """Store folders with their projects, inside the caller's transaction."""
    database.run_many(
        "INSERT OR IGNORE INTO project_folders(folder, project, is_private) VALUES (?, ?, ?)",
        [(folder, project, REDACTED in folder or UNCHECKED) for folder, project in folders.items()],
    )


def list_formats(database: Database) -> list[str]:
    """Return the formats of the files that were read, the most frequent first."""
    return database.column(
        "SELECT format FROM sources WHERE format IS NOT NULL GROUP BY format ORDER BY count(*) DESC, format"
    )


def project_names(database: Database) -> list[str]:
    """Return the names of all projects that have turns or tasks."""
    rows = database.run("SELECT source_project FROM visible_prompts UNION SELECT project FROM visible_tasks")
    return [name for (name,) in rows if name]


def privacy_of_folders(database: Database) -> list[tuple[str, bool]]:
    """Return every folder of a project with whether it is private."""
    rows = database.run("SELECT folder, is_private FROM project_folders")
    return [(folder, bool(is_private)) for folder, is_private in rows]


def folders(database: Database) -> list[tuple[str, str]]:
    """Return every folder with its project."""
    return [(folder, project) for folder, project in database.run("SELECT folder, project FROM project_folders")]


def set_private(database: Database, by_folder: Iterable[tuple[str, bool]]) -> None:
    """Store whether the files in folders call their projects private, inside the caller's transaction."""
    database.run_many(
        "UPDATE project_folders SET is_private = ? WHERE folder = ?",
        [(is_private, folder) for folder, is_private in by_folder],
    )


def keep_private(database: Database, names: Iterable[str]) -> None:
    """Mark projects as private in folders that are unchecked here, inside the caller's transaction."""
    database.run_many(
        "UPDATE project_folders SET is_private = 1 WHERE project = ? AND is_private = ?",
        [(name, UNCHECKED) for name in names],
    )


def private_projects(database: Database) -> tuple[frozenset[str], list[tuple[str, str]]]:
    """Return the names of private projects, and the unchecked folders with their projects."""
    rows = database.run("SELECT folder, project, is_private FROM project_folders WHERE is_private")
    known = frozenset(project for _, project, is_private in rows if is_private != UNCHECKED)
    return known, [(folder, project) for folder, project, is_private in rows if is_private == UNCHECKED]
