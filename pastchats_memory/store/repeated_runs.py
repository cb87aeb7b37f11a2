"""Store what a run answers that finds everything as an earlier one left it.

A stamp names the files, the options and the code of a run. A trigger removes it when the record of a source changes.
"""

from pastchats_memory.store.database import Database

_STAMP = "? || ':' || (SELECT ifnull(max(seq), 0) FROM sqlite_sequence WHERE name = 'vector_changes')"
"""The stamp of the run with the number of changes of vectors: every row that comes, goes or changes its text makes one."""
_IS_DONE = (
    "NOT EXISTS (SELECT 1 FROM prompt_embeddings WHERE model = '') "
    "AND NOT EXISTS (SELECT 1 FROM task_embeddings WHERE model = '') "
    "AND NOT EXISTS (SELECT 1 FROM prompts WHERE text_hash = x'') "
    "AND NOT EXISTS (SELECT 1 FROM replies WHERE kind IS NULL) AND NOT EXISTS (SELECT 1 FROM outcomes_due) "
    "AND NOT EXISTS (SELECT 1 FROM embedding_meta WHERE key IN ('going', 'unerased'))"
)
"""Whether no row waits for something that an index run does besides reading files."""


def store_answer(database: Database, stamp: str, answer: str) -> None:
    """Store the answer of the run that ended last; nothing if another process has left something to do meanwhile."""
    with database.transaction():
        database.run(
            f"UPDATE runs SET stamp = {_STAMP}, answer = ? WHERE id = (SELECT max(id) FROM runs) AND {_IS_DONE}",
            (stamp, answer),
        )


def find_answer(database: Database, stamp: str) -> str | None:
    """Return the answer of a run with this stamp; None if the memory has changed since, or something is to do."""
    found = database.value(f"SELECT answer FROM runs WHERE stamp = {_STAMP} AND {_IS_DONE}", (stamp,))
    return None if found is None else str(found)


def add_run(database: Database, stamp: str, duration_s: float) -> None:
    """Record a run that found everything as the one with this stamp left it."""
    with database.transaction():
        database.run(
            "INSERT INTO runs(started_at, inputs, is_narrow, files_scanned, model, duration_s, outcome) "
            "SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ?1 || ' seconds'), inputs, is_narrow, files_scanned, model, ?2, 'done' "
            f"FROM runs WHERE stamp = {_STAMP.replace('?', '?3')} LIMIT 1",
            (-duration_s, duration_s, stamp),
        )
