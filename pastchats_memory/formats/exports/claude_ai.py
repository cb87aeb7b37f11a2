"""Claude.ai exports and single conversations to turns: blocks of content where there are any, else the text beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.jsonl_agent import conversations, holds
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo
from pastchats_memory.formats.base.source import Json, Places, SourceFile, list_of, mapping_of, text_of
from pastchats_memory.formats.base.tools import ToolResult, text_of_result
from pastchats_memory.formats.base.tree import abandoned_places
from pastchats_memory.model import Turn
from pastchats_memory.text.clean import IMAGE, conversation_hash, shortened
from pastchats_memory.text.dates import iso_utc, to_the_minute

FORMAT = "claude-ai"
VERSION = 3

SHOWN = ("text", "voice_note")
ARTIFACTS = "artifacts"
CREATED, OUTPUTS = "create_file", "/outputs/"
"""The call that writes a file, and the folder from which the person gets it: such a file is an artifact of later versions."""
UNSUPPORTED = re.compile(r"```\s*\n?This block is not supported on your current device yet\.\s*\n?```")

_ARTIFACT = re.compile(r"<antArtifact\b([^>]{0,4096})>(.*?)(?:</antArtifact>|\Z)", re.DOTALL)
_TITLE = re.compile(r'title="([^"]*)"')
_THINKING = re.compile(r"<antThinking>.*?(?:</antThinking>|\Z)", re.DOTALL)


def recognise(source: SourceFile) -> bool:
    """Whether a conversation with `chat_messages` is in it; the sidecars of an export have none."""
    return holds(source, _is_conversation, "conversations")


def _is_conversation(value: object) -> bool:
    return isinstance(mapping_of(value).get("chat_messages"), list)


def read(source: SourceFile) -> Iterator[Row]:
    """The turns of every conversation; edited prompts and other answers are abandoned."""
    yield from conversations(source, _is_conversation, _turns, "conversations")


def _turns(conversation: Json, places: Places) -> Iterator[Turn]:
    model = text_of(conversation.get("model"))
    messages = _in_order([mapping_of(message) for message in list_of(conversation.get("chat_messages"))])
    about = SessionInfo(
        text_of(conversation.get("uuid"))
        or conversation_hash((text_of(each.get("sender")), _text(each)) for each in messages),
        project=text_of(mapping_of(conversation.get("project")).get("name")) or None,
        started=to_the_minute(iso_utc(conversation.get("created_at"))),
        metadata={"title": text_of(conversation.get("name"))},
    )
    builder = SessionBuilder(about)
    builder.model = model
    links = [(_id(message), text_of(message.get("parent_message_uuid")) or None) for message in messages]
    left = abandoned_places(links, text_of(conversation.get("current_leaf_message_uuid")) or None)
    for place, message in enumerate(messages):
        text = _text(message)
        stands = next((piece for piece in (*_blocks(message), text_of(message.get("text"))) if piece.strip()), "")
        branch = "abandoned" if place in left else "main"
        at = Position(places.line(stands), message.get("created_at"), _id(message) or "", branch)
        if message.get("sender") == "human":
            _prompt(builder, message, text, at)
        elif message.get("sender") == "assistant":
            _answer(builder, message, text, at)
    yield from builder.queue.flush()


def _id(message: Json) -> str | None:
    return text_of(message.get("uuid")) or None


def _in_order(messages: Sequence[Json]) -> Sequence[Json]:
    """As they stand; exports without parents may have them out of order, and their times tell."""
    if any("parent_message_uuid" in message for message in messages):
        return messages
    times = [iso_utc(message.get("created_at")) or "" for message in messages]
    if not all(times):
        return messages
    return [message for _, message in sorted(zip(times, messages, strict=True), key=lambda pair: pair[0])]


def _blocks(message: Json) -> list[str]:
    blocks = (mapping_of(block) for block in list_of(message.get("content")))
    return [text for block in blocks if block.get("type") in SHOWN and (text := text_of(block.get("text"))).strip()]


def _text(message: Json) -> str:
    """The blocks of text; without any the text beside them, which stands in for blocks that it cannot show."""
    return "\n\n".join(_blocks(message)) or UNSUPPORTED.sub("", text_of(message.get("text")))


def _prompt(builder: SessionBuilder, message: Json, text: str, at: Position) -> None:
    """What was typed, with a part of what was pasted, which is kept as an attachment."""
    attached = [mapping_of(item) for item in list_of(message.get("attachments"))]
    files = [mapping_of(item) for item in list_of(message.get("files"))]
    pasted = [shortened(words) for item in attached if (words := text_of(item.get("extracted_content")).strip())]
    names = [name for item in (*attached, *files) if (name := text_of(item.get("file_name")))]
    words = "\n\n".join([text, *pasted]).strip() or (IMAGE if files else "")
    builder.add_turn("user", "prompt", words, at, attachments=names)


def _answer(builder: SessionBuilder, message: Json, text: str, at: Position) -> None:
    """Calls and their results before the words; documents that were written beside the chat are results."""
    for block in map(mapping_of, list_of(message.get("content"))):
        if block.get("type") == "tool_use":
            _call(builder, block, at)
        elif block.get("type") == "tool_result":
            output = ToolResult(text_of_result(block.get("content")), failed=block.get("is_error") is True)
            builder.add_result(text_of(block.get("tool_use_id")), output, _beside(at))
    text = _THINKING.sub("", text)
    for found in _ARTIFACT.finditer(text):
        title = _TITLE.search(found[1])
        _document(builder, title[1] if title else "", found[2], at)
    flags = ["truncated"] if message.get("truncated") is True else []
    builder.add_turn("assistant", "answer", _ARTIFACT.sub("", text), at, model=builder.model, flags=flags)


def _call(builder: SessionBuilder, block: Json, at: Position) -> None:
    arguments = mapping_of(block.get("input"))
    builder.add_call(text_of(block.get("id")), text_of(block.get("name")) or "tool", arguments)
    path = text_of(arguments.get("path"))
    if block.get("name") == CREATED and OUTPUTS in path:
        _document(builder, path.rpartition("/")[2], text_of(arguments.get("file_text")), at)
    if block.get("name") == ARTIFACTS:
        _document(builder, text_of(arguments.get("title")), text_of(arguments.get("content")), at)


def _document(builder: SessionBuilder, title: str, text: str, at: Position) -> None:
    if text.strip():
        builder.add_turn("tool", "result", f"{title}\n\n{shortened(text.strip())}".strip(), _beside(at))


def _beside(at: Position) -> Position:
    """The place of something in a message that is not the message itself."""
    return Position(at.line, at.time, branch=at.branch)


CLAUDE_AI = Format(
    name="claude-ai",
    version=3,
    detect=confident(recognise, 90),
    read=read,
)
