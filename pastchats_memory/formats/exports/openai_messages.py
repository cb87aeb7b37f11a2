"""OpenAI fine-tuning sets: a conversation a line as `messages`, or an input with a preferred and a rejected output.

Batches too: one file has a request a line, another has a result a line. Each line is a conversation of its own, since
results come in any order, and their name (`custom_id`) is unique within one batch only.
"""

from pastchats_memory.formats.base.conversation_export import ConversationExport, Message, id_or_hash
from pastchats_memory.formats.base.session import Position, SessionBuilder, SessionInfo
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.tags import without_thoughts
from pastchats_memory.formats.base.tools import ToolResult
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, objects_of, parse_json, text_of
from pastchats_memory.formats.registry import any_dialect

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
KEYS = frozenset({
    "messages", "tools", "functions", "function_call", "parallel_tool_calls", "tool_choice", "weight", "label", "images", "metadata",
    "id", "source", "input", "preferred_output", "non_preferred_output",
})  # fmt: skip
"""All keys that a line of a training set may have: a line with other keys is a record of some program."""
PROGRAM_KEYS = frozenset({"id", "uuid", "timestamp", "created_at", "createdAt", "time"})
"""Keys that messages of a training set never have."""
ANSWER_KEYS = ("role", "content", "tool_calls", "function_call")
"""Keys that are read of a message in a batch's result."""
IMAGE_TYPES = ("image_url", "image", "input_image")


class _OpenAiMessages(ConversationExport):
    """Lines with `messages`, with `input` and two outputs, or of a batch."""

    dialect = staticmethod(any_dialect)

    def detect(self, source: SourceFile) -> int:
        """Return 90 if a line, or an item of a list, is a conversation; a single object may be any program's."""
        is_object = source.shape == "json" and isinstance(source.outline, dict)
        return 0 if is_object else super().detect(source)

    def is_conversation(self, value: object) -> bool:
        """Return whether a value has messages, and no key that a training set never has."""
        conversation = _parse_batch_line(mapping_of(value)) or mapping_of(value)
        messages = [mapping_of(message) for message in _listed_messages(conversation)]
        return bool(messages) and conversation.keys() <= KEYS and all(map(_is_message, messages))

    def messages(self, conversation: Json) -> list[Message]:
        batch = _parse_batch_line(conversation)
        conversation, metadata = batch or conversation, mapping_of(batch.get("metadata"))
        model = text_of(metadata.get("model"))
        return [
            *(_message(item, "main", model, metadata.get("created")) for item in _listed_messages(conversation)),
            *(_message(item, "abandoned", model) for item in list_of(conversation.get("non_preferred_output"))),
            *(_message(item, "main", model) for item in list_of(conversation.get("preferred_output"))),
        ]

    def describe(self, conversation: Json, _source: SourceFile) -> SessionInfo:
        """Return the id of a line, else a hash of its words, with the `custom_id` of a line of a batch."""
        batch = _parse_batch_line(conversation)
        conversation = batch or conversation
        metadata: Json = {"custom_id": text_of(mapping_of(batch.get("metadata")).get("custom_id"))}
        messages = [mapping_of(message) for message in _listed_messages(conversation)]
        words = ((text_of(message.get("role")), "\n\n".join(_texts(message))) for message in messages)
        return SessionInfo(id_or_hash(conversation, words), metadata=metadata)

    def add_tools(self, builder: SessionBuilder, message: Message, _at: Position) -> None:
        """Add the calls of an answer: `tool_calls`, the earlier `function_call`, or a part of the content."""
        for call in objects_of(message.fields.get("tool_calls")):
            builder.add_openai_call(call)
        if earlier := mapping_of(message.fields.get("function_call")):
            builder.add_call("", text_of(earlier.get("name")) or "tool", earlier.get("arguments"))
        for part in objects_of(message.fields.get("content")):
            if part.get("type") == "tool_call":
                call = mapping_of(parse_json(text_of(part.get("value"))))
                builder.add_call("", text_of(call.get("name")) or "tool", call.get("arguments"))

    def add_other(self, builder: SessionBuilder, message: Message, at: Position) -> None:
        builder.add_result(text_of(message.fields.get("tool_call_id")), ToolResult(message.text), at)


def _parse_batch_line(line: Json) -> Json:
    """Return the request or the result on a line of a batch as a line of a set; nothing for any other line."""
    if not isinstance(line.get("custom_id"), str):
        return {}
    result = mapping_of(line.get("result"))
    request = mapping_of(line.get("body")) or mapping_of(line.get("params"))
    body = request or mapping_of(mapping_of(line.get("response")).get("body")) or mapping_of(result.get("message"))
    metadata = {"custom_id": line["custom_id"], "model": text_of(body.get("model")), "created": body.get("created")}
    if request:
        system = [{"role": "system", "content": body["system"]}] if body.get("system") else []
        return {"messages": [*system, *list_of(body.get("messages"))], "metadata": metadata}
    choices = [mapping_of(choice).get("message") for choice in list_of(body.get("choices"))] or [body]
    answers = [{key: message[key] for key in ANSWER_KEYS if key in message} for message in map(mapping_of, choices)]
    own_id = text_of(line.get("id")) or text_of(body.get("id"))
    return {"id": own_id, "messages": answers[:1], "non_preferred_output": answers[1:], "metadata": metadata}


def _is_message(message: Json) -> bool:
    has_content = "content" in message or "tool_calls" in message or "function_call" in message
    return text_of(message.get("role")) in ROLES and has_content and not message.keys() & PROGRAM_KEYS


def _listed_messages(conversation: Json) -> list[object]:
    preference = mapping_of(conversation.get("input")) if "preferred_output" in conversation else conversation
    return list_of(preference.get("messages"))


def _message(item: object, branch: str, model: str, time: object = None) -> Message:
    message = mapping_of(item)
    texts = _texts(message)
    text, role = "\n\n".join(texts), text_of(message.get("role"))
    parts = objects_of(message.get("content"))
    shown, first = without_thoughts(text) if role == "assistant" else text, next(iter(texts), "")
    images, role = sum(part.get("type") in IMAGE_TYPES for part in parts), "system" if role == "developer" else role
    return Message(message, role, shown, first, time=time, model=model, images=images, branch=branch)


def _texts(message: Json) -> list[str]:
    """Return the visible texts: the content itself, or its parts of text under either of two keys."""
    content = message.get("content")
    if isinstance(content, str):
        return [content]
    parts = objects_of(content)
    texts = (text_of(part.get("text")) or text_of(part.get("value")) for part in parts if part.get("type") == "text")
    return [text for text in texts if text]


OPENAI_MESSAGES = _OpenAiMessages().as_format("openai-messages", 4)
