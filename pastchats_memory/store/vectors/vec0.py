"""The tables of sqlite-vec, `vec_prompts` and `vec_tasks`: they order the candidates that the blocks find.

A KNN over all rows takes longer than the scan of the blocks and a KNN over its candidates together.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np
import orjson
from numpy.typing import NDArray

from pastchats_memory.errors import DatabaseCorrupt
from pastchats_memory.store.database import Database
from pastchats_memory.store.errors import HINT_DAMAGED
from pastchats_memory.store.filters import FIRST_TEXT

TABLE = "vec_prompts"
TASK_TABLE = "vec_tasks"
PARTS = ("chunks", "rowids", "vector_chunks00")
"""Ends of the names of ordinary tables that a table of sqlite-vec needs."""
STALE = "vec0_stale"
"""Key of `embedding_meta`: the tables hold vectors of another model until a process with the extension drops them."""
MAX_K = 4096
"""Upper limit of `k` in a query."""
NO_TIME = -(1 << 62)
"""`at` of a row without a timestamp: metadata may not be NULL."""


def is_there(database: Database) -> bool:
    """Return whether the extension is loaded and has its tables. Raises StoreFault."""
    if not database.vec0_loaded:
        return False
    return bool(
        database.value(
            "SELECT count(*) = 2 AND NOT EXISTS (SELECT 1 FROM embedding_meta WHERE key = ?) "
            "FROM sqlite_schema WHERE name IN (?, ?)",
            (STALE, TABLE, TASK_TABLE),
        )
    )


def nearest(
    database: Database, direction: NDArray[np.float32], k: int, among: Sequence[int]
) -> tuple[list[int], float | None]:
    """Return the k nearest of the ids, and the cosine of the last one if there may be more.

    Args:
        database: with the extension and its table.
        direction: the query's, of shape (dim,) and length 1.
        k: number of ids, at most MAX_K.
        among: ids that are current in the table.
    """
    lists = [
        database.run(
            f"SELECT {key}, distance FROM {table} WHERE embedding MATCH ? AND k = ? "
            f"AND {key} IN (SELECT value FROM json_each(?))",
            (direction.tobytes(), k, orjson.dumps(ids).decode()),
        )
        for table, key, ids in (
            (TABLE, "prompt_id", [id_ for id_ in among if id_ < FIRST_TEXT]),
            (TASK_TABLE, "text_id", [id_ for id_ in among if id_ > FIRST_TEXT]),
        )
        if ids
    ]
    listed = sorted((distance, id_) for rows in lists for id_, distance in rows)[:k]
    return [id_ for _, id_ in listed], 1 - listed[-1][0] ** 2 / 2 if len(listed) == k else None


def mark_stale(database: Database) -> None:
    """Mark the tables as stale, for `create_tables` to drop.

    Call it inside the caller's transaction. Raises StoreFault.
    """
    database.run("INSERT OR REPLACE INTO embedding_meta(key, value) VALUES (?, '1')", (STALE,))


def shadow_tables(database: Database) -> list[tuple[str, str]]:
    """Return pairs of ordinary tables: positions of vectors, and the vectors.

    They exist without the extension too.
    """
    there = {name for (name,) in database.run("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    pairs = [(f"{table}_rowids", f"{table}_vector_chunks00") for table in (TABLE, TASK_TABLE)]
    return [pair for pair in pairs if there.issuperset(pair)]


def create_tables(database: Database, dim: int) -> None:
    """Create the tables if they are missing or stale. Raises StoreFault."""
    if database.value("SELECT 1 FROM embedding_meta WHERE key = ?", (STALE,)):
        for table in (TABLE, TASK_TABLE):
            database.run(f"DROP TABLE IF EXISTS {table}")
        database.run("DELETE FROM embedding_meta WHERE key = ?", (STALE,))
    names = {name for (name,) in database.run("SELECT name FROM sqlite_schema WHERE name GLOB 'vec_*'")}
    for table in {TABLE, TASK_TABLE} & names:
        if lacking := {f"{table}_{part}" for part in PARTS} - names:  # sqlite-vec would crash the process
            raise DatabaseCorrupt(f"{database.path}: the database is damaged (it lacks {min(lacking)})", HINT_DAMAGED)
    database.run(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS {TASK_TABLE} USING vec0(text_id INTEGER PRIMARY KEY, embedding float[{dim}])"
    )
    database.run(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS {TABLE} USING vec0("
        f"prompt_id INTEGER PRIMARY KEY, embedding float[{dim}], project INTEGER, role TEXT, at INTEGER)"
    )


def update(database: Database, changed: Sequence[int], found: Sequence[int], exact: NDArray[np.float64]) -> None:
    """Write the rows of some ids again, inside the caller's transaction.

    Args:
        database: with the extension and its table, open for writing.
        changed: the ids.
        found: the changed ids that have a vector now.
        exact: their unit vectors, of shape (found, dim).
    """
    for table, key in ((TABLE, "prompt_id"), (TASK_TABLE, "text_id")):
        database.run_many(f"DELETE FROM {table} WHERE {key} = ?", [(id_,) for id_ in changed])
    rows = dict(zip(found, exact.astype(np.float32), strict=True))
    fields = database.run(
        "SELECT id, source_project, role, timestamp FROM prompts WHERE id IN (SELECT value FROM json_each(?))",
        (orjson.dumps(list(found)).decode(),),
    )
    database.run_many(
        f"INSERT INTO {TABLE}(prompt_id, embedding, project, role, at) VALUES (?, ?, ?, ?, ?)",
        [
            (id_, rows[id_].tobytes(), _project_number(project), role, _milliseconds(timestamp))
            for id_, project, role, timestamp in fields
        ],
    )
    texts = [id_ for id_ in found if id_ > FIRST_TEXT]
    database.run_many(
        f"INSERT INTO {TASK_TABLE}(text_id, embedding) VALUES (?, ?)", [(id_, rows[id_].tobytes()) for id_ in texts]
    )


def _project_number(project: str) -> int:
    """Return 63 bits that stand for a name.

    vec0 compares integers within a chunk, but long texts with a lookup a row.
    """
    import hashlib  # brings OpenSSL, which a query has no use for

    return int.from_bytes(hashlib.sha256(project.encode()).digest()[:8]) >> 1


def _milliseconds(timestamp: str | None) -> int:
    return NO_TIME if timestamp is None else round(datetime.fromisoformat(timestamp).timestamp() * 1000)
