"""Count rows and check the database, for `status` and `doctor`."""

import hashlib
import re
from typing import Any

from pastchats_memory.errors import DatabaseCorrupt
from pastchats_memory.store import vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.fulltext import FULL_TEXT
from pastchats_memory.store.schema import schema_names
from pastchats_memory.store.sources import meta
from pastchats_memory.store.vectors import find_mismatches, reindex
from pastchats_memory.store.visible import KINDS
from pastchats_memory.text.data_file import read_text
from pastchats_memory.text.wire import is_time

LAST_RUN = (
    "SELECT started_at, files_scanned, turns_added, turns_skipped, unreadable, duration_s, outcome "
    "FROM runs ORDER BY id DESC LIMIT 1"
)

TIMES = {
    "prompts": ("timestamp",),
    "runs": ("started_at",),
    "tasks": ("created_at", "updated_at", "closed_at", "due_at"),
    "task_states": ("at",),
    "task_comments": ("created_at",),
    "forgettings": ("at",),
}
"""Columns with a time or NULL, by table."""
FAULTS = {
    **dict(re.findall(r"^-- (.+)\n([^;]+)", read_text(__file__, "faults.sql"), re.MULTILINE)),
    "times that are none": " UNION ALL ".join(
        f"SELECT 1 FROM {table} WHERE {column} IS NOT NULL AND NOT is_time({column})"
        for table, columns in TIMES.items()
        for column in columns
    ),
}
"""Message and query for each kind of row that no release writes."""


def counts(database: Database) -> dict[str, Any]:
    """Return the fields of `health.Status` that the database knows."""
    known = meta(database)
    engine = vectors.engine_of(database)
    by_role = database.mapping("SELECT role, count(*) FROM prompts GROUP BY role ORDER BY count(*) DESC, role")
    first, last = database.run("SELECT min(timestamp), max(timestamp) FROM prompts")[0]
    last_run = database.run(LAST_RUN)
    names = ("started_at", "files_scanned", "turns_added", "turns_skipped", "unreadable", "duration_s", "outcome")
    return {
        "turns": sum(by_role.values()),
        "by_role": by_role,
        "projects": database.value("SELECT count(DISTINCT source_project) FROM prompts"),
        "sources": database.value("SELECT count(*) FROM sources WHERE format IS NOT NULL"),
        "embeddings": database.value("SELECT count(*) FROM prompt_embeddings"),
        "indexed": vectors.count(database),
        "going": sum(database.value(f"SELECT count(*) FROM pending_{kind}") for kind in KINDS),
        "pending": reindex.pending(database),
        "pending_vectors": vectors.count_pending(database),
        "model": known.get("model_name"),
        "model_version": known.get("model_version"),
        "next_model": known.get("next_model_name"),
        "last_reindex_at": known.get("last_reindex_at"),
        "dim": int(known["embedding_dim"]) if "embedding_dim" in known else None,
        "engine": "vec0" if engine == "vec0" else "exact",
        "behind": vectors.pending(database)[engine],
        "first": first,
        "last": last,
        "last_run": dict(zip(names, last_run[0], strict=True)) if last_run else None,
    }


def damage(database: Database) -> list[str]:
    """Return the damage that SQLite finds in the file, its foreign keys and its full-text indexes, if any."""
    try:
        with database.snapshot():
            for table in FULL_TEXT:  # a read, not the check, makes FTS5 notice writes of other connections
                database.run(f"SELECT rowid FROM {table} LIMIT 1")
            found = [text for (text,) in database.run("PRAGMA integrity_check(10)") if text != "ok"]
            dangling = database.run("PRAGMA foreign_key_check")
            found += [f"{table} row {row} refers to nothing" for table, row, *_ in dangling]
        for table in FULL_TEXT if database.writable else ():
            database.run(f"INSERT INTO {table}({table}, rank) VALUES ('integrity-check', 1)")
    except DatabaseCorrupt as fault:
        return [fault.message]
    return found


def find_faults(database: Database) -> list[str]:
    """Return missing tables and malformed values, if any, of a file that SQLite can read."""
    try:
        missing = sorted(set(schema_names()) - {name for (name,) in database.run("SELECT name FROM sqlite_schema")})
        if missing:
            return [f"it lacks {', '.join(missing[:5])}"]
        database.define("sha256", lambda text: hashlib.sha256(str(text).encode()).digest())
        database.define("is_time", is_time)
        with database.snapshot():
            return [message for message, statement in FAULTS.items() if database.run(statement)] or find_mismatches(
                database
            )
    except DatabaseCorrupt as fault:
        return [fault.message]


def without_embedding(database: Database) -> int:
    """Return the number of turns without an embedding row; I-MEM-001 requires 0."""
    return database.number(
        "SELECT count(*) FROM prompts p WHERE NOT EXISTS (SELECT 1 FROM prompt_embeddings e WHERE e.prompt_id = p.id)"
    )


def some_without_embedding(database: Database) -> list[tuple[int, str]]:
    """Return ids and texts of up to 256 turns without an embedding row."""
    return database.run(
        "SELECT p.id, p.content FROM prompts p WHERE NOT EXISTS "
        "(SELECT 1 FROM prompt_embeddings e WHERE e.prompt_id = p.id) ORDER BY p.id LIMIT 256"
    )


def task_ids(database: Database) -> list[int]:
    """Return the ids of all tasks."""
    return database.column("SELECT id FROM tasks ORDER BY id")


def source_paths(database: Database) -> list[str]:
    """Return the paths of all files that turns were read from."""
    return database.column("SELECT path FROM sources WHERE format IS NOT NULL")
