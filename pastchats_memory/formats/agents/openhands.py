"""Conversations of OpenHands to turns: an event a file in the folder of one, or an event a line as its servers print them.

Source: `openhands-sdk/openhands/sdk/event` of github.com/OpenHands/software-agent-sdk. A folder has `base_state.json` and
`events/event-<number>-<id>.json`, of which the first file stands for all.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from pastchats_memory.formats.base.format import Companions, Format, confident
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

FORMAT = "openhands"
VERSION = 3

EVENT, FOLDER, STATE = "event-", "events", "base_state.json"
KINDS = ("MessageEvent", "ActionEvent", "ObservationEvent", "SystemPromptEvent")
SOURCES = ("user", "agent", "environment")
EDITOR, PLANNER, FINISH = "file_editor", "task_tracker", "finish"
FLAGS = {"PauseEvent": "interrupted", "InterruptEvent": "interrupted", "ConversationErrorEvent": "api_error"}

_NAME = re.compile(r"event-\d{5,9}-[\w-]{1,64}\.json")


def events_beside(path: Path) -> list[Path]:
    """All files of events of the conversation that one of them stands for, in order; empty for any other file. Raises OSError."""
    if path.parent.name != FOLDER or not _NAME.fullmatch(path.name):
        return []
    return [file for file in sorted(path.parent.iterdir()) if _NAME.fullmatch(file.name) and is_sibling(file)]


def other_events(path: Path) -> Iterator[Path]:
    """Yield the other files of events of the same conversation. Raises OSError."""
    return (file for file in events_beside(path) if file != path)


def hidden_in(folder: str, names: Collection[str]) -> Collection[str]:
    """Return the files of events but the first, which stands for the conversation, and its state."""
    if FOLDER in names:
        return [name for name in names if name.startswith(STATE) and name.endswith((".json", ".jsonl"))]
    if Path(folder).name != FOLDER:
        return ()
    return sorted(name for name in names if _NAME.fullmatch(name))[1:]


def recognise(source: SourceFile) -> bool:
    """Whether the file is an event, or has one a line."""
    if source.shape == "json":
        return _is_event(mapping_of(source.outline))
    return any(map(_is_event, source.sample))


def _is_event(record: Json) -> bool:
    return record.get("kind") in KINDS and record.get("source") in SOURCES


def read(source: SourceFile) -> Iterator[Row]:
    """The turns in the order of the events; files and lines that are none."""
    path = source.path
    if source.shape == "jsonl":
        builder = SessionBuilder(SessionInfo(path.parent.name if path.stem == FOLDER else path.stem))
        yield from read_session(source, builder, lambda item: _take(builder, item))
        return
    folder = path.parent.parent
    builder = SessionBuilder(SessionInfo(folder.name, folder_of(read_sibling_field(folder / STATE, "working_dir"))))
    yield from read_items(source, builder, _events(path), lambda item: _take(builder, item))
    yield from builder.flush()


def _events(path: Path) -> Iterator[Record | Unreadable]:
    for file in events_beside(path) or [path]:
        value = SourceFile(file).document
        yield Unreadable(str(file), 0, f"not JSON: {value.reason}") if isinstance(value, BadJson) else Record(1, value)


def _take(builder: SessionBuilder, item: Record) -> str | None:
    """Add what the event says; the reason why it says nothing that can be read, else None."""
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
            _call(builder, event, call_id, at)
        case "ObservationEvent":
            builder.add_result(call_id, _output(mapping_of(event.get("observation"))), at)
        case "AgentErrorEvent":
            builder.add_result(call_id, ToolResult(text_of(event.get("error")), failed=True), at)
        case "Condensation":
            builder.add_turn("system", "summary", text_of(event.get("summary")), at)
        case flagged if flagged in FLAGS:
            builder.queue.flag(FLAGS[flagged])
    return None


def _call(builder: SessionBuilder, event: Json, call_id: str, at: Position) -> None:
    """Note what the agent did: its last words are a call too, and so is its plan. A call that was refused has only the model's words."""
    asked = mapping_of(event.get("tool_call")).get("arguments")
    name, action = text_of(event.get("tool_name")), mapping_of(event.get("action")) or mapping_of(value_of(asked))
    if name == FINISH:
        builder.add_answer(text_of(action.get("message")), at)
    elif name == EDITOR:
        builder.add_call(call_id, text_of(action.get("command")) or name, {"path": action.get("path")})
    else:
        builder.add_call(call_id, name, action)
    if name == PLANNER and list_of(action.get("task_list")):
        builder.queue.add_plan("update_plan", {"plan": action["task_list"]})


def _output(observation: Json) -> ToolResult:
    """What a tool answered, with the exit code of a command."""
    ended = parse_printed(observation, failed=observation.get("is_error") is True)
    return ToolResult(texts_of(observation.get("content")) or ended.text, ended.exit_code, failed=ended.failed)


OPENHANDS = Format(
    name="openhands",
    version=3,
    detect=confident(recognise, 90),
    read=read,
    program="OpenHands",
    locations=below_home(".openhands/conversations"),
    companions=Companions((EVENT,), other_events, hidden_in),
)
