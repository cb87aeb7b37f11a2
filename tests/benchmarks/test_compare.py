"""The comparison with other memories: how its rows are made."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "compare"))

run = pytest.importorskip("run")


def test_the_session_that_an_output_names_first_counts(tmp_path: Path) -> None:
    first, second = "9fb21847-4bea-4aa8-a00e-fa8f804f579e", "67fded5a-e96e-4bdc-b68a-f3d175a61b76"
    for name in (first, f"rollout-2025-08-19T08-31-17-{second}"):
        path = tmp_path / "owner+name" / f"{name}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.touch()
    assert run.is_first(f"see {first[:8]}, then {second}", f"a/{first}.jsonl", tmp_path)
    assert not run.is_first(f"see {second}, then {first}", f"a/{first}.jsonl", tmp_path)
    assert not run.is_first("nothing", f"a/{first}.jsonl", tmp_path)


def test_a_search_by_all_words_gets_the_three_longest_in_their_order() -> None:
    assert run.choose_words("which vim command shows the file where a mapping was defined") == "command mapping defined"


def test_a_process_is_measured_with_what_it_printed(tmp_path: Path) -> None:
    cost = run.measure({"ask": "sh -c 'echo {question}'"}, "ask", tmp_path, tmp_path, question="heredoc")
    assert (cost.text, cost.is_well) == ("heredoc\n", True)
    assert cost.megabytes > 0


def test_a_tool_whose_environment_cannot_be_made_is_left_out(tmp_path: Path) -> None:
    assert run.install({"name": "tool", "install": "tool", "python": "false", "index": "tool"}, tmp_path) is None
