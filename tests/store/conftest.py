"""Databases of vectors without any text worth reading, made once for all tests that only read them."""

from __future__ import annotations

from pathlib import Path

import pytest
from vector_rows import Corpus, made

from pastchats_memory.store.database import open_database


@pytest.fixture
def database(tmp_path: Path):
    """An empty database, with sqlite-vec."""
    with open_database(tmp_path / "memory.db", create=True) as opened:
        assert opened.vec0_loaded
        yield opened


@pytest.fixture(scope="session")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """7,000 rows with blocks of ties, one of them of 4,200 equal vectors."""
    return made(tmp_path_factory.mktemp("crowd") / "memory.db", rows=7_000, ties=(4_200, 600, 300))


@pytest.fixture(scope="session")
def multitude(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """10,000 rows, more than sqlite-vec gives at once, of which three are in the project `needle`."""
    return made(tmp_path_factory.mktemp("multitude") / "memory.db", rows=10_000, ties=(), needles=3)
