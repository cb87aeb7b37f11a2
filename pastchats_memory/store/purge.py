"""Empty the database, except for what was forgotten before."""

from pastchats_memory.store.database import Database
from pastchats_memory.store.schema import schema
from pastchats_memory.store.scrub import begin_scrub, erase
from pastchats_memory.store.vectors import vec0

PRESERVED = ("forgettings", "forgotten", "team_members", "sqlite_sequence")
"""Tables whose rows stay: tombstones, this memory's name in a team (`team push` deletes there what it shared), and the last
ids, so that no id is given twice."""
SYNC = ("sync_folders", "sync_files", "sync_records", "sync_machines")
"""Tables that stay as well if the next `sync` is to forget in the folder what was forgotten here."""
MODEL = ("model_name", "model_version", "embedding_dim", "last_reindex_at")
"""Keys of `embedding_meta` that stay: another process may be writing vectors of that model just now."""


def purge(database: Database, *, keeps_sync: bool = False) -> None:
    """Delete everything but tombstones and the model, and what `sync` needs if `keeps_sync`.

    All tables are dropped and created again in one transaction: to delete row by row would block all writers for
    minutes. Raises StoreFault if nothing was deleted, and DeletionUnfinished if the text is still in the file.
    """
    database.run("PRAGMA foreign_keys=OFF")  # with them, dropping a table deletes row by row what refers to it
    try:
        with database.transaction():
            preserved = {table: database.run(f"SELECT * FROM {table}") for table in PRESERVED + SYNC * keeps_sync}
            model = [row for row in database.run("SELECT key, value FROM embedding_meta") if row[0] in MODEL]
            _drop_all(database)
            database.run(schema())
            for table, rows in preserved.items():
                database.run(f"DELETE FROM {table}")
                if rows:
                    marks = ", ".join("?" * len(rows[0]))
                    database.run_many(f"INSERT INTO {table} VALUES ({marks})", rows)
            database.run_many("INSERT OR REPLACE INTO embedding_meta(key, value) VALUES (?, ?)", model)
            if not database.vec0_loaded:
                vec0.mark_stale(database)
            begin_scrub(database, None)
    finally:
        database.run("PRAGMA foreign_keys=ON")
    erase(database)


def _drop_all(database: Database) -> None:
    tables = database.run("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    virtual = [name for name, sql in tables if sql.startswith("CREATE VIRTUAL")]
    of_vec0 = [name for name, _ in tables if name.startswith(tuple(f"{one}_" for one in vec0.NAMES))]
    for name in virtual:
        if name not in vec0.NAMES or database.vec0_loaded:
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
