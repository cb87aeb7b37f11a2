"""Ctrl-C while a question is still starting up."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAM = [str(Path(sys.executable).with_name("pastchats-memory")), "recall", "webhook retries"]


@pytest.mark.parametrize("seconds", [0.12, 0.16, 0.2, 0.24, 0.3])
def test_an_interruption_at_the_start_ends_at_once_without_a_traceback(tmp_path: Path, seconds: float) -> None:
    process = subprocess.Popen(
        [*PROGRAM, "--db", str(tmp_path / "none.db")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=10)
    # 2: it was already done (there is no database); -2: Python itself had not started yet.
    assert process.returncode in (130, 2, -signal.SIGINT)
    assert process.returncode == -signal.SIGINT or "Traceback" not in errors
