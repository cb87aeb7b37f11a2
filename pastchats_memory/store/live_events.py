"""Turns that were stored while they were said: the events by which they are known again."""

from __future__ import annotations

from pastchats_memory.store.database import Database

LIVE = "live"
"""`metadata.format` of such a turn, and the beginning of its source path, `live:CLIENT`."""


def stored_as(database: Database, event: str) -> int | None:
    """The row of an event that was stored before. Raises StoreFault."""
    found: int | None = database.value("SELECT prompt_id FROM live_events WHERE event = ?", (event,))
    return found


def remember(database: Database, event: str, prompt_id: int) -> None:
    """File an event under its row; inside the caller's transaction. Raises StoreFault."""
    database.run("INSERT INTO live_events(event, prompt_id) VALUES (?, ?)", (event, prompt_id))


def next_index(database: Database, conversation_id: str | None, project: str, source_path: str) -> int:
    """The place of a turn that is said now: after the last of its conversation, or of those of its source that have none."""
    return int(
        database.value(
            "SELECT ifnull(max(turn_index) + 1, 0) FROM prompts WHERE conversation_id = ? AND source_project = ?",
            (conversation_id, project),
        )
        if conversation_id is not None
        else database.value(
            "SELECT ifnull(max(turn_index) + 1, 0) FROM prompts WHERE conversation_id IS NULL AND source_path = ?",
            (source_path,),
        )
    )
