"""Sessions of the pi agent and its forks to turns: a header, then entries that form a tree by `id` and `parentId`.

One of them is OpenClaw, which talks in messengers: what it tells the model of a message stands above the person's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from pastchats_memory.formats.base.checkpoint import CannotResume
from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.locations import Environment
from pastchats_memory.formats.base.session import (
    Position,
    Row,
    SessionBuilder,
    SessionInfo,
    count_images,
    folder_of,
    read_session,
    texts_of,
)
from pastchats_memory.formats.base.source import Json, Record, SourceFile, list_of, mapping_of, number_of, text_of
from pastchats_memory.formats.base.tools import ToolResult, text_of_result
from pastchats_memory.formats.base.tree import BranchTree
from pastchats_memory.text.timestamps import iso_utc, to_the_minute

FORMAT = "pi"
VERSION = 8

ROLES = ("user", "assistant", "toolResult", "bashExecution")
ANTHROPICS = ("tool_use", "tool_result")
SUMMARIES = ("compaction", "branch_summary")
FLAGS = {"aborted": "interrupted", "error": "api_error"}
OF_OPENCLAW = ("A new session was started via /new or /reset", "Read HEARTBEAT.md if it exists")
"""Beginnings of prompts that no person typed."""
LAST_LINE = 80
SILENT = frozenset({"NO_REPLY", "HEARTBEAT_OK"})
"""Answers that nobody is sent."""

_TOLD_OF_MESSAGE = re.compile(
    r"\A(?:[^\n]{1,60} \(untrusted[^\n)]{0,60}\):\n```json\n.{0,4000}?\n```\s*+){0,4}"
    r"(?:\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d{4}-\d\d-\d\d \d\d:\d\d [^\]\n]{1,12}\] )?",
    re.DOTALL,
)
_EXITED = re.compile(r"\n*Command exited with code (\d{1,9})\s*\Z")
_REPLIES_TO = re.compile(r"\A\[\[reply_to(?:_current|:[^\]\n]{1,80})\]\]\s*")


def recognise(source: SourceFile) -> bool:
    """Whether there is a session's header, or without one an entry that holds a message in a role of pi and none of Droid's."""
    if any(map(_is_header, source.sample)):
        return True
    return any(map(_is_message, source.sample)) and not any(map(_is_of_droid, source.sample))


def _is_header(record: Json) -> bool:
    told = isinstance(record.get("cwd"), str) or (
        isinstance(record.get("version"), int) and isinstance(record.get("id"), str)
    )
    return record.get("type") == "session" and "timestamp" in record and told


def _is_message(record: Json) -> bool:
    return record.get("type") == "message" and mapping_of(record.get("message")).get("role") in ROLES


def _is_of_droid(record: Json) -> bool:
    """Whether it is the header of Droid's sessions, or a message that calls or answers a tool as Anthropic's do."""
    blocks = map(mapping_of, list_of(mapping_of(record.get("message")).get("content")))
    return record.get("type") == "session_start" or any(block.get("type") in ANTHROPICS for block in blocks)


def read(source: SourceFile) -> Iterator[Row]:
    """The turns in file order. The file is read twice: which branch was left behind is known only at its end."""
    before = source.resumed.state if source.resumed else {}
    branches = BranchTree(before)
    about = SessionInfo(**mapping_of(before["about"])) if before else SessionInfo(source.path.stem)  # type: ignore[arg-type] # what this reader itself has stored
    named = asdict(about)
    for item in source.records():
        record = mapping_of(item.value) if isinstance(item, Record) else {}
        branches.add(text_of(record.get("id")), text_of(record.get("parentId")))
        _learn(about, record)
    if before and asdict(about) != named:
        raise CannotResume("the session has a new name")
    builder = SessionBuilder(about)
    yield from read_session(source, builder, lambda item: _take(builder, item, branches), branches.snapshot())


def _learn(about: SessionInfo, record: Json) -> None:
    """Add what a header or a later naming of the session says of all its turns."""
    if _is_header(record):
        about.conversation_id = text_of(record.get("id")) or about.conversation_id
        about.cwd = folder_of(record.get("cwd"))
        about.started = to_the_minute(iso_utc(record.get("timestamp")))
        parent = text_of(record.get("parentSession")) or text_of(record.get("branchedFrom"))
        about.metadata["parent_conversation_id"] = _session_in(parent)
    elif record.get("type") == "session_info":
        about.metadata["title"] = text_of(record.get("name"))


def _session_in(parent: str) -> str:
    """The session's id in the name of its file, `<time>_<id>.jsonl`; an id as it is."""
    return parent.replace("\\", "/").rpartition("/")[2].removesuffix(".jsonl").rpartition("_")[2]


def _take(builder: SessionBuilder, item: Record, branches: BranchTree) -> str | None:
    """Add what the entry says; the reason why it says nothing that can be read, else None."""
    entry = item.value
    if not isinstance(entry, dict):
        return f"a {type(entry).__name__} instead of an entry"
    own_id, message = text_of(entry.get("id")), mapping_of(entry.get("message"))
    time = iso_utc(entry.get("timestamp")) or message.get("timestamp")
    at = Position(item.line, time, own_id, branches.of(own_id))
    if entry.get("type") in SUMMARIES:
        builder.add_turn("system", "summary", text_of(entry.get("summary")), at)
    if entry.get("type") != "message":
        return None
    content = message.get("content")
    if not isinstance(content, str | list | None):
        return f"content of a message is a {type(content).__name__}"
    match message.get("role"):
        case "user":
            text = _TOLD_OF_MESSAGE.sub("", texts_of(content))
            if not text.startswith(OF_OPENCLAW):
                builder.add_prompt(text, at, count_images(content))
        case "assistant":
            _answer(builder, message, at)
        case "toolResult":
            builder.add_result(text_of(message.get("toolCallId")), _output(message), at)
        case "bashExecution":
            _typed_command(builder, message, at)
    return None


def _output(message: Json) -> ToolResult:
    """What a tool answered; of a command that failed the last line tells the exit code."""
    text, failed = text_of_result(message.get("content")), message.get("isError") is True
    found = _EXITED.search(text[-LAST_LINE:]) if failed else None
    return ToolResult(text[: -len(found[0])], int(found[1]), failed=True) if found else ToolResult(text, failed=failed)


def _answer(builder: SessionBuilder, message: Json, at: Position) -> None:
    text = _REPLIES_TO.sub("", texts_of(message.get("content")))
    builder.add_answer("" if text.strip() in SILENT else text, at, text_of(message.get("model")))
    for block in map(mapping_of, list_of(message.get("content"))):
        if block.get("type") == "toolCall":
            builder.add_call(text_of(block.get("id")), text_of(block.get("name")), block.get("arguments"))
    if flag := FLAGS.get(text_of(message.get("stopReason"))):
        builder.queue.flag(flag)


def _typed_command(builder: SessionBuilder, message: Json, at: Position) -> None:
    """A shell command of the person's own, with what it printed."""
    command, code = text_of(message.get("command")), number_of(message.get("exitCode"))
    if command:
        builder.add_prompt(f"! {command}", at, kind="command")
        builder.add_call(at.native_id, "bash", {"command": command})
        builder.add_result(at.native_id, ToolResult(text_of(message.get("output")), code, failed=bool(code)), at)


def locations(environment: Environment) -> Iterator[Path]:
    """Yield the folders of pi's sessions, then those of OpenClaw, which writes the same format."""
    yield environment.home / ".pi" / "agent" / "sessions"
    folder = environment.folder("OPENCLAW_STATE_DIR", environment.home / ".openclaw")
    yield from sorted(folder.glob("agents/*/sessions"))


PI = Format(
    name="pi",
    version=8,
    detect=confident(recognise, 90),
    read=read,
    program="pi, OpenClaw",
    locations=locations,
)
