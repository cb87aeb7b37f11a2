"""The tables of sqlite-vec, for turns, tasks and parts of tasks: they order the candidates that the blocks find.

A KNN over all rows takes longer than the scan of the blocks and a KNN over its candidates together.
"""

from collections.abc import Sequence
from typing import NamedTuple

from pastchats_memory.arrays import Codes
from pastchats_memory.errors import DatabaseCorrupt
from pastchats_memory.store.database import LISTED, Database, bind_list
from pastchats_memory.store.errors import HINT_DAMAGED
from pastchats_memory.store.filters import FIRST_TEXT


class Table(NamedTuple):
    """A table with the vectors of some rows."""

    name: str
    key: str
    """Its primary key."""
    rows: str
    """SQL that lists id and key of the rows whose vectors it holds, with a condition to be continued."""

    def keys(self, database: Database, ids: Sequence[int]) -> dict[int, int]:
        """Return the keys of those ids that exist and belong to this table."""
        return database.mapping(f"{self.rows} AND id IN {LISTED}", (bind_list(ids),))


_OF_TASK = "comment_id IS NULL AND attachment_id IS NULL AND aspect = ''"
TABLES = (
    Table("vec_prompts", "prompt_id", "SELECT id, id FROM prompts WHERE 1"),
    Table("vec_tasks", "task_id", f"SELECT id, task_id FROM task_texts WHERE {_OF_TASK}"),
    Table("vec_task_parts", "text_id", f"SELECT id, id FROM task_texts WHERE NOT ({_OF_TASK})"),
)
"""A task has one row under its own number; its aspects, comments and chunks of attachments are in a table of their own."""
NAMES = tuple(table.name for table in TABLES)
PARTS = ("chunks", "rowids", "vector_chunks00")
"""Ends of the names of ordinary tables that a table of sqlite-vec needs."""
STALE = "vec0_stale"
"""Key of `embedding_meta`: the tables hold vectors of another model until a process with the extension drops them."""
CHUNK = 128
"""Rows for which a table sets room aside at once: few tasks would take as much as sqlite-vec's 1,024."""
MAX_K = 4096
"""Upper limit of `k` in a query."""


def is_there(database: Database) -> bool:
    """Return whether the extension is loaded and has its tables."""
    if not database.vec0_loaded:
        return False
    return bool(
        database.value(
            "SELECT count(*) = ? AND NOT EXISTS (SELECT 1 FROM embedding_meta WHERE key = ?) "
            f"FROM sqlite_schema WHERE name IN {LISTED}",
            (len(NAMES), STALE, bind_list(NAMES)),
        )
    )


def nearest(database: Database, query: Codes, k: int, among: Sequence[int]) -> tuple[list[int], float | None]:
    """Return the k nearest of the ids, and the cosine of the last one if there may be more.

    The query is in whole numbers, of shape (dim,). `k` is at most MAX_K. Only ids of `among` are current in the table.
    """
    found: list[tuple[float, int]] = []
    texts = [id_ for id_ in among if id_ > FIRST_TEXT]
    for table in TABLES:
        if table.key == "prompt_id":  # candidates exist, so that nothing has to be looked up
            by_key = {id_: id_ for id_ in among if id_ < FIRST_TEXT}
        else:
            by_key = {key: id_ for id_, key in table.keys(database, texts).items()} if texts else {}
        if by_key:
            rows = database.run(
                f"SELECT {table.key}, distance FROM {table.name} WHERE embedding MATCH vec_int8(?) AND k = ? "
                f"AND {table.key} IN {LISTED}",
                (query.tobytes(), k, bind_list(by_key)),
            )
            found += [(distance, by_key[key]) for key, distance in rows]
    listed = sorted(found)[:k]
    return [id_ for _, id_ in listed], 1 - listed[-1][0] if len(listed) == k else None


def mark_stale(database: Database) -> None:
    """Mark the tables as stale, for `create_tables` to drop, inside the caller's transaction."""
    database.run("INSERT OR REPLACE INTO embedding_meta(key, value) VALUES (?, '1')", (STALE,))


def shadow_tables(database: Database) -> list[tuple[Table, str, str]]:
    """Return each table with its ordinary tables: positions of vectors, and the vectors.

    They exist without the extension too.
    """
    there = {name for (name,) in database.run("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    of_table = [(table, f"{table.name}_rowids", f"{table.name}_vector_chunks00") for table in TABLES]
    return [(table, *pair) for table, *pair in of_table if there.issuperset(pair)]  # type: ignore[misc] # a pair


def create_tables(database: Database, dim: int) -> None:
    """Create the tables if they are missing or stale."""
    if database.value("SELECT 1 FROM embedding_meta WHERE key = ?", (STALE,)):
        for name in NAMES:
            database.run(f"DROP TABLE IF EXISTS {name}")
        database.run("DELETE FROM embedding_meta WHERE key = ?", (STALE,))
    there = {name for (name,) in database.run("SELECT name FROM sqlite_schema WHERE name GLOB 'vec_*'")}
    for name in there.intersection(NAMES):
        if lacking := {f"{name}_{part}" for part in PARTS} - there:  # sqlite-vec would crash the process
            raise DatabaseCorrupt(f"{database.path}: the database is damaged (it lacks {min(lacking)})", HINT_DAMAGED)
    for table in TABLES:
        database.run(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS {table.name} "
            f"USING vec0({table.key} INTEGER PRIMARY KEY, embedding int8[{dim}] distance_metric=cosine, chunk_size={CHUNK})"
        )


def update(database: Database, changed: Sequence[int], found: Sequence[int], codes: Codes) -> None:
    """Write the rows of changed ids again, inside the caller's transaction.

    The `found` ids have a vector now, with numbers of shape (found, dim).
    """
    vectors = dict(zip(found, codes, strict=True))
    known: set[int] = set()
    for table in TABLES:
        keys = table.keys(database, changed)
        known.update(keys)
        database.run_many(f"DELETE FROM {table.name} WHERE {table.key} = ?", [(key,) for key in keys.values()])
        rows = [(keys[id_], vector.tobytes()) for id_, vector in vectors.items() if id_ in keys]
        database.run_many(f"INSERT INTO {table.name}({table.key}, embedding) VALUES (?, vec_int8(?))", rows)
    if not known.issuperset(changed):
        _delete_orphans(database, [id_ for id_ in changed if id_ not in known])


def _delete_orphans(database: Database, gone: Sequence[int]) -> None:
    """Delete the vectors of rows that no longer exist; the number of a deleted task is known to its vector alone."""
    for table in TABLES:
        if table.key == "task_id":
            ids = database.column(f"SELECT task_id FROM {table.name}")
            lost = set(ids) - {key for _, key in database.run(table.rows)}
        else:
            lost = set(gone)
        database.run_many(f"DELETE FROM {table.name} WHERE {table.key} = ?", [(key,) for key in lost])
