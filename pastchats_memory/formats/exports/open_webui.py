"""Open WebUI exports and its `webui.db`: chats with a tree of messages, a current message, and regenerated answers."""

import html
import re
from collections.abc import Iterator, Sequence

from pastchats_memory.files.foreign_sqlite import ForeignDatabase
from pastchats_memory.formats.base.conversation_export import ConversationExport, Message
from pastchats_memory.formats.base.format import CERTAIN
from pastchats_memory.formats.base.hashes import conversation_hash
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.tools import parse_result
from pastchats_memory.formats.base.values import BadJson, Json, mapping_of, objects_of, parse_json, text_of, value_of
from pastchats_memory.model import Unreadable
from pastchats_memory.text.timestamps import iso_utc

COLUMNS = ("id", "title", "chat", "created_at", "user_id")
SHARED = "shared-"
"""The beginning of the owner of a copy that was made for others."""

_DETAILS = re.compile(
    r'<details type="(reasoning|tool_calls|code_interpreter)"([^<>]*)>.*?(?:</details>|\Z)\n?', re.DOTALL
)
_ATTRIBUTE = re.compile(r'\b(\w+)="([^"]*)"')


class _OpenWebUi(ConversationExport):
    """Chats with `history: {messages, currentId}`, perhaps under `chat`."""

    def detect(self, source: SourceFile) -> int:
        if source.shape == "sqlite":
            return CERTAIN if source.tables.get("chat", frozenset()) >= set(COLUMNS) else 0
        return super().detect(source)

    def is_conversation(self, value: object) -> bool:
        """Return whether a value has a history with a message of a role and links."""
        messages = map(mapping_of, mapping_of(_history(mapping_of(value)).get("messages")).values())
        return any("role" in each and ("parentId" in each or "childrenIds" in each) for each in messages)

    def may_be_conversation(self, value: object) -> bool:
        return isinstance(_history(mapping_of(value)).get("messages"), dict)

    def read(self, source: SourceFile) -> Iterator[Row]:
        """Yield the turns of every chat; those beside the path to the current message are abandoned."""
        if source.shape == "sqlite":
            yield from source.from_database(lambda database: self._read_database(database, source))
        else:
            yield from super().read(source)

    def _read_database(self, database: ForeignDatabase, source: SourceFile) -> Iterator[Row]:
        for row in database.rows("chat", COLUMNS, order=("created_at", "id")):
            item: Json = dict(zip(COLUMNS, row, strict=True))
            chat = parse_json(text_of(item["chat"]))
            if isinstance(chat, BadJson):
                yield Unreadable(str(source.path), 0, f"chat {text_of(item['id'])}: not JSON: {chat.reason}")
            elif not text_of(item["user_id"]).startswith(SHARED):
                yield from self.read_conversation(item | {"chat": chat}, "", 1, source)

    def messages(self, conversation: Json) -> list[Message]:
        return [_message(message) for message in _listed_messages(conversation)]

    def describe(self, conversation: Json, _source: SourceFile) -> SessionInfo:
        chat = mapping_of(conversation.get("chat")) or conversation
        words = ((text_of(each.get("role")), text_of(each.get("content"))) for each in _listed_messages(conversation))
        named = text_of(conversation.get("id")) or text_of(chat.get("id")) or conversation_hash(words)
        started = iso_utc(conversation.get("created_at")) or chat.get("timestamp")
        title = text_of(conversation.get("title")) or text_of(chat.get("title"))
        return SessionInfo(named, started=started, metadata={"title": title})

    def current_message(self, conversation: Json, _messages: Sequence[Message]) -> str | None:
        return text_of(_history(conversation).get("currentId")) or None

    def add_tools(self, builder: SessionBuilder, message: Message, at: Position) -> None:
        """Add the calls and results that the page keeps as attributes of folded parts."""
        for found in _DETAILS.finditer(text_of(message.fields.get("content"))):
            if found[1] == "tool_calls":
                values = {key: html.unescape(value) for key, value in _ATTRIBUTE.findall(found[2])}
                call_id = values.get("id", "")
                builder.add_call(call_id, values.get("name", "tool"), _unquote(values.get("arguments", "")))
                builder.add_result(call_id, parse_result(_unquote(values.get("result", ""))), at)

    def add_answer(self, builder: SessionBuilder, message: Message, at: Position) -> None:
        super().add_answer(builder, message, at)
        if message.fields.get("error"):
            builder.queue.flag("api_error")


def _history(chat: Json) -> Json:
    return mapping_of((mapping_of(chat.get("chat")) or chat).get("history"))


def _listed_messages(chat: Json) -> list[Json]:
    messages = mapping_of(_history(chat).get("messages"))
    return [{"id": key, **mapping_of(message)} for key, message in messages.items()]


def _message(message: Json) -> Message:
    text, role = text_of(message.get("content")), text_of(message.get("role"))
    files = objects_of(message.get("files"))
    images = sum(text_of(file.get("type")).startswith("image") for file in files)
    own_id, parent = text_of(message.get("id")), text_of(message.get("parentId")) or None
    shown, model = _DETAILS.sub("", text) if role == "assistant" else text, text_of(message.get("model"))
    return Message(message, role, shown, text, own_id, parent, message.get("timestamp"), model, images)


def _unquote(text: str) -> object:
    """Return the value of JSON text, or of JSON text in a JSON string."""
    return value_of(value_of(text))


OPEN_WEBUI = _OpenWebUi().as_format("open-webui", 4, service="open-webui")
