"""Remove deleted text from the file: from the full-text indexes, whose old segments contain it, and from the log.

SQLite overwrites the rows themselves (`secure_delete`), and sqlite-vec its vectors. The transaction that deletes writes
down that the rest is due, so that the next opening does it if the process ends before. Last, the file is searched for what was
removed. If copies are left, or nobody knows any more what it was, SQLite writes the file anew.
"""

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from pastchats_memory.errors import DatabaseLocked, DeletionUnfinished, StoreFault
from pastchats_memory.store import fulltext, remains
from pastchats_memory.store.atomic_file import remove_abandoned
from pastchats_memory.store.database import BUSY_MS, PAUSE, Database
from pastchats_memory.store.sources import meta, set_meta
from pastchats_memory.store.vectors import vec0
from pastchats_memory.store.visible import PENDING_KEY

DUE_KEY = "unerased"
"""Key of `embedding_meta`: the number of deletions whose bytes may still be in the file."""
UNMERGED_KEY = "unmerged"
"""Key of `embedding_meta`, with the same number: the full-text indexes still contain them."""
PROCESS_KEY = "unerased_by"
"""Key of `embedding_meta`: the process of the last of them and its time, in seconds."""
WAIT_MS = 200
"""How long a process waits for readers at a time, since nobody can write meanwhile."""
UNFINISHED = "deleted text is still in the database file"
READ_ELSEWHERE = "another process reads an older state of it"
HINT = "Each command tries again; `pastchats-memory doctor` says whether the text is gone."


def begin_scrub(database: Database, removed: Iterable[Iterable[object]] | None = ()) -> None:
    """Write down that `finish_scrub` is due, inside the caller's transaction that deletes.

    `removed` has the values that the transaction removes; None for too many to search for.
    """
    database.removed.add(removed)
    times = str(int(meta(database).get(DUE_KEY, "0")) + 1)
    process = f"{os.getpid()} {time.time():.0f}"
    set_meta(database, {DUE_KEY: times, UNMERGED_KEY: times, PROCESS_KEY: process})


def overwrite_vectors(database: Database, ids: str, values: Sequence[Any]) -> None:
    """Overwrite vectors of sqlite-vec, inside the caller's transaction, if the extension that deletes them is missing.

    `ids` is a statement that selects the ids of the rows, `values` are its parameters.
    """
    if database.vec0_loaded:
        return
    for table, places, chunks in vec0.shadow_tables(database):
        keys = table.rows.replace("SELECT id, ", "SELECT ", 1)
        found = database.run(
            f"SELECT c.oid, v.chunk_offset, length(c.vectors) / k.size FROM {places} v "
            f"JOIN {chunks} c ON c.rowid = v.chunk_id JOIN {places.removesuffix('_rowids')}_chunks k "
            f"ON k.chunk_id = v.chunk_id WHERE v.rowid IN ({keys} AND id IN ({ids})) ORDER BY 1",
            values,
        )
        with closing(database.blobs(chunks, "vectors", writable=True)) as blobs:
            for row, offset, size in found:
                blobs.write(row, offset * size, bytes(size))


def is_due(database: Database) -> bool:
    """Return whether deleted text may still be in the file."""
    return DUE_KEY in meta(database)


def erase(database: Database) -> None:
    """Remove deleted text from the file. Raises DeletionUnfinished; the next command goes on."""
    remove_abandoned(database.path)
    with explain_unfinished():
        if not finish_scrub(database):
            raise DatabaseLocked(READ_ELSEWHERE, "End that process.")


@contextmanager
def explain_unfinished() -> Iterator[None]:
    """Raise DeletionUnfinished for a fault inside, by when the rows are deleted and their remains are not."""
    try:
        yield
    except StoreFault as fault:
        message = f"the rows are deleted, but their text is still in the database file: {fault.message}"
        raise DeletionUnfinished(message, f"{fault.hint} {HINT}") from fault


def finish_scrub(database: Database, *, wait_ms: int = BUSY_MS) -> bool:
    """Remove deleted text; return False if another process still reads an old state of the file.

    Call it in no transaction. It waits for readers. Raises StoreFault; the next call goes on.
    """
    times = meta(database).get(DUE_KEY)
    if times is None:
        return True
    _merge_indexes(database)
    is_empty = _empty_log(database, wait_ms)
    removed = database.removed
    # Does this process know what was removed? Otherwise the file may contain it.
    is_known = removed.is_complete and removed.deletions == int(times)
    if is_empty and (not is_known or remains.has_remains(database, removed.values)):
        start = time.monotonic()
        database.run("VACUUM")
        is_empty = _empty_log(database, wait_ms)
        database.removed.rewrite_s = time.monotonic() - start
    if is_empty:
        database.run(
            "DELETE FROM embedding_meta WHERE key IN (?1, ?3) AND (SELECT value FROM embedding_meta WHERE key = ?1) = ?2",
            (DUE_KEY, times, PROCESS_KEY),
        )
        database.removed.clear()
    return is_empty


def _empty_log(database: Database, wait_ms: int) -> bool:
    """Empty the write-ahead log; return whether it worked.

    Waiting for readers to leave the log keeps all writers out, so the waits are short.
    """
    until = time.monotonic() + wait_ms / 1000
    database.set_timeout(min(wait_ms, WAIT_MS))
    try:
        while database.run("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]:
            if time.monotonic() >= until:
                return False
            time.sleep(PAUSE)
    finally:
        database.set_timeout(BUSY_MS)
    return True


def _merge_indexes(database: Database) -> None:
    """Write the full-text indexes anew, without the deleted rows."""
    times = meta(database).get(UNMERGED_KEY)
    if times is None:
        return
    for index in fulltext.FULL_TEXT:
        fulltext.drop_deleted(database, index)
    database.run(
        "DELETE FROM embedding_meta WHERE key = ? AND value = ?", (UNMERGED_KEY, times)
    )  # not of a later deletion


def is_unfinished(database: Database) -> bool:
    """Return whether rows are still to be deleted, or deleted text may still be in the file."""
    return not meta(database).keys().isdisjoint((PENDING_KEY, DUE_KEY))
