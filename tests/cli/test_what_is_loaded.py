"""A command that only reads the memory imports nothing of what indexes, maintains or reads files of other programs."""

from __future__ import annotations

import subprocess
import sys

import pytest

MODULES = ("recall", "search", "show", "timeline", "how", "judge", "ask", "task", "prior_work")
NOT_NEEDED = ("formats", "ingest", "maintenance", "sync", "team.client")


@pytest.mark.parametrize("module", MODULES)
def test_a_reading_command_imports_no_package_that_it_does_not_need(module: str) -> None:
    code = f"import sys, pastchats_memory.cli.{module}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    needless = tuple(f"pastchats_memory.{package}" for package in NOT_NEEDED)
    assert [name for name in run.stdout.split() if name.startswith(needless)] == []


def test_open_and_resume_import_no_reader() -> None:
    code = "import sys, pastchats_memory.cli.open; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    readers = ("pastchats_memory.ingest", "pastchats_memory.formats.agents")
    assert [name for name in run.stdout.split() if name.startswith(readers)] == []
