"""Deleted text out of the file: out of the full-text indexes, whose old segments keep it, and out of the write-ahead log.

SQLite overwrites the rows themselves (`secure_delete`), sqlite-vec its vectors. What is left to do is written down in the
transaction that deletes, so that it is done at the next opening if the process ends before.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing, suppress
from typing import Any

from pastchats_memory.errors import DatabaseLocked, DatabaseReadOnly, DiskFull
from pastchats_memory.store import segments, vec0
from pastchats_memory.store.buried import GOING
from pastchats_memory.store.database import BUSY_MS, PAUSE, Database
from pastchats_memory.store.sources import meta, set_meta

UNERASED = "unerased"
"""Key of `embedding_meta`: how many times something was deleted whose bytes may still be in the file."""
UNMERGED = "unmerged"
"""Key of `embedding_meta`, with the same number: the full-text indexes have them as well."""
TURN_MS = 200
"""For so long a process waits for readers at a time, since nobody can write then."""


def begin(database: Database) -> None:
    """Write down, inside the caller's transaction that deletes, that `finish` is to come. Raises StoreFault."""
    times = int(meta(database).get(UNERASED, "0")) + 1
    set_meta(database, {UNERASED: str(times), UNMERGED: str(times)})


def blank(database: Database, ids: str, values: Sequence[Any]) -> None:
    """Overwrite vectors that only sqlite-vec can delete, where it is not loaded; inside the caller's transaction.

    Args:
        database: open for writing.
        ids: a statement that gives the ids of the rows.
        values: that it binds.

    Raises:
        StoreFault: it was not written.
    """
    if database.vec0_loaded:
        return
    for places, chunks in vec0.shadow_tables(database):
        found = database.run(
            f"SELECT c.oid, v.chunk_offset, length(c.vectors) / k.size FROM {places} v "
            f"JOIN {chunks} c ON c.rowid = v.chunk_id JOIN {places.removesuffix('_rowids')}_chunks k "
            f"ON k.chunk_id = v.chunk_id WHERE v.rowid IN ({ids}) ORDER BY 1",
            values,
        )
        with closing(database.blobs(chunks, "vectors", writable=True)) as blobs:
            for row, offset, size in found:
                blobs.write(row, offset * size, bytes(size))


def is_due(database: Database) -> bool:
    """Whether deleted text may still be in the file. Raises StoreFault."""
    return UNERASED in meta(database)


def finish(database: Database, *, wait_ms: int = BUSY_MS) -> bool:
    """Whether nothing that was deleted is in the file any more; not where another process still reads an old state of it.

    Args:
        database: open for writing, in no transaction.
        wait_ms: how long readers are waited for.

    Raises:
        StoreFault: it cannot be written; the next call goes on.
    """
    times = meta(database).get(UNERASED)
    if times is None:
        return True
    _merge(database)
    is_empty = _emptied(database, wait_ms)
    if is_empty:
        database.run("DELETE FROM embedding_meta WHERE key = ? AND value = ?", (UNERASED, times))
    return is_empty


def _emptied(database: Database, wait_ms: int) -> bool:
    """Whether the log is empty now. Who waits for readers to leave it keeps all writers out meanwhile, so he waits in short turns."""
    until = time.monotonic() + wait_ms / 1000
    database.wait(min(wait_ms, TURN_MS))
    try:
        while database.run("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]:
            if time.monotonic() >= until:
                return False
            time.sleep(PAUSE)
    finally:
        database.wait(BUSY_MS)
    return True


def finish_at_opening(database: Database) -> None:
    """What a process left that was to delete; then the same without waiting, where only the log is left.

    To write an index anew takes too long for a question; rows that were forgotten are to be seen by none.
    """
    if database.writable and database.value("SELECT 1 FROM embedding_meta WHERE key = ?", (GOING,)):
        from pastchats_memory.store.forgetting import go_on  # much, and hardly an opening has use for it

        with suppress(DatabaseLocked, DatabaseReadOnly, DiskFull):
            go_on(database)
    if database.writable and database.value("SELECT 1 FROM embedding_meta WHERE key = ?", (UNERASED,)):
        with suppress(DatabaseLocked, DatabaseReadOnly, DiskFull):
            if UNMERGED not in meta(database):
                finish(database, wait_ms=0)


def _merge(database: Database) -> None:
    """Write the full-text indexes anew, which leaves out what was deleted."""
    times = meta(database).get(UNMERGED)
    if times is None:
        return
    for index in segments.FULL_TEXT:
        segments.merge(database, index)
    database.run("DELETE FROM embedding_meta WHERE key = ? AND value = ?", (UNMERGED, times))  # not of a later deletion
