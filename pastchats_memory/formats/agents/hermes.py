"""The database of Nous Research's Hermes Agent to turns: sessions, and messages as OpenAI's models are sent them.

Source: `hermes_state.py` of github.com/NousResearch/hermes-agent. A session that grew too long goes on in another one,
which names it as its parent, or in the same one: what was summed up stays, and what was kept of it comes again below.
"""

from __future__ import annotations

from collections.abc import Iterator

from pastchats_memory.files.foreign_sqlite import Database
from pastchats_memory.formats.base.format import Format, confident
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

FORMAT = "hermes"
VERSION = 2

SUMMED_UP = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]")
"""Beginnings of a summary, in whichever role."""
DELEGATED = "subagent"
"""Where a session comes from that an agent began."""
ENCODED = "\0json:"
"""Before content that is no plain text."""


def recognise(source: SourceFile) -> bool:
    """Whether it is a database of sessions with messages that have calls of tools beside them."""
    sessions, messages = (source.tables.get(name, frozenset()) for name in ("sessions", "messages"))
    return sessions >= {"id", "source", "parent_session_id"} and messages >= {"session_id", "role", "tool_calls"}


def read(source: SourceFile) -> Iterator[Row]:
    """The turns of one session after the other."""
    yield from source.from_database(_sessions)


def _sessions(database: Database) -> Iterator[Row]:
    columns = ("id", "source", "parent_session_id", "title", "model", "cwd")
    for own_id, came_from, parent, title, model, cwd in database.rows("sessions", columns, order=("started_at", "id")):
        metadata: Json = {"title": text_of(title), "parent_conversation_id": text_of(parent)}
        builder = SessionBuilder(SessionInfo(text_of(own_id), folder_of(cwd), metadata=metadata))
        builder.model = text_of(model)
        _messages(database, builder, "sidechain" if came_from == DELEGATED else "main")
        yield from builder.flush()


def _messages(database: Database, builder: SessionBuilder, branch: str) -> None:
    columns = ("id", "timestamp", "active", "compacted", "role", "content", "tool_calls", "tool_call_id")
    where = {"session_id": builder.info.conversation_id}
    summed_up: set[tuple[object, ...]] = set()
    for own_id, time, active, compacted, *told in database.rows("messages", columns, where=where, order=("id",)):
        if compacted:
            summed_up.add(tuple(told))
        elif active != 0 and tuple(told) in summed_up:
            continue
        rewound = active == 0 and not compacted
        at = Position(1, time, "" if own_id is None else str(own_id), "abandoned" if rewound else branch)
        _message(builder, at, *told)


def _message(
    builder: SessionBuilder, at: Position, role: object, said: object, called: object, call_id: object
) -> None:
    text = text_of(said)
    content = value_of(text.removeprefix(ENCODED)) if text.startswith(ENCODED) else text
    if text.startswith(SUMMED_UP):
        builder.add_turn("system", "summary", text, at)
    else:
        match role:
            case "user":
                builder.add_prompt(texts_of(content), at, count_images(content, ("image", "image_url")))
            case "assistant":
                builder.add_answer(texts_of(content), at)
            case "tool":
                builder.add_result(text_of(call_id), _output(texts_of(content)), at)
    for call in map(mapping_of, list_of(parse_json(text_of(called) or "[]"))):
        given = mapping_of(value_of((mapping_of(call.get("function")) or call).get("arguments")))
        builder.info.cwd = builder.info.cwd or folder_of(given.get("workdir"))
        builder.add_openai_call(call)


def _output(text: str) -> ToolResult:
    """What a tool answered: text, or an object with what was printed, the exit code and the error."""
    fields = mapping_of(value_of(text))
    return parse_printed(fields, failed=bool(fields.get("error"))) if fields else ToolResult(text)


HERMES = Format(
    name="hermes",
    version=2,
    detect=confident(recognise, 90),
    read=read,
    program="Hermes",
    locations=lambda environment: iter([environment.folder("HERMES_HOME", environment.home / ".hermes") / "state.db"]),
)
