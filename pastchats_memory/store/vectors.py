"""Nearest neighbours: two engines propose, one function decides.

`vec0` (sqlite-vec) and the exact engine (NumPy over `vector_blocks`) both name candidates that are certain to contain
the k nearest; `score` alone gives similarities, from `vector_json`, and orders them by similarity, then id. So the
answer is the same with either engine, and a row that an engine has not caught up with (`vector_changes`) is scored
straight from the table.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from itertools import groupby

import numpy as np
import orjson
from numpy.typing import NDArray

from pastchats_memory.errors import DatabaseLocked, DatabaseReadOnly, DiskFull
from pastchats_memory.model import Filters, Neighbour
from pastchats_memory.store.database import Database
from pastchats_memory.store.filters import NOTE, allowed_ids

Vector = NDArray[np.float32]
Ids = NDArray[np.int64]

DECIMALS = 4
"""Of a component in `vector_json`: 2.9 KB a row at 384 dimensions, and the same ranking as full precision."""
BLOCK = 512
"""Prompt ids a row of `vector_blocks`."""
VEC0_TABLE = "vec_prompts"
VEC0_MOST = 4096
"""Upper limit of `k` in a vec0 query."""
MARGIN = 32
"""How many more than asked for vec0 lists, so that a few ties or deletions at the end do not matter."""
SLACK = 1e-4
"""How much similarity vec0's float32 distance can be off by, with room to spare."""
NO_TIME = -(1 << 62)
"""`at` of a row without a timestamp: vec0 metadata may not be NULL, and any bound leaves this out."""
ENGINES = ("blocks", "vec0")


def encode(vector: Vector) -> str:
    """The JSON text of a vector of shape (dim,): at most four decimals a component."""
    rounded = vector.astype(np.float64).round(DECIMALS) + 0.0  # which makes 0 of -0
    return orjson.dumps(rounded, option=orjson.OPT_SERIALIZE_NUMPY).decode()


def decode(texts: Sequence[str]) -> NDArray[np.float64]:
    """Unit vectors of shape (len(texts), dim) from their JSON texts, which rounding has made not quite unit."""
    numbers = b"".join([array("d", orjson.loads(text)) for text in texts])  # twice as fast as an array of lists
    rows: NDArray[np.float64] = np.frombuffer(numbers).reshape(len(texts), -1)
    length: NDArray[np.float64] = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / length


def matrix(database: Database, ids: Sequence[int]) -> tuple[list[int], NDArray[np.float64]]:
    """Those of the ids that have a vector, ascending, and their unit vectors of shape (ids, dim)."""
    found = database.run(
        "SELECT prompt_id, vector_json FROM prompt_embeddings "
        "WHERE prompt_id IN (SELECT value FROM json_each(?)) ORDER BY prompt_id",
        (orjson.dumps(list(ids)).decode(),),
    )
    return [id_ for id_, _ in found], decode([text for _, text in found]) if found else np.empty((0, 0))


def score(database: Database, query: Vector, ids: Sequence[int]) -> list[Neighbour]:
    """Those of the ids that have a vector, nearest first, equal ones by id: the one place where similarity is decided."""
    found, rows = matrix(database, ids)
    if not found:
        return []
    # einsum sums every row by itself, so a row's similarity does not depend on which others stand beside it.
    similarities = np.einsum("ij,j->i", rows, unit(query))
    neighbours = [Neighbour(id_, round(float(value), 6)) for id_, value in zip(found, similarities, strict=True)]
    return sorted(neighbours, key=lambda neighbour: (-neighbour.similarity, neighbour.id))


def nearest(database: Database, query: Vector, k: int, filters: Filters) -> list[Neighbour]:
    """The k prompts most similar to a query vector of shape (dim,), filters applied before the cut. Raises StoreFault."""
    behind = _behind(database, engine_of(database))
    if engine_of(database) == "vec0":
        found = _by_vec0(database, query, k, filters, behind)
        if found is not None:
            return found
        behind = _behind(database, "blocks")
    candidates = _by_blocks(database, query, k, filters, behind)
    return score(database, query, candidates)[:k]


def engine_of(database: Database) -> str:
    """`vec0` where the extension is loaded and its table is there, else `blocks`."""
    if not database.vec0_loaded:
        return "blocks"
    there = database.value("SELECT count(*) FROM sqlite_schema WHERE name = ?", (VEC0_TABLE,))
    return "vec0" if there else "blocks"


def unit(query: Vector) -> NDArray[np.float64]:
    """The query's direction, shape (dim,)."""
    wide = query.astype(np.float64)
    return wide / np.linalg.norm(wide)


# --- vec0 -------------------------------------------------------------------------------------------------------------


def _by_vec0(database: Database, query: Vector, k: int, filters: Filters, behind: set[int]) -> list[Neighbour] | None:
    """The k nearest by way of a vec0 KNN, or None where ties or deletions run past what it has listed.

    It is asked once: to list four times as many takes it three times as long, and the exact engine half as long.
    """
    asked = k + MARGIN
    if asked > VEC0_MOST:
        return None
    where, values = _vec0_conditions(filters)
    statement = f"SELECT prompt_id, distance FROM {VEC0_TABLE} WHERE embedding MATCH ? AND k = ?{where}"
    listed = database.run(statement, (unit(query).astype(np.float32).tobytes(), asked, *values))
    late = allowed_ids(database, sorted(behind), filters)
    found = score(database, query, [*(id_ for id_, _ in listed if id_ not in behind), *late])[:k]
    if len(listed) == asked:
        farthest = 1 - listed[-1][1] ** 2 / 2
        if len(found) < k or farthest >= found[-1].similarity - SLACK:
            return None
    return found


def _vec0_conditions(filters: Filters) -> tuple[str, list[int | str]]:
    clauses: list[str] = []
    values: list[int | str] = []
    for clause, value in (
        ("project = ?", None if filters.project is None else _project_number(filters.project)),
        ("role = ?", filters.role),
        ("at >= ?", None if filters.since is None else _milliseconds(filters.since)),
        ("at <= ?", None if filters.until is None else _milliseconds(filters.until)),
        ("at > ?", NO_TIME if filters.until is not None else None),
    ):
        if value is not None:
            clauses.append(clause)
            values.append(value)
    if filters.notes is not None:
        clauses.append("role = ?" if filters.notes else "role != ?")
        values.append(NOTE)
    return "".join(f" AND {clause}" for clause in clauses), values


def _project_number(project: str) -> int:
    """63 bits that stand for a name: vec0 compares integers within a chunk, but long texts one lookup a row."""
    return int.from_bytes(hashlib.sha256(project.encode()).digest()[:8]) >> 1


def _milliseconds(timestamp: str | None) -> int:
    return NO_TIME if timestamp is None else round(datetime.fromisoformat(timestamp).timestamp() * 1000)


def _make_vec0(database: Database, dim: int) -> None:
    database.run(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS {VEC0_TABLE} USING vec0("
        f"prompt_id INTEGER PRIMARY KEY, embedding float[{dim}], project INTEGER, role TEXT, at INTEGER)"
    )


def _update_vec0(database: Database, changed: Sequence[int]) -> None:
    found = database.run(
        "SELECT e.prompt_id, e.vector_json, p.source_project, p.role, p.timestamp "
        "FROM prompt_embeddings e JOIN prompts p ON p.id = e.prompt_id "
        "WHERE e.prompt_id IN (SELECT value FROM json_each(?))",
        (orjson.dumps(list(changed)).decode(),),
    )
    database.run_many(f"DELETE FROM {VEC0_TABLE} WHERE prompt_id = ?", [(id_,) for id_ in changed])
    if found:
        rows = decode([row[1] for row in found]).astype(np.float32)
        database.run_many(
            f"INSERT INTO {VEC0_TABLE}(prompt_id, embedding, project, role, at) VALUES (?, ?, ?, ?, ?)",
            [
                (id_, rows[row].tobytes(), _project_number(project), role, _milliseconds(timestamp))
                for row, (id_, _, project, role, timestamp) in enumerate(found)
            ],
        )


# --- exact ------------------------------------------------------------------------------------------------------------


def _by_blocks(database: Database, query: Vector, k: int, filters: Filters, behind: set[int]) -> list[int]:
    """Ids that are certain to contain the k nearest.

    With codes c and scale s a component is within s/2 of c·s, so a similarity is within s/2 · Σ|qᵢ| of the one computed
    from the codes: whoever could still be among the k best stays in.
    """
    direction = unit(query).astype(np.float32)
    reach = float(np.abs(direction).sum()) / 2
    excluded = np.array(sorted(behind), dtype=np.int64)
    allowed = None if filters == Filters() else np.array(allowed_ids(database, None, filters), dtype=np.int64)
    ids_of, lows, highs = [np.empty(0, np.int64)], [np.empty(0, np.float32)], [np.empty(0, np.float32)]
    for raw_ids, raw_codes, raw_scales in database.rows("SELECT ids, codes, scales FROM vector_blocks"):
        ids = np.frombuffer(raw_ids, dtype=np.int64)
        keep = ~_among(ids, excluded)
        if allowed is not None:
            keep &= _among(ids, allowed)
        if not keep.any():
            continue
        scales = np.frombuffer(raw_scales, dtype=np.float32)[keep]
        codes = np.frombuffer(raw_codes, dtype=np.int8).reshape(len(ids), -1)[keep]
        similarity = (codes.astype(np.float32) @ direction) * scales
        error = scales * reach + SLACK
        ids_of.append(ids[keep])
        lows.append(similarity - error)
        highs.append(similarity + error)
    proposed, low, high = np.concatenate(ids_of), np.concatenate(lows), np.concatenate(highs)
    if len(proposed) > k:
        proposed = proposed[high >= np.partition(low, len(low) - k)[len(low) - k]]
    return [*proposed.tolist(), *allowed_ids(database, sorted(behind), filters)]


def _among(ids: Ids, ascending: Ids) -> NDArray[np.bool_]:
    """Which of the ids stand in an ascending array."""
    if not len(ascending):
        return np.zeros(len(ids), dtype=bool)
    places = np.searchsorted(ascending, ids)
    return np.asarray(ascending[np.minimum(places, len(ascending) - 1)] == ids)


def _update_blocks(database: Database, changed: Sequence[int]) -> None:
    """Make the rows of the ids again, given in ascending order; others of their blocks stay as they are."""
    for block, ids in groupby(changed, key=lambda id_: id_ // BLOCK):
        here = list(ids)
        rows = _rows_of_block(database, block)
        for id_ in here:
            rows.pop(id_, None)
        rows |= _quantised(database, here)
        if not rows:
            database.run("DELETE FROM vector_blocks WHERE block = ?", (block,))
            continue
        stored = sorted(rows)
        codes, scales = (b"".join(rows[id_][part] for id_ in stored) for part in (0, 1))
        database.run(
            "INSERT OR REPLACE INTO vector_blocks(block, ids, codes, scales) VALUES (?, ?, ?, ?)",
            (block, np.array(stored, dtype=np.int64).tobytes(), codes, scales),
        )


def _rows_of_block(database: Database, block: int) -> dict[int, tuple[bytes, bytes]]:
    """By id its codes and its scale."""
    found = database.run("SELECT ids, codes, scales FROM vector_blocks WHERE block = ?", (block,))
    if not found:
        return {}
    ids = np.frombuffer(found[0][0], dtype=np.int64).tolist()
    codes = np.frombuffer(found[0][1], dtype=np.int8).reshape(len(ids), -1)
    scales = np.frombuffer(found[0][2], dtype=np.float32)
    return {id_: (codes[row].tobytes(), scales[row].tobytes()) for row, id_ in enumerate(ids)}


def _quantised(database: Database, ids: Sequence[int]) -> dict[int, tuple[bytes, bytes]]:
    """By id its codes and its scale, of those that have a vector."""
    found = database.run(
        "SELECT prompt_id, vector_json FROM prompt_embeddings WHERE prompt_id IN (SELECT value FROM json_each(?))",
        (orjson.dumps(list(ids)).decode(),),
    )
    if not found:
        return {}
    exact = decode([text for _, text in found])
    scales = np.abs(exact).max(axis=1, keepdims=True) / 127
    codes = np.rint(exact / scales).astype(np.int8)
    short = scales.astype(np.float32)
    return {id_: (codes[row].tobytes(), short[row].tobytes()) for row, (id_, _) in enumerate(found)}


# --- keeping up -------------------------------------------------------------------------------------------------------


def _applied(database: Database, engine: str) -> int:
    return int(database.value("SELECT value FROM embedding_meta WHERE key = ?", (f"{engine}_applied",)) or 0)


def _behind(database: Database, engine: str) -> set[int]:
    """Ids that changed since the engine last caught up."""
    rows = database.run("SELECT DISTINCT prompt_id FROM vector_changes WHERE seq > ?", (_applied(database, engine),))
    return {id_ for (id_,) in rows}


def pending(database: Database) -> dict[str, int]:
    """How many rows each engine is behind by."""
    return {engine: len(_behind(database, engine)) for engine in ENGINES}


def catch_up_at_opening(database: Database) -> None:
    """Bring the engine that is about to answer up to date with what was written without it.

    Where that cannot be written now, the answers are the same all the same: rows that an engine lacks are read one by one.
    """
    if database.writable and _behind(database, "vec0" if database.vec0_loaded else "blocks"):
        with suppress(DatabaseLocked, DatabaseReadOnly, DiskFull), database.transaction():
            catch_up(database)


def catch_up(database: Database) -> None:
    """Bring the engines that are available up to date; inside the caller's transaction. Raises StoreFault."""
    dim = database.value("SELECT value FROM embedding_meta WHERE key = 'embedding_dim'")
    if dim is None:
        return
    if database.vec0_loaded:
        _make_vec0(database, int(dim))
    last = database.value("SELECT coalesce(max(seq), 0) FROM vector_changes")
    for engine in ENGINES if database.vec0_loaded else ("blocks",):
        changed = sorted(_behind(database, engine))
        if engine == "blocks":
            _update_blocks(database, changed)
        else:
            for start in range(0, len(changed), BLOCK):
                _update_vec0(database, changed[start : start + BLOCK])
        if last > _applied(database, engine):
            database.run(
                "INSERT OR REPLACE INTO embedding_meta(key, value) VALUES (?, ?)", (f"{engine}_applied", str(last))
            )
    done = min(_applied(database, engine) for engine in ENGINES)
    database.run("DELETE FROM vector_changes WHERE seq <= ?", (done,))
