"""The short form of `make torture`: kills by the clock, at statements and at writes, and what is left of each."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from scenes import VERSIONS

from pastchats_memory.store.schema import SCHEMA_VERSION

LOOP = Path(__file__).with_name("kill_loop.py")
KILLS = 8
"""Two for each scene, so that each has its turn."""


@pytest.mark.parametrize("scenes", ["grown,capture,live,redact", f"reindex,migration-1,migration-{VERSIONS[-1]}"])
def test_whatever_is_killed_the_database_is_whole_and_the_next_run_ends_as_if_nothing_had_been(scenes: str) -> None:
    command = [sys.executable, str(LOOP), "--kills", str(KILLS), "--scenes", scenes, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert told["kills"] == KILLS
    assert told["finished"] > 0
    assert len(told["scenes"]) > 1


def test_no_earlier_version_lacks_its_database() -> None:
    assert [int(version) for version in VERSIONS] == list(range(1, len(VERSIONS) + 1))
    assert len(VERSIONS) >= SCHEMA_VERSION - 1
