"""The segments of the full-text indexes: FTS5 files what each transaction wrote by itself, and looks a word up in every one of them."""

from __future__ import annotations

from pastchats_memory.store.database import Database

FULL_TEXT = ("prompts_fts", "task_texts_fts", "trigrams")
PAGES = 250
"""Of an index that one step writes anew: some 30 ms, so that no other writer waits for long."""
SCATTERED = 1 / 4
"""Share of an index outside of its largest segment above which it is merged: then a memory that grows step by step has
written anew some four times what it ends with."""


def gather(database: Database) -> None:
    """Merge each index of which more than SCATTERED lies about; in no transaction. Raises StoreFault."""
    for index in FULL_TEXT:
        pages = [count for (count,) in database.run(f"SELECT count(*) FROM {index}_idx GROUP BY segid")]
        if sum(pages) - max(pages, default=0) > SCATTERED * sum(pages):
            merge(database, index)


def merge(database: Database, index: str) -> None:
    """Write an index anew as one segment, in small steps; what was deleted is not in it. Raises StoreFault."""
    step = -PAGES  # which lets all segments take part, as `optimize` does; further steps go on with that
    written = 2
    while written > 1:
        before = database.connection.total_changes()
        database.run(f"INSERT INTO {index}({index}, rank) VALUES ('merge', ?)", (step,))
        written = database.connection.total_changes() - before
        step = PAGES
