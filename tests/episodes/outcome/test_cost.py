"""Deriving an outcome takes time in proportion to the length of the episode."""

from __future__ import annotations

import time

from one_episode import ANSWER, NEXT_REQUEST, REQUEST, verdict

from pastchats_memory.episodes.outcome import Row, derive_outcome


def test_hostile_texts_cost_no_more_than_their_length() -> None:
    for piece in ("<<<<<<< SEARCH\n", "$ % $ % ", "a: ", "still ", "1 ", "x" * 50 + "\n", "?", "\n", "1 errors ("):
        text = piece * (400_000 // len(piece)) + "x"
        derive_outcome((REQUEST, Row("tool", "result", f"$ pytest\n{text}"), Row("assistant", "answer", text)), text)
        derive_outcome((Row("user", "prompt", text), Row("tool", "error", f"$ fly deploy\n{text}"), ANSWER), "yes")


def test_thousands_of_failed_commands_take_seconds() -> None:
    rows = [REQUEST]
    for number in range(1200):
        for command in (f"./run.sh {number}", f"pytest -q tests/test_{number}.py"):
            red = f"$ {command}\nExit code 1\nFAILED tests/test_{number}.py::test_it\n1 failed in 0.10s"
            rows += [Row("assistant", "answer", "Again.", {"tools": (f"Bash {command}",)}), Row("tool", "error", red)]
    edit = Row("assistant", "answer", "Edited.", {"tools": ("Edit app.py",)})
    start = time.process_time()
    assert derive_outcome((*rows, edit), NEXT_REQUEST).verdict == "unknown", "no check ran again"
    assert time.process_time() - start < 15, (
        "each failure was looked for among all steps, and each check compared with all"
    )


def test_thousands_of_failed_commands_cost_no_more_than_their_number() -> None:
    rows = [REQUEST]
    for number in range(4000):
        red = f"$ ./run.sh {number}\nExit code 1\nerror: nothing there"
        rows += [
            Row("assistant", "answer", "Again.", {"tools": (f"Bash ./run.sh {number}",)}),
            Row("tool", "error", red),
        ]
    start = time.process_time()
    derive_outcome((*rows, Row("assistant", "answer", "I could not find the cause yet; it still fails.")), "And now?")
    assert time.process_time() - start < 6, "each failure was looked for among all calls"


def test_a_question_above_a_hostile_list_costs_no_more_than_its_length() -> None:
    assert verdict(Row("assistant", "answer", "?\n" + "- " * 230 + "\nplain"), next_message="yes") in (
        "worked",
        "unknown",
    )
