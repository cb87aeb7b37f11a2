"""OpenAI fine-tuning sets: a conversation a line as `messages`, or an input with a preferred and a rejected output.

So are batches: a request a line, and in another file a result a line. Each is a conversation of its own, since results come in any
order and what names them (`custom_id`) is unique within a batch alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.jsonl_agent import conversations, holds
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo
from pastchats_memory.formats.base.source import Json, Places, SourceFile, list_of, mapping_of, parse_json, text_of
from pastchats_memory.formats.base.tools import ToolResult, without_thoughts
from pastchats_memory.model import Turn
from pastchats_memory.text.clean import conversation_hash

FORMAT = "openai-messages"
VERSION = 4

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
KEYS = frozenset({
    "messages", "tools", "functions", "function_call", "parallel_tool_calls", "tool_choice", "weight", "label", "images", "metadata",
    "id", "source", "input", "preferred_output", "non_preferred_output",
})  # fmt: skip
"""All that a line of a training set has: one with other keys is some program's record."""
OWN_KEYS = frozenset({"id", "uuid", "timestamp", "created_at", "createdAt", "time"})
"""What messages of a training set do not have."""
SAID = ("role", "content", "tool_calls", "function_call")
"""What of a message in an answer is read."""
PICTURES = ("image_url", "image", "input_image")


def recognise(source: SourceFile) -> bool:
    """Whether a line, or an item of a list, is a conversation of such a set; a single object may be any program's."""
    return not isinstance(source.outline if source.shape == "json" else None, dict) and holds(source, _is_conversation)


def _is_conversation(value: object) -> bool:
    conversation = _of_batch(mapping_of(value)) or mapping_of(value)
    messages = [mapping_of(message) for message in _messages(conversation)]
    return bool(messages) and conversation.keys() <= KEYS and all(map(_is_message, messages))


def _of_batch(line: Json) -> Json:
    """What a line of a batch asks or answers, as a line of a set has it; empty for any other line."""
    if not isinstance(line.get("custom_id"), str):
        return {}
    result = mapping_of(line.get("result"))
    asked = mapping_of(line.get("body")) or mapping_of(line.get("params"))
    body = asked or mapping_of(mapping_of(line.get("response")).get("body")) or mapping_of(result.get("message"))
    system = [{"role": "system", "content": body["system"]}] if asked and body.get("system") else []
    said = [mapping_of(choice).get("message") for choice in list_of(body.get("choices"))] or [body]
    answers = [{key: mapping_of(message).get(key) for key in SAID if key in mapping_of(message)} for message in said]
    about = {"custom_id": line["custom_id"], "model": text_of(body.get("model")), "created": body.get("created")}
    if asked:
        return {"messages": [*system, *list_of(body.get("messages"))], "metadata": about}
    own_id = text_of(line.get("id")) or text_of(body.get("id"))
    return {"id": own_id, "messages": answers[:1], "non_preferred_output": answers[1:], "metadata": about}


def _is_message(message: Json) -> bool:
    says = "content" in message or "tool_calls" in message or "function_call" in message
    return text_of(message.get("role")) in ROLES and says and not message.keys() & OWN_KEYS


def _messages(conversation: Json) -> list[object]:
    preference = mapping_of(conversation.get("input")) if "preferred_output" in conversation else conversation
    return list_of(preference.get("messages"))


def read(source: SourceFile) -> Iterator[Row]:
    """The turns of every conversation; an output that was not preferred is abandoned."""
    yield from conversations(source, _is_conversation, _turns)


def _turns(line: Json, places: Places) -> Iterator[Turn]:
    batched = _of_batch(line)
    conversation, about = batched or line, mapping_of(batched.get("metadata"))
    messages = [mapping_of(message) for message in _messages(conversation)]
    said = [(text_of(message.get("role")), "\n\n".join(_texts(message))) for message in messages]
    own_id = conversation.get("id")
    named = str(own_id) if isinstance(own_id, int | str) and own_id != "" else conversation_hash(said)
    builder = SessionBuilder(SessionInfo(named, metadata={"custom_id": text_of(about.get("custom_id"))}))
    builder.model = text_of(about.get("model"))
    for message in messages:
        _take(builder, message, places, "main", about.get("created"))
    for key, branch in (("non_preferred_output", "abandoned"), ("preferred_output", "main")):
        for message in map(mapping_of, list_of(conversation.get(key))):
            _take(builder, message, places, branch)
    yield from builder.queue.flush()


def _take(builder: SessionBuilder, message: Json, places: Places, branch: str, time: object = None) -> None:
    texts = _texts(message)
    text = "\n\n".join(texts)
    at = Position(places.line(next(iter(texts), "")), time, branch=branch)
    match message.get("role"):
        case "user":
            parts = [mapping_of(part) for part in list_of(message.get("content"))]
            builder.add_prompt(text, at, sum(part.get("type") in PICTURES for part in parts))
        case "assistant":
            _calls(builder, message)
            builder.add_answer(without_thoughts(text), at)
        case "system" | "developer":
            builder.add_turn("system", "prompt", text, at)
        case _:
            builder.add_result(text_of(message.get("tool_call_id")), ToolResult(text), at)


def _texts(message: Json) -> list[str]:
    """Visible text: the content itself, or its parts of text, under either of two keys."""
    content = message.get("content")
    if isinstance(content, str):
        return [content]
    parts = [mapping_of(part) for part in list_of(content)]
    texts = (text_of(part.get("text")) or text_of(part.get("value")) for part in parts if part.get("type") == "text")
    return [text for text in texts if text]


def _calls(builder: SessionBuilder, message: Json) -> None:
    for call in map(mapping_of, list_of(message.get("tool_calls"))):
        builder.add_openai_call(call)
    if earlier := mapping_of(message.get("function_call")):
        builder.add_call("", text_of(earlier.get("name")) or "tool", earlier.get("arguments"))
    for part in map(mapping_of, list_of(message.get("content"))):
        if part.get("type") == "tool_call":
            call = mapping_of(parse_json(text_of(part.get("value"))))
            builder.add_call("", text_of(call.get("name")) or "tool", call.get("arguments"))


OPENAI_MESSAGES = Format(
    name="openai-messages",
    version=4,
    detect=confident(recognise, 90),
    read=read,
)
