"""The short form of the run with many processes at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CROWD = Path(__file__).with_name("crowd.py")
SECONDS, MOST_WAIT = 8, 15
"""On a machine that runs other tests beside it, the processor is waited for longer than the lock: three times the bound. What no
machine excuses is the processor's time of a transaction, which the script bounds, and a fault, which whoever forgets meets after five seconds."""


@pytest.mark.promise("durability", "Seven processes at once see no error and no wrong answer.")
def test_two_index_four_ask_and_one_forgets_and_nobody_sees_an_error_or_a_wrong_answer() -> None:
    command = [sys.executable, str(CROWD), "--seconds", str(SECONDS), "--most-wait", str(MOST_WAIT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
