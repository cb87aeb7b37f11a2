"""Everything out of a database but what was forgotten before, which stays so."""

from __future__ import annotations

from contextlib import suppress

from pastchats_memory.errors import DatabaseLocked, DiskFull
from pastchats_memory.store import erasing, vec0
from pastchats_memory.store.database import Database
from pastchats_memory.store.migrations import schema

KEPT = ("forgettings", "forgotten", "sqlite_sequence")
"""Tables whose rows stay: tombstones, and the last ids, so that none is given twice."""
MODEL = ("model_name", "model_version", "embedding_dim", "last_reindex_at")
"""Keys of `embedding_meta` that stay: another process may be writing vectors of that model just now."""


def purge(database: Database) -> bool:
    """Make the database as new, with its tombstones and its model; whether the file has nothing of the rest any more.

    All tables are dropped and made anew in one transaction: rows one by one would hold up every writer for minutes.

    Raises:
        StoreFault: it cannot be written; nothing was deleted.
    """
    database.run("PRAGMA foreign_keys=OFF")  # dropping a table would delete row by row what refers to it
    try:
        with database.transaction():
            kept = {table: database.run(f"SELECT * FROM {table}") for table in KEPT}
            model = [row for row in database.run("SELECT key, value FROM embedding_meta") if row[0] in MODEL]
            _drop_all(database)
            database.run(schema())
            for table, rows in kept.items():
                database.run(f"DELETE FROM {table}")
                if rows:
                    marks = ", ".join("?" * len(rows[0]))
                    database.run_many(f"INSERT INTO {table} VALUES ({marks})", rows)
            database.run_many("INSERT OR REPLACE INTO embedding_meta(key, value) VALUES (?, ?)", model)
            if not database.vec0_loaded:
                vec0.give_up(database)
            erasing.begin(database)
    finally:
        database.run("PRAGMA foreign_keys=ON")
    with suppress(DatabaseLocked, DiskFull):
        database.run("VACUUM")
    return erasing.finish(database)


def _drop_all(database: Database) -> None:
    tables = database.run("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    virtual = [name for name, sql in tables if sql.startswith("CREATE VIRTUAL")]
    of_vec0 = [name for name, _ in tables if name.startswith((f"{vec0.TABLE}_", f"{vec0.OF_TASKS}_"))]
    for name in virtual:
        if name not in (vec0.TABLE, vec0.OF_TASKS) or database.vec0_loaded:
            database.run(f"DROP TABLE {name}")
    if not database.vec0_loaded:
        for name in of_vec0:  # the tables of a module that is not there cannot be dropped
            database.run(f"DELETE FROM {name}")
    for (name,) in database.run("SELECT name FROM sqlite_schema WHERE type = 'view'"):
        database.run(f"DROP VIEW {name}")
    left = database.run("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    for (name,) in left:
        if name not in (*virtual, *of_vec0):
            database.run(f"DROP TABLE {name}")
