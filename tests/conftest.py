"""What every room of the tests may use: the real program, and a small memory to read from."""

from __future__ import annotations

import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from program import DEMO, Program, Reader

# Expected files hold moments; what was written by hand is in the zone of whoever runs the tests.
os.environ["TZ"] = "UTC"
time.tzset()
os.environ["COLUMNS"] = "100"  # the width of a table where nobody looks, whatever the terminal of the tests is
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's `&` has it ignored, and programs inherit that


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """The real program in an empty home, with no database yet."""
    home = tmp_path / "home"
    home.mkdir()
    return Program(home)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """The real program over the indexed demo history. It is shared: only read from it."""
    home = tmp_path_factory.mktemp("demo")
    shutil.copytree(DEMO, home / "demo")
    program = Program(home)
    for arguments in (["demo/history"], ["demo/exports", "--project", "chatgpt"]):
        done = program("index", *arguments)
        assert done.status == 0, done.stderr
    return Reader(home)


@pytest.fixture(scope="session")
def demo_status(demo: Program) -> dict[str, Any]:
    """What `status` says of the demo memory."""
    (status,) = demo("status", "--json").results
    return status


@pytest.fixture
def own_demo(demo: Program, tmp_path: Path) -> Program:
    """The same indexed demo history in a database of the test's own, to write to and to break."""
    home = tmp_path / "own"
    home.mkdir()
    for name in ("memory.db", "memory.db-wal"):
        if (demo.home / name).exists():
            shutil.copy2(demo.home / name, home / name)
    return Program(home)
