"""Sessions of Factory's Droid to turns: a line about the session, then messages of Anthropic's blocks that name the one before them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pastchats_memory.formats.base.agent_spellings import parse_droid_output
from pastchats_memory.formats.base.companions import ending_in
from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.locations import below_home
from pastchats_memory.formats.base.session import (
    Position,
    Row,
    SessionBuilder,
    SessionInfo,
    count_images,
    folder_of,
    read_session,
    texts_of,
)
from pastchats_memory.formats.base.source import Json, Record, SourceFile, list_of, mapping_of, text_of
from pastchats_memory.formats.base.tags import REMINDERS, without_spans
from pastchats_memory.formats.base.tools import text_of_result
from pastchats_memory.formats.base.tree import BranchTree

FORMAT = "droid"
VERSION = 2

SESSIONS, SETTINGS = ".factory/sessions", ".settings.json"
BLOCKS = ("tool_use", "tool_result")
DELEGATED = "# Task Tool Invocation"
"""What the title of a subagent's session begins with, where nothing else names the session that called it."""


def recognise(source: SourceFile) -> bool:
    """Whether there are messages below a session's beginning, or one with the calls and answers of tools in it."""
    messages = [record for record in source.sample if _is_message(record)]
    begins = any(map(_is_header, source.sample))
    return bool(messages) and (
        begins or any(block.get("type") in BLOCKS for each in messages for block in _blocks(each))
    )


def _is_header(record: Json) -> bool:
    return record.get("type") == "session_start" and isinstance(record.get("id"), str)


def _is_message(record: Json) -> bool:
    return record.get("type") == "message" and mapping_of(record.get("message")).get("role") in ("user", "assistant")


def _blocks(record: Json) -> list[Json]:
    """The blocks of a message; a text among them may stand bare."""
    content = mapping_of(record.get("message")).get("content")
    parts = [content] if isinstance(content, str) else list_of(content)
    return [{"type": "text", "text": part} if isinstance(part, str) else mapping_of(part) for part in parts]


def read(source: SourceFile) -> Iterator[Row]:
    """The turns in file order. The file is read twice: which branch was left behind is known only at its end."""
    branches = BranchTree(source.resumed.state if source.resumed else None)
    for item in source.records():
        record = mapping_of(item.value) if isinstance(item, Record) else {}
        if _is_message(record):
            branches.add(text_of(record.get("id")), text_of(record.get("parentId")) or None)
    builder = SessionBuilder(SessionInfo(source.path.stem))
    yield from read_session(source, builder, lambda item: _take(builder, item, branches), branches.snapshot())


def _take(builder: SessionBuilder, item: Record, branches: BranchTree) -> str | None:
    """Add what the line says; the reason why it says nothing that can be read, else None."""
    record = item.value
    if not isinstance(record, dict):
        return f"a {type(record).__name__} instead of an entry"
    if _is_header(record):
        _learn(builder.info, record)
        return None
    own_id = text_of(record.get("id"))
    is_delegated = "parent_conversation_id" in builder.info.metadata
    branch = "sidechain" if is_delegated else branches.of(own_id)
    at = Position(item.line, record.get("timestamp"), own_id, branch)
    if record.get("type") == "compaction_state":
        builder.add_turn("system", "summary", text_of(record.get("summaryText")), replace(at, branch="main"))
    if record.get("type") != "message":
        return None
    content = mapping_of(record.get("message")).get("content")
    if not isinstance(content, str | list | None):
        return f"content of a message is a {type(content).__name__}"
    _message(builder, mapping_of(record.get("message")), _blocks(record), at)
    return None


def _learn(about: SessionInfo, record: Json) -> None:
    """What the first line says of all turns."""
    about.conversation_id = text_of(record.get("id"))
    about.cwd = folder_of(record.get("cwd"))
    title = text_of(record.get("sessionTitle")) or text_of(record.get("title"))
    about.metadata["title"] = title
    if title.startswith(DELEGATED) or record.get("callingSessionId"):
        about.metadata["parent_conversation_id"] = text_of(record.get("callingSessionId"))


def _message(builder: SessionBuilder, message: Json, blocks: list[Json], at: Position) -> None:
    if message.get("role") == "assistant":
        builder.add_answer(texts_of(blocks), at, text_of(message.get("model")))
    else:
        typed = (without_spans(text_of(block.get("text")), REMINDERS).strip() for block in blocks)
        builder.add_prompt("\n\n".join(filter(None, typed)), at, count_images(blocks))
    for block in blocks:
        if block.get("type") == "tool_use":
            builder.add_call(text_of(block.get("id")), text_of(block.get("name")), block.get("input"))
        elif block.get("type") == "tool_result":
            builder.add_result(
                text_of(block.get("tool_use_id")),
                parse_droid_output(text_of_result(block.get("content")), failed=block.get("is_error") is True),
                at,
            )


DROID = Format(
    name="droid",
    version=2,
    detect=confident(recognise, 90),
    read=read,
    program="Factory Droid",
    locations=below_home(".factory/sessions"),
    companions=ending_in(SESSIONS, SETTINGS),
)
