"""Read conversations of OpenHands: an event a file, or an event a line.

A conversation's folder holds a file for each event. Servers print an event a line.

Source: `openhands-sdk/openhands/sdk/event` of github.com/OpenHands/software-agent-sdk. A folder holds `base_state.json` and
`events/event-<number>-<id>.json`. The first event file stands for the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from pastchats_memory.formats.base.dialect import COMMON, Dialect
from pastchats_memory.formats.base.format import CERTAIN, Companions, Format, resume_with
from pastchats_memory.formats.base.locations import below_home
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
from pastchats_memory.formats.base.sibling_files import is_sibling, read_sibling_field
from pastchats_memory.formats.base.source import (
    BadJson,
    Json,
    Record,
    SourceFile,
    list_of,
    mapping_of,
    text_of,
    value_of,
)
from pastchats_memory.formats.base.tools import ToolResult, parse_printed
from pastchats_memory.model import Unreadable
from pastchats_memory.text.timestamps import LOCAL, iso_utc

EVENT, FOLDER, STATE = "event-", "events", "base_state.json"
KINDS = ("MessageEvent", "ActionEvent", "ObservationEvent", "SystemPromptEvent")
SOURCES = ("user", "agent", "environment")
PLANNER, FINISH = "task_tracker", "finish"
DIALECT = COMMON | Dialect(editors=("file_editor",))
FLAGS = {"PauseEvent": "interrupted", "InterruptEvent": "interrupted", "ConversationErrorEvent": "api_error"}

_NAME = re.compile(r"event-\d{5,9}-[\w-]{1,64}\.json")


def event_files(path: Path) -> list[Path]:
    """Return the event files of a conversation by one of them, in order.

    Return an empty list for any other file. Raises OSError.
    """
    if path.parent.name != FOLDER or not _NAME.fullmatch(path.name):
        return []
    return [file for file in sorted(path.parent.iterdir()) if _NAME.fullmatch(file.name) and is_sibling(file)]


def read_with(path: Path) -> Iterator[Path]:
    """Yield the other event files of the same conversation. Raises OSError."""
    return (file for file in event_files(path) if file != path)


def hidden_in(folder: str, names: Collection[str]) -> Collection[str]:
    """Return the names of a conversation's state and of its later event files."""
    if FOLDER in names:
        return [name for name in names if name.startswith(STATE) and name.endswith((".json", ".jsonl"))]
    if Path(folder).name != FOLDER:
        return ()
    return sorted(name for name in names if _NAME.fullmatch(name))[1:]


def detect(source: SourceFile) -> int:
    """Return 90 if a file is an event or has one among its first lines, else 0."""
    records = [mapping_of(source.outline)] if source.shape == "json" else source.sample
    return CERTAIN if any(map(_is_event, records)) else 0


def _is_event(record: Json) -> bool:
    return record.get("kind") in KINDS and record.get("source") in SOURCES


def read(source: SourceFile) -> Iterator[Row]:
    """Yield the turns in order, and the files and lines that are no events."""
    path = source.path
    if source.shape == "jsonl":
        builder = SessionBuilder(SessionInfo(path.parent.name if path.stem == FOLDER else path.stem), DIALECT)
        yield from read_session(source, builder, lambda item: _add_event(builder, item))
        return
    folder = path.parent.parent
    builder = SessionBuilder(
        SessionInfo(folder.name, folder_of(read_sibling_field(folder / STATE, "working_dir"))), DIALECT
    )
    yield from read_items(source, builder, _events(path), lambda item: _add_event(builder, item))
    yield from builder.flush()


def _events(path: Path) -> Iterator[Record | Unreadable]:
    for file in event_files(path) or [path]:
        value = SourceFile(file).document
        yield Unreadable(str(file), 0, f"not JSON: {value.reason}") if isinstance(value, BadJson) else Record(1, value)


def _add_event(builder: SessionBuilder, item: Record) -> str | None:
    """Add the turns of an event; return why it cannot be read, else None."""
    event = item.value
    if not isinstance(event, dict):
        return f"a {type(event).__name__} instead of an event"
    at = Position(item.line, iso_utc(event.get("timestamp"), LOCAL), text_of(event.get("id")))
    kind, call_id = text_of(event.get("kind")), text_of(event.get("tool_call_id"))
    match kind:
        case "MessageEvent":
            message = mapping_of(event.get("llm_message"))
            content = message.get("content")
            if event.get("source") == "user":
                builder.add_prompt(texts_of(content), at, count_images(content))
            else:
                builder.add_answer(texts_of(content), at)
        case "ActionEvent":
            builder.add_answer(texts_of(event.get("thought")), at)
            _add_call(builder, event, call_id, at)
        case "ObservationEvent":
            builder.add_result(call_id, _parse_result(mapping_of(event.get("observation"))), at)
        case "AgentErrorEvent":
            builder.add_result(call_id, ToolResult(text_of(event.get("error")), failed=True), at)
        case "Condensation":
            builder.add_turn("system", "summary", text_of(event.get("summary")), at)
        case flagged if flagged in FLAGS:
            builder.queue.flag(FLAGS[flagged])
    return None


def _add_call(builder: SessionBuilder, event: Json, call_id: str, at: Position) -> None:
    """Add an action: a tool call, the last answer or a plan.

    A refused action has only the arguments of the model.
    """
    arguments = mapping_of(event.get("tool_call")).get("arguments")
    name, action = text_of(event.get("tool_name")), mapping_of(event.get("action")) or mapping_of(value_of(arguments))
    if name == FINISH:
        builder.add_answer(text_of(action.get("message")), at)
    else:
        builder.add_call(call_id, name, action)
    if name == PLANNER and list_of(action.get("task_list")):
        builder.queue.add_todo_call("update_plan", {"plan": action["task_list"]})


def _parse_result(observation: Json) -> ToolResult:
    """Return a tool result, with the exit code of a command."""
    printed = parse_printed(observation, failed=observation.get("is_error") is True)
    return replace(printed, text=texts_of(observation.get("content")) or printed.text)


OPENHANDS = Format(
    name="openhands",
    version=3,
    detect=detect,
    read=read,
    program="OpenHands",
    locations=below_home(".openhands/conversations"),
    dialect=lambda: DIALECT,
    companions=Companions((EVENT,), read_with, hidden_in),
    resume=resume_with("openhands", "--resume"),  # https://docs.openhands.dev/openhands/usage/cli/resume
    verified="2026-11",
)
