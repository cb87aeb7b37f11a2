"""The exact engine: vectors as eight-bit codes, 512 prompt ids a row of `vector_blocks`, compared by NumPy.

It proposes ids that are certain to contain the k nearest, from a tenth of the bytes that JSON takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from queue import SimpleQueue
from threading import Thread

import numpy as np
from numpy.typing import NDArray

from pastchats_memory.store.database import Database
from pastchats_memory.store.ids import Ids, among

Codes = NDArray[np.int8]

BLOCK = 512
"""Prompt ids a row."""
STRIDE = 8
"""Blocks that are read before they are compared in the other thread."""
SLACK = 1e-4
"""What float32 arithmetic can be off by in a similarity, with room to spare."""


def propose(database: Database, direction: NDArray[np.float32], k: int, excluded: Ids, allowed: Ids | None) -> Ids:
    """Ids that are certain to contain the k nearest of those that are in the blocks. Raises StoreFault.

    With codes c and scale s a component is within s/2 of c·s, so a similarity is within s/2 · Σ|qᵢ| of the one computed
    from the codes: whoever could still be among the k best stays in.

    Args:
        database: in a snapshot.
        direction: the query's, of shape (dim,) and length 1.
        k: how many are wanted.
        excluded: ids that do not count, ascending.
        allowed: the only ids that count, ascending; None for all.
    """
    found = database.run("SELECT block, ids, scales FROM vector_blocks")
    if not found:
        return np.empty(0, np.int64)
    ids = np.frombuffer(b"".join(row[1] for row in found), dtype=np.int64)
    scales = np.frombuffer(b"".join(row[2] for row in found), dtype=np.float32)
    similarity = _products(database, [(row[0], len(row[2]) // 4) for row in found], direction) * scales
    error = scales * (float(np.abs(direction).sum()) / 2) + SLACK
    keep = ~among(ids, excluded)
    if allowed is not None:
        keep &= among(ids, allowed)
    ids, low, high = ids[keep], (similarity - error)[keep], (similarity + error)[keep]
    return ids[high >= np.partition(low, len(low) - k)[len(low) - k]] if len(ids) > k else ids


def most_rows(database: Database) -> int:
    """How many vectors the blocks have at most. Raises StoreFault."""
    return BLOCK * int(database.value("SELECT count(*) FROM vector_blocks"))


def _products(
    database: Database, sizes: Sequence[tuple[int, int]], direction: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Codes times direction, a number a row: read here, multiplied in a thread beside it.

    Args:
        database: in a snapshot.
        sizes: blocks with their numbers of rows.
        direction: of shape (dim,).
    """
    products = np.empty(sum(rows for _, rows in sizes), np.float32)
    filled: SimpleQueue[tuple[Codes, int] | None] = SimpleQueue()
    free: SimpleQueue[Codes] = SimpleQueue()
    for _ in range(2):
        free.put(np.empty((STRIDE * BLOCK, len(direction)), np.int8))
    wide = np.empty((BLOCK, len(direction)), np.float32)  # fits into the processor's cache, which a stride would not
    beside = Thread(target=_multiply, args=(filled, free, wide, direction, products))
    beside.start()
    try:
        with closing(database.blobs("vector_blocks", "codes")) as blobs:
            for first in range(0, len(sizes), STRIDE):
                codes, read = free.get(), 0
                for block, rows in sizes[first : first + STRIDE]:
                    blobs.read(block, codes[read : read + rows].data)
                    read += rows
                filled.put((codes, read))
    finally:
        filled.put(None)
        beside.join()
    return products


def _multiply(
    filled: SimpleQueue[tuple[Codes, int] | None],
    free: SimpleQueue[Codes],
    wide: NDArray[np.float32],
    direction: NDArray[np.float32],
    products: NDArray[np.float32],
) -> None:
    done = 0
    while (part := filled.get()) is not None:
        codes, rows = part
        for first in range(0, rows, BLOCK):
            few = codes[first : min(first + BLOCK, rows)]
            np.copyto(wide[: len(few)], few)
            np.matmul(wide[: len(few)], direction, out=products[done : done + len(few)])
            done += len(few)
        free.put(codes)


def update(
    database: Database, block: int, changed: Sequence[int], found: Sequence[int], exact: NDArray[np.float64]
) -> None:
    """Make the rows of some ids of a block again; its others stay as they are. Inside the caller's transaction.

    Args:
        database: open for writing.
        block: `id // BLOCK` of all the ids.
        changed: the ids.
        found: those of them that have a vector now.
        exact: their unit vectors, of shape (found, dim).
    """
    rows = _rows(database, block)
    for id_ in changed:
        rows.pop(id_, None)
    if found:
        scales = np.abs(exact).max(axis=1, keepdims=True) / 127
        codes = np.rint(exact / scales).astype(np.int8)
        short = scales.astype(np.float32)
        rows |= {id_: (codes[row].tobytes(), short[row].tobytes()) for row, id_ in enumerate(found)}
    if not rows:
        database.run("DELETE FROM vector_blocks WHERE block = ?", (block,))
        return
    stored = sorted(rows)
    joined = (b"".join(rows[id_][part] for id_ in stored) for part in (0, 1))
    database.run(
        "INSERT OR REPLACE INTO vector_blocks(block, ids, codes, scales) VALUES (?, ?, ?, ?)",
        (block, np.array(stored, dtype=np.int64).tobytes(), *joined),
    )


def _rows(database: Database, block: int) -> dict[int, tuple[bytes, bytes]]:
    """By id its codes and its scale."""
    found = database.run("SELECT ids, codes, scales FROM vector_blocks WHERE block = ?", (block,))
    if not found:
        return {}
    ids = np.frombuffer(found[0][0], dtype=np.int64).tolist()
    codes = np.frombuffer(found[0][1], dtype=np.int8).reshape(len(ids), -1)
    scales = np.frombuffer(found[0][2], dtype=np.float32)
    return {id_: (codes[row].tobytes(), scales[row].tobytes()) for row, id_ in enumerate(ids)}
