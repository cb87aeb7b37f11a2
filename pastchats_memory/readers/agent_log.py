"""Logs of agents that keep their messages as OpenAI's models are sent them, with the calls of tools and their answers: one a line, or a list.

Such are the sessions of Mistral's Vibe (`messages.jsonl`, with `meta.json` beside it) and the trajectories of mini-swe-agent.
Asked after every reader of a format with marks of its own; messages without calls are left to `messages`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from pastchats_memory.readers.beside import field_beside
from pastchats_memory.readers.fields import Json, list_of, mapping_of, text_of
from pastchats_memory.readers.source import Element, Record, Source, value_of
from pastchats_memory.readers.telling import About, At, Row, Telling, folder_of, pictures_in, taken, texts_of, told
from pastchats_memory.readers.thoughts import without_thoughts
from pastchats_memory.readers.traffic import Output, printed_in

FORMAT = "agent-log"
VERSION = 2

ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})
NAMELESS = frozenset({"messages", "history", "chat", "conversation", "session", "log"})
"""Names of files that lie in a folder named after the session, and keys of a document under which they stand in a list."""
IDS, TIMES = ("session_id", "sessionId", "conversation_id"), ("timestamp", "created_at", "time", "ts")

_EXIT = re.compile(r"^(?:returncode|exit[ _]code): (\d{1,9})$", re.MULTILINE | re.IGNORECASE)


def recognise(source: Source) -> bool:
    """Whether the first records are such messages, but for a line about the session, with a call among them that is answered."""
    if source.shape == "json":
        return _place(source) is not None
    return _is_log(source.sample)


def _is_log(records: Sequence[Json]) -> bool:
    messages = [record for record in records if text_of(record.get("role")) in ROLES]
    called = {call.get("id") for message in messages for call in _calls(message)}
    is_answered = any(
        message.get("role") == "tool" and text_of(message.get("tool_call_id")) in called for message in messages
    )
    return is_answered and len(messages) >= len(records) - 1


def _place(source: Source) -> tuple[str, ...] | None:
    """The keys down to the list of messages of a document; None where it has none."""
    document = source.outline
    lists = [((), document), *(((key,), value) for key, value in mapping_of(document).items() if key in NAMELESS)]
    return next((place for place, found in lists if _is_log([mapping_of(item) for item in list_of(found)])), None)


def _calls(message: Json) -> list[Json]:
    calls = map(mapping_of, list_of(message.get("tool_calls")))
    return [call for call in calls if isinstance(call.get("id"), str)]


def read(source: Source) -> Iterator[Row]:
    """The turns in file order; lines that are no messages."""
    path = source.path
    cwd = folder_of(field_beside(path.with_name("meta.json"), "working_directory", "cwd"))
    telling = Telling(About(_named(path), cwd))
    place = _place(source) if source.shape == "json" else None
    if place is None:
        yield from told(source, telling, lambda item: _take(telling, item))
    else:
        yield from taken(source, telling, source.elements(*place), lambda item: _take(telling, item))
        yield from telling.rest()


def _named(path: Path) -> str:
    return path.parent.name if path.stem in NAMELESS and path.parent.name else path.stem


def _take(telling: Telling, item: Record | Element) -> str | None:
    """Add what the message says; the reason why it says nothing that can be read, else None."""
    message = item.value
    if not isinstance(message, dict):
        return f"a {type(message).__name__} instead of a message"
    about = telling.about
    about.conversation_id = next(filter(None, (text_of(message.get(key)) for key in IDS)), about.conversation_id)
    telling.model = text_of(message.get("model")) or telling.model
    content, text = message.get("content"), texts_of(message.get("content"))
    own_id = text_of(message.get("message_id")) or text_of(message.get("id"))
    about_it = mapping_of(message.get("extra")) | message
    at = At(item.line, next((about_it[key] for key in TIMES if key in about_it), None), own_id)
    match message.get("role"):
        case "user":
            telling.prompt(text, at, pictures_in(content, ("image", "image_url")))
        case "assistant":
            telling.answer(without_thoughts(text), at)
        case "system" | "developer":
            telling.say("system", "prompt", text, at)
        case "tool":
            telling.result(text_of(message.get("tool_call_id")), _output(text, message), at)
    for call in _calls(message):
        telling.requested(call)
    return None


def _output(text: str, message: Json) -> Output:
    """What a tool answered: an object, or lines of which one may tell the exit code."""
    failed = message.get("is_error") is True
    if fields := mapping_of(value_of(text)):
        told_by = printed_in(fields, failed=failed)
        return told_by if told_by.text or told_by.exit_code is not None else Output(text, failed=failed)
    found = _EXIT.search(text)
    code = int(found[1]) if found else None
    return Output(text, code, failed=failed or bool(code))
