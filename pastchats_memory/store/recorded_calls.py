"""Read the recorded calls of one command or file. A hook imports this before each call of a tool, so it imports little."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson

from pastchats_memory.model import Metadata
from pastchats_memory.store.database import Database

MAX_ROWS = 400
"""The newest rows with the words."""
MAX_WORDS = 5
"""A recorded call is perhaps shortened, so only its first words are searched for."""
CONTENT_CHARS = 1200
"""Characters of a row: a command, and the start of its result."""
_WORD = re.compile(r"[^\W_]+")
COLUMNS = f"p.id, p.source_project, p.conversation_id, p.turn_index, p.role, substr(p.content, 1, {CONTENT_CHARS}), p.metadata_json, p.timestamp"


class RecordedTurn(NamedTuple):
    """A turn with calls of tools, or with the result of one."""

    id: int
    project: str
    conversation_id: str
    turn_index: int
    role: str
    content: str
    """Its start."""
    metadata: Metadata
    timestamp: str | None


def find_calls(database: Database, project: str, subject: str, not_conversation: str | None) -> list[RecordedTurn]:
    """Return the newest turns of a project whose calls or results have the first words of a subject, the newest first.

    Args:
        database: to be read.
        project: its name.
        subject: a command or a path.
        not_conversation: a conversation to leave out.
    """
    words = _WORD.findall(subject)[:MAX_WORDS]
    if not words:
        return []
    called = " ".join(f'"{word}"' for word in words)
    here = " ".join(_WORD.findall(project))
    recorded = f"content : ({called})" + (f' AND source_project : "{here}"' if here else "")
    rows = database.run(
        f"SELECT {COLUMNS} FROM visible_prompts p WHERE p.id IN (SELECT rowid FROM prompts_fts WHERE prompts_fts MATCH ?1 "
        "UNION SELECT rowid FROM tool_calls_fts WHERE tool_calls_fts MATCH ?2) AND p.source_project = ?3 "
        f"AND p.conversation_id IS NOT NULL AND p.conversation_id IS NOT ?4 "
        "AND (p.role = 'tool' OR p.tool_calls IS NOT NULL) ORDER BY p.id DESC LIMIT ?5",
        (recorded, called, project, not_conversation, MAX_ROWS),
    )
    return [_turn(row) for row in rows]


def read_around(database: Database, turn: RecordedTurn, reach: int) -> list[RecordedTurn]:
    """Return the turns of a conversation up to `reach` indexes before and behind a turn."""
    rows = database.run(
        f"SELECT {COLUMNS} FROM visible_prompts p WHERE p.source_project = ? AND p.conversation_id = ? AND p.turn_index BETWEEN ? AND ? "
        f"AND p.role != 'note' ORDER BY p.turn_index, p.id",
        (turn.project, turn.conversation_id, turn.turn_index - reach, turn.turn_index + reach),
    )
    return [_turn(row) for row in rows]


def find_place(database: Database, id_: int) -> tuple[str, int | None]:
    """Return path and line of a place where a turn occurs."""
    rows = database.run(
        "SELECT s.path, g.line FROM sightings g JOIN sources s ON s.id = g.source_id JOIN visible_prompts p ON p.id = g.prompt_id "
        "WHERE g.prompt_id = ? ORDER BY s.path != p.source_path LIMIT 1",
        (id_,),
    )
    return (str(rows[0][0]), int(rows[0][1]) or None) if rows else ("", None)


def _turn(row: Sequence[Any]) -> RecordedTurn:
    id_, project, conversation_id, index, role, content, metadata, when = row
    return RecordedTurn(id_, project, conversation_id, index, role, content, orjson.loads(metadata or "{}"), when)
