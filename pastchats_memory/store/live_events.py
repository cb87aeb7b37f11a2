"""Store the event ids of live turns, by which a repeated event is recognised."""

from pastchats_memory.store.database import Database

LIVE = "live"
"""`metadata.format` of a live turn, and the beginning of its source path, `live:CLIENT`."""


def find_event(database: Database, event: str) -> int | None:
    """Return the id of the turn that was stored for an event, or None."""
    found: int | None = database.value("SELECT prompt_id FROM live_events WHERE event = ?", (event,))
    return found


def store_event(database: Database, event: str, prompt_id: int) -> None:
    """Store the event of a turn, inside the caller's transaction."""
    database.run("INSERT INTO live_events(event, prompt_id) VALUES (?, ?)", (event, prompt_id))


def next_turn_index(database: Database, conversation_id: str | None, project: str, source_path: str) -> int:
    """Return the index after the last turn of the conversation, or of the source's turns without one."""
    where, values = "conversation_id IS NULL AND source_path = ?", [source_path]
    if conversation_id is not None:
        where, values = "conversation_id = ? AND source_project = ?", [conversation_id, project]
    return database.number(f"SELECT ifnull(max(turn_index) + 1, 0) FROM prompts WHERE {where}", values)
