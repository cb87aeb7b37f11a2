"""LibreChat exports to turns: a conversation's messages as a list with parents, or nested as replies."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.jsonl_agent import conversations, holds
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo
from pastchats_memory.formats.base.source import Json, Places, SourceFile, list_of, mapping_of, text_of
from pastchats_memory.formats.base.tools import parse_result
from pastchats_memory.formats.base.tree import abandoned_places
from pastchats_memory.model import Turn
from pastchats_memory.text.clean import conversation_hash
from pastchats_memory.text.dates import iso_utc, to_the_minute

FORMAT = "librechat"
VERSION = 4

THOUGHT, SHOWN = ":::thinking", "\n:::"
"""Around what a model thought, before the text of its answer."""
JUST_SAID = "~"
"""In the place of the time of a message that the page had not read back from the database yet: later than all that it had."""

_CITATION = re.compile(r" ?(?:\ue202|\\ue202)turn\d{1,9}[a-z]{1,20}\d{1,9}|[\ue200-\ue206]|\\ue20[0-6]")
"""Marks of the sources of a search, as private-use characters or spelled as their escapes."""


def recognise(source: SourceFile) -> bool:
    """Whether a conversation of LibreChat's messages is in it."""
    return holds(source, _is_conversation)


def _is_conversation(value: object) -> bool:
    fields = mapping_of(value)
    messages = [mapping_of(message) for message in _roots(fields)]
    return "conversationId" in fields and any(
        "messageId" in message and ("isCreatedByUser" in message or "sender" in message) for message in messages
    )


def _is_item(value: object) -> bool:
    """Whether it is a conversation, if only an empty one."""
    fields = mapping_of(value)
    return "conversationId" in fields and any(isinstance(fields.get(key), list) for key in ("messages", "messagesTree"))


def _roots(conversation: Json) -> list[object]:
    return list_of(conversation.get("messages")) or list_of(conversation.get("messagesTree"))


def read(source: SourceFile) -> Iterator[Row]:
    """The turns of every conversation; the newest message says which branch is the main one."""
    yield from conversations(source, _is_item, _turns)


def _turns(conversation: Json, places: Places) -> Iterator[Turn]:
    options = mapping_of(conversation.get("options"))
    messages = list(_flattened(_roots(conversation)))
    said = ((text_of(message.get("sender")), text_of(message.get("text"))) for message in messages)
    about = SessionInfo(
        text_of(conversation.get("conversationId")) or conversation_hash(said),
        started=to_the_minute(iso_utc(conversation.get("createdAt")) or iso_utc(conversation.get("exportAt"))),
        metadata={"title": text_of(conversation.get("title"))},
    )
    builder = SessionBuilder(about)
    builder.model = text_of(conversation.get("model")) or text_of(options.get("model"))
    times = {text_of(message.get("messageId")): iso_utc(message.get("createdAt")) or JUST_SAID for message in messages}
    newest = max(reversed(times), key=times.__getitem__, default="")
    links = [
        (text_of(message.get("messageId")) or None, text_of(message.get("parentMessageId")) or None)
        for message in messages
    ]
    left = abandoned_places(links, newest)
    for place, message in enumerate(messages):
        _take(builder, message, places, "abandoned" if place in left else "main")
    yield from builder.queue.flush()


def _flattened(roots: list[object]) -> Iterator[Json]:
    """Messages with their replies behind them, each with its parent."""
    waiting = [(mapping_of(root), "") for root in reversed(roots)]
    while waiting:
        message, parent = waiting.pop()
        yield {"parentMessageId": parent, **message}
        own_id = text_of(message.get("messageId"))
        waiting.extend((mapping_of(reply), own_id) for reply in reversed(list_of(message.get("children"))))


def _take(builder: SessionBuilder, message: Json, places: Places, branch: str) -> None:
    parts = [mapping_of(part) for part in list_of(message.get("content"))]
    texts = [text for part in parts if part.get("type") == "text" and (text := _words(part.get("text"))).strip()]
    text = "\n\n".join(texts) or text_of(message.get("text"))
    at = Position(
        places.line(next(iter(texts), text)), message.get("createdAt"), text_of(message.get("messageId")), branch
    )
    if message.get("isCreatedByUser") is True or text_of(message.get("sender")).lower() == "user":
        files = [mapping_of(file) for file in list_of(message.get("files"))]
        builder.add_prompt(text, at, sum(text_of(file.get("type")).startswith("image") for file in files))
        return
    for part in parts:
        if part.get("type") == "tool_call":
            _tool(builder, mapping_of(part.get("tool_call")), Position(at.line, at.time, branch=branch))
    if message.get("error") is True:
        builder.queue.flag("api_error")
    else:
        builder.add_answer(_CITATION.sub("", _shown(text)), at, text_of(message.get("model")))


def _shown(text: str) -> str:
    return text.partition(SHOWN)[2] if text.startswith(THOUGHT) else text


def _words(value: object) -> str:
    return text_of(value) or text_of(mapping_of(value).get("value"))


def _tool(builder: SessionBuilder, call: Json, at: Position) -> None:
    call_id = text_of(call.get("id"))
    builder.add_call(call_id, text_of(call.get("name")) or "tool", call.get("args"))
    builder.add_result(call_id, parse_result(call.get("output")), at)


LIBRECHAT = Format(
    name="librechat",
    version=4,
    detect=confident(recognise, 90),
    read=read,
)
