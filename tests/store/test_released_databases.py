"""Databases that earlier releases wrote, kept by `scripts/keep_database.py`."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest
from whole import assert_whole

import pastchats_memory
from pastchats_memory import Memory
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.store.schema import SCHEMA_VERSION, schema_names

KEPT = sorted((Path(__file__).parent / "released").glob("*.db.xz"))
REMEDY = "A released schema stays: raise SCHEMA_VERSION and add a migration. Before the release, run scripts/keep_database.py."


@pytest.fixture(params=KEPT, ids=lambda path: path.name.removesuffix(".db.xz"))
def released(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    path.write_bytes(lzma.decompress(request.param.read_bytes()))
    return path


def list_statements(database: Database) -> dict[str, str]:
    statements = dict(database.run("SELECT name, sql FROM sqlite_schema"))
    return {name: statements[name] for name in schema_names()}


def test_a_database_of_the_present_version_is_kept() -> None:
    assert f"{pastchats_memory.__version__}.db.xz" in [path.name for path in KEPT], "run scripts/keep_database.py"


@pytest.mark.promise("durability", "A release opens and continues the databases of earlier releases.")
def test_a_release_opens_and_continues_the_databases_of_earlier_ones(released: Path) -> None:
    with Memory.open(released) as memory:
        hit = memory.search("high tides are one hour late", limit=1)[0]
        assert "29 March" in hit.content
        assert memory.outcomes_of([hit]) == {hit.id: "mixed"}
        assert [task.title for task in memory.list_tasks()] == ["Buy seeds"]
        assert [forgetting.turns for forgetting in memory.list_forgettings()] == [1]
        turns = memory.status().turns
        memory.store_turn("user", "Prune the apple tree", project="garden")
        assert memory.status().turns == turns + 1
        assert memory.search("apple tree", limit=1)[0].content == "Prune the apple tree"
    with open_database(released) as database:
        assert_whole(database)


def test_a_released_schema_never_changes_under_its_number(released: Path, tmp_path: Path) -> None:
    with Memory.open(tmp_path / "new.db"):
        pass
    with open_database(tmp_path / "new.db") as new, open_database(released) as kept:
        assert kept.value("PRAGMA user_version") == SCHEMA_VERSION
        assert list_statements(kept) == list_statements(new), REMEDY
