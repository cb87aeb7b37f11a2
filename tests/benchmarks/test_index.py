"""Test the benchmark of a session that grows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from program import REPOSITORY

from pastchats_memory.store.database import open_database

pytest.importorskip("resource", reason="the benchmarks measure processes by a module of POSIX")
sys.path.insert(0, str(REPOSITORY / "benchmarks"))
import index


def test_a_run_reads_only_what_was_appended_since_the_last_one(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    number = index.session(path, 1)
    with open_database(tmp_path / "memory.db", create=True) as database:
        first, _ = index.run_index(database, path)
        with path.open("a", encoding="utf-8") as file:
            file.write(index.record(number + 1, "user", "And now?"))
        second, _ = index.run_index(database, path)
    assert second.added == 1
    assert second.skipped < first.added / 10
