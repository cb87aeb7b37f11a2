"""The exact engine: the numbers of the vectors, 512 prompt ids a row of `vector_blocks`, compared by NumPy.

It finds candidates that are certain to contain the k nearest, and reads a quarter of the bytes that JSON takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import groupby
from queue import SimpleQueue
from threading import Thread
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pastchats_memory.errors import DatabaseCorrupt
from pastchats_memory.store.database import Blobs, Database
from pastchats_memory.store.errors import HINT_DAMAGED
from pastchats_memory.store.ids import Ids, among

Codes = NDArray[np.int8]
Floats = NDArray[np.float32]

TABLE = "vector_blocks"
BLOCK = 512
"""Ids in a row of the table."""
STRIDE = 8
"""Consecutive blocks that are read and cached together."""
BUFFERS = 3
"""Parts in memory at once: one is read, one waits, one is compared."""
WIDENED = 3 << 17
"""Components that are compared at once. They fit into the processor's cache. OpenBLAS would divide a product of more than
460,800 among threads, which on a busy machine wait for each other many times longer than one of them takes."""
SLACK = 2e-4
"""Upper bound of the error of float32 arithmetic in the difference of two similarities."""
MAX_CACHED = 64 << 20
"""Bytes of codes that may stay in memory between queries: some 170,000 rows at 384 dimensions."""
READ_BEFORE = "blocks read before"
"""Name of the mark that an earlier query read the blocks; a process with one query caches nothing."""


class Part(NamedTuple):
    """Rows of consecutive blocks."""

    ids: Ids
    scales: Floats
    codes: Codes
    """Of shape (rows, dim)."""
    buffer: Codes
    """Memory that holds the codes."""


Versions = tuple[tuple[int, int], ...]
"""Blocks, ascending, with the version that each got when it was written."""
Versioned = tuple[Versions, Part]
"""A stride that was read: the versions of its blocks, and the rows."""


def find_candidates(database: Database, direction: Floats, k: int, excluded: Ids, allowed: Ids | None) -> Ids:
    """Return ids, ascending, that are certain to contain the k nearest of the rows in the blocks.

    Raises StoreFault.

    Unless the blocks are cached, this thread reads them. Another one compares them, and this one does if two would wait.

    Args:
        database: in a snapshot.
        direction: the query as a unit vector of shape (dim,).
        k: number of neighbours.
        excluded: ids to leave out, ascending.
        allowed: the only ids to consider, ascending; None for all.
    """
    scan = CandidateScan(direction, k, excluded, allowed)
    if (parts := cached_parts(database)) is not None:
        return scan.scan(parts)
    read: SimpleQueue[Part | None] = SimpleQueue()
    free: SimpleQueue[Codes] = SimpleQueue()
    there = CandidateScan(direction, k, excluded, allowed)
    thread = Thread(target=_compare, args=(read, free, there))
    thread.start()
    try:
        for part in _read(database, len(direction), free):
            if read.empty():
                read.put(part)
            else:
                scan.add(part)
                free.put(part.buffer)
    finally:
        read.put(None)
        thread.join()
    return scan.merge(there)


def cached_parts(database: Database) -> list[Part] | None:
    """Return all blocks if earlier queries have read them; read again those written since.

    Raises StoreFault.
    """
    values = database.cache.entries()
    if TABLE not in values and (known := database.cache.versioned.get(TABLE)):
        values[TABLE] = _refresh(database, known)
    parts: list[Part] | None = values.get(TABLE)
    return parts


def _refresh(database: Database, known: dict[int, Versioned]) -> list[Part] | None:
    """Return None if no block is current, as after a change of model, or if there are too many to cache."""
    now = _versions(database)
    for stride in [stride for stride, (versions, _) in known.items() if now.get(stride) != versions]:
        del known[stride]
    if not known:
        return None
    dim = next(iter(known.values()))[1].codes.shape[1]
    if len(now) * STRIDE * BLOCK * dim > MAX_CACHED:
        known.clear()
        return None
    with closing(database.blobs(TABLE, "codes")) as blobs:
        for stride in now.keys() - known.keys():
            known[stride] = now[stride], _part(database, blobs, stride, np.empty((STRIDE * BLOCK, dim), np.int8))
    return [known[stride][1] for stride in now]


def _versions(database: Database) -> dict[int, Versions]:
    """Return the blocks of each stride with their versions.

    A block without one never counts as current.
    """
    rows = database.run(
        "SELECT block, ifnull((SELECT version FROM vector_block_versions v WHERE v.block = b.block), random()) "
        "FROM vector_blocks b ORDER BY block"
    )
    return {stride: tuple(found) for stride, found in groupby(rows, key=lambda row: row[0] // STRIDE)}


def _read(database: Database, dim: int, free: SimpleQueue[Codes]) -> Iterator[Part]:
    """Yield all blocks, part by part; the second query that reads them fills the cache.

    Each part takes a buffer from `free`, where the caller puts it back.
    """
    now, versioned = _versions(database), database.cache.versioned
    is_cached = READ_BEFORE in versioned and len(now) * STRIDE * BLOCK * dim <= MAX_CACHED
    versioned[READ_BEFORE] = True
    for buffer in np.empty((len(now) if is_cached else BUFFERS, STRIDE * BLOCK, dim), np.int8):
        free.put(buffer)
    parts: dict[int, Versioned] = {}
    with closing(database.blobs(TABLE, "codes")) as blobs:
        for stride, versions in now.items():
            part = _part(database, blobs, stride, free.get())
            yield part
            if is_cached:
                parts[stride] = versions, part
    if is_cached:
        versioned[TABLE] = parts
        database.cache.entries()[TABLE] = [part for _, part in parts.values()]


def _part(database: Database, blobs: Blobs, stride: int, buffer: Codes) -> Part:
    few = database.run(
        "SELECT block, length(codes) / ?, ids, scales FROM vector_blocks WHERE block BETWEEN ? AND ?",
        (buffer.shape[1], stride * STRIDE, stride * STRIDE + STRIDE - 1),
    )
    for block, vectors, of_ids, of_scales in few:
        if not len(of_ids) / 8 == len(of_scales) / 4 == vectors <= BLOCK:
            raise DatabaseCorrupt(f"the database is damaged (block {block} of the vectors)", HINT_DAMAGED)
    ids = np.frombuffer(b"".join(row[2] for row in few), np.int64)
    scales = np.frombuffer(b"".join(row[3] for row in few), np.float32)
    end = 0
    for block, vectors, *_ in few:
        start, end = end, end + vectors
        blobs.read(block, buffer[start:end].data)
    return Part(ids, scales, buffer[:end], buffer)


def max_rows(database: Database) -> int:
    """Return an upper bound of the number of vectors in the blocks. Raises StoreFault."""
    return BLOCK * int(database.value("SELECT count(*) FROM vector_blocks"))


def _compare(read: SimpleQueue[Part | None], free: SimpleQueue[Codes], scan: CandidateScan) -> None:
    while (part := read.get()) is not None:
        scan.add(part)
        free.put(part.buffer)


class CandidateScan:
    """Collects the k nearest rows, and those whose similarity differs from the k-th one by a rounding error only."""

    def __init__(self, direction: Floats, k: int, excluded: Ids, allowed: Ids | None) -> None:
        self.ids, self._similarities = np.empty(0, np.int64), np.empty(0, np.float32)
        self._reached = -np.inf  # just less than a similarity that at least k rows have
        self._direction = direction
        self._k, self._excluded, self._allowed = k, excluded, allowed
        self._wide = np.empty((max(1, WIDENED // len(direction)), len(direction)), np.float32)

    def scan(self, parts: Iterable[Part]) -> Ids:
        """Add parts and return the ids of the candidates, ascending."""
        for part in parts:
            self.add(part)
        return self.ids

    def add(self, part: Part) -> None:
        """Add the rows that may be among the k nearest, and drop those that no longer can be."""
        similarity = self._products(part.codes) * part.scales
        near = np.flatnonzero(similarity >= self._reached)
        near = near[self._is_allowed(part.ids[near])]
        self._keep(part.ids[near], similarity[near])

    def merge(self, other: CandidateScan) -> Ids:
        """Add what another one found for the same query and return the ids of the candidates, ascending."""
        self._keep(other.ids, other._similarities)
        return np.sort(self.ids)

    def _keep(self, ids: Ids, similarities: Floats) -> None:
        self.ids = np.concatenate([self.ids, ids])
        self._similarities = np.concatenate([self._similarities, similarities])
        if len(self.ids) > self._k:
            last = len(self.ids) - self._k
            self._reached = np.partition(self._similarities, last)[last] - SLACK
            stay = self._similarities >= self._reached
            self.ids, self._similarities = self.ids[stay], self._similarities[stay]

    def _products(self, codes: Codes) -> Floats:
        products = np.empty(len(codes), np.float32)
        for first in range(0, len(codes), len(self._wide)):
            few = codes[first : first + len(self._wide)]
            np.copyto(self._wide[: len(few)], few)
            np.matmul(self._wide[: len(few)], self._direction, out=products[first : first + len(few)])
        return products

    def _is_allowed(self, ids: Ids) -> NDArray[np.bool_]:
        allowed = ~among(ids, self._excluded)
        return allowed if self._allowed is None else allowed & among(ids, self._allowed)


def scales_of(codes: Codes) -> Floats:
    """Return the factor of each row of codes that makes it a unit vector."""
    wide = codes.astype(np.float64)
    scales: Floats = (1 / np.sqrt(np.add.reduce(wide * wide, axis=1))).astype(np.float32)
    return scales


def update(
    database: Database, block: int, changed: Sequence[int], found: Sequence[int], codes: Codes, table: str = TABLE
) -> None:
    """Write some ids of a block again, inside the caller's transaction.

    The others stay as they are.

    Args:
        database: open for writing.
        block: `id // BLOCK` of all the ids.
        changed: the ids.
        found: the changed ids that have a vector now.
        codes: their numbers, of shape (found, dim).
        table: a table with the columns of `vector_blocks`.
    """
    rows = _rows(database, block, table)
    for id_ in changed:
        rows.pop(id_, None)
    scales = scales_of(codes)
    rows |= {id_: (scales[row].tobytes(), codes[row].tobytes()) for row, id_ in enumerate(found)}
    if not rows:
        database.run(f"DELETE FROM {table} WHERE block = ?", (block,))
        return
    stored = sorted(rows)
    joined = (b"".join(rows[id_][part] for id_ in stored) for part in (0, 1))
    database.run(
        f"INSERT OR REPLACE INTO {table}(block, ids, scales, codes) VALUES (?, ?, ?, ?)",
        (block, np.array(stored, dtype=np.int64).tobytes(), *joined),
    )


def _rows(database: Database, block: int, table: str) -> dict[int, tuple[bytes, bytes]]:
    """Return the bytes of scale and codes by id."""
    found = database.run(f"SELECT ids, codes, scales FROM {table} WHERE block = ?", (block,))
    if not found:
        return {}
    ids = np.frombuffer(found[0][0], dtype=np.int64).tolist()
    codes = np.frombuffer(found[0][1], dtype=np.int8).reshape(len(ids), -1)
    scales = np.frombuffer(found[0][2], dtype=np.float32)
    return {id_: (scales[row].tobytes(), codes[row].tobytes()) for row, id_ in enumerate(ids)}
