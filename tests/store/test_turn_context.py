"""Neighbours of a turn in its conversation, and their speakers."""

from __future__ import annotations

from pathlib import Path

from program import write_messages

from pastchats_memory import Memory
from pastchats_memory.model import Filters
from pastchats_memory.store.database import open_database
from pastchats_memory.store.turn_context import find_neighbours


def test_neighbours_of_a_turn_show_whether_they_have_its_role(tmp_path: Path) -> None:
    messages = (("user", "Fire the kiln."), ("assistant", "It is hot."), ("user", "Open it."), ("user", "Now."))
    path = tmp_path / "memory.db"
    with Memory.open(path) as memory:
        memory.index([write_messages(tmp_path / "a.jsonl", *messages)])
        first, second, third, _ = (int(memory.search(text, mode="keyword")[0].id) for _, text in messages)
    with open_database(path) as database:
        assert find_neighbours(database, [first], 2, Filters()) == [(first, second, False), (first, third, True)]
