"""Whether what the engines are made of is the vectors that are stored: `doctor` asks, since neither SQLite nor a search would notice."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import orjson

from pastchats_memory.store import vec0, vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.filters import LISTED

STEP = 2000
"""Vectors that are compared at once."""
ROUNDING = 1e-6


def differing(database: Database) -> list[str]:
    """Which engines hold something else than the stored vectors; none where all is well or yet to be caught up with. Raises StoreFault."""
    behind = vectors.pending(database)
    found = []
    if not behind["blocks"] and not all(_blocks_fit(database)):
        found.append("blocks of vectors that are not of the stored vectors")
    if not behind["vec0"] and vec0.is_there(database) and not all(_vec0_fits(database)):
        found.append("vectors in sqlite-vec's tables that are not the stored ones")
    return found


def _blocks_fit(database: Database) -> Iterator[bool]:
    seen = 0
    for raw, codes, scales in database.rows("SELECT ids, codes, scales FROM vector_blocks ORDER BY block"):
        ids = np.frombuffer(raw, np.int64).tolist()
        coded = np.frombuffer(codes, np.int8).reshape(len(ids), -1)
        scale = np.frombuffer(scales, np.float32)[:, None]
        found, exact = vectors.matrix(database, ids)
        seen += len(ids)
        yield found == ids and bool((np.abs(coded * scale - exact) <= scale / 2 + ROUNDING).all())
    yield seen == vectors.count(database)


def _vec0_fits(database: Database) -> Iterator[bool]:
    for table, key, of in (
        (vec0.TABLE, "prompt_id", "SELECT prompt_id FROM prompt_embeddings"),
        (vec0.OF_TASKS, "text_id", "SELECT text_id FROM task_embeddings"),
    ):
        ids = sorted(id_ for (id_,) in database.run(of))
        yield database.value(f"SELECT count(*) FROM {table}") == len(ids)
        for start in range(0, len(ids), STEP):
            found, exact = vectors.matrix(database, ids[start : start + STEP])
            listed = orjson.dumps(found).decode()
            stored = dict(database.run(f"SELECT {key}, embedding FROM {table} WHERE {key} IN {LISTED}", (listed,)))
            rows = zip(found, exact.astype(np.float32), strict=True)
            yield all(stored.get(id_) == row.tobytes() for id_, row in rows)
