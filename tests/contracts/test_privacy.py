"""Nothing is sent anywhere, and nothing is left anywhere but in the database."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from program import DEMO, Program

DATABASE = {"memory.db", "memory.db-wal", "memory.db-shm", "memory.db.secrets"}


def traces(home: Path) -> set[str]:
    return {str(path.relative_to(home)) for path in home.rglob("*")} - DATABASE


@pytest.mark.promise("network", "No library leaves a trace or a usage report in your home folder.")
def test_a_home_holds_the_database_and_no_trace_of_any_library(program: Program) -> None:
    """A library that reports usage keeps its queue and a device id in the cache folder; CI hides it, so CI is not set."""
    assert "CI" not in program.environment
    assert program("index", DEMO / "exports").status == 0
    assert program("search", "retry strategy").status == 0
    assert traces(program.home) == set()


def test_a_library_that_reports_usage_would_be_noticed(program: Program) -> None:
    chatty = program.altered(
        "import os, pathlib\ncache = pathlib.Path(os.environ['XDG_CACHE_HOME'], 'vendor')\ncache.mkdir(parents=True)\n"
        "(cache / 'deviceid').write_text('423db523')"
    )
    chatty("status")
    assert traces(program.home) == {"cache", "cache/vendor", "cache/vendor/deviceid"}


@pytest.mark.promise("permissions", "Transcripts are read and never changed.")
def test_transcripts_are_read_and_never_changed(program: Program) -> None:
    folder = program.home / "history"
    shutil.copytree(DEMO / "history", folder)
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}
    for path in (*before, *folder.rglob("*")):
        path.chmod(path.stat().st_mode & ~0o222)
    assert program("index", "history", "--force").status == 0
    assert {
        path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()
    } == before
    for path in folder.rglob("*"):
        path.chmod(path.stat().st_mode | 0o200)
