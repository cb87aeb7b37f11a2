"""OpenAI fine-tuning sets: a conversation a line as `messages`, or an input with a preferred and a rejected output."""

from __future__ import annotations

from collections.abc import Iterator

from pastchats_memory.model import Turn
from pastchats_memory.readers.exports import conversations, holds
from pastchats_memory.readers.fields import Json, list_of, mapping_of, text_of
from pastchats_memory.readers.places import Places
from pastchats_memory.readers.source import BadJson, Source, parse_json
from pastchats_memory.readers.telling import About, At, Row, Telling
from pastchats_memory.readers.text import conversation_hash
from pastchats_memory.readers.thoughts import without_thoughts
from pastchats_memory.readers.traffic import Output

FORMAT = "openai-messages"
VERSION = 2

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
KEYS = frozenset({
    "messages", "tools", "functions", "function_call", "parallel_tool_calls", "tool_choice", "weight", "label", "images", "metadata",
    "id", "source", "input", "preferred_output", "non_preferred_output",
})  # fmt: skip
"""All that a line of a training set has: one with other keys is some program's record."""
OWN_KEYS = frozenset({"id", "uuid", "timestamp", "created_at", "createdAt", "time"})
"""What messages of a training set do not have."""
PICTURES = ("image_url", "image", "input_image")


def recognise(source: Source) -> bool:
    """Whether a line, or an item of a list, is a conversation of such a set; a single object may be any program's."""
    return not isinstance(source.outline if source.shape == "json" else None, dict) and holds(source, _is_conversation)


def _is_conversation(value: object) -> bool:
    messages = [mapping_of(message) for message in _messages(mapping_of(value))]
    return bool(messages) and mapping_of(value).keys() <= KEYS and all(map(_is_message, messages))


def _is_message(message: Json) -> bool:
    says = "content" in message or "tool_calls" in message or "function_call" in message
    return text_of(message.get("role")) in ROLES and says and not message.keys() & OWN_KEYS


def _messages(conversation: Json) -> list[object]:
    preference = mapping_of(conversation.get("input")) if "preferred_output" in conversation else conversation
    return list_of(preference.get("messages"))


def read(source: Source) -> Iterator[Row]:
    """The turns of every conversation; an output that was not preferred is abandoned."""
    yield from conversations(source, _is_conversation, _turns)


def _turns(conversation: Json, places: Places) -> Iterator[Turn]:
    messages = [mapping_of(message) for message in _messages(conversation)]
    said = [(text_of(message.get("role")), "\n\n".join(_texts(message))) for message in messages]
    own_id = conversation.get("id")
    named = str(own_id) if isinstance(own_id, int | str) and own_id != "" else conversation_hash(said)
    telling = Telling(About(named))
    for message in messages:
        _take(telling, message, places, "main")
    for key, branch in (("non_preferred_output", "abandoned"), ("preferred_output", "main")):
        for message in map(mapping_of, list_of(conversation.get(key))):
            _take(telling, message, places, branch)
    yield from telling.drafts.rest()


def _take(telling: Telling, message: Json, places: Places, branch: str) -> None:
    texts = _texts(message)
    text = "\n\n".join(texts)
    at = At(places.line(next(iter(texts), "")), branch=branch)
    match message.get("role"):
        case "user":
            parts = [mapping_of(part) for part in list_of(message.get("content"))]
            telling.prompt(text, at, sum(part.get("type") in PICTURES for part in parts))
        case "assistant":
            _calls(telling, message)
            telling.answer(without_thoughts(text), at)
        case "system" | "developer":
            telling.say("system", "prompt", text, at)
        case _:
            telling.result(text_of(message.get("tool_call_id")), Output(text), at)


def _texts(message: Json) -> list[str]:
    """Visible text: the content itself, or its parts of text, under either of two keys."""
    content = message.get("content")
    if isinstance(content, str):
        return [content]
    parts = [mapping_of(part) for part in list_of(content)]
    texts = (text_of(part.get("text")) or text_of(part.get("value")) for part in parts if part.get("type") == "text")
    return [text for text in texts if text]


def _calls(telling: Telling, message: Json) -> None:
    for call in map(mapping_of, list_of(message.get("tool_calls"))):
        function = mapping_of(call.get("function"))
        telling.call(text_of(call.get("id")), text_of(function.get("name")) or "tool", function.get("arguments"))
    if earlier := mapping_of(message.get("function_call")):
        telling.call("", text_of(earlier.get("name")) or "tool", earlier.get("arguments"))
    for part in map(mapping_of, list_of(message.get("content"))):
        if part.get("type") == "tool_call":
            value = parse_json(text_of(part.get("value")))
            call = {} if isinstance(value, BadJson) else mapping_of(value)
            telling.call("", text_of(call.get("name")) or "tool", call.get("arguments"))
