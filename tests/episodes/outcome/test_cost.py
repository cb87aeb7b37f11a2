"""Deriving an outcome takes time in proportion to the length of the episode."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from one_episode import ANSWER, NEXT_REQUEST, REQUEST, verdict
from work import count_lines

from pastchats_memory.episodes.outcome import EpisodeTurn, derive_outcome


def test_hostile_texts_cost_no_more_than_their_length() -> None:
    for piece in ("<<<<<<< SEARCH\n", "$ % $ % ", "a: ", "still ", "1 ", "x" * 50 + "\n", "?", "\n", "1 errors ("):
        text = piece * (100_000 // len(piece)) + "x"
        derive_outcome(
            (REQUEST, EpisodeTurn("tool", "result", f"$ pytest\n{text}"), EpisodeTurn("assistant", "answer", text)),
            text,
        )
        derive_outcome(
            (EpisodeTurn("user", "prompt", text), EpisodeTurn("tool", "error", f"$ fly deploy\n{text}"), ANSWER), "yes"
        )


def lines_to_judge(*rows: EpisodeTurn, following: str) -> int:
    return count_lines(lambda: derive_outcome(rows, following))


def checks_and_commands(count: int) -> list[EpisodeTurn]:
    rows = [REQUEST]
    for number in range(count):
        for command in (f"./run.sh {number}", f"pytest -q tests/test_{number}.py"):
            red = f"$ {command}\nExit code 1\nFAILED tests/test_{number}.py::test_it\n1 failed in 0.10s"
            rows += [
                EpisodeTurn("assistant", "answer", "Again.", {"tools": (f"Bash {command}",)}),
                EpisodeTurn("tool", "error", red),
            ]
    return rows


def commands(count: int) -> list[EpisodeTurn]:
    rows = [REQUEST]
    for number in range(count):
        red = f"$ ./run.sh {number}\nExit code 1\nerror: nothing there"
        rows += [
            EpisodeTurn("assistant", "answer", "Again.", {"tools": (f"Bash ./run.sh {number}",)}),
            EpisodeTurn("tool", "error", red),
        ]
    return rows


def test_many_failed_commands_and_checks_that_did_not_run_again_are_unknown() -> None:
    edit = EpisodeTurn("assistant", "answer", "Edited.", {"tools": ("Edit app.py",)})
    assert derive_outcome((*checks_and_commands(100), edit), NEXT_REQUEST).verdict == "unknown"


@pytest.mark.parametrize(("make", "most_growth"), [(commands, 5), (checks_and_commands, 17)])
def test_four_times_as_many_failures_cost_no_more_than_expected(
    make: Callable[[int], list[EpisodeTurn]], most_growth: int
) -> None:
    """Commands cost as much as their number, checks at most the square of it, since each is compared with the later ones."""
    last = EpisodeTurn("assistant", "answer", "I could not find the cause yet; it still fails.")
    derive_outcome((*make(10), last), "And now?")  # compiles the patterns
    few, many = (lines_to_judge(*make(count), last, following="And now?") for count in (50, 200))
    assert many < most_growth * few


def test_a_question_above_a_hostile_list_costs_no_more_than_its_length() -> None:
    assert verdict(EpisodeTurn("assistant", "answer", "?\n" + "- " * 230 + "\nplain"), next_message="yes") in (
        "worked",
        "unknown",
    )
