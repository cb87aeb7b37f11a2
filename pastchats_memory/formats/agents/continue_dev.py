"""Continue sessions to turns: one document a session, with what the person typed as the editor had it.

Nothing in a session has a time; the list of sessions beside it tells when each began.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.session import (
    Position,
    Row,
    SessionBuilder,
    SessionInfo,
    count_images,
    folder_of,
    read_items,
    texts_of,
)
from pastchats_memory.formats.base.sibling_files import is_sibling
from pastchats_memory.formats.base.source import BadJson, Json, SourceFile, list_of, mapping_of, parse_json, text_of
from pastchats_memory.formats.base.tools import ToolResult
from pastchats_memory.text.timestamps import iso_utc, to_the_minute

FORMAT = "continue"
VERSION = 6

FAILED = ("errored",)
COMMAND_FAILED = "Command failed"
"""Beginning of what a terminal says of a command beside its output, although the call itself is done."""
BLOCKS = ("paragraph", "codeBlock", "heading", "listItem", "blockquote")
NAMED = {"mention": "@", "slashcommand": "/", "slash-command": "/"}
"""Nodes of the editor that stand for a name, and what is written before it."""
DEEPEST = 50


def recognise(source: SourceFile) -> bool:
    """Whether the document is a session with a history of items that hold messages."""
    session = mapping_of(source.outline) if source.shape == "json" else {}
    history = session.get("history")
    if not isinstance(history, list) or not _id_of(session):
        return False
    return not history or any("message" in mapping_of(item) for item in history)


def _id_of(session: Json) -> str:
    return text_of(session.get("sessionId")) or text_of(session.get("session_id"))


def read(source: SourceFile) -> Iterator[Row]:
    """The turns in the order of the file; items that hold no message."""
    session = mapping_of(source.outline)
    builder = SessionBuilder(
        SessionInfo(
            _id_of(session),
            folder_of(session.get("workspaceDirectory")),
            started=_began(source.path.parent, _id_of(session)),
            metadata={"title": text_of(session.get("title"))},
        )
    )
    builder.model = text_of(session.get("chatModelTitle"))
    history = source.elements("history")
    yield from read_items(source, builder, history, lambda item: _take(builder, mapping_of(item.value), item.line))
    yield from builder.flush()


def _began(folder: Path, session_id: str) -> str | None:
    """When the list of sessions says that the session was begun; the list may be missing or broken."""
    path = folder / "sessions.json"
    listed = list_of(SourceFile(path).document) if is_sibling(path) else []
    ours = (entry for entry in map(mapping_of, listed) if entry.get("sessionId") == session_id)
    return next((to_the_minute(iso_utc(entry.get("dateCreated"))) for entry in ours), None)


def _take(builder: SessionBuilder, item: Json, line: int) -> str | None:
    """Add what the item says; the reason why it says nothing that can be read, else None."""
    message = mapping_of(item.get("message"))
    content, at = message.get("content"), Position(line, native_id=text_of(message.get("id")))
    if not message:
        return "an item without a message"
    if not isinstance(content, str | list | None):
        return f"content of a message is a {type(content).__name__}"
    match message.get("role"):
        case "user":
            builder.add_prompt(
                typed(item.get("editorState")) or texts_of(content), at, count_images(content, ("imageUrl",))
            )
        case "assistant":
            titles = [text_of(mapping_of(log).get("modelTitle")) for log in list_of(item.get("promptLogs"))]
            builder.add_answer(texts_of(content), at, next(iter(titles[-1:]), ""))
            _tools(builder, item, at)
        case "tool":
            builder.add_result(text_of(message.get("toolCallId")), ToolResult(texts_of(content)), at)
    if summary := text_of(item.get("conversationSummary")):
        builder.add_turn("system", "summary", summary, at)
    return None


def _tools(builder: SessionBuilder, item: Json, at: Position) -> None:
    """The calls of an answer, with their results where the item has them; else those come as messages of their own."""
    for call in map(mapping_of, list_of(mapping_of(item.get("message")).get("toolCalls"))):
        function = mapping_of(call.get("function"))
        builder.add_call(text_of(call.get("id")), text_of(function.get("name")), function.get("arguments"))
    for state in map(mapping_of, list_of(item.get("toolCallStates"))):
        parts = [mapping_of(part) for part in list_of(state.get("output"))]
        broke = any(text_of(part.get("status")).startswith(COMMAND_FAILED) for part in parts)
        if broke or state.get("status") in FAILED:
            texts = [text_of(part.get("content")) for part in parts]
            builder.add_result(text_of(state.get("toolCallId")), ToolResult("\n".join(texts), failed=True), at)


def typed(state: object) -> str:
    """What a person typed, of the editor's state: text, or a tree of nodes as an object or as JSON text."""
    value = parse_json(state) if isinstance(state, str) and state.startswith("{") else state
    if isinstance(value, str | BadJson):
        return text_of(state)
    return "".join(_pieces(mapping_of(value), 0)).strip()


def _pieces(node: Json, depth: int) -> Iterator[str]:
    kind, attributes = text_of(node.get("type")), mapping_of(node.get("attrs"))
    if kind == "text":
        yield text_of(node.get("text"))
    elif kind == "hardBreak":
        yield "\n"
    elif kind in NAMED:
        yield NAMED[kind] + (text_of(attributes.get("label")) or text_of(attributes.get("id")))
    elif depth < DEEPEST:
        for child in list_of(node.get("content")):
            yield from _pieces(mapping_of(child), depth + 1)
        yield "\n" if kind in BLOCKS else ""


CONTINUE_DEV = Format(
    name="continue",
    version=6,
    detect=confident(recognise, 90),
    read=read,
    program="Continue",
    locations=lambda environment: iter(
        [environment.folder("CONTINUE_GLOBAL_DIR", environment.home / ".continue") / "sessions"]
    ),
)
