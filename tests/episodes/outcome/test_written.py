"""Written episodes are read by their readers and have no wrong verdict."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest
from program import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "benchmarks" / "outcome"))

from score import given
from written import SETS, episode_of, written

MIN_DECIDED = 0.6


@pytest.mark.parametrize("name", SETS)
def test_written_episodes_have_no_wrong_verdict(name: str, tmp_path: Path) -> None:
    reported: Counter[str] = Counter()
    wrong = []
    for one in written(name):
        ending = given(episode_of(one, tmp_path))
        verdict = ending.verdict
        reported["unanswered" if ending.signal == "unanswered" else verdict] += 1
        if verdict in ("worked", "failed") and verdict != one.label:
            wrong.append((one.place, one.label, verdict))
    assert wrong == []
    assert reported["unknown"] <= (1 - MIN_DECIDED) * reported.total()
