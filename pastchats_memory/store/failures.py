"""Store failed commands and edits with what cured them, and read the calls of a conversation.

A hook imports this before and after a call of a tool, so it imports little.
"""

from collections.abc import Sequence
from typing import NamedTuple

import orjson

from pastchats_memory.model import Metadata
from pastchats_memory.store.database import Database
from pastchats_memory.text.words import WORD

MAX_ROWS = 400
"""The newest failures of a program, and the newest rows with a call, that are read."""
MAX_WORDS = 5
"""A recorded call is perhaps shortened, so only its first words are searched for."""
CONTENT_CHARS = 1200
"""Characters of a row: a command, and the start of its result."""
COLUMNS = (
    "source_project", "conversation_id", "prompt_id", "program", "word", "is_missing", "folder", "action", "error", "has_passed",
    "kind", "cure", "cure_id",
)  # fmt: skip


class RecordedTurn(NamedTuple):
    """A turn of a conversation, as far as its calls of tools need it."""

    id: int
    project: str
    turn_index: int
    role: str
    content: str
    """Its start."""
    metadata: Metadata
    timestamp: str | None


class Failure(NamedTuple):
    """A command or an edit that failed, or that the user did not want."""

    turn: int
    """Id of the row with the failed run, or of the user's words."""
    program: str
    """Empty for an edit."""
    word: str
    """What the error names of the command; empty if it names nothing."""
    is_missing: bool
    """Whether the program is not on this machine."""
    folder: str
    """Where it ran, below the project; empty for the project's own folder."""
    action: str
    """The command in one spelling, or the file."""
    error: str
    """The line of the result."""
    has_passed: bool
    """Whether the same worked later in the conversation."""
    kind: str = ""
    """Kind of the cure: `refused`, `undone`, `instead` or `after`; empty if none is known."""
    cure: str = ""
    """The user's words, or a command or an edit."""
    cure_turn: int | None = None
    """Id of the row that shows it."""


class StoredFailure(NamedTuple):
    """A failure with its place."""

    project: str
    conversation_id: str
    timestamp: str | None
    failure: Failure


def read_conversation(database: Database, project: str, conversation_id: str) -> list[RecordedTurn]:
    """Return the turns of a conversation in order, without notes."""
    condition = "p.source_project = ? AND p.conversation_id = ? AND p.role != 'note' ORDER BY p.turn_index, p.id"
    return _read_turns(database, condition, (project, conversation_id))


def replace(database: Database, project: str, conversation_id: str, failures: Sequence[Failure]) -> None:
    """Replace the failures of a conversation. Call it inside a transaction."""
    database.run(
        "DELETE FROM known_failures WHERE source_project = ? AND conversation_id = ?", (project, conversation_id)
    )
    database.run_many(
        f"INSERT OR REPLACE INTO known_failures({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})",
        [(project, conversation_id, *failure) for failure in failures],
    )


def find_failures(database: Database, program: str, project: str | None) -> list[StoredFailure]:
    """Return the newest failures of a program: of a project, and those for a missing program anywhere.

    Without a project, return those of all projects.
    """
    return _read(
        database,
        "f.program = ?1 AND (?2 IS NULL OR f.source_project = ?2 OR f.is_missing) ORDER BY p.timestamp DESC, p.id DESC LIMIT ?3",
        (program, project, MAX_ROWS),
    )


def list_cured(database: Database, project: str | None, most: int) -> list[StoredFailure]:
    """Return the newest failures of a project, or of all, whose cure is known."""
    return _read(
        database,
        "f.kind != '' AND ifnull(f.source_project = ?1, 1) ORDER BY p.timestamp DESC, p.id DESC LIMIT ?2",
        (project, most),
    )


def count(database: Database) -> tuple[int, int]:
    """Return the number of failures, and of those whose cure is known."""
    ((total, cured),) = database.run("SELECT count(*), count(*) FILTER (WHERE kind != '') FROM visible_known_failures")
    return total, cured


def find_later_calls(
    database: Database, project: str | None, subject: str, after: str | None, not_conversation: str
) -> list[RecordedTurn]:
    """Return turns of other conversations after a time whose calls have the first words of a subject, the newest first."""
    words = WORD.findall(subject)[:MAX_WORDS]
    if not words or after is None:
        return []
    return _read_turns(
        database,
        "p.id IN (SELECT rowid FROM tool_calls_fts WHERE tool_calls_fts MATCH ?1) "
        "AND ifnull(p.source_project = ?2, 1) AND p.timestamp > ?3 AND p.conversation_id IS NOT ?4 "
        "ORDER BY p.timestamp DESC LIMIT ?5",
        (" ".join(f'"{word}"' for word in words), project, after, not_conversation, MAX_ROWS),
    )


def find_place(database: Database, id_: int) -> tuple[str, int | None]:
    """Return path and line of a place where a turn occurs."""
    rows = database.run(
        "SELECT s.path, g.line FROM sightings g JOIN sources s ON s.id = g.source_id JOIN visible_prompts p ON p.id = g.prompt_id "
        "WHERE g.prompt_id = ? ORDER BY s.path != p.source_path LIMIT 1",
        (id_,),
    )
    return (str(rows[0][0]), int(rows[0][1]) or None) if rows else ("", None)


def _read(database: Database, condition: str, values: tuple[object, ...]) -> list[StoredFailure]:
    fields = ", ".join(f"f.{column}" for column in COLUMNS[2:])
    rows = database.run(
        f"SELECT f.source_project, f.conversation_id, p.timestamp, {fields} FROM visible_known_failures f "
        f"JOIN visible_prompts p ON p.id = f.prompt_id WHERE {condition}",
        values,
    )
    return [StoredFailure(project, id_, when, Failure(*failure)) for project, id_, when, *failure in rows]


def _read_turns(database: Database, condition: str, values: tuple[object, ...]) -> list[RecordedTurn]:
    columns = f"p.id, p.source_project, p.turn_index, p.role, substr(p.content, 1, {CONTENT_CHARS}), p.metadata_json, p.timestamp"
    rows = database.run(f"SELECT {columns} FROM visible_prompts p WHERE {condition}", values)
    return [
        RecordedTurn(id_, project, index, role, content, orjson.loads(metadata or "{}"), when)
        for id_, project, index, role, content, metadata, when in rows
    ]
