"""A search during an index run says how far that run is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from program import write_messages

from pastchats_memory import Memory
from pastchats_memory.store.database import open_database


@pytest.fixture
def garden(tmp_path: Path) -> Path:
    write_messages(
        tmp_path / "roses.jsonl", ("user", "Water the roses in the morning."), ("assistant", "They are wet.")
    )
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([tmp_path / "roses.jsonl"])
    return tmp_path / "memory.db"


def set_running(path: Path, process: int, turns: int = 2) -> None:
    """Put the run back to the moment after its first batch."""
    with open_database(path) as database:
        database.run(
            "UPDATE runs SET outcome = 'running', files_scanned = 7, turns_added = ?, pid = ?", (turns, process)
        )


def test_a_search_during_a_run_says_how_many_files_are_read(garden: Path) -> None:
    set_running(garden, os.getpid())
    with Memory.open(garden) as memory:
        (warning,) = memory.search("roses").warnings
        assert "1 of 7 files and 2 new turns" in warning
        assert memory.recall("water the roses").warnings == (warning,)


def test_a_search_after_a_run_says_nothing(garden: Path) -> None:
    with Memory.open(garden) as memory:
        assert memory.search("roses").warnings == ()


def test_a_run_that_was_killed_or_has_stored_nothing_is_not_under_way(garden: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    set_running(garden, ended.pid)
    with Memory.open(garden) as memory:
        assert memory.search("roses").warnings == ()
    set_running(garden, os.getpid(), turns=0)
    with Memory.open(garden) as memory:
        assert memory.search("roses").warnings == ()
