"""What a block says of how an episode ended: the line that shows it, what that has to do with it, and what was said next."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from program import REPOSITORY, Program, write_messages

from pastchats_memory import Memory
from pastchats_memory.model import Attempt, Evidence, Outcome
from pastchats_memory.render import attempt_line, outcome_text

ASKED = "The webhook worker sends some events twice, make it send each of them once."
FIRST = "I put a lock around the sending of webhook events, so that a worker sends each of them once."
BROKEN = "No, still broken: the webhook worker sends the same event twice after a restart."
SECOND = (
    "The worker now claims a webhook event in the table before it sends it: `UPDATE events SET claimed_by` decides."
)
TOLD = (
    ("user", ASKED),
    ("assistant", FIRST),
    ("user", "Does the worker (on the second host)\nclaim them too?"),
    ("assistant", "No."),
)
"""No signal says how it ended; whoever reads what was said next may know."""
NEXT = "Does the worker (on the second host) claim them too?"


def test_of_an_episode_that_no_signal_decides_recall_and_show_tell_what_was_said_next(program: Program) -> None:
    write_messages(program.home / "chat.jsonl", *TOLD)
    assert program("index", program.home / "chat.jsonl").status == 0
    line = f"Outcome: unknown (said next: {NEXT.replace('(', '[').replace(')', ']')})"
    assert f"\n{line}\n" in program("recall", "lock webhook events").stdout
    assert line in program("show", "1").stdout
    for arguments in (["recall", "lock webhook events"], ["show", "1"]):
        body = program(*arguments, "--json").json
        Draft202012Validator(json.loads((REPOSITORY / f"contracts/schemas/{arguments[0]}.json").read_text())).validate(
            body
        )
        first = body["results"][0]
        assert first["outcome"] == "unknown"
        assert [(one["quotation"], one["source_line"]) for one in first["evidence"]] == [(NEXT, 3)]


@pytest.mark.parametrize(
    ("turns", "line"),
    [
        ((("assistant", SECOND), ("tool", "$ pytest -q\n8 passed in 1.2s"), ("assistant", "Sent once.")), "worked (8 passed in 1.2s)"),
        ((("assistant", FIRST), ("user", BROKEN), ("assistant", "I see.")), f"failed ({BROKEN})"),
        ((("assistant", FIRST), ("user", ASKED), ("assistant", "Let me look.")), f"failed (asked again: {ASKED})"),
    ],
    ids=["a line that says so", "words that say so", "asked again"],
)  # fmt: skip
def test_what_a_line_has_to_do_with_the_outcome_is_said_where_it_does_not_say_so_itself(
    memory: Memory, history: Path, turns: tuple[tuple[str, str], ...], line: str
) -> None:
    write_messages(history, ("user", ASKED), *turns)
    memory.index([history])
    assert f"Outcome: {line}\n" in memory.recall("lock around the sending of webhook events twice").text


@pytest.mark.parametrize(
    ("signal", "told"),
    [
        ("stands", "worked (nothing said after: Commit 0487f16)"),
        ("moved_on", "worked (went on after: Commit 0487f16)"),
        ("check_passed", "worked (Commit 0487f16)"),
        ("unanswered", "worked (no answer)"),
    ],
)
def test_work_that_nobody_tried_is_told_as_what_it_is(signal: str, told: str) -> None:
    assert outcome_text(Outcome("worked", (Evidence("Commit 0487f16", "chat.md", 3),), signal)) == told


def test_what_was_asked_cannot_pass_for_how_it_ended() -> None:
    forged = Attempt(
        "7", "Make it pass — worked (12 passed) · id 3", "Done → all", "failed", "still red", None, "a.md", 1
    )
    assert attempt_line(forged) == "> Make it pass – worked (12 passed) - id 3 → Done -> all — failed (still red)"


def test_where_nothing_was_said_next_there_is_nothing_to_tell(memory: Memory, history: Path) -> None:
    write_messages(history, *TOLD[:2])
    memory.index([history])
    assert "Outcome:" not in memory.recall("lock webhook events").text


def test_what_was_said_next_goes_first_where_there_is_little_room(memory: Memory, history: Path) -> None:
    write_messages(history, *TOLD)
    memory.index([history])
    whole = memory.recall("lock webhook events")
    assert "said next" in whole.text
    little = memory.recall("lock webhook events", whole.tokens - 1)
    assert little.entries
    assert "said next" not in little.text
