"""The exact engine: the numbers of the vectors, 512 prompt ids a row of `vector_blocks`, compared by NumPy.

It finds candidates that are certain to contain the k nearest, and reads a quarter of the bytes that JSON takes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import groupby
from queue import SimpleQueue
from threading import Thread
from typing import NamedTuple

from pastchats_memory.arrays import Bools, Codes, Ids, Vector, np
from pastchats_memory.errors import DatabaseCorrupt
from pastchats_memory.store.database import Blobs, Database
from pastchats_memory.store.errors import HINT_DAMAGED
from pastchats_memory.store.ids import among

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
MAX_CACHED = 128 << 20
"""Bytes of codes that may stay in memory between queries: some 340,000 rows at 384 dimensions."""
READ_BEFORE = "blocks read before"
"""Name of the mark that an earlier query read the blocks; a process with one query caches nothing."""


class BlockRun(NamedTuple):
    """Rows of consecutive blocks."""

    ids: Ids
    scales: Vector
    codes: Codes
    """Of shape (rows, dim)."""
    buffer: Codes | None
    """Memory that holds the codes and is used again; None if the part is cached."""


Versions = tuple[tuple[int, int], ...]
"""Blocks, ascending, with the version that each got when it was written."""


class Versioned(NamedTuple):
    """A stride that was read."""

    versions: Versions
    part: BlockRun


def find_candidates(database: Database, scan: CandidateScan, compared: Collection[int] = ()) -> tuple[Ids, Codes]:
    """Return ids, ascending, that are certain to contain the k nearest of the rows in the blocks, and their numbers.

    This thread reads what is not cached. Another one compares it, and this one does if two parts would wait. `scan` has the
    query, and the rows of the strides `compared` already.
    """
    further = [stride for stride in _versions(database) if stride not in compared]
    here = scan.begin_another()
    here.merge(scan)
    known = cached_parts(database)
    if known.keys() >= set(further):
        for stride in further:
            here.add(known[stride].part)
        return here.rows
    read: SimpleQueue[BlockRun | None] = SimpleQueue()
    free: SimpleQueue[Codes] = SimpleQueue()
    there = scan.begin_another()
    thread = Thread(target=_compare, args=(read, free, there))
    thread.start()
    try:
        for part in _read(database, scan.dim, further, free):
            if read.empty():
                read.put(part)
            else:
                _add(part, here, free)
    finally:
        read.put(None)
        thread.join()
    if not read.empty():
        raise AssertionError("the thread ended with a traceback of its own")
    here.merge(there)
    return here.rows


def cached_parts(database: Database) -> dict[int, Versioned]:
    """Return the strides that earlier queries have read, those written since as they are now."""
    return database.cache.get_or_make(TABLE, lambda: _refresh(database))


def _refresh(database: Database) -> dict[int, Versioned]:
    known: dict[int, Versioned] = database.cache.versioned.setdefault(TABLE, {})
    if not known:
        return known
    now = _versions(database)
    for stride in [stride for stride, one in known.items() if now.get(stride) != one.versions]:
        del known[stride]
    if known:  # none is current after a change of model
        dim = next(iter(known.values())).part.codes.shape[1]
        further = [stride for stride in now if stride not in known][: max(0, _room(dim) - len(known))]
        with closing(database.blobs(TABLE, "codes")) as blobs:
            for stride in further:
                known[stride] = Versioned(now[stride], _part(database, blobs, stride, dim))
    return known


def _room(dim: int) -> int:
    """Return how many strides may be cached."""
    return MAX_CACHED // (STRIDE * BLOCK * dim)


def _versions(database: Database) -> dict[int, Versions]:
    """Return the blocks of each stride with their versions. A block without one never counts as current."""

    def read() -> dict[int, Versions]:
        rows = database.run(
            "SELECT block, ifnull((SELECT version FROM vector_block_versions v WHERE v.block = b.block), random()) "
            "FROM vector_blocks b ORDER BY block"
        )
        return {stride: tuple(found) for stride, found in groupby(rows, key=lambda row: row[0] // STRIDE)}

    return database.cache.get_or_make("versions of blocks", read)


def _read(database: Database, dim: int, strides: Iterable[int], free: SimpleQueue[Codes]) -> Iterator[BlockRun]:
    """Yield the parts of some strides; from the second query on, the cache is filled.

    A part that is not cached takes a buffer from `free`, where the caller puts it back.
    """
    now, known, versioned = _versions(database), cached_parts(database), database.cache.versioned
    room = _room(dim) if READ_BEFORE in versioned else 0
    versioned[READ_BEFORE] = True
    for buffer in np.empty((BUFFERS, STRIDE * BLOCK, dim), np.int8):
        free.put(buffer)
    with closing(database.blobs(TABLE, "codes")) as blobs:
        for stride in strides:
            if stride not in known and len(known) < room:
                known[stride] = Versioned(now[stride], _part(database, blobs, stride, dim))
            yield known[stride].part if stride in known else _part(database, blobs, stride, dim, free.get())


def _part(database: Database, blobs: Blobs, stride: int, dim: int, buffer: Codes | None = None) -> BlockRun:
    """Return the rows of a stride, read into a buffer or into memory of their own."""
    few = database.run(
        "SELECT block, length(codes) / ?, ids, scales FROM vector_blocks WHERE block BETWEEN ? AND ?",
        (dim, stride * STRIDE, stride * STRIDE + STRIDE - 1),
    )
    for block, vectors, of_ids, of_scales in few:
        if not len(of_ids) / 8 == len(of_scales) / 4 == vectors <= BLOCK:
            raise DatabaseCorrupt(f"the database is damaged (block {block} of the vectors)", HINT_DAMAGED)
    ids = np.frombuffer(b"".join(row[2] for row in few), np.int64)
    scales = np.frombuffer(b"".join(row[3] for row in few), np.float32)
    codes = np.empty((len(ids), dim), np.int8) if buffer is None else buffer[: len(ids)]
    end = 0
    for block, vectors, *_ in few:
        start, end = end, end + vectors
        blobs.read(block, codes[start:end].data)
    return BlockRun(ids, scales, codes, buffer)


def max_rows(database: Database) -> int:
    """Return an upper bound of the number of vectors in the blocks."""
    return BLOCK * int(database.value("SELECT count(*) FROM vector_blocks"))


def _compare(read: SimpleQueue[BlockRun | None], free: SimpleQueue[Codes], scan: CandidateScan) -> None:
    while (part := read.get()) is not None:
        _add(part, scan, free)


def _add(part: BlockRun, scan: CandidateScan, free: SimpleQueue[Codes]) -> None:
    scan.add(part)
    if part.buffer is not None:
        free.put(part.buffer)


class CandidateScan:
    """Collects the k nearest rows, and those whose similarity differs from the k-th one by a rounding error only."""

    def __init__(self, direction: Vector, k: int, excluded: Ids, allowed: Ids | None) -> None:
        """Begin with no row.

        The direction is the query as a unit vector of shape (dim,). Ids are ascending: `excluded` ones are left out, and
        only `allowed` ones count; None allows all.
        """
        self._ids, self._similarities = np.empty(0, np.int64), np.empty(0, np.float32)
        self._codes = np.empty((0, len(direction)), np.int8)
        self._reached = -np.inf  # just less than a similarity that at least k rows have
        self._direction = direction
        self._k, self._excluded, self._allowed = k, excluded, allowed
        self._wide = np.empty((max(1, WIDENED // self.dim), self.dim), np.float32)

    @property
    def dim(self) -> int:
        """The number of components of the query."""
        return len(self._direction)

    @property
    def rows(self) -> tuple[Ids, Codes]:
        """The ids of the candidates so far, ascending, and their numbers of shape (ids, dim)."""
        order = np.argsort(self._ids)
        return self._ids[order], self._codes[order]

    def begin_another(self) -> CandidateScan:
        """Return a scan without rows for the same query."""
        return CandidateScan(self._direction, self._k, self._excluded, self._allowed)

    def add(self, part: BlockRun) -> None:
        """Add the rows that may be among the k nearest, and drop those that no longer can be."""
        similarity = self._products(part.codes) * part.scales
        near = np.flatnonzero(similarity >= self._reached)
        near = near[self._is_allowed(part.ids[near])]
        self._keep(part.ids[near], similarity[near], part.codes, near)

    def merge(self, other: CandidateScan) -> None:
        """Add what another scan found for the same query."""
        self._keep(other._ids, other._similarities, other._codes, np.arange(len(other._ids)))

    def _keep(self, ids: Ids, similarities: Vector, codes: Codes, rows: Ids) -> None:
        """Keep the nearest of the candidates and of further ones, whose numbers are these rows of `codes`."""
        before = len(self._ids)
        self._ids = np.concatenate([self._ids, ids])
        self._similarities = np.concatenate([self._similarities, similarities])
        if len(self._ids) > self._k:
            last = len(self._ids) - self._k
            self._reached = np.partition(self._similarities, last)[last] - SLACK
        stay = self._similarities >= self._reached
        self._ids, self._similarities = self._ids[stay], self._similarities[stay]
        self._codes = np.concatenate([self._codes[stay[:before]], codes[rows[stay[before:]]]])

    def _products(self, codes: Codes) -> Vector:
        products = np.empty(len(codes), np.float32)
        for first in range(0, len(codes), len(self._wide)):
            few = codes[first : first + len(self._wide)]
            np.copyto(self._wide[: len(few)], few)
            np.matmul(self._wide[: len(few)], self._direction, out=products[first : first + len(few)])
        return products

    def _is_allowed(self, ids: Ids) -> Bools:
        allowed = ~among(ids, self._excluded)
        return allowed if self._allowed is None else allowed & among(ids, self._allowed)


def scales_of(codes: Codes) -> Vector:
    """Return the factor of each row of codes that makes it a unit vector."""
    wide = codes.astype(np.float64)
    scales: Vector = (1 / np.sqrt(np.add.reduce(wide * wide, axis=1))).astype(np.float32)
    return scales


def update(
    database: Database, block: int, changed: Sequence[int], found: Sequence[int], codes: Codes, table: str = TABLE
) -> None:
    """Write the changed ids of a block again, inside the caller's transaction; the others stay as they are.

    The block is `id // BLOCK` of all the ids. The `found` ids have a vector now, with numbers of shape (found, dim). The
    table has the columns of `vector_blocks`.
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
