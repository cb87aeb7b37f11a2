"""Counts and integrity: what `status` and `doctor` ask."""

from __future__ import annotations

from typing import Any

from pastchats_memory.errors import DatabaseCorrupt
from pastchats_memory.store import generations, vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.erasing import FULL_TEXT
from pastchats_memory.store.sources import meta

LAST_RUN = (
    "SELECT started_at, files_scanned, turns_added, turns_skipped, unreadable, duration_s, outcome "
    "FROM runs ORDER BY id DESC LIMIT 1"
)


def counts(database: Database) -> dict[str, Any]:
    """The fields of `health.Status` that the database knows. Raises StoreFault."""
    known = meta(database)
    engine = vectors.engine_of(database)
    by_role = dict(database.run("SELECT role, count(*) FROM prompts GROUP BY role ORDER BY count(*) DESC, role"))
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
        "pending": generations.pending(database),
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
    """What SQLite finds wrong with the file, its foreign keys and its full-text indexes; empty for nothing."""
    try:
        with database.snapshot():
            for table in FULL_TEXT:  # FTS5 notices what other connections wrote when it is read, not when it is checked
                database.run(f"SELECT rowid FROM {table} LIMIT 1")
            found = [text for (text,) in database.run("PRAGMA integrity_check(10)") if text != "ok"]
            dangling = database.run("PRAGMA foreign_key_check")
            found += [f"{table} row {row} refers to nothing" for table, row, *_ in dangling]
        for table in FULL_TEXT if database.writable else ():
            database.run(f"INSERT INTO {table}({table}, rank) VALUES ('integrity-check', 1)")
    except DatabaseCorrupt as fault:
        return [fault.message]
    return found


def without_embedding(database: Database) -> int:
    """How many turns lack their embedding row: none, or I-MEM-001 is broken."""
    return int(
        database.value(
            "SELECT count(*) FROM prompts p WHERE NOT EXISTS (SELECT 1 FROM prompt_embeddings e WHERE e.prompt_id = p.id)"
        )
    )


def source_paths(database: Database) -> list[str]:
    """Every file that turns were read from."""
    return [path for (path,) in database.run("SELECT path FROM sources WHERE format IS NOT NULL")]
