"""Goose sessions to turns: a line about the session, then a message a line with blocks of content; from 1.10 on a database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pastchats_memory.files.foreign_sqlite import Database, Value
from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.locations import Environment
from pastchats_memory.formats.base.session import (
    Position,
    Row,
    SessionBuilder,
    SessionInfo,
    count_images,
    folder_of,
    read_items,
    read_session,
    texts_of,
)
from pastchats_memory.formats.base.source import (
    Json,
    Record,
    SourceFile,
    list_of,
    mapping_of,
    parse_json,
    text_of,
    value_of,
)
from pastchats_memory.formats.base.tools import ToolResult, text_of_result

FORMAT = "goose"
VERSION = 9

CALLS = ("toolRequest", "frontendToolRequest")
TOOLS = (*CALLS, "toolResponse")
BY_PROGRAMS = ("scheduled", "sub_agent", "hidden")
"""Kinds of sessions that no person had."""
EXPORTED = "conversation"
"""Where an exported session has its messages."""


def recognise(source: SourceFile) -> bool:
    """Whether a line tells of a session of Goose, a message calls a tool as Goose writes it, or it is Goose's database."""
    if source.shape == "sqlite":
        sessions, messages = (source.tables.get(name, frozenset()) for name in ("sessions", "messages"))
        return sessions >= {"id", "working_dir"} and messages >= {"session_id", "role", "content_json"}
    if source.shape == "json":
        document = mapping_of(source.outline)
        return _is_header(document) and isinstance(document.get(EXPORTED), list)
    return any(_is_header(record) or _calls(record) for record in source.sample)


def _is_header(record: Json) -> bool:
    named = any(key in record for key in ("message_count", "description", EXPORTED))
    return isinstance(record.get("working_dir"), str) and named and "role" not in record


def _calls(record: Json) -> bool:
    return "created" in record and any(block.get("type") in TOOLS for block in _blocks(record))


def read(source: SourceFile) -> Iterator[Row]:
    """The turns in file order; lines that are no messages."""
    if source.shape == "sqlite":
        yield from source.from_database(_from_database)
        return
    builder = SessionBuilder(SessionInfo(source.path.stem))
    if source.shape == "json":
        yield from _exported(source, builder)
    else:
        yield from read_session(source, builder, lambda item: _take(builder, item))


def _exported(source: SourceFile, builder: SessionBuilder) -> Iterator[Row]:
    _take(builder, Record(1, source.outline))
    messages = source.elements(EXPORTED)
    yield from read_items(source, builder, messages, lambda item: _take(builder, Record(item.line, item.value)))
    yield from builder.flush()


def _from_database(database: Database) -> Iterator[Row]:
    columns = ("id", "description", "name", "working_dir", "session_type")
    for own_id, description, name, folder, kind in database.rows("sessions", columns, order=("created_at", "id")):
        if kind not in BY_PROGRAMS:
            title = text_of(description) or text_of(name)
            builder = SessionBuilder(SessionInfo(str(own_id), folder_of(folder), metadata={"title": title}))
            for record in _messages(database, own_id):
                _take(builder, Record(1, record))
            yield from builder.flush()


def _messages(database: Database, session_id: Value) -> Iterator[Json]:
    columns = ("role", "content_json", "created_timestamp", "message_id", "metadata_json")
    where = {"session_id": session_id}
    for role, content, created, own_id, metadata in database.rows("messages", columns, where=where, order=("id",)):
        told = parse_json(text_of(metadata))
        yield {"role": role, "content": content, "created": created, "id": own_id, "metadata": told}


def _take(builder: SessionBuilder, item: Record) -> str | None:
    """Add what the line says; the reason why it says nothing that can be read, else None."""
    record, about = mapping_of(item.value), builder.info
    if _is_header(record):
        about.conversation_id = text_of(record.get("id")) or about.conversation_id
        about.cwd = folder_of(record.get("working_dir"))
        about.metadata["title"] = text_of(record.get("name")) or text_of(record.get("description"))
        return None
    if record.get("role") not in ("user", "assistant"):
        return "neither a session nor a message"
    blocks = _blocks(record)
    if not blocks and _content(record) != []:
        return "content is neither text nor a list of blocks"
    if mapping_of(record.get("metadata")).get("userVisible") is not False:
        _message(builder, record, blocks, Position(item.line, record.get("created"), text_of(record.get("id"))))
    return None


def _message(builder: SessionBuilder, record: Json, blocks: list[Json], at: Position) -> None:
    shown = [block for block in blocks if _is_shown(block)]
    if record.get("role") == "assistant":
        builder.add_answer(texts_of(shown), at)
    elif not any(block.get("type") == "toolResponse" for block in blocks):
        builder.add_prompt(texts_of(shown), at, count_images(shown))
    if replies := [_reply(mapping_of(block.get("data"))) for block in blocks if block.get("type") == "actionRequired"]:
        builder.add_prompt("\n\n".join(filter(None, replies)), at, kind="answer")
    for block in blocks:
        call_id = text_of(block.get("id"))
        if block.get("type") in CALLS:
            call = mapping_of(mapping_of(block.get("toolCall")).get("value"))
            builder.add_call(call_id, text_of(call.get("name")), call.get("arguments"))
        elif block.get("type") == "toolResponse":
            result = mapping_of(block.get("toolResult"))
            value = result.get("value")
            failed = result.get("status") == "error" or mapping_of(value).get("isError") is True
            builder.add_result(call_id, ToolResult(_told(value) or text_of(result.get("error")), failed=failed), at)


def _reply(action: Json) -> str:
    """What the person filled in when a tool asked for it."""
    data = action.get("user_data", action.get("userData"))
    return "\n".join(
        f"{key}: {value}" for key, value in mapping_of(data).items() if isinstance(value, str | int | float)
    )


def _told(value: object) -> str:
    """What a tool answered: of two copies, one for the model and one for the person, the person's."""
    parts = [mapping_of(part) for part in list_of(mapping_of(value).get("content") or value)]
    return text_of_result([part for part in parts if _is_shown(part)]) or text_of_result(value)


def _is_shown(block: Json) -> bool:
    """Whether the block is meant for the person; one that does not say is."""
    audience = mapping_of(block.get("annotations")).get("audience")
    return not isinstance(audience, list) or "user" in audience


def _content(record: Json) -> object:
    """The content, which some versions wrote as JSON text of the list."""
    content = record.get("content", record.get("content_json"))
    return value_of(content) if isinstance(content, str) and content.startswith("[") else content


def _blocks(record: Json) -> list[Json]:
    content = _content(record)
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in list_of(content) if isinstance(block, dict)]


def locations(environment: Environment) -> Iterator[Path]:
    root = environment.variables.get("GOOSE_PATH_ROOT")
    if root:
        yield Path(root).expanduser() / "data" / "sessions"
        return
    yield environment.data / "goose" / "sessions"
    yield environment.programs / "Block" / "goose" / "sessions"
    yield environment.programs / "Block" / "goose" / "data" / "sessions"
    yield environment.home / ".goose" / "sessions"


GOOSE = Format(
    name="goose",
    version=9,
    detect=confident(recognise, 90),
    read=read,
    program="Goose",
    locations=locations,
)
