"""A tool result belongs to its call, even if one of them is cut or has several lines."""

from __future__ import annotations

import pytest

from pastchats_memory.episodes.outcome.episode import Episode, EpisodeTurn

LONG = "./fire.sh --cone 6 --hold 20 --kiln north --glaze celadon --until 1222 --then cool --log fire.log --mail bo"
OTHER = LONG.replace("north", "south")
FAR = "./fire.sh --cone 6 --hold 20 --kiln east"


def find_step(answer: str, *calls: str) -> tuple[int, int]:
    turns = (EpisodeTurn("assistant", "answer", "I fire it.", {"tools": calls}), EpisodeTurn("tool", "error", answer))
    return Episode(turns, "").find_step(1)


@pytest.mark.parametrize(
    ("answer", "call"),
    [
        (f"$ {LONG}\nExit code 1", 1),
        (f"$ {LONG[:60]}…\nExit code 1", 1),
        ("$ cd kiln\nmake fire\nExit code 1", 3),
        ("Read kiln.py\nno such file", 4),
    ],
    ids=["label cut", "both cut", "several lines", "no command"],
)
def test_a_result_belongs_to_the_call_in_its_first_line(answer: str, call: int) -> None:
    calls = (f"Bash {FAR}", f"Bash {LONG[:80]}…", "Bash ls", "Bash cd kiln make fire", "Read kiln.py", "Bash")
    assert find_step(answer, *calls) == (0, call)


def test_a_command_with_an_equal_start_is_another_command() -> None:
    assert find_step("$ cd kiln\nExit code 1", "Bash cd kiln make fire", "Bash ls") == (1, 0), "no call fits"
    assert find_step(f"$ {FAR} coast\nExit code 1", f"Bash {FAR}", "Bash ls") == (1, 0), "the label is whole"
    assert find_step("$ make fire\nExit code 1", "Bash …") == (1, 0), "nothing of it is left"


def test_a_cut_line_matches_the_last_of_several_calls() -> None:
    assert find_step(f"$ {LONG[:30]}…\nExit code 1", f"Bash {LONG}", f"Bash {OTHER}", "Bash ls") == (0, 1)
