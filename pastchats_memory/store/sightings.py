"""Where turns were seen: the file that was read, and of an export what it tells of itself."""

from __future__ import annotations

from collections.abc import Sequence

from pastchats_memory.model import Prompt
from pastchats_memory.store import projects
from pastchats_memory.store.database import Database


def outgrown(database: Database, new: Sequence[Prompt]) -> dict[str, str]:
    """By the content_hash of a turn in an export that of the row in its place in its file, which has more of its text or less.

    So an answer without an id of its own that was exported half-written is not another one than the whole of it.
    """
    found: dict[str, str] = {}
    for prompt in new:
        turn = prompt.turn
        if turn.origin is None:
            continue
        place = (turn.conversation_id, prompt.turn_index, prompt.source_path, turn.role)
        for content_hash, content in database.run(
            "SELECT content_hash, content FROM prompts "
            "WHERE conversation_id IS ? AND turn_index = ? AND source_path = ? AND role = ?",
            place,
        ):
            if content.startswith(turn.content) or turn.content.startswith(content):
                found[prompt.content_hash] = content_hash
    return found


def remember(database: Database, source_id: int, stored: Sequence[tuple[int, Prompt]]) -> None:
    """Note where rows stand in the file that was read; inside the caller's transaction. Raises StoreFault.

    Where that is an export, the places that it tells of too, and which projects are private. A file that nobody has read
    yet counts as unread.
    """
    database.run_many(
        "INSERT OR REPLACE INTO sightings(prompt_id, source_id, line, end_line) VALUES (?, ?, ?, ?)",
        [(id_, source_id, prompt.turn.line, prompt.turn.end_line) for id_, prompt in stored],
    )
    told = [(id_, prompt, prompt.turn.origin) for id_, prompt in stored if prompt.turn.origin]
    places = [(id_, place) for id_, _, origin in told for place in origin.places]
    database.run_many(
        "INSERT OR IGNORE INTO sources(path, size, mtime_ns, recipe) VALUES (?, -1, 0, '')",
        [(path,) for path in {place.path for _, place in places}],
    )
    database.run_many(
        "INSERT OR IGNORE INTO sightings(prompt_id, source_id, line, end_line) "
        "SELECT ?1, id, ?3, ?4 FROM sources WHERE path = ?2",
        [(id_, place.path, place.line, place.end_line) for id_, place in places],
    )
    projects.keep_private(database, {prompt.project for _, prompt, origin in told if origin.is_private})
