"""The short form of the loop that forgets and looks at the bytes that are left."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LOOP = Path(__file__).with_name("forget_loop.py")
FORGETS = 3


@pytest.mark.promise(
    "forgetting", "No 16 bytes of a forgotten text or vector are left, wherever SQLite has moved its row."
)
def test_copies_that_sqlite_left_of_a_row_are_gone_with_it() -> None:
    command = [sys.executable, str(LOOP), "--forgets", str(FORGETS), "--turns", "240", "--copied", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
