"""Find nearest neighbours: engines find candidates, one function scores them.

The exact engine (`blocks`) finds candidates that are certain to contain the k nearest. sqlite-vec (`vec0`), if it loads,
lists the nearest of them. `score` alone computes similarities, from the whole numbers that `vector_json` and the blocks both
hold, and orders by similarity, then id. So the answer is the same with either engine. A row that an engine is behind with
(`vector_changes`) is scored too.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from typing import NamedTuple

import apsw
import orjson

from pastchats_memory import errors
from pastchats_memory.arrays import Codes, Floats, Ids, Vector, np
from pastchats_memory.embed.session import ModelSession
from pastchats_memory.model import Filters, Neighbour
from pastchats_memory.store.database import LISTED, PAUSE, Database, bind_list
from pastchats_memory.store.errors import HINT_DAMAGED
from pastchats_memory.store.filters import is_restricted
from pastchats_memory.store.ids import allowed_ids
from pastchats_memory.store.vector_columns import PENDING
from pastchats_memory.store.vectors import blocks, vec0

CHANGES_A_STEP = 4096
"""Changes a step, which takes a third of a second."""
MAX_NUMBER = 127
"""The largest component of each vector, as a whole number. Only the direction of a vector counts, so no scale is stored."""
AT_OPENING = 2048
"""Changes that one opening applies, since a query waits for it; an index run applies all."""
MARGIN = 32
"""Rows that vec0 lists beyond k, so that a few ties or deletions at the end do not matter."""
VEC0_ROWS = 10_000
"""Rows up to which sqlite-vec is used: its KNN looks at all of them, while scoring all candidates of the exact engine
takes two milliseconds (`benchmarks/scale.py`)."""
MOST_FILTERS = 8
"""Filters whose passing ids are cached: four megabytes each for half of a million rows."""
MOST_KNOWN = 8192
"""Rows whose numbers are kept between questions: three megabytes."""
ENGINES = ("blocks", "vec0")


def encode(vector: Vector) -> str:
    """Return the JSON text of `round_vector`."""
    return orjson.dumps(round_vector(vector), option=orjson.OPT_SERIALIZE_NUMPY).decode()


def round_vector(vector: Vector) -> Codes:
    """Return a vector of shape (dim,) as whole numbers in proportion, the largest 127 or -127."""
    wide = vector.astype(np.float64)
    numbers: Codes = np.rint(wide * (MAX_NUMBER / np.abs(wide).max())).astype(np.int8)
    return numbers


def encode_or_defer(session: ModelSession, texts: Sequence[str]) -> list[str]:
    """Return the JSON text of each text's vector; PENDING from the first one on that the model cannot embed now."""
    encoded: list[str] = []
    try:
        encoded.extend(map(encode, session.embed(texts)))
    except (errors.ModelUnavailable, errors.ModelChanged):
        session.warn("text is stored without a vector and gets it as soon as a command has the model")
    return [*encoded, *[PENDING] * (len(texts) - len(encoded))]


def decode(texts: Sequence[str]) -> Codes:
    """Return the whole numbers of JSON vectors, of shape (len(texts), dim). Raises DatabaseCorrupt."""
    joined = ",".join(text.strip("[] ") for text in texts).encode()
    commas = np.count_nonzero(np.frombuffer(joined, np.uint8) == ord(","))  # ten times as fast as bytes.count
    try:
        numbers = np.fromstring(joined, np.int16, sep=",")  # it ends before what is no number
        if len(numbers) == commas + 1 and np.abs(numbers).max() <= MAX_NUMBER:
            return numbers.astype(np.int8).reshape(len(texts), texts[0].count(",") + 1)
    except (DeprecationWarning, ValueError):
        pass
    raise errors.DatabaseCorrupt("the database is damaged (a vector that is none)", HINT_DAMAGED)


def matrix(database: Database, ids: Sequence[int]) -> tuple[list[int], Floats]:
    """Return the ids that have a vector, ascending, and their unit vectors of shape (ids, dim).

    A pending vector is none.

    One question asks several times for much the same rows, so their numbers are kept as long as the snapshot.
    """
    known = _known_codes(database)
    if len(known) > MOST_KNOWN:
        known.clear()
    wanted = sorted(set(ids))
    known.update(zip(*read_codes(database, [id_ for id_ in wanted if id_ not in known]), strict=True))
    found = [id_ for id_ in wanted if id_ in known]
    return found, normalise(np.array([known[id_] for id_ in found], np.int8).reshape(len(found), -1 if found else 0))


def _known_codes(database: Database) -> dict[int, Codes]:
    """Return the numbers of rows that were read in this snapshot, from a block or as JSON."""
    return database.cache.get_or_make("codes", dict)


def read_codes(database: Database, ids: Sequence[int]) -> tuple[list[int], Codes]:
    """Return the ids that have a vector, ascending, and their whole numbers of shape (ids, dim).

    A pending vector is none.
    """
    found = database.run(
        "SELECT value, coalesce(p.vector_json, t.vector_json) FROM json_each(?) "
        "LEFT JOIN prompt_embeddings p ON prompt_id = value LEFT JOIN task_embeddings t ON text_id = value "
        "WHERE coalesce(p.model, t.model) != ''",
        (bind_list(sorted(set(ids))),),
    )
    if not found:
        return [], np.empty((0, 0), np.int8)
    return [id_ for id_, _ in found], decode([text for _, text in found])


def normalise(codes: Codes) -> Floats:
    """Return the unit vectors of whole numbers."""
    rows = codes.astype(np.float64)
    rows /= np.sqrt(np.add.reduce(rows * rows, axis=1, keepdims=True))  # as linalg.norm, which copies it twice
    return rows


def score(database: Database, query: Vector, ids: Sequence[int]) -> list[Neighbour]:
    """Return the ids that have a vector with their similarity, nearest first, equal ones by id.

    No other function computes similarities.
    """
    found, rows = matrix(database, ids)
    if not found:
        return []
    # einsum sums every row by itself, so a row's similarity does not depend on the other rows.
    similarities = np.einsum("ij,j->i", rows, unit(query))
    neighbours = [Neighbour(id_, round(float(value), 6)) for id_, value in zip(found, similarities, strict=True)]
    return sorted(neighbours, key=lambda neighbour: (-neighbour.similarity, neighbour.id))


class Candidates(NamedTuple):
    """The candidates among the cached rows."""

    scan: blocks.CandidateScan
    strides: Collection[int]
    """Strides that the scan has compared."""
    k: int


def passing_ids(database: Database, filters: Filters) -> Ids | None:
    """Return the ids of all rows that pass the filters, ascending. Return None if every row passes."""
    if not is_restricted(database, filters):
        return None
    passing_by_filters: dict[tuple[Filters, tuple[str, ...]], Ids] = database.cache.get_or_make("passing", dict)
    wanted = (filters, database.hidden)
    if wanted not in passing_by_filters:
        if len(passing_by_filters) == MOST_FILTERS:
            passing_by_filters.clear()
        passing_by_filters[wanted] = allowed_ids(database, None, filters)
    return passing_by_filters[wanted]


def prepare_scan(database: Database, k: int, passing: Ids | None) -> Callable[[Vector], Candidates | None] | None:
    """Return a function that compares the cached rows in another thread, without the database; None without any.

    Call `nearest` in the same snapshot afterwards. Raises StoreFault.
    """
    parts = {stride: one.part for stride, one in blocks.cached_parts(database).items()}
    if not parts:
        return None
    dim, behind = next(iter(parts.values())).codes.shape[1], _behind(database, "blocks")

    def scan(query: Vector) -> Candidates | None:
        if len(query) != dim:  # of another model, which the caller refuses by its name
            return None
        begun = _begin_scan(query, k, behind, passing)
        for part in parts.values():
            begun.add(part)
        return Candidates(begun, parts.keys(), k)

    return scan


def _begin_scan(query: Vector, k: int, behind: Iterable[int], passing: Ids | None) -> blocks.CandidateScan:
    excluded = np.array(sorted(behind), dtype=np.int64)
    return blocks.CandidateScan(unit(query).astype(np.float32), k, excluded, passing)


def nearest(
    database: Database,
    query: Vector,
    k: int,
    filters: Filters,
    passing: Ids | None = None,
    candidates: Candidates | None = None,
) -> list[Neighbour]:
    """Return the k rows most similar to a query, among those that pass the filters and are not forgotten.

    Args:
        database: open.
        query: vector of shape (dim,).
        k: number of rows.
        filters: applied before the cut.
        passing: ids that pass the filters, ascending, if the caller has listed them.
        candidates: of `prepare_scan` in the same snapshot.
    """
    with database.snapshot():
        if passing is None:
            passing = passing_ids(database, filters)
        behind = sorted(_behind(database, "blocks"))
        if candidates is None or candidates.k < k:
            candidates = Candidates(_begin_scan(query, k, behind, passing), (), k)
        near, codes = blocks.find_candidates(database, candidates.scan, candidates.strides)
        _known_codes(database).update(zip(near.tolist(), codes, strict=True))
        ids = [*near.tolist(), *allowed_ids(database, behind, filters).tolist()]
        found = None
        if engine_of(database) == "vec0":
            found = _nearest_by_vec0(database, query, k, ids)
        return score(database, query, ids)[:k] if found is None else found


def engine_of(database: Database) -> str:
    """Return `vec0` if its tables exist and are not too large, else `blocks`."""
    return "vec0" if vec0.is_there(database) and blocks.max_rows(database) <= VEC0_ROWS else "blocks"


def unit(query: Vector) -> Floats:
    """Return the query as a unit vector of shape (dim,), rounded as stored vectors are: equal texts have similarity 1."""
    (vector,) = normalise(round_vector(query)[np.newaxis])
    return np.asarray(vector)


def _nearest_by_vec0(database: Database, query: Vector, k: int, candidates: Sequence[int]) -> list[Neighbour] | None:
    """Return the k nearest of the candidates by a vec0 KNN, or None if ties run past its list.

    One KNN is enough: a list four times as long takes three times as long, and scoring all candidates takes less.
    """
    if k + MARGIN > vec0.MAX_K:
        return None
    behind = _behind(database, "vec0")
    among = [id_ for id_ in candidates if id_ not in behind]
    try:
        listed, farthest = vec0.nearest(database, round_vector(query), k + MARGIN, among)
    except (
        apsw.SQLError,
        errors.DatabaseCorrupt,
    ):  # its own tables are damaged, which `doctor` reports; the vectors are stored elsewhere
        return None
    found = score(database, query, [*listed, *(id_ for id_ in candidates if id_ in behind)])[:k]
    if farthest is not None and (len(found) < k or farthest >= found[-1].similarity - blocks.SLACK):
        return None
    return found


def _applied(database: Database, engine: str) -> int:
    return int(database.value("SELECT value FROM embedding_meta WHERE key = ?", (f"{engine}_applied",)) or 0)


def _set_applied(database: Database, engine: str, seq: int) -> None:
    database.run("INSERT OR REPLACE INTO embedding_meta(key, value) VALUES (?, ?)", (f"{engine}_applied", str(seq)))


def _list_changes(database: Database, engine: str, most: int) -> list[tuple[int, int]]:
    """Return number and id of the first changes since the engine last caught up; all of them if `most` is -1."""
    return database.run(
        "SELECT seq, prompt_id FROM vector_changes WHERE seq > ? ORDER BY seq LIMIT ?",
        (_applied(database, engine), most),
    )


def _behind(database: Database, engine: str) -> set[int]:
    rows = database.run("SELECT DISTINCT prompt_id FROM vector_changes WHERE seq > ?", (_applied(database, engine),))
    return {id_ for (id_,) in rows}


def count(database: Database) -> int:
    """Return the number of vectors of turns, notes and texts of tasks, without pending ones."""
    rows = database.value("SELECT (SELECT count(*) FROM prompt_embeddings) + (SELECT count(*) FROM task_embeddings)")
    return int(rows) - count_pending(database)


def count_pending(database: Database) -> int:
    """Return the number of turns, notes and texts of tasks that await a model."""
    return database.number(
        "SELECT (SELECT count(*) FROM prompt_embeddings WHERE model = '') "
        "+ (SELECT count(*) FROM task_embeddings WHERE model = '')"
    )


def pending(database: Database) -> dict[str, int]:
    """Return the number of rows that each engine is behind with."""
    return {engine: len(_behind(database, engine)) for engine in ENGINES}


def _available(database: Database) -> tuple[str, ...]:
    return ENGINES if database.vec0_loaded else ("blocks",)


def catch_up_at_opening(database: Database) -> None:
    """Apply up to AT_OPENING changes to the engines, if they are behind and the database can be written now.

    Answers are the same without it: rows that an engine lacks are scored one by one.
    """
    behind = pending(database)
    if database.writable and any(behind[engine] for engine in _available(database)):
        with suppress(errors.DatabaseLocked, errors.DatabaseReadOnly, errors.DiskFull), database.transaction():
            catch_up(database, most=AT_OPENING)


def replace_blocks(database: Database, prepared: str, further: Sequence[int]) -> None:
    """Replace the blocks after a change of model and mark the tables of vec0 as stale, inside the caller's transaction.

    `prepared` is a table of blocks of the new vectors, `further` are the ids that have changed since it was prepared.
    """
    database.run("DELETE FROM vector_blocks")
    database.run(
        f"INSERT INTO vector_blocks(block, ids, scales, codes) SELECT block, ids, scales, codes FROM {prepared}"
    )
    _set_applied(database, "blocks", database.value("SELECT max(seq) FROM vector_changes") or 0)
    database.run_many("INSERT INTO vector_changes(prompt_id) VALUES (?)", [(id_,) for id_ in further])
    catch_up(database, ("blocks",))
    vec0.mark_stale(database)


def catch_up_in_steps(database: Database) -> None:
    """Bring the engines up to date in many transactions, between which others can write.

    If the process is killed, the next writer does the rest.
    """
    while any(pending(database)[engine] for engine in _available(database)):
        with database.transaction():
            catch_up(database, most=CHANGES_A_STEP)
        time.sleep(PAUSE)


def catch_up(database: Database, engines: Sequence[str] = (), *, most: int | None = None) -> None:
    """Bring some engines, or all that are available, up to date, inside the caller's transaction.

    With `most`, only that many changes are applied, the oldest first.
    """
    engines = engines or _available(database)
    dim = database.value("SELECT value FROM embedding_meta WHERE key = 'embedding_dim'")
    if dim is None:
        return
    if "vec0" in engines:
        vec0.create_tables(database, int(dim))
    changes = {engine: _list_changes(database, engine, -1 if most is None else most) for engine in engines}
    behind = sorted({id_ for listed in changes.values() for _, id_ in listed})
    for block, ids in groupby(behind, key=lambda id_: id_ // blocks.BLOCK):
        here = list(ids)
        found, codes = read_codes(database, here)
        if changes.get("blocks"):
            blocks.update(database, block, here, found, codes)
        if changes.get("vec0"):
            vec0.update(database, here, found, codes)
    for engine, listed in changes.items():
        if listed:
            _set_applied(database, engine, listed[-1][0])
    database.run("DELETE FROM vector_changes WHERE seq <= ?", (min(_applied(database, engine) for engine in ENGINES),))


STEP = 2000
"""Vectors that are compared at once."""


def find_mismatches(database: Database) -> list[str]:
    """Return a message for each engine whose content differs from the stored vectors.

    An engine that is behind is not checked. Neither SQLite nor a search would notice a difference.
    """
    behind = pending(database)
    found = []
    if not behind["blocks"] and not all(_match_blocks(database)):
        found.append("blocks of vectors that are not of the stored vectors")
    if not behind["vec0"] and vec0.is_there(database) and not all(_match_vec0(database)):
        found.append("vectors in sqlite-vec's tables that are not the stored ones")
    return found


def _match_blocks(database: Database) -> Iterator[bool]:
    seen = 0
    for raw, codes, scales in database.rows("SELECT ids, codes, scales FROM vector_blocks ORDER BY block"):
        ids = np.frombuffer(raw, np.int64).tolist()
        found, stored = read_codes(database, ids)
        seen += len(ids)
        yield found == ids and (codes, scales) == (stored.tobytes(), blocks.scales_of(stored).tobytes())
    yield seen == count(database)


def _match_vec0(database: Database) -> Iterator[bool]:
    for table in vec0.TABLES:
        keys = database.mapping(table.rows)
        ids, seen = sorted(keys), 0
        for start in range(0, len(ids), STEP):
            found, codes = read_codes(database, ids[start : start + STEP])
            listed = bind_list(keys[id_] for id_ in found)
            statement = f"SELECT {table.key}, embedding FROM {table.name} WHERE {table.key} IN {LISTED}"
            stored = database.mapping(statement, (listed,))
            yield all(stored.get(keys[id_]) == row.tobytes() for id_, row in zip(found, codes, strict=True))
            seen += len(found)
        yield database.value(f"SELECT count(*) FROM {table.name}") == seen
