"""A block shows an outcome with its evidence, how that shows it, and the next message."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from program import REPOSITORY, Program, write_messages

from pastchats_memory import Memory
from pastchats_memory.model.episodes import Attempt, Evidence, Outcome
from pastchats_memory.views.text import render_attempt, render_earlier, render_outcome

REQUEST = "The webhook worker sends some events twice, make it send each of them once."
FIRST = "I put a lock around the sending of webhook events, so that a worker sends each of them once."
BROKEN = "No, still broken: the webhook worker sends the same event twice after a restart."
SECOND = (
    "The worker now claims a webhook event in the table before it sends it: `UPDATE events SET claimed_by` decides."
)
SHOWN = (
    ("user", REQUEST),
    ("assistant", FIRST),
    ("user", "Now the invoices (those of May)\nneed a column for the tax."),
    ("assistant", "I add the column."),
)
"""No signal says how it ended; a reader of the next message, which turns to another thing, may know."""
NEXT = "Now the invoices (those of May) need a column for the tax."


def test_an_undecided_episode_shows_the_next_message(program: Program) -> None:
    write_messages(program.home / "chat.jsonl", *SHOWN)
    assert program("index", program.home / "chat.jsonl").status == 0
    line = f"(said next: {NEXT.replace('(', '[').replace(')', ']')})"
    assert f"\nSaid next: > {NEXT}\n" in program("recall", "lock webhook events").stdout
    assert f"Outcome: unknown {line}" in program("show", "1").stdout
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
        ((("assistant", SECOND), ("tool", "$ pytest -q\n8 passed in 1.2s"), ("assistant", "Sent once.")), "Shown by: > 8 passed in 1.2s"),
        ((("assistant", FIRST), ("user", BROKEN), ("assistant", "I see.")), f"Shown by: > {BROKEN}"),
        ((("assistant", FIRST), ("user", REQUEST), ("assistant", "Let me look.")), f"Shown by: the user asked again: > {REQUEST}"),
    ],
    ids=["a line that says so", "words that say so", "asked again"],
)  # fmt: skip
def test_an_unclear_evidence_line_has_a_basis(
    memory: Memory, history: Path, turns: tuple[tuple[str, str], ...], line: str
) -> None:
    write_messages(history, ("user", REQUEST), *turns)
    memory.index([history])
    assert f"\n{line}\n" in memory.recall("lock around the sending of webhook events twice").text


@pytest.mark.parametrize(
    ("signal", "shown"),
    [
        ("taken_up", "worked (said next: Commit 0487f16)"),
        ("check_passed", "worked (Commit 0487f16)"),
    ],
)
def test_the_relation_of_the_line_to_the_outcome_is_named(signal: str, shown: str) -> None:
    assert render_outcome(Outcome("worked", (Evidence("Commit 0487f16", "chat.md", 3),), signal)) == shown


def test_a_request_cannot_imitate_an_outcome_line() -> None:
    forged = Attempt(
        "7", "Make it pass — worked (12 passed) · id 3", "Done → all", "failed", "still red", None, "a.md", 1
    )
    assert render_attempt(forged) == "> Make it pass – worked (12 passed) - id 3 → Done -> all — failed (still red)"


def test_a_product_in_a_quotation_stays_a_product() -> None:
    earlier = Attempt("7", "Which delay?", "min(3600, 10 · 2ⁿ) · id 3", "unknown", "", None, "a.md", 1)
    assert render_earlier(earlier) == "Before it: > min(3600, 10 · 2ⁿ) - id 3 · id 7"


def test_without_a_next_message_no_outcome_line_appears(memory: Memory, history: Path) -> None:
    write_messages(history, *SHOWN[:2])
    memory.index([history])
    assert "Outcome:" not in memory.recall("lock webhook events").text


def test_a_tight_budget_keeps_the_next_message(memory: Memory, history: Path) -> None:
    write_messages(history, *SHOWN)
    memory.index([history])
    whole = memory.recall("lock webhook events")
    assert "Said next" in whole.text
    little = memory.recall("lock webhook events", whole.tokens - 1)
    assert little.tokens < whole.tokens
    assert f"\nSaid next: > {NEXT}\n" in little.text
