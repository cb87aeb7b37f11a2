"""LibreChat exports: a conversation's messages as a list with parents, or nested as replies."""

import re
from collections.abc import Iterator, Sequence

from pastchats_memory.formats.base.conversation_export import ConversationExport, Message
from pastchats_memory.formats.base.hashes import conversation_hash
from pastchats_memory.formats.base.session import Position, SessionBuilder, SessionInfo
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.tools import parse_result
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, objects_of, text_of
from pastchats_memory.text.timestamps import iso_utc

THOUGHTS, ANSWER = ":::thinking", "\n:::"
"""The beginning of a model's thoughts, and the line before the text of its answer."""
NOT_STORED_YET = "~"
"""Stands for the time of a message that the page had not read back from the database: later than all stored ones."""

_CITATION = re.compile(r" ?(?:\ue202|\\ue202)turn\d{1,9}[a-z]{1,20}\d{1,9}|[\ue200-\ue206]|\\ue20[0-6]")
"""Marks of the sources of a search, as private-use characters or spelled as their escapes."""


class _LibreChat(ConversationExport):
    """Conversations with `conversationId` and `messages` or `messagesTree`."""

    def is_conversation(self, value: object) -> bool:
        """Return whether a value has a conversation's id and a message of LibreChat."""
        fields = mapping_of(value)
        messages = [mapping_of(message) for message in _listed_messages(fields)]
        own = (message for message in messages if "messageId" in message)
        return "conversationId" in fields and any("isCreatedByUser" in one or "sender" in one for one in own)

    def may_be_conversation(self, value: object) -> bool:
        """Return whether a value has a conversation's id and a list of messages."""
        fields = mapping_of(value)
        has_messages = any(isinstance(fields.get(key), list) for key in ("messages", "messagesTree"))
        return "conversationId" in fields and has_messages

    def messages(self, conversation: Json) -> list[Message]:
        """Return the messages, replies after the message that they answer."""
        options = mapping_of(conversation.get("options"))
        model = text_of(conversation.get("model")) or text_of(options.get("model"))
        return [_message(message, model) for message in _flatten(_listed_messages(conversation))]

    def describe(self, conversation: Json, _source: SourceFile) -> SessionInfo:
        messages = _flatten(_listed_messages(conversation))
        words = ((text_of(message.get("sender")), text_of(message.get("text"))) for message in messages)
        named, time = text_of(conversation.get("conversationId")), conversation.get("createdAt")
        started = iso_utc(time) or conversation.get("exportAt")
        title = text_of(conversation.get("title"))
        return SessionInfo(named or conversation_hash(words), started=started, metadata={"title": title})

    def current_message(self, _conversation: Json, messages: Sequence[Message]) -> str | None:
        times = {message.id: iso_utc(message.time) or NOT_STORED_YET for message in messages}
        return max(reversed(times), key=times.__getitem__, default="")

    def add_tools(self, builder: SessionBuilder, message: Message, at: Position) -> None:
        for part in objects_of(message.fields.get("content")):
            if part.get("type") == "tool_call":
                call = mapping_of(part.get("tool_call"))
                call_id = text_of(call.get("id"))
                builder.add_call(call_id, text_of(call.get("name")) or "tool", call.get("args"))
                builder.add_result(call_id, parse_result(call.get("output")), at)

    def add_answer(self, builder: SessionBuilder, message: Message, at: Position) -> None:
        """Add the words of an answer; an error in its place is a flag of the prompt."""
        if message.fields.get("error") is True:
            builder.queue.flag("api_error")
        else:
            super().add_answer(builder, message, at)


def _listed_messages(conversation: Json) -> list[object]:
    return list_of(conversation.get("messages")) or list_of(conversation.get("messagesTree"))


def _flatten(roots: list[object]) -> Iterator[Json]:
    """Yield each message with its parent, and its replies after it."""
    waiting = [(mapping_of(root), "") for root in reversed(roots)]
    while waiting:
        message, parent = waiting.pop()
        yield {"parentMessageId": parent, **message}
        own_id = text_of(message.get("messageId"))
        waiting.extend((mapping_of(reply), own_id) for reply in reversed(list_of(message.get("children"))))


def _message(message: Json, model: str) -> Message:
    parts = objects_of(message.get("content"))
    texts = [text for part in parts if part.get("type") == "text" and (text := _text_of_part(part)).strip()]
    text = "\n\n".join(texts) or text_of(message.get("text"))
    is_users = message.get("isCreatedByUser") is True or text_of(message.get("sender")).lower() == "user"
    files = objects_of(message.get("files"))
    images = sum(text_of(file.get("type")).startswith("image") for file in files)
    role, first, time = "user" if is_users else "assistant", next(iter(texts), text), message.get("createdAt")
    own_id, parent = text_of(message.get("messageId")), text_of(message.get("parentMessageId")) or None
    shown = text if is_users else _CITATION.sub("", text.partition(ANSWER)[2] if text.startswith(THOUGHTS) else text)
    return Message(message, role, shown, first, own_id, parent, time, text_of(message.get("model")) or model, images)


def _text_of_part(part: Json) -> str:
    return text_of(part.get("text")) or text_of(mapping_of(part.get("text")).get("value"))


LIBRECHAT = _LibreChat().as_format("librechat", 4, service="librechat")
