"""The ends of a long conversation, which a new session reads."""

from __future__ import annotations

from pathlib import Path

from program import write_messages

from pastchats_memory import Memory
from pastchats_memory.store import turns
from pastchats_memory.store.database import open_database


def test_both_ends_of_a_conversation_are_read_in_order(tmp_path: Path) -> None:
    messages = [("user" if place % 2 == 0 else "assistant", f"turn {place} about the kiln") for place in range(9)]
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([write_messages(tmp_path / "long.jsonl", *messages)])
    with open_database(tmp_path / "memory.db") as database:
        ends = [item.content for item in turns.ends_of_conversation(database, "c1", 2)]
        whole = [item.content for item in turns.ends_of_conversation(database, "c1", 5)]
    assert ends == [messages[place][1] for place in (0, 1, 7, 8)]
    assert whole == [text for _, text in messages]
