"""The short form of the run with many processes at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CROWD = Path(__file__).with_name("crowd.py")
ROUNDS = 6


@pytest.mark.promise("durability", "Seven processes at once see no error and no wrong answer.")
def test_two_index_four_ask_and_one_forgets_and_nobody_sees_an_error_or_a_wrong_answer() -> None:
    command = [sys.executable, str(CROWD), "--rounds", str(ROUNDS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
