"""`recall` without a database: at a terminal it offers to index the newest turns, elsewhere it says what is missing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from program import DEMO, Program
from terminal import on_a_terminal

QUESTION = "There is no memory yet."


@pytest.fixture
def newcomer(program: Program) -> Program:
    """Return the program in a home with a history that was never indexed."""
    shutil.copytree(DEMO / "history" / "claude", program.home / ".claude" / "projects")
    return program


def write_sessions(folder: Path, number: int, turns: int) -> None:
    """Write sessions of Claude Code, the last of which is the newest file."""
    for session in range(number):
        lines = (
            {
                "type": "user", "sessionId": f"s{session}", "uuid": f"u{session}-{turn}", "cwd": "/kiln",
                "timestamp": f"2026-02-03T{session:02}:{turn:02}:00.500Z",
                "message": {"role": "user", "content": f"Turn the kiln to {turn} degrees in batch {session}."},
            }
            for turn in range(turns)
        )  # fmt: skip
        file = folder / f"s{session}.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def test_at_a_terminal_recall_indexes_after_one_question_and_answers(newcomer: Program) -> None:
    code, shown = on_a_terminal(newcomer, "recall", "idempotency keys of webhooks", typed=b"y\n")
    words = " ".join(shown.split())
    assert code == 0
    assert f"{QUESTION} Index about" in words
    assert "of Claude Code into ~/memory.db? It changes nothing else. [Y/n]" in words
    assert "# Memory Recall" in shown
    assert "`pastchats-memory setup` indexes the rest" in words


def test_a_refusal_leaves_nothing_and_exits_as_before(newcomer: Program) -> None:
    code, shown = on_a_terminal(newcomer, "recall", "idempotency keys", typed=b"n\n")
    assert code == 2
    assert "there is no database yet" in " ".join(shown.split())
    assert not newcomer.database.exists()


def test_only_the_newest_500_turns_of_a_long_history_are_indexed(program: Program) -> None:
    folder = program.home / ".claude" / "projects" / "-kiln"
    folder.mkdir(parents=True)
    write_sessions(folder, 20, 60)
    code, shown = on_a_terminal(program, "recall", "kiln 17 degrees batch 19", typed=b"y\n")
    assert "the newest 500 of about 1,200 turns" in " ".join(shown.split())
    assert code in (0, 1)
    assert 400 <= program("status", "--json").results[0]["turns"] <= 500
    assert program("search", "batch 19", "--mode", "keyword").status == 0


@pytest.mark.parametrize("arguments", [["--help"], ["idempotency", "--since", "no time"]])
def test_help_and_wrong_arguments_ask_nothing(newcomer: Program, arguments: list[str]) -> None:
    _, shown = on_a_terminal(newcomer, "recall", *arguments, typed=b"n\n")
    assert QUESTION not in shown


def test_without_a_terminal_nobody_is_asked(newcomer: Program) -> None:
    run = newcomer("recall", "idempotency keys")
    assert run.status == 2
    assert QUESTION not in run.stderr
    assert not newcomer.database.exists()


def test_without_any_history_nobody_is_asked(program: Program) -> None:
    code, shown = on_a_terminal(program, "recall", "idempotency keys", typed=b"y\n")
    assert code == 2
    assert QUESTION not in shown
