"""A clock that was set back, on the machine or in the time of a file, costs nothing that is stored or new."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from program import Program, write_messages
from whole import assert_whole, state

from pastchats_memory.store.database import open_database

LONG_AGO = "import time; time.time = lambda: 86400.0; time.time_ns = lambda: 86400 * 10**9"


def test_files_and_runs_that_are_older_than_what_is_stored_are_read_all_the_same(program: Program) -> None:
    messages = [
        ("user", "How deep should the pond be?"),
        ("assistant", "Eighty centimetres."),
        ("user", "And the rim?"),
    ]
    file = write_messages(program.home / "history" / "pond.jsonl", *messages[:2])
    os.utime(file, (4_000_000_000, 4_000_000_000))
    assert program("index", "history").status == 0
    write_messages(file, *messages)
    os.utime(file, (86_400, 86_400))
    earlier = program.primed(LONG_AGO)
    assert earlier("index", "history", "--json").json["turns_added"] == 1
    assert earlier("task", "add", "Dig the pond").status == 0
    assert earlier("search", "rim", "--mode", "keyword").status == 0
    again = program("index", "history", "--json").json
    assert (again["turns_added"], again["files_unchanged"]) == (0, 1)
    with open_database(program.database) as database:
        assert_whole(database)
        assert [row[6] for row in state(database)["prompts"]] != []
        assert sorted(row[6] for row in state(database)["prompts"]) == sorted(text for _, text in messages)


TEXTS = (
    "How deep should the pond be?",
    "Eighty centimetres.",
    "And the rim of it?",
    "Flat stones.",
    "Which plants?",
    "Irises.",
)
STEPS = """
import datetime, json, os, sys, time

shifts = iter(json.loads(sys.argv[1]))
shift = 0
now, now_ns = time.time, time.time_ns

class Shifted(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return super().now(tz) + datetime.timedelta(seconds=shift)

datetime.datetime = Shifted
time.time = lambda: now() + shift
time.time_ns = lambda: now_ns() + shift * 10**9

from pastchats_memory import Memory

def turn():
    global shift
    shift = next(shifts)
    return memory

with Memory.open() as memory:
    turn().index(["history"])
    turn().forget(query="Flat stones")
    turn().store_turn("user", "Water the irises.", "live", "e1", "garden", "2026-05-04T08:20:00Z")
    turn().prune("2026-05-04T08:01")
    turn().forget(since="2026-05-04T08:05", until="2026-05-04T08:10")
    turn().index(["history"], force=True)
    turn().store_turn("assistant", "They are watered.", "live", "e2", "garden", "2026-05-04T08:21:00Z")
    print(turn().undo_forget().turns, [gone.turns for gone in turn().list_forgettings()])
    turn().index(["history"], force=True)
"""
STEADY, BACK = [0] * 10, [0, -(10**9), 10**8, -(10**8), -(10**9), 10**8, 0, -(10**9), 10**8, -(10**8)]


def stepped(program: Program, shifts: list[int]) -> tuple[str, dict]:
    for file in program.home.glob("memory.db*"):
        file.unlink()
    write_messages(
        program.home / "history" / "pond.jsonl",
        *((("user", "assistant")[place % 2], text) for place, text in enumerate(TEXTS)),
    )
    done = subprocess.run(
        [sys.executable, "-c", STEPS, json.dumps(shifts)],
        cwd=program.home, env=program.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    with open_database(program.database) as database:
        assert_whole(database)
        left = state(database)
    left["sources"] = [row[:2] for row in left["sources"]]  # when the file was written
    return done.stdout, left


def test_a_clock_that_goes_back_changes_nothing(
    program: Program,
) -> None:
    steps = stepped(program, STEADY)
    assert steps[0] == "1 [1, 1]\n"
    assert stepped(program, BACK) == steps
