"""The episodes that were written for the rules: each is read by its reader and judged; a wrong word is worse than none."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest
from program import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "benchmarks" / "outcome"))

from score import given
from written import SETS, episode_of, written

LEAST_SAID = 0.6


@pytest.mark.parametrize("name", SETS)
def test_what_is_said_of_a_written_episode_is_right(name: str, tmp_path: Path) -> None:
    said: Counter[str] = Counter()
    wrong = []
    for one in written(name):
        verdict = given(episode_of(one, tmp_path)).verdict
        said[verdict] += 1
        if verdict in ("worked", "failed") and verdict != one.label:
            wrong.append((one.place, one.label, verdict))
    assert wrong == []
    assert said["unknown"] <= (1 - LEAST_SAID) * said.total()
