"""What every room of the tests may use: the real program, and a small memory to read from."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from program import DEMO, NO_NETWORK, Program, Reader
from systems import lock, skip_what_is_lacking

# No process of the tests leaves this machine: neither this one nor those that it starts.
sys.path.insert(0, str(NO_NETWORK))
sys.modules.pop("sitecustomize", None)
import_module("sitecustomize")
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(NO_NETWORK), os.environ.get("PYTHONPATH"))))

# Expected files hold moments; what was written by hand is in the zone of whoever runs the tests.
os.environ["TZ"] = "UTC"
if hasattr(time, "tzset"):
    time.tzset()
os.environ["COLUMNS"] = "100"  # the width of a table where nobody looks, whatever the terminal of the tests is
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's `&` has it ignored, and programs inherit that

# How long an example took or was made for tells only how busy the machine is; what has to be fast is measured by its test.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

RUN_ELSEWHERE = {
    "page": ("PASTCHATS_TESTS_BROWSER", "make test-page"),
    "release": ("PASTCHATS_TESTS_RELEASE", "make release"),
}
"""By folder: the variable with which its tests run, and the command that sets it."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Report once for each of these folders that its tests are left out, and skip what this system cannot run."""
    for folder, (variable, command) in RUN_ELSEWHERE.items():
        ours = [item for item in items if item.nodeid.startswith(f"tests/{folder}/")]
        if ours and variable not in os.environ:
            ours[0].add_marker(pytest.mark.skip(f"{command} runs these {len(ours)} tests"))
            config.hook.pytest_deselected(items=ours[1:])
            others = {id(item) for item in ours[1:]}
            items[:] = [item for item in items if id(item) not in others]
    skip_what_is_lacking(items)


UNTOUCHED = "untouched.db"
"""The demo memory as it was indexed, which no reader has open while it is copied."""


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """The real program in an empty home, with no database yet."""
    home = tmp_path / "home"
    home.mkdir()
    return Program(home)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """The real program over the indexed demo history. All processes that run tests share it: only read from it."""
    base = tmp_path_factory.getbasetemp()
    home = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "demo-home"
    home.mkdir(exist_ok=True)
    with (home / "building").open("w") as building:
        lock(building)
        if not (home / UNTOUCHED).exists():
            shutil.copytree(DEMO, home / "demo", dirs_exist_ok=True)
            for file in (home / "demo").rglob("*"):  # equally old, as ids follow the age of files
                os.utime(file, (0, 0))
            program = Program(home)
            for arguments in (["demo/history"], ["demo/exports", "--project", "chatgpt"]):
                done = program("index", *arguments)
                assert done.status == 0, done.stderr
            assert not (home / "memory.db-wal").exists()  # all of it is in the file that is copied
            shutil.copy2(home / "memory.db", home / "copy")
            (home / "copy").rename(home / UNTOUCHED)
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
    shutil.copy2(demo.home / UNTOUCHED, home / "memory.db")
    return Program(home)
