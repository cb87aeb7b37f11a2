"""A clock that was set back, on the machine or in the time of a file, costs nothing that is stored or new."""

from __future__ import annotations

import os

from program import Program, write_messages
from whole import assert_whole, state

from pastchats_memory.store.database import open_database

LONG_AGO = "import time; time.time = lambda: 86400.0; time.time_ns = lambda: 86400 * 10**9"


def test_files_and_runs_that_are_older_than_what_is_stored_are_read_all_the_same(program: Program) -> None:
    said = [("user", "How deep should the pond be?"), ("assistant", "Eighty centimetres."), ("user", "And the rim?")]
    file = write_messages(program.home / "history" / "pond.jsonl", *said[:2])
    os.utime(file, (4_000_000_000, 4_000_000_000))
    assert program("index", "history").status == 0
    write_messages(file, *said)
    os.utime(file, (86_400, 86_400))
    earlier = program.altered(LONG_AGO)
    assert earlier("index", "history", "--json").json["turns_added"] == 1
    assert earlier("task", "add", "Dig the pond").status == 0
    assert earlier("search", "rim", "--mode", "keyword").status == 0
    again = program("index", "history", "--json").json
    assert (again["turns_added"], again["files_unchanged"]) == (0, 1)
    with open_database(program.database) as database:
        assert_whole(database)
        assert [row[6] for row in state(database)["prompts"]] != []
        assert sorted(row[6] for row in state(database)["prompts"]) == sorted(text for _, text in said)
