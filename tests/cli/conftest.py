"""What the tests of the real program share: a person without root's powers."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from program import Program, write_messages

WITHOUT_POWERS = ("setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner", "--")


@pytest.fixture
def ordinary(program: Program) -> Program:
    """The real program for whom permissions count: root's power to pass over them is dropped."""
    if os.geteuid() != 0:
        return program
    if shutil.which("setpriv") is None or subprocess.run([*WITHOUT_POWERS, "true"], check=False).returncode:
        pytest.skip("tests run as root, and setpriv cannot drop root's powers here")
    return replace(program, command=(*WITHOUT_POWERS, *program.command))


@pytest.fixture(scope="session")
def _webhooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("webhooks")
    write_messages(
        home / "history" / "webhooks.jsonl",
        ("user", "How do we retry webhooks?"),
        ("assistant", "With exponential backoff and jitter, at most five times."),
    )
    done = Program(home)("index", "history")
    assert done.status == 0, done.stderr
    return home


@pytest.fixture
def indexed(program: Program, _webhooks: Path) -> Program:
    """The real program with two turns about webhooks in a database of the test's own."""
    shutil.copytree(_webhooks, program.home, dirs_exist_ok=True)
    return program
