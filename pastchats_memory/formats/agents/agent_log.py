"""Logs of agents that keep what their model is sent, with the calls of tools and their answers: a message a line, or a list of them.

In the spellings of OpenAI's and Anthropic's messages, of the AI SDK, and of Open Interpreter. Such are the sessions of Mistral's
Vibe (`messages.jsonl`, with `meta.json` beside it) and the trajectories of mini-swe-agent. Asked after every reader of a format
with marks of its own; messages without calls are left to `messages`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.session import (
    Position,
    Row,
    SessionBuilder,
    SessionInfo,
    count_images,
    folder_of,
    read_items,
    read_session,
    texts_of,
)
from pastchats_memory.formats.base.sibling_files import read_sibling_field
from pastchats_memory.formats.base.source import (
    Element,
    Json,
    Record,
    SourceFile,
    list_of,
    mapping_of,
    text_of,
    value_of,
)
from pastchats_memory.formats.base.thoughts import without_thoughts
from pastchats_memory.formats.base.tools import ToolResult, parse_printed, text_of_result
from pastchats_memory.formats.registry import any_dialect

FORMAT = "agent-log"
VERSION = 3

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "computer"})
NAMELESS = frozenset({"messages", "history", "chat", "conversation", "session", "log"})
"""Names of files that lie in a folder named after the session, and keys of a document under which they stand in a list."""
IDS, TIMES = ("session_id", "sessionId", "conversation_id"), ("timestamp", "created_at", "time", "ts")
CALLS = {"tool_use": ("id", "name", ("input",)), "tool-call": ("toolCallId", "toolName", ("input", "args"))}
"""By the type of a block of content the keys of a call's id, name and input: Anthropic's, and the AI SDK's."""
RESULTS = {"tool_result": ("tool_use_id", ("content",)), "tool-result": ("toolCallId", ("output", "result"))}
"""By the type of a block of content the keys of the call's id and of what it gave."""
CODE, CONSOLE = "code", "console"
"""Types of Open Interpreter's messages, which have no ids: what was printed belongs to the code before it."""
SHELLS = frozenset({"shell", "bash", "sh", "zsh", "powershell", "cmd"})

_EXIT = re.compile(r"^(?:returncode|exit[ _]code): (\d{1,9})$", re.MULTILINE | re.IGNORECASE)


def recognise(source: SourceFile) -> bool:
    """Whether the first records are such messages, but for a line about the session, with a call among them that is answered."""
    if source.shape == "json":
        return _place(source) is not None
    return _is_log(source.sample)


def _is_log(records: Sequence[Json]) -> bool:
    messages = [record for record in records if text_of(record.get("role")) in ROLES]
    called = {call_id for message in messages for call_id, _, _ in _calls(message)}
    is_answered = any(call_id in called for message in messages for call_id, _ in _results(message))
    return is_answered and len(messages) >= len(records) - 1


def _place(source: SourceFile) -> tuple[str, ...] | None:
    """The keys down to the list of messages of a document; None where it has none."""
    document = source.outline
    lists = [((), document), *(((key,), value) for key, value in mapping_of(document).items() if key in NAMELESS)]
    return next((place for place, found in lists if _is_log([mapping_of(item) for item in list_of(found)])), None)


def read(source: SourceFile) -> Iterator[Row]:
    """The turns in file order; lines that are no messages."""
    path = source.path
    cwd = folder_of(read_sibling_field(path.with_name("meta.json"), "working_directory", "cwd"))
    builder = SessionBuilder(SessionInfo(_named(path), cwd), any_dialect())
    place = _place(source) if source.shape == "json" else None
    if place is None:
        yield from read_session(source, builder, lambda item: _take(builder, item))
    else:
        yield from read_items(source, builder, source.elements(*place), lambda item: _take(builder, item))
        yield from builder.flush()


def _named(path: Path) -> str:
    """The name of the session: a document's may be that of many in other folders."""
    if path.stem in NAMELESS and path.parent.name:
        return path.parent.name
    return path.stem if path.suffix == ".jsonl" else f"{path.parent.name}/{path.stem}"


def _take(builder: SessionBuilder, item: Record | Element) -> str | None:
    """Add what the message says; the reason why it says nothing that can be read, else None."""
    message = item.value
    if not isinstance(message, dict):
        return f"a {type(message).__name__} instead of a message"
    about = builder.info
    about.conversation_id = next(filter(None, (text_of(message.get(key)) for key in IDS)), about.conversation_id)
    builder.model = text_of(message.get("model")) or builder.model
    content, text = message.get("content"), texts_of(message.get("content"))
    own_id = text_of(message.get("message_id")) or text_of(message.get("id"))
    about_it = mapping_of(message.get("extra")) | message
    at = Position(item.line, next((about_it[key] for key in TIMES if key in about_it), None), own_id)
    for call_id, output in _results(message):
        builder.add_result(call_id, output, at)
    match message.get("role"):
        case "user":
            builder.add_prompt(text, at, count_images(content, ("image", "image_url")))
        case "assistant" if message.get("type") != CODE:
            builder.add_answer(without_thoughts(text), at)
        case "system" | "developer":
            builder.add_turn("system", "prompt", text, at)
    for call_id, name, given in _calls(message):
        builder.add_call(call_id, name, given)
    return None


def _calls(message: Json) -> Iterator[tuple[str, str, object]]:
    """Id, name and input of each call that the message makes."""
    for call in map(mapping_of, list_of(message.get("tool_calls"))):
        function = mapping_of(call.get("function")) or call
        yield text_of(call.get("id")), text_of(function.get("name")) or "tool", function.get("arguments")
    for block in map(mapping_of, list_of(message.get("content"))):
        if keys := CALLS.get(text_of(block.get("type"))):
            yield text_of(block.get(keys[0])), text_of(block.get(keys[1])) or "tool", _first(block, keys[2])
    if message.get("role") == "assistant" and message.get("type") == CODE:
        language, code = text_of(message.get("format")), text_of(message.get("content"))
        yield CODE, language or CODE, {"command" if language.lower() in SHELLS else "description": code}


def _results(message: Json) -> Iterator[tuple[str, ToolResult]]:
    """Id of the call and what it gave, of each answer that the message brings."""
    if message.get("role") == "tool" and (call_id := text_of(message.get("tool_call_id"))):
        yield call_id, _output(message.get("content"), failed=message.get("is_error") is True)
    for block in map(mapping_of, list_of(message.get("content"))):
        if keys := RESULTS.get(text_of(block.get("type"))):
            given = _first(block, keys[1])
            told_by = mapping_of(given)
            failed = block.get("is_error") is True or text_of(told_by.get("type")).startswith("error")
            yield text_of(block.get(keys[0])), _output(told_by.get("value", given), failed=failed)
    if message.get("role") == "computer" and message.get("type") == CONSOLE:
        yield CODE, _output(message.get("content"), failed=False)


def _first(block: Json, keys: Sequence[str]) -> object:
    return next((block[key] for key in keys if key in block), None)


def _output(given: object, *, failed: bool) -> ToolResult:
    """What a tool gave: an object, as such or as text, or lines of which one may tell the exit code."""
    text = text_of_result(given)
    if fields := mapping_of(given) or mapping_of(value_of(text)):
        told_by = parse_printed(fields, failed=failed)
        return told_by if told_by.text or told_by.exit_code is not None else ToolResult(text, failed=failed)
    found = _EXIT.search(text)
    code = int(found[1]) if found else None
    return ToolResult(text, code, failed=failed or bool(code))


AGENT_LOG = Format(
    name="agent-log",
    version=3,
    detect=confident(recognise, 55),
    read=read,
    is_specific=False,
)
