"""Nearest neighbours: engines propose, one function decides.

The exact engine (`blocks`) proposes ids that are certain to contain the k nearest, and sqlite-vec (`vec0`), where it
loads, lists the nearest of them; `score` alone gives similarities, from `vector_json`, and orders them by similarity,
then id. So the answer is the same with either engine, and a row that an engine has not caught up with
(`vector_changes`) is scored straight from the table.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from typing import NamedTuple

import apsw
import numpy as np
import orjson
from numpy.typing import NDArray

from pastchats_memory.errors import DatabaseCorrupt, DatabaseLocked, DatabaseReadOnly, DiskFull
from pastchats_memory.model import Filters, Neighbour
from pastchats_memory.store.database import PAUSE, Database
from pastchats_memory.store.errors import HINT_DAMAGED
from pastchats_memory.store.filters import LISTED, allowed_ids
from pastchats_memory.store.ids import Ids
from pastchats_memory.store.pending_deletes import exclude_pending
from pastchats_memory.store.vectors import blocks, vec0

Vector = NDArray[np.float32]

CAUGHT_UP_AT_ONCE = 4096
"""Changes, in a step that takes a third of a second."""
DECIMALS = 4
"""Of a component in `vector_json`: 2.9 KB a row at 384 dimensions, and the same ranking as full precision."""
PACKED = 10_000
"""What a component is multiplied by to be a whole number."""
PACKED_AT_ONCE = 2048
"""Rows that one transaction gives their components."""
AT_OPENING = 2048
"""Changes that one opening takes in, since whoever only asks waits for it; an index run takes in all."""
MARGIN = 32
"""How many more than asked for vec0 lists, so that a few ties or deletions at the end do not matter."""
VEC0_ROWS = 10_000
"""Rows up to which sqlite-vec is asked: its KNN looks at all of them whatever it is asked for, where the score of all that
the exact engine proposes takes two milliseconds (`benchmarks/scale.py`)."""
MOST_FILTERS = 8
"""Of which it is kept what they let through: four megabytes each where that is half of a million rows."""
ENGINES = ("blocks", "vec0")


def encode(vector: Vector) -> str:
    """The JSON text of a vector of shape (dim,): at most four decimals a component."""
    rounded = vector.astype(np.float64).round(DECIMALS) + 0.0  # which makes 0 of -0
    return orjson.dumps(rounded, option=orjson.OPT_SERIALIZE_NUMPY).decode()


def decode(texts: Sequence[str]) -> NDArray[np.float64]:
    """Unit vectors of shape (len(texts), dim) from their JSON texts, which rounding has made not quite unit."""
    return _normalised(np.concatenate([_numbers(text) for text in texts]), len(texts))


def matrix(database: Database, ids: Sequence[int]) -> tuple[list[int], NDArray[np.float64]]:
    """Those of the ids that have a vector, ascending, and their unit vectors of shape (ids, dim)."""
    found = database.run(
        "SELECT value, coalesce(nullif(components, x''), p.vector_json, t.vector_json) FROM json_each(?) "
        "LEFT JOIN prompt_embeddings p ON prompt_id = value LEFT JOIN task_embeddings t ON text_id = value "
        "WHERE coalesce(prompt_id, text_id)",
        (orjson.dumps(sorted(set(ids))).decode(),),
    )
    if not found:
        return [], np.empty((0, 0))
    parts: list[NDArray[np.float64]] = []
    for is_text, rows in groupby((stored for _, stored in found), key=lambda stored: isinstance(stored, str)):
        run = list(rows)
        parts += [_numbers(text) for text in run] if is_text else [_unpacked(b"".join(run))]
    return [id_ for id_, _ in found], _normalised(np.concatenate(parts), len(found))


def _normalised(numbers: NDArray[np.float64], rows: int) -> NDArray[np.float64]:
    matrix = numbers.reshape(rows, -1)
    matrix /= np.sqrt(np.add.reduce(matrix * matrix, axis=1, keepdims=True))  # as linalg.norm, which copies it twice
    return matrix


def _numbers(text: str) -> NDArray[np.float64]:
    try:
        return np.frombuffer(array("d", orjson.loads(text)))  # twice as fast as an array of lists
    except (orjson.JSONDecodeError, TypeError) as fault:
        raise DatabaseCorrupt(f"the database is damaged (a vector that is none: {fault})", HINT_DAMAGED) from fault


def _unpacked(components: bytes) -> NDArray[np.float64]:
    """The same doubles as in JSON: the quotient of two whole numbers is rounded just as a decimal fraction is."""
    numbers = np.frombuffer(components, "<i2").astype(np.float64)
    numbers /= PACKED  # in its place: the system takes longer to give memory than the processor to divide
    return numbers


def pack(text: str) -> bytes:
    """The numbers of a JSON vector times 10,000 as int16, or nothing where they are not just that."""
    numbers = _numbers(text)
    components = np.rint(numbers * PACKED).clip(-(2**15), 2**15 - 1).astype("<i2")
    packed = components.tobytes()
    return packed if np.array_equal(_unpacked(packed), numbers) else b""


def score(database: Database, query: Vector, ids: Sequence[int]) -> list[Neighbour]:
    """Those of the ids that have a vector, nearest first, equal ones by id: the one place where similarity is decided."""
    found, rows = matrix(database, ids)
    if not found:
        return []
    # einsum sums every row by itself, so a row's similarity does not depend on which others stand beside it.
    similarities = np.einsum("ij,j->i", rows, unit(query))
    neighbours = [Neighbour(id_, round(float(value), 6)) for id_, value in zip(found, similarities, strict=True)]
    return sorted(neighbours, key=lambda neighbour: (-neighbour.similarity, neighbour.id))


class Proposed(NamedTuple):
    """Ids of the exact engine's, certain to contain the k nearest of what is in its blocks."""

    ids: Ids
    k: int


def passing_ids(database: Database, filters: Filters) -> Ids | None:
    """All rows that the filters let through, ascending; None where that is all. Raises StoreFault."""
    if filters == Filters():
        return None
    kept: dict[Filters, Ids] = database.cache.get_or_make("passing", dict)
    if filters not in kept:
        if len(kept) == MOST_FILTERS:
            kept.clear()
        kept[filters] = allowed_ids(database, None, filters)
    return kept[filters]


def proposing(database: Database, k: int, passing: Ids | None) -> Callable[[Vector], Proposed | None] | None:
    """A way to propose that does not ask the database, so that another thread may go it; None where it would have to.

    Args:
        database: in the snapshot in which `nearest` is asked afterwards.
        k: how many are wanted at most.
        passing: as `nearest` is given it.

    Raises:
        StoreFault: it cannot be read.
    """
    parts = blocks.kept(database)
    if not parts:
        return None
    dim, excluded = parts[0].codes.shape[1], np.array(sorted(_behind(database, "blocks")), dtype=np.int64)

    def propose(query: Vector) -> Proposed | None:
        if len(query) != dim:  # of another model, whose vectors are refused as soon as its name is known
            return None
        return Proposed(blocks.Likely(unit(query).astype(np.float32), k, excluded, passing).among(parts), k)

    return propose


def nearest(
    database: Database,
    query: Vector,
    k: int,
    filters: Filters,
    passing: Ids | None = None,
    proposed: Proposed | None = None,
) -> list[Neighbour]:
    """The k prompts most similar to a query vector of shape (dim,), filters applied before the cut. Raises StoreFault.

    What is forgotten does not pass. Who has listed already what the filters let through gives it as `passing`, ascending,
    and what has been proposed in the same snapshot.
    """
    with database.snapshot():
        filters = exclude_pending(database, filters)
        if passing is None:
            passing = passing_ids(database, filters)
        behind = sorted(_behind(database, "blocks"))
        if proposed is None or proposed.k < k:
            excluded, direction = np.array(behind, dtype=np.int64), unit(query).astype(np.float32)
            proposed = Proposed(blocks.propose(database, direction, k, excluded, passing), k)
        candidates = [*proposed.ids.tolist(), *allowed_ids(database, behind, filters).tolist()]
        found = None
        if engine_of(database) == "vec0":
            found = _by_vec0(database, query, k, candidates)
        elif blocks.kept(database):
            database.stop_mapping()
        return score(database, query, candidates)[:k] if found is None else found


def engine_of(database: Database) -> str:
    """`vec0` where its tables are there and not too large to be asked, else `blocks`. Raises StoreFault."""
    return "vec0" if vec0.is_there(database) and blocks.most_rows(database) <= VEC0_ROWS else "blocks"


def unit(query: Vector) -> NDArray[np.float64]:
    """The query's direction, shape (dim,)."""
    wide = query.astype(np.float64)
    return wide / np.linalg.norm(wide)


def _by_vec0(database: Database, query: Vector, k: int, candidates: Sequence[int]) -> list[Neighbour] | None:
    """The k nearest of the candidates by way of a vec0 KNN, or None where ties run past what it has listed.

    It is asked once: to list four times as many takes it three times as long, and to score all candidates less.
    """
    if k + MARGIN > vec0.MOST:
        return None
    behind = _behind(database, "vec0")
    direction = unit(query).astype(np.float32)
    among = [id_ for id_ in candidates if id_ not in behind]
    try:
        listed, farthest = vec0.nearest(database, direction, k + MARGIN, among)
    except (
        apsw.SQLError,
        DatabaseCorrupt,
    ):  # its own tables are damaged, which `doctor` tells: the vectors are elsewhere
        return None
    found = score(database, query, [*listed, *(id_ for id_ in candidates if id_ in behind)])[:k]
    if farthest is not None and (len(found) < k or farthest >= found[-1].similarity - blocks.SLACK):
        return None
    return found


# --- keeping up -------------------------------------------------------------------------------------------------------


def _applied(database: Database, engine: str) -> int:
    return int(database.value("SELECT value FROM embedding_meta WHERE key = ?", (f"{engine}_applied",)) or 0)


def _has_applied(database: Database, engine: str, seq: int) -> None:
    written = (f"{engine}_applied", str(seq))
    database.run("INSERT OR REPLACE INTO embedding_meta(key, value) VALUES (?, ?)", written)


def _behind(database: Database, engine: str) -> set[int]:
    """Ids that changed since the engine last caught up."""
    rows = database.run("SELECT DISTINCT prompt_id FROM vector_changes WHERE seq > ?", (_applied(database, engine),))
    return {id_ for (id_,) in rows}


def count(database: Database) -> int:
    """Rows that have a vector: turns, notes, and texts of tasks. Raises StoreFault."""
    return int(
        database.value("SELECT (SELECT count(*) FROM prompt_embeddings) + (SELECT count(*) FROM task_embeddings)")
    )


def pending(database: Database) -> dict[str, int]:
    """How many rows each engine is behind by."""
    return {engine: len(_behind(database, engine)) for engine in ENGINES}


def _available(database: Database) -> tuple[str, ...]:
    return ENGINES if database.vec0_loaded else ("blocks",)


def catch_up_at_opening(database: Database) -> None:
    """Bring the engines that are about to answer nearer to what was written without them, by AT_OPENING changes.

    Where that cannot be written now, the answers are the same all the same: rows that an engine lacks are read one by one.
    """
    behind = pending(database)
    if database.writable and any(behind[engine] for engine in _available(database)):
        with suppress(DatabaseLocked, DatabaseReadOnly, DiskFull), database.transaction():
            catch_up(database, most=AT_OPENING)


def start_over(database: Database, ahead: str, further: Sequence[int]) -> None:
    """Give the exact engine other blocks and forget sqlite-vec's tables: every vector is another model's. Inside a transaction.

    Args:
        database: open for writing.
        ahead: a table of blocks of these vectors.
        further: ids that are not in it as they should be.
    """
    database.run("DELETE FROM vector_blocks")
    database.run(f"INSERT INTO vector_blocks SELECT block, ids, codes, scales FROM {ahead}")
    _has_applied(database, "blocks", database.value("SELECT max(seq) FROM vector_changes") or 0)
    database.run_many("INSERT INTO vector_changes(prompt_id) VALUES (?)", [(id_,) for id_ in further])
    catch_up(database, ("blocks",))
    vec0.mark_stale(database)


def unpacked(database: Database) -> int:
    """How many vectors have no components yet, none but in an older database. Raises StoreFault."""
    return int(database.value("SELECT count(*) FROM prompt_embeddings WHERE components IS NULL"))


def pack_all(database: Database) -> None:
    """Give all vectors of an older database their components, some in a transaction. Raises StoreFault."""
    while database.run("SELECT 1 FROM prompt_embeddings WHERE components IS NULL LIMIT 1"):
        with database.transaction():
            _pack_some(database)


def _pack_some(database: Database) -> None:
    unpacked = database.run(
        "SELECT prompt_id, vector_json FROM prompt_embeddings WHERE components IS NULL LIMIT ?", (PACKED_AT_ONCE,)
    )
    database.run_many(
        "UPDATE prompt_embeddings SET components = ? WHERE prompt_id = ?", [(pack(text), id_) for id_, text in unpacked]
    )


def catch_up_in_steps(database: Database) -> None:
    """The same in many transactions, between which others write; what is left when this one is killed, the next writer does."""
    while any(pending(database)[engine] for engine in _available(database)):
        with database.transaction():
            catch_up(database, most=CAUGHT_UP_AT_ONCE)
        time.sleep(PAUSE)


def catch_up(database: Database, engines: Sequence[str] = (), *, most: int | None = None) -> None:
    """Bring some engines, or all that are available, up to date; inside the caller's transaction.

    Args:
        database: open for writing.
        engines: their names; all that are available by default.
        most: changes that each engine takes in at most, the oldest first; the rest stays marked as behind.

    Raises:
        StoreFault: this cannot be written.
    """
    engines = engines or _available(database)
    dim = database.value("SELECT value FROM embedding_meta WHERE key = 'embedding_dim'")
    if dim is None:
        return
    if "vec0" in engines:
        vec0.make(database, int(dim))
    _pack_some(database)
    for engine in engines:
        changes = database.run(
            "SELECT seq, prompt_id FROM vector_changes WHERE seq > ? ORDER BY seq LIMIT ?",
            (_applied(database, engine), -1 if most is None else most),
        )
        for block, ids in groupby(sorted({id_ for _, id_ in changes}), key=lambda id_: id_ // blocks.BLOCK):
            here = list(ids)
            found, exact = matrix(database, here)
            if engine == "blocks":
                blocks.update(database, block, here, found, exact)
            else:
                vec0.update(database, here, found, exact)
        if changes:
            _has_applied(database, engine, changes[-1][0])
    done = min(_applied(database, engine) for engine in ENGINES)
    database.run("DELETE FROM vector_changes WHERE seq <= ?", (done,))


# Whether what the engines are made of is the vectors that are stored: `doctor` asks, since neither SQLite nor a search would notice.

STEP = 2000
"""Vectors that are compared at once."""
ROUNDING = 1e-6


def differing(database: Database) -> list[str]:
    """Which engines hold something else than the stored vectors; none where all is well or yet to be caught up with. Raises StoreFault."""
    behind = pending(database)
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
        found, exact = matrix(database, ids)
        seen += len(ids)
        yield found == ids and bool((np.abs(coded * scale - exact) <= scale / 2 + ROUNDING).all())
    yield seen == count(database)


def _vec0_fits(database: Database) -> Iterator[bool]:
    for table, key, of in (
        (vec0.TABLE, "prompt_id", "SELECT prompt_id FROM prompt_embeddings"),
        (vec0.TASK_TABLE, "text_id", "SELECT text_id FROM task_embeddings"),
    ):
        ids = sorted(id_ for (id_,) in database.run(of))
        yield database.value(f"SELECT count(*) FROM {table}") == len(ids)
        for start in range(0, len(ids), STEP):
            found, exact = matrix(database, ids[start : start + STEP])
            listed = orjson.dumps(found).decode()
            stored = dict(database.run(f"SELECT {key}, embedding FROM {table} WHERE {key} IN {LISTED}", (listed,)))
            rows = zip(found, exact.astype(np.float32), strict=True)
            yield all(stored.get(id_) == row.tobytes() for id_, row in rows)
