"""Copy the rows of an unreleased older build's database into one of the present schema."""

from __future__ import annotations

import numpy as np
import orjson

from pastchats_memory.store import vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.recover import DURABLE, DURABLE_KEYS

TABLES = (*DURABLE, "task_texts", "task_embeddings")
"""Tables to copy. The last two are derived; without them the texts of tasks would have to be embedded again."""


def copy_rows(old: Database, new: Database) -> None:
    """Copy all rows that are not derived, with their ids, vectors and tombstones.

    A table or column that the older build lacks stays empty; triggers fill the full-text indexes. The state in which a
    reader left a growing file is dropped, since early builds stored text there before secrets were removed.

    Args:
        old: the older build's database, which is only read.
        new: a database of the present schema, without rows.

    Raises:
        StoreFault: the one cannot be read, or the other cannot be written.
    """
    with old.snapshot(), new.transaction():
        new.run("PRAGMA defer_foreign_keys=ON")
        for table in TABLES:
            _copy_table(old, new, table)
        for name, last in old.run("SELECT name, seq FROM sqlite_sequence"):  # so that no id is given twice
            if name in TABLES:
                new.run("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
                new.run("INSERT INTO sqlite_sequence(name, seq) VALUES (?, ?)", (name, last))
        new.run("UPDATE sources SET resume = NULL")
        marks = ", ".join("?" * len(DURABLE_KEYS))
        new.run(f"DELETE FROM embedding_meta WHERE key NOT IN ({marks})", DURABLE_KEYS)
        new.define("round_vector", _round_vector)
        for table in ("prompt_embeddings", "task_embeddings"):
            new.run(f"UPDATE {table} SET vector_json = round_vector(vector_json) WHERE model != ''")
    vectors.catch_up_in_steps(new)


def _round_vector(text: str) -> str:
    """Return the JSON text of a vector in whole numbers; older builds stored it in decimals."""
    return vectors.encode(np.array(orjson.loads(text), np.float32))


def _copy_table(old: Database, new: Database, table: str) -> None:
    there = set(_columns(old, table))
    names = [name for name in _columns(new, table) if name in there]
    if names:
        listed, marks = ", ".join(names), ", ".join("?" * len(names))
        new.run_many(f"INSERT INTO {table}({listed}) VALUES ({marks})", old.rows(f"SELECT {listed} FROM {table}"))


def _columns(database: Database, table: str) -> list[str]:
    return [name for (name,) in database.run("SELECT name FROM pragma_table_info(?)", (table,))]
