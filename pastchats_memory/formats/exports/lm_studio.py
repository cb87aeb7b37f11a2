"""LM Studio conversations: each message has several versions, of which one is selected."""

import re
from collections.abc import Iterator

from pastchats_memory.formats.base.conversation_export import ConversationExport, Message, first_filled
from pastchats_memory.formats.base.locations import places
from pastchats_memory.formats.base.session import Position, SessionBuilder, SessionInfo
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.tags import without_thoughts
from pastchats_memory.formats.base.tools import parse_result
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, objects_of, text_of, value_of

SUFFIX = ".conversation"
SYSTEM_PROMPT = "llm.prediction.systemPrompt"

_STEP = re.compile(r"(\d{13})-0?\.\d+\Z")
"""A step's identifier: its start in milliseconds, and a random number."""


class _LmStudio(ConversationExport):
    """Conversations with `messages: [{versions, currentlySelected}]`."""

    def is_conversation(self, value: object) -> bool:
        messages = list_of(mapping_of(value).get("messages"))
        return any(isinstance(mapping_of(message).get("versions"), list) for message in messages)

    def messages(self, conversation: Json) -> list[Message]:
        """Return the system prompt and the versions: abandoned ones before the selected one."""
        fields = objects_of(mapping_of(conversation.get("perChatPredictionConfig")).get("fields"))
        setting = next((text_of(field.get("value")) for field in fields if field.get("key") == SYSTEM_PROMPT), "")
        system = text_of(conversation.get("systemPrompt")) or setting
        listed = objects_of(conversation.get("messages"))
        shown = [_message(version, branch) for message in listed for version, branch in _versions(message)]
        return [Message({}, "system", system, branch="main"), *shown] if system else shown

    def describe(self, conversation: Json, source: SourceFile) -> SessionInfo:
        named = text_of(conversation.get("id")) or source.path.stem.removesuffix(SUFFIX)
        title = text_of(conversation.get("name"))
        return SessionInfo(named, started=conversation.get("createdAt"), metadata={"title": title})

    def add_tools(self, builder: SessionBuilder, message: Message, at: Position) -> None:
        for part in _shown_parts(message.fields):
            if part.get("type") == "toolCallRequest":
                name = text_of(part.get("name")) or "tool"
                builder.add_call(text_of(part.get("callId")), name, part.get("parameters"))
            elif part.get("type") == "toolCallResult":
                content = part.get("content")
                is_json = isinstance(content, str) and content.startswith("[")  # the JSON text of its parts
                output = parse_result(value_of(content) if is_json else content)
                builder.add_result(text_of(part.get("toolCallId")), output, at)


def _versions(message: Json) -> Iterator[tuple[Json, str]]:
    """Yield the versions with their branches, the selected one last."""
    versions = objects_of(message.get("versions"))
    chosen = message.get("currentlySelected")
    selected = chosen if isinstance(chosen, int) and 0 <= chosen < len(versions) else len(versions) - 1
    yield from ((version, "abandoned") for place, version in enumerate(versions) if place != selected)
    yield from ((version, "main") for version in versions[selected : selected + 1])


def _message(version: Json, branch: str) -> Message:
    steps = _steps(version)
    texts = [text for step in _shown_steps(version) if (text := _text_of_step(step)).strip()]
    parts = _shown_parts(version)
    starts = (_STEP.match(text_of(step.get("stepIdentifier"))) for step in steps)
    models = (text_of(mapping_of(step.get("genInfo")).get("indexedModelIdentifier")) for step in steps)
    role, text = text_of(version.get("role")), "\n\n".join(texts)
    first, shown = first_filled([text_of(part.get("text")) for part in parts]), without_thoughts(text)
    time = next((int(found[1]) for found in starts if found), None)
    model = next(filter(None, models), "") or text_of(mapping_of(version.get("senderInfo")).get("senderName"))
    images = sum(part.get("type") == "file" and part.get("fileType") == "image" for part in parts)
    words = shown if role == "assistant" else text
    return Message(version, role, words, first, time=time, model=model, images=images, branch=branch)


def _steps(version: Json) -> list[Json]:
    """Return the steps of an answer; a prompt is its own only step."""
    return objects_of(version.get("steps")) or [version]


def _shown_steps(version: Json) -> list[Json]:
    return [step for step in _steps(version) if mapping_of(step.get("style")).get("type") != "thinking"]


def _shown_parts(version: Json) -> list[Json]:
    return [mapping_of(part) for step in _shown_steps(version) for part in list_of(step.get("content"))]


def _text_of_step(step: Json) -> str:
    """Return the text of a step; with speculative decoding it is in pieces."""
    parts = objects_of(step.get("content"))
    return "".join(text_of(part.get("text")) for part in parts if part.get("type") == "text")


LM_STUDIO = _LmStudio().as_format(
    "lm-studio",
    3,
    service="lm-studio",
    program="LM Studio",
    locations=places("{home}/.lmstudio/conversations", "{home}/.cache/lm-studio/conversations"),
)
