"""Killed, interrupted or run twice at once: the database is whole, and a last run ends where an undisturbed one does."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from outcomes import turns
from program import Program, write_messages
from self_signal import PATIENT, signal_after, with_checksum_vectors
from waiting import HANG_S
from whole import assert_whole, state

from pastchats_memory.store.database import Database, open_database

KILLED_AFTER = (0, 600, 10, 530, 100)
"""Texts that each of the killed runs embeds. A batch has at most 256 turns, and two at most are embedded and not stored."""


def _history(folder: Path) -> Path:
    """1,800 turns in twelve files, one in two of them a copy of the one before with more at its end."""
    for number in range(12):
        first, last = (number // 2 * 200, number // 2 * 200 + (100 if number % 2 == 0 else 200))
        messages = (
            (("user", "assistant")[place % 2], f"Sentence {place} of {number // 2}") for place in range(first, last)
        )
        file = write_messages(folder / f"{number}.jsonl", *messages, conversation=f"c{number}")
        os.utime(file, (1_700_000_000 + number, 1_700_000_000 + number))
    (folder / "notes").mkdir()
    (folder / "notes" / "plan.md").write_text("# Plan\n\nDig.\n\n## Later\n\nPlant.\n", encoding="utf-8")
    return folder


def _rows(database: Database) -> list[tuple]:
    return state(database)["prompts"]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[tuple]]:
    """A history, and the rows of a run over it that nothing disturbed."""
    home = tmp_path_factory.mktemp("undisturbed")
    history = _history(home / "history")
    done = with_checksum_vectors(Program(home))("index", history)
    assert done.status == 0, done.stderr
    with open_database(home / "memory.db") as database:
        assert_whole(database)
        rows = _rows(database)
    assert len(rows) > 1000
    return history, rows


def test_killed_again_and_again_the_database_is_whole_and_ends_in_the_same_rows(
    program: Program, undisturbed: tuple[Path, list[tuple]]
) -> None:
    history, expected = undisturbed
    stored = [0]
    for kill, after in enumerate(KILLED_AFTER):
        mortal = signal_after(program, signal.SIGKILL, after)
        assert mortal("index", history, *(["--force"] if kill % 4 == 3 else [])).status == -signal.SIGKILL
        with open_database(program.database) as database:
            assert_whole(database)
            stored.append(len(_rows(database)))
    assert stored == sorted(stored), "what was stored stays stored"
    assert 0 < stored[-1] < len(expected)
    assert with_checksum_vectors(program)("index", history).status == 0
    with open_database(program.database) as database:
        assert_whole(database)
        assert _rows(database) == expected


def test_two_runs_at_once_both_succeed_and_store_every_turn_once(
    program: Program, undisturbed: tuple[Path, list[tuple]]
) -> None:
    history, expected = undisturbed
    running = [with_checksum_vectors(program, PATIENT).started("index", history, "--json") for _ in range(2)]
    messages = [process.communicate(timeout=HANG_S) for process in running]
    assert [process.returncode for process in running] == [0, 0], messages
    assert sum(json.loads(stdout)["turns_added"] for stdout, _ in messages) == len(expected)
    with open_database(program.database) as database:
        assert_whole(database)
        assert _rows(database) == expected


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_interrupted_from_the_keyboard_it_says_how_to_go_on_and_goes_on(
    program: Program, undisturbed: tuple[Path, list[tuple]], form: list[str]
) -> None:
    history, expected = undisturbed
    stopped = signal_after(program, signal.SIGINT, 700)("index", history, *form)
    assert (stopped.status, stopped.stdout) == (130, "")
    assert "stored and searchable; run the same command to go on" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    kept = turns(program)
    assert 0 < kept < len(expected)
    status = program("status", "--json").results[0]
    assert status["last_run"]["outcome"] == "interrupted"
    assert program("search", "Sentence", "--mode", "keyword").status == 0
    again = with_checksum_vectors(program)("index", history, "--json")
    assert again.json["turns_added"] == len(expected) - kept
    with open_database(program.database) as database:
        assert _rows(database) == expected
