"""Events of OpenCode, captured in a file: whole records of version 1, steps of version 2.

Names and fields of steps are those of `session-event.ts` in OpenCode's schema, and of earlier betas.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from pastchats_memory.formats.agents.opencode.session import MESSAGE_PREFIX, StoredMessage, folder_of
from pastchats_memory.formats.agents.opencode.v2 import parse_v2_message
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, number_of, text_of
from pastchats_memory.text.groups import group_by_key

LINE = "line in the capture"
"""The key that a captured part gets for its line."""
_KIND = "session."
_BEGUN_STEPS = "evt_"


@dataclass(frozen=True, slots=True)
class _Step:
    event: Json
    line: int

    @property
    def data(self) -> Json:
        return mapping_of(self.event.get("data"))

    @property
    def session(self) -> str:
        return text_of(self.data.get("sessionID"))

    @property
    def waiting(self) -> str:
        return text_of(self.data.get("inboxID") or self.data.get("inputID"))

    def message(self, kind: str, own_id: str = "") -> Json:
        of_event = MESSAGE_PREFIX + text_of(self.event.get("id")).removeprefix(_BEGUN_STEPS)
        return {"id": own_id or of_event, "type": kind, "time": {"created": self.event.get("created")}}


@dataclass
class _Steps:
    """The messages built so far, with the last line of each part."""

    sessions: dict[str, Json] = field(default_factory=dict)
    by_session: dict[str, list[Json]] = field(default_factory=dict)
    """The messages of each session in order."""
    waiting: dict[str, Json] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def add(self, event: Json, line: int) -> None:
        """Add an event. A streamed one is skipped, since a final event repeats its content."""
        step = _Step(event, line)
        data, kind = step.data, text_of(event.get("type")).removeprefix(_KIND)
        match kind:
            case "created" | "renamed":
                known = {key: data.get(key) for key in ("title", "parentID")} | {"directory": folder_of(data)}
                self._session_of(step).update((key, value) for key, value in known.items() if value)
            case "inbox.enqueued" | "input.admitted":
                self.waiting[step.waiting] = mapping_of(data.get("item") or data.get("input"))
                self.lines[step.waiting] = line
            case "inbox.delivered" | "input.promoted":
                item = self.waiting.pop(step.waiting, {})
                content = mapping_of(item.get("payload") or item.get("data"))
                message = content | step.message(text_of(item.get("type")), step.waiting)
                self._append_message(step, message, self.lines.get(step.waiting, line))
            case "synthetic":
                self._append_message(step, data | step.message("synthetic"), line)
            case "skill.activated":
                self._append_message(step, step.message("skill") | {"name": data.get("name")}, line)
            case "compaction.ended":
                self._append_message(step, step.message("compaction") | {"summary": data.get("text")}, line)
            case "shell.started":
                shell = mapping_of(data.get("shell"))
                run: Json = {"shellID": shell.get("id"), "command": shell.get("command")}
                self._append_message(step, step.message("shell") | run, line)
            case "shell.ended" | "shell.settled":
                self._end_shell_command(step)
            case _:
                self._add_to_answer(step, kind)
                return
        self._session_of(step)

    def _add_to_answer(self, step: _Step, kind: str) -> None:
        data = step.data
        match kind:
            case "step.started":
                self._answer_of(step)
            case "step.failed":
                self._answer_of(step)["error"] = data.get("error")
            case "text.ended":
                message = self._answer_of(step)
                own_id = f"{message['id']} {data.get('ordinal')}"
                list_of(message["content"]).append({"type": "text", "id": own_id, "text": data.get("text")})
                self.lines[own_id] = step.line
            case "tool.input.started":
                self._call_of(step)
            case "tool.called":
                self._call_of(step)["state"] = {"input": data.get("input")}
            case "tool.success" | "tool.failed":
                call, error = self._call_of(step), data.get("error")
                found = {key: data.get(key) for key in ("content", "metadata", "structured")}
                mapping_of(call["state"]).update(found, error=error, status="error" if error else "completed")
                mapping_of(call["time"])["completed"] = step.event.get("created")
            case "revert.committed":
                messages = self.by_session.get(step.session, [])
                ids = [message["id"] for message in messages]
                del messages[ids.index(data.get("to")) if data.get("to") in ids else len(ids) :]
            case _:
                return
        self._session_of(step)

    def messages(self, session: str) -> Iterator[StoredMessage]:
        for message in self.by_session.get(session, []):
            if found := parse_v2_message(message, self._line_of(message)):
                yield found

    def _line_of(self, message: Json) -> Callable[[Json], int]:
        begun = self.lines[text_of(message["id"])]
        return lambda part: self.lines.get(text_of(part.get("id")), begun)

    def _session_of(self, step: _Step) -> Json:
        return self.sessions.setdefault(step.session, {"id": step.session, "directory": folder_of(step.event)})

    def _end_shell_command(self, step: _Step) -> None:
        shell = mapping_of(step.data.get("shell") or {"id": step.data.get("shellID"), "exit": step.data.get("exit")})
        for message in self.by_session.get(step.session, []):
            if message.get("shellID") == shell.get("id"):
                message |= {"exit": shell.get("exit"), "output": step.data.get("output")}

    def _answer_of(self, step: _Step) -> Json:
        own_id = text_of(step.data.get("assistantMessageID"))
        for message in reversed(self.by_session.get(step.session, [])):  # mostly the last
            if message["id"] == own_id:
                return message
        by: Json = {"agent": step.data.get("agent"), "model": step.data.get("model"), "content": []}
        return self._append_message(step, step.message("assistant", own_id) | by, step.line)

    def _call_of(self, step: _Step) -> Json:
        """Return the tool call of a step, which may start with it."""
        own_id = text_of(step.data.get("id") or step.data.get("callID"))
        content = list_of(self._answer_of(step)["content"])
        for part in map(mapping_of, reversed(content)):
            if part.get("id") == own_id:
                return part
        time: Json = {"created": step.event.get("created")}
        begun: Json = {"type": "tool", "id": own_id, "name": step.data.get("name"), "time": time, "state": {}}
        content.append(begun)
        self.lines[own_id] = step.line
        return begun

    def _append_message(self, step: _Step, message: Json, line: int) -> Json:
        self.by_session.setdefault(step.session, []).append(message)
        self.lines[text_of(message["id"])] = line
        return message


# Captured events: whole records in version 1, steps in version 2.

_EVENTS = ("message.", "session.")


def parse_event(record: Json) -> Json:
    """Return the event of a record, with or without envelope; empty if there is none."""
    event = mapping_of(record.get("event", record))
    if not text_of(event.get("type")).startswith(_EVENTS):
        return {}
    is_event = isinstance(event.get("properties"), dict) or "sessionID" in mapping_of(event.get("data"))
    return event if is_event else {}


PRINTED = {
    "text": "text",
    "tool_use": "tool",
    "reasoning": "reasoning",
    "step_start": "step-start",
    "step_finish": "step-finish",
}
"""What `opencode run --format json` prints: the type of a line, and of the part in it."""


def is_printed(record: Json) -> bool:
    """Return whether a record is a line that `opencode run` printed: a part of an answer."""
    return mapping_of(record.get("part")).get("type") == PRINTED.get(text_of(record.get("type")), "")


def is_certainly_printed(record: Json) -> bool:
    """Return whether a printed line has a mark of OpenCode: an id of its own, or the bounds of a step."""
    part = mapping_of(record.get("part"))
    marks = ("sessionID" in record, "messageID" in part, text_of(record.get("type")).startswith("step_"))
    return is_printed(record) and any(marks)


def _line_in_capture(part: Json) -> int:
    return number_of(part.get(LINE)) or 1


@dataclass
class Captured:
    """The records built so far: each record of version 1 at its first place, with its last content."""

    sessions: dict[str, Json] = field(default_factory=dict)
    messages: dict[str, Json] = field(default_factory=dict)
    parts: dict[str, Json] = field(default_factory=dict)
    """The last content of each part, with its line under LINE."""
    steps: _Steps = field(default_factory=_Steps)

    def add(self, record: Json, line: int) -> None:
        """Add a record; `line` is 1-based."""
        if is_printed(record):
            self._add_printed(record, line)
        event = parse_event(record)
        if "data" in event:
            self.steps.add(event, line)
        data = mapping_of(event.get("properties"))
        info, part = mapping_of(data.get("info")), mapping_of(data.get("part"))
        info_id, part_id = text_of(info.get("id")), text_of(part.get("id"))
        match text_of(event.get("type")):
            case "session.created" | "session.updated" if info_id:
                self.sessions[info_id] = info
            case "message.updated" if info_id:
                self.messages[info_id] = info
                session, directory = info.get("sessionID"), record.get("projectDirectory")
                self.sessions.setdefault(text_of(session), {"id": session, "directory": directory})
            case "message.part.updated" if part_id:
                self.parts[part_id] = part | {LINE: line}
            case "message.removed":
                self.messages.pop(text_of(data.get("messageID")), None)
            case "message.part.removed":
                self.parts.pop(text_of(data.get("partID")), None)

    def _add_printed(self, record: Json, line: int) -> None:
        part = mapping_of(record["part"])
        session = text_of(record.get("sessionID") or part.get("sessionID"))
        own_id = text_of(part.get("messageID"))
        time: Json = {"created": record.get("timestamp")}
        message: Json = {"id": own_id, "sessionID": session, "role": "assistant", "time": time}
        answer = own_id or f"{MESSAGE_PREFIX}{session}"
        self.sessions.setdefault(session, {"id": session})
        self.messages.setdefault(answer, message)
        self.parts[text_of(part.get("id")) or str(line)] = part | {"messageID": answer, LINE: line}

    def conversations(self) -> Iterator[tuple[Json, list[StoredMessage]]]:
        """Yield each session and its messages."""
        parts = group_by_key((text_of(part.get("messageID")), part) for part in self.parts.values())
        for session, info in self.sessions.items():
            own = [(key, message) for key, message in self.messages.items() if message.get("sessionID") == session]
            yield info, [StoredMessage(message, parts.get(key, []), _line_in_capture) for key, message in own]
        yield from ((info, list(self.steps.messages(name))) for name, info in self.steps.sessions.items())
