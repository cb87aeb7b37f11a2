"""The short form of `make torture`: kills by the clock, at statements and at writes, and what is left of each."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

LOOP = Path(__file__).with_name("kill_loop.py")
KILLS = 8
"""Two for each scene, so that each has its turn."""


@pytest.mark.promise("durability", "A killed process loses nothing that was stored.")
@pytest.mark.parametrize("scenes", ["grown,capture,live,redact", "reindex,restore"])
def test_the_next_run_completes_the_work_of_a_killed_one(scenes: str) -> None:
    command = [sys.executable, str(LOOP), "--kills", str(KILLS), "--scenes", scenes, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["kills"] == KILLS
    assert report["finished"] > 0
    assert len(report["scenes"]) > 1
