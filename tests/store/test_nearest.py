"""Two engines, one answer: the one that comparing every row with the query gives."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

import apsw
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from vector_rows import DIM, PROJECTS, ROLES, Corpus, Row, answers, by_hand, insert, moment, unit

from pastchats_memory import Memory
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.errors import DatabaseCorrupt, DatabaseLocked
from pastchats_memory.maintenance import health
from pastchats_memory.model import Filters
from pastchats_memory.store import vectors
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.store.filters import conditions
from pastchats_memory.store.vectors import blocks

FILTERS = (
    Filters(),
    Filters(project="garden"),
    Filters(project=""),
    Filters(project="nobody"),
    Filters(role="user"),
    Filters(role=ROLES[-1]),
    Filters(since=moment(3000)),
    Filters(until=moment(3000)),
    Filters(since=moment(1000), until=moment(1001)),
    Filters(since="1890-01-01T00:00:00.000Z"),
    Filters(until="2190-01-01T00:00:00.000Z"),
    Filters(notes=True),
    Filters(notes=False),
    Filters(project="shed", role="assistant", since=moment(10), until=moment(6000), notes=False),
)


def assert_both(corpus: Corpus, query: np.ndarray, k: int, filters: Filters) -> None:
    """Either engine gives what the comparison by hand gives."""
    expected = by_hand(corpus.rows, query, k, filters)
    with open_database(corpus.path) as fast, open_database(corpus.path, vec0=False) as exact:
        assert (vectors.engine_of(fast), vectors.engine_of(exact)) == ("vec0", "blocks")
        for database in (fast, exact):
            found = answers(database, query, k, filters)
            assert [id_ for id_, _ in found] == [id_ for id_, _ in expected]
            assert [cosine for _, cosine in found] == pytest.approx([cosine for _, cosine in expected], abs=1.1e-6)


@pytest.mark.parametrize("filters", FILTERS, ids=str)
def test_both_engines_answer_alike_under_every_filter(crowd: Corpus, filters: Filters) -> None:
    assert_both(crowd, unit(np.random.default_rng(1)), 50, filters)


@pytest.mark.parametrize("k", [1, 10, 299, 4_200, 5_000, 8_000])
def test_both_engines_answer_alike_in_the_midst_of_ties(crowd: Corpus, k: int) -> None:
    tied = next(row.vector for id_, row in crowd.rows.items() if _copies(crowd, id_) > 4_096)
    assert_both(crowd, tied, k, Filters())
    assert_both(crowd, tied, k, Filters(project="shed", notes=False))


def _copies(corpus: Corpus, id_: int) -> int:
    return sum(np.array_equal(row.vector, corpus.rows[id_].vector) for row in corpus.rows.values())


def test_equal_vectors_come_in_the_order_of_their_ids(crowd: Corpus) -> None:
    tied = next(row.vector for id_, row in crowd.rows.items() if _copies(crowd, id_) > 4_096)
    with open_database(crowd.path) as database:
        found = answers(database, tied, 1_000, Filters())
    assert {cosine for _, cosine in found} == {1.0}
    assert [id_ for id_, _ in found] == sorted(id_ for id_, _ in found)


def test_a_narrow_filter_finds_all_rows_in_both_engines(multitude: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "VEC0_ROWS", 200_000)
    needles = {id_ for id_, row in multitude.rows.items() if row.project == "needle"}
    far_from_all = -multitude.rows[min(needles)].vector
    narrow = multitude.rows[max(needles)].timestamp
    for vec0 in (True, False):
        with open_database(multitude.path, vec0=vec0) as database:
            assert {id_ for id_, _ in answers(database, far_from_all, 10, Filters(project="needle"))} == needles
            one = answers(database, far_from_all, 10, Filters(project="needle", since=narrow, until=narrow))
            assert [id_ for id_, _ in one] == [max(needles)]
    query = unit(np.random.default_rng(1))
    for filters in (Filters(), Filters(since=moment(9_990))):
        assert_both(multitude, query, 25, filters)


@pytest.mark.parametrize("filters", [Filters(), Filters(project="garden")], ids=str)
def test_a_semantic_search_with_sqlite_vec_runs_a_knn_on_vec_prompts(crowd: Corpus, filters: Filters) -> None:
    statements: list[str] = []
    with open_database(crowd.path) as database:
        database.connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: statements.append(event["sql"]))
        found = vectors.nearest(database, unit(np.random.default_rng(1)), 10, filters)
    knn = [sql for sql in statements if "vec_prompts" in sql and "MATCH" in sql]
    assert len(knn) == 1
    assert "AND prompt_id IN (SELECT value FROM json_each(?))" in knn[0]
    assert len(found) == 10


def test_a_memory_that_is_too_large_for_a_knn_gives_the_same_answer_without_one(
    crowd: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = unit(np.random.default_rng(1))
    statements: list[str] = []
    with open_database(crowd.path) as database:
        database.connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: statements.append(event["sql"]))
        expected = vectors.nearest(database, query, 40, Filters())
        assert _engine(database) == ("vec0", "sqlite-vec is loaded")
        monkeypatch.setattr(vectors, "VEC0_ROWS", 5_000)
        assert vectors.nearest(database, query, 40, Filters()) == expected
        engine, why = _engine(database)
        assert engine == "exact"
        assert "from about 5,000 vectors on" in why
    assert sum("MATCH" in sql for sql in statements) == 1


def _engine(database: Database) -> tuple[str, str]:
    """What `status` and `doctor` say of it."""
    (finding,) = (found for found in health.check_health(database, PackagedEmbedder()) if found.check == "engine")
    return health.read_status(database, ()).engine, finding.detail


def test_without_sqlite_vec_a_semantic_search_never_names_vec_prompts(crowd: Corpus) -> None:
    statements: list[str] = []
    with open_database(crowd.path, vec0=False) as database:
        database.connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: statements.append(event["sql"]))
        vectors.nearest(database, unit(np.random.default_rng(1)), 10, Filters())
    assert any("vector_blocks" in sql for sql in statements)
    assert not any("FROM vec_prompts" in sql for sql in statements)


COORDINATES = st.integers(-2, 2)
SMALL_ROWS = st.lists(
    st.builds(
        Row,
        vector=st.lists(COORDINATES, min_size=3, max_size=3).filter(any).map(lambda xs: np.array(xs, np.float32)),
        project=st.sampled_from(PROJECTS),
        role=st.sampled_from(ROLES),
        timestamp=st.none() | st.integers(0, 200).map(moment),
    ),
    min_size=1,
    max_size=40,
)
SMALL_FILTERS = st.fixed_dictionaries(
    {
        "project": st.none() | st.sampled_from((*PROJECTS, "nobody")),
        "role": st.none() | st.sampled_from(ROLES),
        "since": st.none() | st.integers(0, 200).map(moment),
        "until": st.none() | st.integers(0, 200).map(moment),
        "notes": st.none() | st.booleans(),
    }
).map(lambda fields: Filters(**fields))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=SMALL_ROWS,
    gone=st.sets(st.integers(1, 40)),
    query=st.lists(COORDINATES, min_size=3, max_size=3).filter(any),
    k=st.integers(1, 50),
    filters=SMALL_FILTERS,
)
def test_nearest_is_what_comparing_every_row_gives(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[Row],
    gone: set[int],
    query: list[int],
    k: int,
    filters: Filters,
) -> None:
    path = tmp_path_factory.mktemp("small") / "memory.db"
    units = [Row(row.vector / np.linalg.norm(row.vector), row.project, row.role, row.timestamp) for row in rows]
    stored = dict(enumerate(units, start=1))
    with open_database(path, create=True) as database:
        insert(database, stored)
    with open_database(path, vec0=False) as database, database.transaction():
        database.run_many("DELETE FROM prompts WHERE id = ?", [(id_,) for id_ in gone])
    left = {id_: row for id_, row in stored.items() if id_ not in gone}
    assert_both(Corpus(path, left), np.array(query, np.float32), k, filters)


def _some(count: int, start: int = 1, seed: int = 5) -> dict[int, Row]:
    random = np.random.default_rng(seed)
    return {id_: Row(unit(random), timestamp=moment(id_)) for id_ in range(start, start + count)}


@pytest.mark.parametrize("first", [True, False])
def test_rows_written_with_and_without_the_extension_are_found_by_both_engines(tmp_path: Path, first: bool) -> None:
    path = tmp_path / "memory.db"
    rows = _some(700) | _some(700, 701, seed=6)
    with open_database(path, create=True, vec0=first) as database:
        insert(database, {id_: row for id_, row in rows.items() if id_ <= 700})
    with open_database(path, vec0=not first) as database:
        insert(database, {id_: row for id_, row in rows.items() if id_ > 700})
    query = unit(np.random.default_rng(9))
    for vec0 in (True, False):
        with open_database(path, vec0=vec0) as database:
            assert answers(database, query, 30, Filters()) == by_hand(rows, query, 30, Filters())


def test_a_change_of_any_kind_made_without_the_extension_is_seen_by_both_engines(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    rows = _some(600)
    with open_database(path, create=True) as database:
        insert(database, rows)
    other = unit(np.random.default_rng(77))
    with open_database(path, vec0=False) as database, database.transaction():
        database.run("DELETE FROM prompts WHERE id IN (3, 599)")
        database.run("UPDATE prompts SET source_project = 'shed', role = 'note', timestamp = NULL WHERE id = 4")
        database.run("UPDATE prompt_embeddings SET vector_json = ? WHERE prompt_id = 5", (vectors.encode(other),))
    left = {id_: row for id_, row in rows.items() if id_ not in (3, 599)}
    left |= {4: Row(rows[4].vector, "shed", "note", None), 5: Row(other, timestamp=rows[5].timestamp)}
    for filters in (Filters(), Filters(project="shed"), Filters(notes=False), Filters(since=moment(0))):
        for query in (other, rows[3].vector, rows[4].vector):
            assert_both(Corpus(path, left), query, 5, filters)


def test_the_extension_catches_up_with_rows_written_without_it(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with open_database(path, create=True, vec0=False) as database:
        insert(database, _some(30))
        assert vectors.pending(database) == {"blocks": 0, "vec0": 30}
    with Memory.open(path) as memory:
        assert (memory.status().engine, memory.status().behind) == ("vec0", 0)
    with open_database(path) as database:
        assert database.value("SELECT count(*) FROM vec_prompts") == 30
        assert database.value("SELECT count(*) FROM vector_changes") == 0


def test_an_opening_catches_up_with_a_part_and_answers_for_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "AT_OPENING", 12)
    path, rows = tmp_path / "memory.db", _some(30)
    with open_database(path, create=True, vec0=False) as database:
        insert(database, rows)
        with database.transaction():
            database.run("DELETE FROM prompts WHERE id = 4")
    left = {id_: row for id_, row in rows.items() if id_ != 4}
    behind = []
    for _ in range(3):
        with Memory.open(path) as memory:
            behind.append(memory.status().behind)
        assert_both(Corpus(path, left), rows[4].vector, 9, Filters())
    assert behind == [19, 7, 0]  # the deleted one was inserted and deleted: two changes


def test_opening_does_not_fail_while_another_connection_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pastchats_memory.store.database.BUSY_MS", 20)
    path = tmp_path / "memory.db"
    with open_database(path, create=True, vec0=False) as database:
        insert(database, _some(30))
    with open_database(path) as writer, writer.transaction(), Memory.open(path) as memory:
        assert memory.status().engine == "exact"
        with pytest.raises(DatabaseLocked):
            memory.index([tmp_path])


def test_a_read_only_database_that_is_behind_answers_alike(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    rows = _some(400)
    with open_database(path, create=True) as database:
        insert(database, {id_: row for id_, row in rows.items() if id_ <= 300})
    with open_database(path, vec0=False) as database:
        insert(database, {id_: row for id_, row in rows.items() if id_ > 300})
    query = unit(np.random.default_rng(9))
    with open_database(path) as database:
        database.run("PRAGMA query_only=1")
        assert vectors.pending(database)["vec0"] == 100
        assert answers(database, query, 30, Filters()) == by_hand(rows, query, 30, Filters())


@pytest.mark.parametrize("first", [2, 9])
@pytest.mark.parametrize("part", ["ids", "codes", "scales"])
def test_a_block_that_lacks_a_part_of_a_vector_is_damage_and_holds_nobody_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str, first: int
) -> None:
    monkeypatch.setattr(blocks, "STRIDE", 1)
    with open_database(tmp_path / "memory.db", create=True, vec0=False) as database:
        insert(database, _some(1_600))
        with database.transaction():
            database.run(f"UPDATE vector_blocks SET {part} = substr({part}, {first}) WHERE block = 0")
        for _ in range(3):
            with pytest.raises(DatabaseCorrupt):
                vectors.nearest(database, unit(np.random.default_rng(1)), 10, Filters())


class _LateThread(Thread):
    """A thread that gets no processor until somebody waits for it."""

    def start(self) -> None:
        pass

    def join(self, timeout: float | None = None) -> None:
        super().start()
        super().join(timeout)


@pytest.mark.parametrize("thread", [Thread, _LateThread])
def test_every_thread_compares_a_part_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, thread: type[Thread]
) -> None:
    monkeypatch.setattr(blocks, "STRIDE", 1)
    monkeypatch.setattr(blocks, "Thread", thread)
    rows = _some(4_000)
    with open_database(tmp_path / "memory.db", create=True, vec0=False) as database:
        insert(database, rows)
        for seed in range(5):
            query = unit(np.random.default_rng(seed))
            database.cache.versioned.clear()  # so that the blocks are read again
            assert answers(database, query, 30, Filters()) == by_hand(rows, query, 30, Filters())


def test_rows_given_to_a_thread_that_ends_early_are_not_left_out_unnoticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "STRIDE", 1)
    monkeypatch.setattr(blocks, "_compare", lambda *_: None)
    with open_database(tmp_path / "memory.db", create=True, vec0=False) as database:
        insert(database, _some(4_000))
        with pytest.raises(AssertionError, match="the thread ended"):
            vectors.nearest(database, unit(np.random.default_rng(1)), 10, Filters())


@pytest.mark.parametrize(
    "filters",
    [
        Filters(role="user"),
        Filters(role="user", project="garden"),
        Filters(role="user", since=moment(3000)),
        Filters(since=moment(3000)),
    ],
    ids=str,
)
def test_the_rows_of_a_role_or_a_span_are_listed_without_reading_their_texts(crowd: Corpus, filters: Filters) -> None:
    where, values = conditions(filters)
    with open_database(crowd.path) as database:
        plan = database.run(
            f"EXPLAIN QUERY PLAN SELECT group_concat(p.id) FROM visible_prompts p WHERE {where}", values
        )
    assert "USING COVERING INDEX" in plan[0][3]


@pytest.mark.parametrize("dim", [3, 384, 768, 1024, 4096])
def test_no_product_is_so_large_that_openblas_would_divide_it_among_threads(dim: int) -> None:
    direction, nothing = unit(np.random.default_rng(1), dim), np.empty(0, np.int64)
    codes = np.random.default_rng(2).integers(-127, 128, (3000, dim)).astype(np.int8)
    part = blocks.BlockRun(np.arange(3000), np.full(3000, 0.001, np.float32), codes, codes)
    scan = blocks.CandidateScan(direction, 10, nothing, None)
    scan.add(part)
    best = np.argsort(-(codes.astype(np.float64) @ direction))[:10]
    assert set(best.tolist()) <= set(scan.rows[0].tolist())
    assert scan._wide.size <= 460_800  # noqa: SLF001 - on a quiet machine nothing else tells


def test_no_rows_no_neighbours(database: Database) -> None:
    assert vectors.nearest(database, unit(np.random.default_rng(1)), 10, Filters()) == []


def test_the_vectors_of_sqlite_vec_are_gone_from_the_file_with_their_rows(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    rows = _some(50)
    with open_database(path, create=True) as database:
        insert(database, rows)
        assert rows[7].vector.shape == (DIM,)
        stored = vectors.decode([vectors.encode(rows[7].vector)]).tobytes()
        database.run("PRAGMA wal_checkpoint(TRUNCATE)")
        assert stored in path.read_bytes()
        with database.transaction():
            database.run("DELETE FROM prompts WHERE id = 7")
            vectors.catch_up(database)
        database.run("PRAGMA wal_checkpoint(TRUNCATE)")
        assert stored not in path.read_bytes()
