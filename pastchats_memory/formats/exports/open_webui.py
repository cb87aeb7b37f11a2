"""Open WebUI exports and its `webui.db` to turns: chats with a tree of messages; a current one, and answers that were asked for again."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from pastchats_memory.files.foreign_sqlite import Database
from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.jsonl_agent import conversations, holds
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo
from pastchats_memory.formats.base.source import (
    BadJson,
    Json,
    Places,
    SourceFile,
    list_of,
    mapping_of,
    parse_json,
    text_of,
    value_of,
)
from pastchats_memory.formats.base.tools import parse_result
from pastchats_memory.formats.base.tree import abandoned_places
from pastchats_memory.model import Turn, Unreadable
from pastchats_memory.text.clean import conversation_hash
from pastchats_memory.text.dates import iso_utc, to_the_minute

FORMAT = "open-webui"
VERSION = 4

COLUMNS = ("id", "title", "chat", "created_at", "user_id")
SHARED = "shared-"
"""How the owner of a copy that was made for others begins."""

_DETAILS = re.compile(
    r'<details type="(reasoning|tool_calls|code_interpreter)"([^<>]*)>.*?(?:</details>|\Z)\n?', re.DOTALL
)
_ATTRIBUTE = re.compile(r'\b(\w+)="([^"]*)"')


def recognise(source: SourceFile) -> bool:
    """Whether a chat with a history of messages by their ids is in it, or it is the program's database."""
    if source.shape == "sqlite":
        return source.tables.get("chat", frozenset()) >= set(COLUMNS)
    return holds(source, _is_chat)


def _is_chat(value: object) -> bool:
    messages = mapping_of(_history(mapping_of(value)).get("messages"))
    return any("role" in mapping_of(message) and _has_links(mapping_of(message)) for message in messages.values())


def _is_item(value: object) -> bool:
    """Whether it is a chat, if only an empty one."""
    return isinstance(_history(mapping_of(value)).get("messages"), dict)


def _has_links(message: Json) -> bool:
    return "parentId" in message or "childrenIds" in message


def _history(item: Json) -> Json:
    return mapping_of((mapping_of(item.get("chat")) or item).get("history"))


def read(source: SourceFile) -> Iterator[Row]:
    """The turns of every chat; those beside the path to the current message are abandoned."""
    if source.shape == "sqlite":
        yield from source.from_database(lambda database: _from_database(database, str(source.path)))
    else:
        yield from conversations(source, _is_item, _turns)


def _from_database(database: Database, path: str) -> Iterator[Row]:
    for row in database.rows("chat", COLUMNS, order=("created_at", "id")):
        item: Json = dict(zip(COLUMNS, row, strict=True))
        chat = parse_json(text_of(item["chat"]))
        if isinstance(chat, BadJson):
            yield Unreadable(path, 0, f"chat {text_of(item['id'])}: not JSON: {chat.reason}")
        elif not text_of(item["user_id"]).startswith(SHARED):
            yield from _turns(item | {"chat": chat}, Places(""))


def _turns(item: Json, places: Places) -> Iterator[Turn]:
    chat = mapping_of(item.get("chat")) or item
    history = _history(item)
    messages = [{"id": key, **mapping_of(message)} for key, message in mapping_of(history.get("messages")).items()]
    began = to_the_minute(iso_utc(item.get("created_at")) or iso_utc(chat.get("timestamp")))
    title = text_of(item.get("title")) or text_of(chat.get("title"))
    named = text_of(item.get("id")) or text_of(chat.get("id"))
    named = named or conversation_hash((text_of(each.get("role")), text_of(each.get("content"))) for each in messages)
    builder = SessionBuilder(SessionInfo(named, started=began, metadata={"title": title}))
    links = [(text_of(message.get("id")) or None, text_of(message.get("parentId")) or None) for message in messages]
    left = abandoned_places(links, text_of(history.get("currentId")) or None)
    for place, message in enumerate(messages):
        branch = "abandoned" if place in left else "main"
        at = Position(
            places.line(text_of(message.get("content"))), message.get("timestamp"), text_of(message.get("id")), branch
        )
        _take(builder, message, at)
    yield from builder.queue.flush()


def _take(builder: SessionBuilder, message: Json, at: Position) -> None:
    text = text_of(message.get("content"))
    match message.get("role"):
        case "user":
            files = [mapping_of(file) for file in list_of(message.get("files"))]
            builder.add_prompt(text, at, sum(text_of(file.get("type")).startswith("image") for file in files))
        case "assistant":
            for found in _DETAILS.finditer(text):
                if found[1] == "tool_calls":
                    _tool(builder, dict(_ATTRIBUTE.findall(found[2])), at)
            builder.add_answer(_DETAILS.sub("", text), at, text_of(message.get("model")))
            if message.get("error"):
                builder.queue.flag("api_error")
        case "system":
            builder.add_turn("system", "prompt", text, at)


def _tool(builder: SessionBuilder, attributes: dict[str, str], at: Position) -> None:
    """A call and its result, which the page keeps as attributes of what it folds away."""
    told = {key: html.unescape(value) for key, value in attributes.items()}
    builder.add_call(told.get("id", ""), told.get("name", "tool"), _unquoted(told.get("arguments", "")))
    beside = Position(at.line, at.time, branch=at.branch)
    builder.add_result(told.get("id", ""), parse_result(_unquoted(told.get("result", ""))), beside)


def _unquoted(text: str) -> object:
    """The value of JSON text, and of JSON text inside such text."""
    return value_of(value_of(text))


OPEN_WEBUI = Format(
    name="open-webui",
    version=4,
    detect=confident(recognise, 90),
    read=read,
)
