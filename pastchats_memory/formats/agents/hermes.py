"""Read the database of Nous Research's Hermes Agent: sessions, and messages as OpenAI's API has them.

Source: `hermes_state.py` of github.com/NousResearch/hermes-agent. A compaction continues a long session in a new one, which
names the first as its parent, or in the same one. There the compacted messages stay, and the retained ones are repeated below.
"""

from __future__ import annotations

from collections.abc import Iterator

from pastchats_memory.files.foreign_sqlite import Database
from pastchats_memory.formats.base.format import Format, Session
from pastchats_memory.formats.base.session import (
    Position,
    Row,
    SessionBuilder,
    SessionInfo,
    count_images,
    folder_of,
    texts_of,
)
from pastchats_memory.formats.base.source import Json, SourceFile, list_of, mapping_of, parse_json, text_of, value_of
from pastchats_memory.formats.base.tools import ToolResult, parse_printed

SUMMARIES = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]")
"""Beginnings of a summary, in any role."""
DELEGATED = "subagent"
"""The source of a session that an agent started."""
ENCODED = "\0json:"
"""Mark before content that is JSON instead of plain text."""


def detect(source: SourceFile) -> int:
    """Return 70 for a database of sessions with messages and their tool calls, else 0."""
    sessions, messages = (source.tables.get(name, frozenset()) for name in ("sessions", "messages"))
    has_sessions = sessions >= {"id", "source", "parent_session_id"}
    return 70 if has_sessions and messages >= {"session_id", "role", "tool_calls"} else 0


def read(source: SourceFile) -> Iterator[Row]:
    """Yield the turns of one session after the other."""
    yield from source.from_database(_read_sessions)


def _read_sessions(database: Database) -> Iterator[Row]:
    columns = ("id", "source", "parent_session_id", "title", "model", "cwd")
    for own_id, origin, parent, title, model, cwd in database.rows("sessions", columns, order=("started_at", "id")):
        metadata: Json = {"title": text_of(title), "parent_conversation_id": text_of(parent)}
        builder = SessionBuilder(SessionInfo(text_of(own_id), folder_of(cwd), metadata=metadata))
        builder.model = text_of(model)
        _add_messages(database, builder, "sidechain" if origin == DELEGATED else "main")
        yield from builder.flush()


def _add_messages(database: Database, builder: SessionBuilder, branch: str) -> None:
    columns = ("id", "timestamp", "active", "compacted", "role", "content", "tool_calls", "tool_call_id")
    where = {"session_id": builder.info.conversation_id}
    summarized: set[tuple[object, ...]] = set()
    for own_id, time, active, compacted, *message in database.rows("messages", columns, where=where, order=("id",)):
        if compacted:
            summarized.add(tuple(message))
        elif active != 0 and tuple(message) in summarized:
            continue
        is_rewound = active == 0 and not compacted
        at = Position(1, time, "" if own_id is None else str(own_id), "abandoned" if is_rewound else branch)
        _add_message(builder, at, *message)


def _add_message(
    builder: SessionBuilder, at: Position, role: object, encoded: object, calls: object, call_id: object
) -> None:
    text = text_of(encoded)
    content = value_of(text.removeprefix(ENCODED)) if text.startswith(ENCODED) else text
    if text.startswith(SUMMARIES):
        builder.add_turn("system", "summary", text, at)
    else:
        match role:
            case "user":
                builder.add_prompt(texts_of(content), at, count_images(content, ("image", "image_url")))
            case "assistant":
                builder.add_answer(texts_of(content), at)
            case "tool":
                builder.add_result(text_of(call_id), _parse_result(texts_of(content)), at)
    for call in map(mapping_of, list_of(parse_json(text_of(calls) or "[]"))):
        arguments = mapping_of(value_of((mapping_of(call.get("function")) or call).get("arguments")))
        builder.info.cwd = builder.info.cwd or folder_of(arguments.get("workdir"))
        builder.add_openai_call(call)


def _parse_result(text: str) -> ToolResult:
    """Return a tool result: text, or an object with the output, the exit code and the error."""
    fields = mapping_of(value_of(text))
    return parse_printed(fields, failed=bool(fields.get("error"))) if fields else ToolResult(text)


def resume(session: Session) -> list[str]:
    """Return the command of the Hermes manual (hermes-agent.nousresearch.com/docs/user-guide/cli)."""
    return ["hermes", "--resume", session.conversation_id]


HERMES = Format(
    name="hermes",
    version=2,
    detect=detect,
    read=read,
    program="Hermes",
    locations=lambda environment: iter([environment.folder("HERMES_HOME", environment.home / ".hermes") / "state.db"]),
    resume=resume,
)
