"""Read conversations of OpenHands: an event a file, or an event a line.

A conversation's folder holds a file for each event. Servers print an event a line.

Source: `openhands-sdk/openhands/sdk/event` of github.com/OpenHands/software-agent-sdk. A folder holds `base_state.json` and
`events/event-<number>-<id>.json`. The first event file stands for the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from pastchats_memory.formats.base.agent import AgentSession
from pastchats_memory.formats.base.dialect import COMMON, Dialect
from pastchats_memory.formats.base.format import CERTAIN, Companions, Format, resume_with
from pastchats_memory.formats.base.locations import below_home
from pastchats_memory.formats.base.session import Position, SessionInfo, folder_of, texts_of
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
    """Return the event files of a conversation by one of them, in order. Raises OSError."""
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


class _Session(AgentSession):
    dialect = DIALECT
    record_noun = "an event"

    def session_info(self) -> SessionInfo:
        path = self.source.path
        if self.source.shape == "jsonl":
            return SessionInfo(path.parent.name if path.stem == FOLDER else path.stem)
        folder = path.parent.parent
        return SessionInfo(folder.name, folder_of(read_sibling_field(folder / STATE, "working_dir")))

    def records(self) -> Iterable[Record | Unreadable]:
        return self.source.records() if self.source.shape == "jsonl" else _events(self.source.path)

    def add_record(self, record: Json, line: int) -> str | None:
        at = Position(line, iso_utc(record.get("timestamp"), LOCAL), text_of(record.get("id")))
        kind, call_id = text_of(record.get("kind")), text_of(record.get("tool_call_id"))
        match kind:
            case "MessageEvent":
                message = mapping_of(record.get("llm_message"))
                content = message.get("content")
                if record.get("source") == "user":
                    self.builder.add_content(content, at)
                else:
                    self.builder.add_answer(texts_of(content), at)
            case "ActionEvent":
                self.builder.add_answer(texts_of(record.get("thought")), at)
                self._add_call(record, call_id, at)
            case "ObservationEvent":
                observed = mapping_of(record.get("observation"))
                printed = parse_printed(observed, failed=observed.get("is_error") is True)
                output = replace(printed, text=texts_of(observed.get("content")) or printed.text)
                self.builder.add_result(call_id, output, at)
            case "AgentErrorEvent":
                self.builder.add_result(call_id, ToolResult(text_of(record.get("error")), failed=True), at)
            case "Condensation":
                self.builder.add_turn("system", "summary", text_of(record.get("summary")), at)
            case flagged if flagged in FLAGS:
                self.builder.queue.flag(FLAGS[flagged])
        return None

    def _add_call(self, record: Json, call_id: str, at: Position) -> None:
        """Add a call, the last answer or a plan; a refused one has the model's arguments only."""
        arguments = mapping_of(record.get("tool_call")).get("arguments")
        name = text_of(record.get("tool_name"))
        action = mapping_of(record.get("action")) or mapping_of(value_of(arguments))
        if name == FINISH:
            self.builder.add_answer(text_of(action.get("message")), at)
        else:
            self.builder.add_call(call_id, name, action)
        if name == PLANNER and list_of(action.get("task_list")):
            self.builder.queue.add_todo_call("update_plan", {"plan": action["task_list"]})


def _events(path: Path) -> Iterator[Record | Unreadable]:
    for file in event_files(path) or [path]:
        value = SourceFile(file).document
        yield Unreadable(str(file), 0, f"not JSON: {value.reason}") if isinstance(value, BadJson) else Record(1, value)


OPENHANDS = Format(
    name="openhands",
    version=3,
    detect=detect,
    read=_Session.read,
    program="OpenHands",
    locations=below_home(".openhands/conversations"),
    dialect=lambda: DIALECT,
    companions=Companions((EVENT,), read_with, hidden_in),
    resume=resume_with("openhands", "--resume"),  # https://docs.openhands.dev/openhands/usage/cli/resume
    verified="2026-11",
)
