"""The exact engine: vectors as eight-bit codes, 512 prompt ids a row of `vector_blocks`, compared by NumPy.

It proposes ids that are certain to contain the k nearest, from a tenth of the bytes that JSON takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
"""Prompt ids a row."""
STRIDE = 8
"""Blocks that are read, and kept, together: those whose numbers begin alike. They are compared in the other thread."""
WIDENED = 3 << 17
"""Components that are compared at once: they fit into the processor's cache, and OpenBLAS would divide a product of more than
460,800 among threads that wait for each other, on a busy machine for many times as long as one of them takes."""
SLACK = 1e-4
"""What float32 arithmetic can be off by in a similarity, with room to spare."""
MOST_KEPT = 64 << 20
"""Bytes of codes up to which they stay in memory between questions: of some 170,000 rows at 384 dimensions."""
ASKED = "blocks asked"
"""That an earlier question read them, and that whoever asks once is not made to keep anything."""


class Part(NamedTuple):
    """Rows of some blocks, one after the other."""

    ids: Ids
    scales: Floats
    codes: Codes
    """Of shape (rows, dim)."""
    buffer: Codes
    """What the codes lie in."""


Versions = tuple[tuple[int, int], ...]
"""Blocks, ascending, and the number that each was given when it was written."""
Versioned = tuple[Versions, Part]
"""Of a stride: what it was read of, and what was read."""


def propose(database: Database, direction: Floats, k: int, excluded: Ids, allowed: Ids | None) -> Ids:
    """Ids, ascending, that are certain to contain the k nearest of those that are in the blocks. Raises StoreFault.

    Read here, compared in a thread beside it, unless an earlier question has read them.

    Args:
        database: in a snapshot.
        direction: the query's, of shape (dim,) and length 1.
        k: how many are wanted.
        excluded: ids that do not count, ascending.
        allowed: the only ids that count, ascending; None for all.
    """
    likely = Likely(direction, k, excluded, allowed)
    if (parts := kept(database)) is not None:
        return likely.among(parts)
    read: SimpleQueue[Part | None] = SimpleQueue()
    free: SimpleQueue[Codes] = SimpleQueue()
    beside = Thread(target=_compare, args=(read, free, likely))
    beside.start()
    try:
        _read(database, len(direction), read, free)
    finally:
        read.put(None)
        beside.join()
    return likely.ids


def kept(database: Database) -> list[Part] | None:
    """All of the blocks, where earlier questions have read them: of what was written since, once more. Raises StoreFault."""
    values = database.cache.entries()
    if TABLE not in values and (known := database.cache.versioned.get(TABLE)):
        values[TABLE] = _brought_up_to_date(database, known)
    parts: list[Part] | None = values.get(TABLE)
    return parts


def _brought_up_to_date(database: Database, known: dict[int, Versioned]) -> list[Part] | None:
    """None where nothing is as it was, another model's perhaps, or where it has become too much to be kept."""
    now = _versions(database)
    for stride in [stride for stride, (versions, _) in known.items() if now.get(stride) != versions]:
        del known[stride]
    if not known:
        return None
    dim = next(iter(known.values()))[1].codes.shape[1]
    if len(now) * STRIDE * BLOCK * dim > MOST_KEPT:
        known.clear()
        return None
    with closing(database.blobs(TABLE, "codes")) as blobs:
        for stride in now.keys() - known.keys():
            known[stride] = now[stride], _part(database, blobs, stride, np.empty((STRIDE * BLOCK, dim), np.int8))
    return [known[stride][1] for stride in now]


def _versions(database: Database) -> dict[int, Versions]:
    """By stride which blocks it has, and the version of each; one that has none is never as it was."""
    rows = database.run(
        "SELECT block, ifnull((SELECT version FROM vector_block_versions v WHERE v.block = b.block), random()) "
        "FROM vector_blocks b ORDER BY block"
    )
    return {stride: tuple(found) for stride, found in groupby(rows, key=lambda row: row[0] // STRIDE)}


def _read(database: Database, dim: int, read: SimpleQueue[Part | None], free: SimpleQueue[Codes]) -> None:
    """All of the blocks, part by part; the second question to read them keeps what it reads."""
    now, versioned = _versions(database), database.cache.versioned
    keeps = ASKED in versioned and len(now) * STRIDE * BLOCK * dim <= MOST_KEPT
    versioned[ASKED] = True
    for buffer in np.empty((len(now) if keeps else 2, STRIDE * BLOCK, dim), np.int8):
        free.put(buffer)
    parts: dict[int, Versioned] = {}
    with closing(database.blobs(TABLE, "codes")) as blobs:
        for stride, versions in now.items():
            part = _part(database, blobs, stride, free.get())
            read.put(part)
            if keeps:
                parts[stride] = versions, part
    if keeps:
        versioned[TABLE] = parts
        database.cache.entries()[TABLE] = [part for _, part in parts.values()]


def _part(database: Database, blobs: Blobs, stride: int, buffer: Codes) -> Part:
    # Scales stand behind codes, and each page of a row leads to the next: both are read while its pages are at hand.
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


def most_rows(database: Database) -> int:
    """How many vectors the blocks have at most. Raises StoreFault."""
    return BLOCK * int(database.value("SELECT count(*) FROM vector_blocks"))


def _compare(read: SimpleQueue[Part | None], free: SimpleQueue[Codes], likely: Likely) -> None:
    while (part := read.get()) is not None:
        likely.take(part)
        free.put(part.buffer)


class Likely:
    """Who may be among the k nearest of all rows that were looked at.

    With codes c and scale s a component is within s/2 of c·s, so a similarity is within s/2 · Σ|qᵢ| of the one computed
    from the codes: whoever could still be among the k best stays in.
    """

    def __init__(self, direction: Floats, k: int, excluded: Ids, allowed: Ids | None) -> None:
        self.ids, self._low, self._high = np.empty(0, np.int64), np.empty(0, np.float32), np.empty(0, np.float32)
        self._reached = -np.inf  # by k rows at least
        self._direction, self._rounding = direction, float(np.abs(direction).sum()) / 2
        self._k, self._excluded, self._allowed = k, excluded, allowed
        self._wide = np.empty((max(1, WIDENED // len(direction)), len(direction)), np.float32)

    def among(self, parts: Iterable[Part]) -> Ids:
        """The ids, ascending, when these have been looked at."""
        for part in parts:
            self.take(part)
        return self.ids

    def take(self, part: Part) -> None:
        """Look at further rows: those that can be among the k nearest come in, who no longer can goes."""
        similarity = self._products(part.codes) * part.scales
        error = part.scales * self._rounding + SLACK
        near = np.flatnonzero(similarity + error >= self._reached)
        near = near[self._counts(part.ids[near])]
        self.ids = np.concatenate([self.ids, part.ids[near]])
        self._low = np.concatenate([self._low, (similarity - error)[near]])
        self._high = np.concatenate([self._high, (similarity + error)[near]])
        if len(self.ids) > self._k:
            last = len(self.ids) - self._k
            self._reached = np.partition(self._low, last)[last]
            stay = self._high >= self._reached
            self.ids, self._low, self._high = self.ids[stay], self._low[stay], self._high[stay]

    def _products(self, codes: Codes) -> Floats:
        products = np.empty(len(codes), np.float32)
        for first in range(0, len(codes), len(self._wide)):
            few = codes[first : first + len(self._wide)]
            np.copyto(self._wide[: len(few)], few)
            np.matmul(self._wide[: len(few)], self._direction, out=products[first : first + len(few)])
        return products

    def _counts(self, ids: Ids) -> NDArray[np.bool_]:
        counts = ~among(ids, self._excluded)
        return counts if self._allowed is None else counts & among(ids, self._allowed)


def update(
    database: Database,
    block: int,
    changed: Sequence[int],
    found: Sequence[int],
    exact: NDArray[np.float64],
    table: str = TABLE,
) -> None:
    """Make the rows of some ids of a block again; its others stay as they are. Inside the caller's transaction.

    Args:
        database: open for writing.
        block: `id // BLOCK` of all the ids.
        changed: the ids.
        found: those of them that have a vector now.
        exact: their unit vectors, of shape (found, dim).
        table: with the columns of `vector_blocks`.
    """
    rows = _rows(database, block, table)
    for id_ in changed:
        rows.pop(id_, None)
    if found:
        scales = np.abs(exact).max(axis=1, keepdims=True) / 127
        codes = np.rint(exact / scales).astype(np.int8)
        short = scales.astype(np.float32)
        rows |= {id_: (codes[row].tobytes(), short[row].tobytes()) for row, id_ in enumerate(found)}
    if not rows:
        database.run(f"DELETE FROM {table} WHERE block = ?", (block,))
        return
    stored = sorted(rows)
    joined = (b"".join(rows[id_][part] for id_ in stored) for part in (0, 1))
    database.run(
        f"INSERT OR REPLACE INTO {table}(block, ids, codes, scales) VALUES (?, ?, ?, ?)",
        (block, np.array(stored, dtype=np.int64).tobytes(), *joined),
    )


def _rows(database: Database, block: int, table: str) -> dict[int, tuple[bytes, bytes]]:
    """By id its codes and its scale."""
    found = database.run(f"SELECT ids, codes, scales FROM {table} WHERE block = ?", (block,))
    if not found:
        return {}
    ids = np.frombuffer(found[0][0], dtype=np.int64).tolist()
    codes = np.frombuffer(found[0][1], dtype=np.int8).reshape(len(ids), -1)
    scales = np.frombuffer(found[0][2], dtype=np.float32)
    return {id_: (codes[row].tobytes(), scales[row].tobytes()) for row, id_ in enumerate(ids)}
