"""LM Studio conversations to turns: every message in several versions, of which one is selected."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.jsonl_agent import conversations, holds
from pastchats_memory.formats.base.locations import below_home
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo
from pastchats_memory.formats.base.source import Json, Places, SourceFile, list_of, mapping_of, text_of, value_of
from pastchats_memory.formats.base.tools import parse_result, without_thoughts
from pastchats_memory.model import Turn
from pastchats_memory.text.dates import iso_utc, to_the_minute

FORMAT = "lm-studio"
VERSION = 3

ENDING = ".conversation"
SYSTEM_PROMPT = "llm.prediction.systemPrompt"

_STEP = re.compile(r"(\d{13})-0?\.\d+\Z")
"""A step's name: when it began, in milliseconds, and a random number."""


def recognise(source: SourceFile) -> bool:
    """Whether it is a conversation whose messages have versions."""
    return holds(source, _is_conversation)


def _is_conversation(value: object) -> bool:
    return any(
        isinstance(mapping_of(message).get("versions"), list) for message in list_of(mapping_of(value).get("messages"))
    )


def read(source: SourceFile) -> Iterator[Row]:
    """The turns of the conversation; versions that are not selected are abandoned, and come before the one that is."""
    name = source.path.stem.removesuffix(ENDING)
    yield from conversations(source, _is_conversation, lambda found, places: _turns(found, places, name))


def _turns(conversation: Json, places: Places, name: str) -> Iterator[Turn]:
    began = to_the_minute(iso_utc(conversation.get("createdAt")))
    builder = SessionBuilder(SessionInfo(text_of(conversation.get("id")) or name, started=began))
    builder.info.metadata["title"] = text_of(conversation.get("name"))
    fields = map(mapping_of, list_of(mapping_of(conversation.get("perChatPredictionConfig")).get("fields")))
    own = next((text_of(field.get("value")) for field in fields if field.get("key") == SYSTEM_PROMPT), "")
    if system := text_of(conversation.get("systemPrompt")) or own:
        builder.add_turn("system", "prompt", system, Position(places.line(system)))
    for message in map(mapping_of, list_of(conversation.get("messages"))):
        versions = [mapping_of(version) for version in list_of(message.get("versions"))]
        chosen = message.get("currentlySelected")
        selected = chosen if isinstance(chosen, int) and 0 <= chosen < len(versions) else len(versions) - 1
        for place, version in enumerate(versions):
            if place != selected:
                _take(builder, version, places, "abandoned")
        for version in versions[selected : selected + 1]:
            _take(builder, version, places, "main")
    yield from builder.queue.flush()


def _take(builder: SessionBuilder, version: Json, places: Places, branch: str) -> None:
    steps = [mapping_of(step) for step in list_of(version.get("steps"))] or [version]
    shown = [step for step in steps if mapping_of(step.get("style")).get("type") != "thinking"]
    parts = [mapping_of(part) for step in shown for part in list_of(step.get("content"))]
    texts = [text for step in shown if (text := _text(step)).strip()]
    begun = (_STEP.match(text_of(step.get("stepIdentifier"))) for step in steps)
    time = next((int(found[1]) for found in begun if found), None)
    first = (text for part in parts if (text := text_of(part.get("text"))).strip())
    at = Position(places.line(next(first, "")), time, branch=branch)
    if version.get("role") == "user":
        files = [part for part in parts if part.get("type") == "file"]
        pictures = sum(part.get("fileType") == "image" for part in files)
        builder.add_prompt("\n\n".join(texts), at, pictures)
    elif version.get("role") == "assistant":
        for part in parts:
            _tool(builder, part, at)
        models = [text_of(mapping_of(step.get("genInfo")).get("indexedModelIdentifier")) for step in steps]
        model = next(filter(None, models), "") or text_of(mapping_of(version.get("senderInfo")).get("senderName"))
        builder.add_answer(without_thoughts("\n\n".join(texts)), at, model)
    elif version.get("role") == "system":
        builder.add_turn("system", "prompt", "\n\n".join(texts), at)


def _text(step: Json) -> str:
    """The text of a step; a second model that guesses ahead leaves it in pieces."""
    parts = map(mapping_of, list_of(step.get("content")))
    return "".join(text_of(part.get("text")) for part in parts if part.get("type") == "text")


def _tool(builder: SessionBuilder, part: Json, at: Position) -> None:
    if part.get("type") == "toolCallRequest":
        builder.add_call(text_of(part.get("callId")), text_of(part.get("name")) or "tool", part.get("parameters"))
    elif part.get("type") == "toolCallResult":
        builder.add_result(text_of(part.get("toolCallId")), parse_result(_answered(part.get("content"))), at)


def _answered(content: object) -> object:
    """What a tool answered, which is kept as JSON text of its parts."""
    return value_of(content) if isinstance(content, str) and content.startswith("[") else content


LM_STUDIO = Format(
    name="lm-studio",
    version=3,
    detect=confident(recognise, 90),
    read=read,
    program="LM Studio",
    locations=below_home(".lmstudio/conversations", ".cache/lm-studio/conversations"),
)
