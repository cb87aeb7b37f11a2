"""Each statement of a connection answers the viewer who runs it, whoever else asks meanwhile."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from vector_rows import Row, insert, unit

from pastchats_memory.store.database import open_database
from pastchats_memory.store.visible import TABLES

SEEN = "SELECT id FROM visible_prompts ORDER BY id"


@pytest.fixture
def database(tmp_path: Path):
    """Four rows, of which every second is in the project `shed`."""
    random = np.random.default_rng(5)
    with open_database(tmp_path / "memory.db", create=True) as opened:
        insert(opened, {1 + number: Row(unit(random), ("garden", "shed")[number % 2]) for number in range(4)})
        yield opened


def test_viewers_of_one_connection_see_their_own_rows_by_one_statement(database) -> None:
    owner, stranger = database, database.hide(["shed"])
    for _ in range(3):
        assert owner.run(SEEN) == [(1,), (2,), (3,), (4,)]
        assert stranger.run(SEEN) == [(1,), (3,)]


def test_a_statement_that_is_read_row_by_row_keeps_its_viewer(database) -> None:
    """The second half is evaluated while its first row is fetched, after the other viewer's statement."""
    halves = "SELECT 0 UNION ALL SELECT id FROM visible_prompts"
    owner, stranger = database, database.hide(["shed"])
    for asking, other, expected in ((stranger, owner, [0, 1, 3]), (owner, stranger, [0, 1, 2, 3, 4])):
        found = []
        for (id_,) in asking.rows(halves):
            found.append(id_)
            assert other.run(SEEN)
        assert sorted(found) == expected


def test_two_readers_who_take_turns_see_their_own_rows(database) -> None:
    statement = "SELECT 0 UNION ALL SELECT id FROM visible_prompts"
    owner, stranger = database.rows(statement), database.hide(["shed"]).rows(statement)
    by_stranger, by_owner = [], []
    for row in stranger:
        by_stranger.append(row)
        by_owner.append(next(owner))
    assert sorted(by_stranger) == [(0,), (1,), (3,)]
    assert sorted([*by_owner, *owner]) == [(0,), (1,), (2,), (3,), (4,)]


def test_a_statement_that_runs_once_for_each_value_keeps_its_viewer(database) -> None:
    owner, stranger = database, database.hide(["shed"])
    owner.run("CREATE TEMP TABLE counts (viewer, rows)")
    for name, asking, other in (("stranger", stranger, owner), ("owner", owner, stranger)):
        other.run(SEEN)
        asking.run_many("INSERT INTO counts SELECT ?, count(*) FROM visible_prompts", [(name,)])
    assert owner.run("SELECT * FROM counts") == [("stranger", 2), ("owner", 4)]


@pytest.mark.parametrize("table", TABLES)
def test_every_view_can_be_read_by_a_viewer_with_hidden_projects(database, table: str) -> None:
    assert len(database.hide(["garden", "shed"]).run(f"SELECT * FROM visible_{table}")) == 0
