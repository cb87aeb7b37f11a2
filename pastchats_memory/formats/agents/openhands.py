"""Read conversations of OpenHands: an event a file, or an event a line; before version 1 a list of actions and observations.

A conversation's folder holds a file for each event. Servers print an event a line.

Source: `openhands-sdk/openhands/sdk/event` of github.com/OpenHands/software-agent-sdk. A folder holds `base_state.json` and
`events/event-<number>-<id>.json`. The first event file stands for the conversation.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from pastchats_memory.formats.base.agent import AgentSession
from pastchats_memory.formats.base.dialect import COMMON, Dialect
from pastchats_memory.formats.base.format import CERTAIN, Companions, Format, resume_with
from pastchats_memory.formats.base.session import Position, SessionInfo, folder_of, session_name, texts_of
from pastchats_memory.formats.base.sibling_files import is_sibling, read_sibling_field
from pastchats_memory.formats.base.source import Record, SourceFile
from pastchats_memory.formats.base.tools import ToolResult, parse_printed
from pastchats_memory.formats.base.values import BadJson, Json, list_of, mapping_of, number_of, text_of, value_of
from pastchats_memory.model import Unreadable
from pastchats_memory.text.timestamps import LOCAL, iso_utc

EVENT, FOLDER, STATE = "event-", "events", "base_state.json"
KINDS = ("MessageEvent", "ActionEvent", "ObservationEvent", "SystemPromptEvent")
SOURCES = ("user", "agent", "environment")
PLANNER, FINISH = "task_tracker", "finish"
DIALECT = COMMON | Dialect(editors=("file_editor",))
UNSEEN = ("system", "change_agent_state", "agent_state_changed", "recall", "null", "think")
"""Actions of the program, their observations, and thoughts."""
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
    is_newer = any(record.get("kind") in KINDS and record.get("source") in SOURCES for record in records)
    return CERTAIN if is_newer or _is_older(source) else 0


def _is_older(source: SourceFile) -> bool:
    """Return whether a file lists what OpenHands did and observed before version 1."""
    records = map(mapping_of, list_of(source.outline)) if source.shape == "json" else source.sample
    own = (record for record in records if record.get("source") in SOURCES)
    return any(_is_action(record) or _is_observation(record) for record in own)


def _is_action(record: Json) -> bool:
    return isinstance(record.get("action"), str) and isinstance(record.get("args"), dict)


def _is_observation(record: Json) -> bool:
    return isinstance(record.get("observation"), str) and isinstance(record.get("extras"), dict)


class _OlderSession(AgentSession):
    """Actions and observations, which name the action that caused them."""

    record_noun = "an event"
    list_keys = ()

    def session_info(self) -> SessionInfo:
        return SessionInfo(session_name(self.source.path))

    def add_record(self, record: Json, line: int) -> None:
        own_id, cause = (str(record.get(key, "")) for key in ("id", "cause"))
        at = Position(line, iso_utc(record.get("timestamp"), LOCAL), own_id)
        if _is_action(record):
            action, given = text_of(record["action"]), mapping_of(record["args"])
            content = text_of(given.get("content")) or text_of(record.get("message"))
            match action:
                case "message" if record.get("source") == "user":
                    self.builder.add_prompt(content, at)
                case "message":
                    self.builder.add_answer(content, at)
                case "finish":
                    self.builder.add_answer(text_of(given.get("final_thought")) or content, at)
                case "condensation":
                    self.builder.add_turn("system", "summary", text_of(given.get("summary")), at)
                case _ if action not in UNSEEN:
                    self.builder.add_answer(text_of(given.get("thought")), at)
                    self.builder.add_call(own_id, action, given)
        elif _is_observation(record) and record["observation"] not in UNSEEN:
            code = number_of(mapping_of(mapping_of(record["extras"]).get("metadata")).get("exit_code"))
            failed = bool(code) or record["observation"] == "error"
            self.builder.add_result(cause, ToolResult(text_of(record.get("content")), code, failed), at)


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

    def add_record(self, record: Json, line: int) -> None:
        at = Position(line, iso_utc(record.get("timestamp"), LOCAL), text_of(record.get("id")))
        kind, call_id = text_of(record.get("kind")), text_of(record.get("tool_call_id"))
        match kind:
            case "MessageEvent":
                content = mapping_of(record.get("llm_message")).get("content")
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
    version=4,
    detect=detect,
    read=lambda source: (_OlderSession if _is_older(source) else _Session).read(source),
    program="OpenHands",
    dialect=lambda: DIALECT,
    companions=Companions((EVENT,), read_with, hidden_in),
    resume=resume_with("openhands", "--resume"),  # https://docs.openhands.dev/openhands/usage/cli/resume
)
