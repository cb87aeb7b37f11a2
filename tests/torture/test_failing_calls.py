"""The short form of the loop of faults: some calls of the system fail, once, from then on, and as on a full disk, or are the last."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

LOOP = Path(__file__).with_name("fault_loop.py")


@pytest.mark.promise("durability", "A failing or full disk loses nothing that was stored.")
@pytest.mark.parametrize(("scene", "every"), [("forget", 60)])
def test_a_command_that_meets_a_fault_says_so_and_leaves_a_whole_database_to_the_next(scene: str, every: int) -> None:
    command = [sys.executable, str(LOOP), "--scenes", scene, "--every", str(every), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["became"]["explained"] > 1
    assert report["became"]["killed"] > 1
