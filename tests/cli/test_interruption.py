"""Killed, interrupted or run twice at once: the database is whole, and a last run ends where an undisturbed one does."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from outcomes import turns
from program import Program, write_messages
from whole import assert_whole, state

from pastchats_memory.store.database import Database, open_database

KILLS = 7
SLOW = """
import time, zlib, numpy
from pastchats_memory.embed.packaged import PackagedEmbedder

def embed(self, texts):
    for text in texts:
        time.sleep(.001)
        vector = numpy.random.default_rng(zlib.crc32(text.encode())).normal(size=384).astype("float32")
        yield vector / numpy.linalg.norm(vector)

PackagedEmbedder.embed = embed
"""
"""An embedder whose vectors are made of the text's checksum, a millisecond each."""


def _history(folder: Path) -> Path:
    """1,800 turns in twelve files, one in two of them a copy of the one before with more at its end."""
    for number in range(12):
        first, last = (number // 2 * 200, number // 2 * 200 + (100 if number % 2 == 0 else 200))
        said = (
            (("user", "assistant")[place % 2], f"Sentence {place} of {number // 2}") for place in range(first, last)
        )
        file = write_messages(folder / f"{number}.jsonl", *said, conversation=f"c{number}")
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
    done = Program(home).altered(SLOW.replace(".001", "0"))("index", history)
    assert done.status == 0, done.stderr
    with open_database(home / "memory.db") as database:
        assert_whole(database)
        rows = _rows(database)
    assert len(rows) > 1000
    return history, rows


def test_killed_at_any_moment_the_database_is_whole_and_ends_in_the_same_rows(
    program: Program, undisturbed: tuple[Path, list[tuple]]
) -> None:
    history, expected = undisturbed
    slow = program.altered(SLOW)
    moments, stored = random.Random(11), [0]  # noqa: S311 - no secret
    for kill in range(KILLS):
        process = slow.started("index", history, *(["--force"] if kill % 4 == 3 else []))
        _wait_for_rows(program.database, more_than=stored[-1] if stored[-1] < len(expected) and kill % 2 else -1)
        time.sleep(moments.uniform(0, 0.3))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        if not program.database.exists():
            continue
        with open_database(program.database) as database:
            assert_whole(database)
            stored.append(len(_rows(database)))
    assert stored == sorted(stored), "what was stored stays stored"
    assert any(0 < count < len(expected) for count in stored), "none of the kills fell into the run"
    assert slow("index", history).status == 0
    with open_database(program.database) as database:
        assert_whole(database)
        assert _rows(database) == expected


def test_two_runs_at_once_both_succeed_and_store_every_turn_once(
    program: Program, undisturbed: tuple[Path, list[tuple]]
) -> None:
    history, expected = undisturbed
    running = [program.altered(SLOW).started("index", history, "--json") for _ in range(2)]
    said = [process.communicate(timeout=100) for process in running]
    assert [process.returncode for process in running] == [0, 0], said
    assert sum(json.loads(stdout)["turns_added"] for stdout, _ in said) == len(expected)
    with open_database(program.database) as database:
        assert_whole(database)
        assert _rows(database) == expected


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_interrupted_from_the_keyboard_it_says_how_to_go_on_and_goes_on(
    program: Program, undisturbed: tuple[Path, list[tuple]], form: list[str]
) -> None:
    history, expected = undisturbed
    process = program.altered(SLOW).started("index", history, *form)
    _wait_for_rows(program.database, more_than=0)  # a run lets other programs go first
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=30)
    assert (process.returncode, stdout) == (130, "")
    assert "stored and searchable; run the same command to go on" in stderr
    assert "Traceback" not in stderr
    kept = turns(program)
    assert 0 < kept < len(expected)
    status = program("status", "--json").results[0]
    assert status["last_run"]["outcome"] == "interrupted"
    assert program("search", "Sentence", "--mode", "keyword").status == 0
    again = program.altered(SLOW)("index", history, "--json")
    assert again.json["turns_added"] == len(expected) - kept
    with open_database(program.database) as database:
        assert _rows(database) == expected


def _wait_for_rows(path: Path, more_than: int, seconds: float = 60) -> None:
    """Come back when the database has so many turns, or after a time in which a run would have stored all it has."""
    give_up = time.monotonic() + seconds
    while _stored(path) <= more_than and time.monotonic() < give_up:
        time.sleep(0.02)


def _stored(path: Path) -> int:
    if not path.exists():
        return -1
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        try:
            return connection.execute("SELECT count(*) FROM prompts").fetchone()[0]
        except sqlite3.OperationalError:
            return -1
