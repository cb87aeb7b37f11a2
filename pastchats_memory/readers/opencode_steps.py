"""OpenCode 2's events, each a step of what happened, to the messages that come of them.

Names and fields are those of `session-event.ts` in OpenCode's schema; those that earlier betas had stand beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from pastchats_memory.readers.fields import Json, list_of, mapping_of, text_of
from pastchats_memory.readers.opencode_second import second_in
from pastchats_memory.readers.opencode_session import MESSAGE_PREFIX, Message, folder_of

_KIND = "session."
_BEGUN = "evt_"


@dataclass(frozen=True, slots=True)
class Step:
    """An event that says something of a session."""

    event: Json
    line: int

    @property
    def told(self) -> Json:
        """What it says."""
        return mapping_of(self.event.get("data"))

    @property
    def session(self) -> str:
        """The session of which it says that."""
        return text_of(self.told.get("sessionID"))

    @property
    def waiting(self) -> str:
        """The id of the prompt of which it says that it was written, or taken up."""
        return text_of(self.told.get("inboxID") or self.told.get("inputID"))

    def message(self, kind: str, own_id: str = "") -> Json:
        """A message that begins with it."""
        of_event = MESSAGE_PREFIX + text_of(self.event.get("id")).removeprefix(_BEGUN)
        return {"id": own_id or of_event, "type": kind, "time": {"created": self.event.get("created")}}


@dataclass
class Steps:
    """What has happened so far, with the line on which each part was told last."""

    sessions: dict[str, Json] = field(default_factory=dict)
    told: dict[str, list[Json]] = field(default_factory=dict)
    """Of each session the messages in their order."""
    waiting: dict[str, Json] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def take(self, event: Json, line: int) -> None:
        """Take an event; most of them, such as that words came in, are said again by one at the end."""
        step = Step(event, line)
        taken = TAKEN.get(text_of(event.get("type")).removeprefix(_KIND))
        if taken:
            self.sessions.setdefault(step.session, {"id": step.session, "directory": folder_of(event)})
            taken(self, step)

    def messages(self, session: str) -> Iterator[Message]:
        """The messages of a session."""
        for message in self.told.get(session, []):
            if found := second_in(message, self._line_of(message)):
                yield found

    def _line_of(self, message: Json) -> Callable[[Json], int]:
        begun = self.lines[text_of(message["id"])]
        return lambda part: self.lines.get(text_of(part.get("id")), begun)

    def created(self, step: Step) -> None:
        """A session was begun, or named."""
        known = {
            "title": step.told.get("title"),
            "parentID": step.told.get("parentID"),
            "directory": folder_of(step.told),
        }
        self.sessions[step.session] |= {key: value for key, value in known.items() if value}

    def enqueued(self, step: Step) -> None:
        """Something was written, and waits."""
        self.waiting[step.waiting] = mapping_of(step.told.get("item") or step.told.get("input"))
        self.lines[step.waiting] = step.line

    def delivered(self, step: Step) -> None:
        """The agent was told what waited."""
        item = self.waiting.pop(step.waiting, {})
        message = step.message(text_of(item.get("type")), step.waiting)
        said = mapping_of(item.get("payload") or item.get("data"))
        self._say(step, said | message, self.lines.get(step.waiting, step.line))

    def synthetic(self, step: Step) -> None:
        """The client told the agent something."""
        self._say(step, step.told | step.message("synthetic"), step.line)

    def skill(self, step: Step) -> None:
        """The person chose a skill."""
        self._say(step, step.message("skill") | {"name": step.told.get("name")}, step.line)

    def compacted(self, step: Step) -> None:
        """What was said before was summed up."""
        self._say(step, step.message("compaction") | {"summary": step.told.get("text")}, step.line)

    def ran(self, step: Step) -> None:
        """The person began to run a command."""
        shell = mapping_of(step.told.get("shell"))
        run: Json = {"shellID": shell.get("id"), "command": shell.get("command")}
        self._say(step, step.message("shell") | run, step.line)

    def ended(self, step: Step) -> None:
        """A command of the person's ended."""
        shell = mapping_of(step.told.get("shell") or {"id": step.told.get("shellID"), "exit": step.told.get("exit")})
        for message in self.told.get(step.session, []):
            if message.get("shellID") == shell.get("id"):
                message |= {"exit": shell.get("exit"), "output": step.told.get("output")}

    def answer(self, step: Step) -> Json:
        """The agent's message to which the step belongs, which may begin with it."""
        own_id = text_of(step.told.get("assistantMessageID"))
        for message in reversed(self.told.get(step.session, [])):  # mostly the last
            if message["id"] == own_id:
                return message
        by: Json = {"agent": step.told.get("agent"), "model": step.told.get("model"), "content": []}
        return self._say(step, step.message("assistant", own_id) | by, step.line)

    def failed(self, step: Step) -> None:
        """The answer broke off."""
        self.answer(step)["error"] = step.told.get("error")

    def text(self, step: Step) -> None:
        """The answer has these words."""
        message = self.answer(step)
        own_id = f"{message['id']} {step.told.get('ordinal')}"
        list_of(message["content"]).append({"type": "text", "id": own_id, "text": step.told.get("text")})
        self.lines[own_id] = step.line

    def call(self, step: Step) -> Json:
        """The call of a tool to which the step belongs, which may begin with it."""
        own_id = text_of(step.told.get("id") or step.told.get("callID"))
        content = list_of(self.answer(step)["content"])
        for part in map(mapping_of, reversed(content)):
            if part.get("id") == own_id:
                return part
        time: Json = {"created": step.event.get("created")}
        begun: Json = {"type": "tool", "id": own_id, "name": step.told.get("name"), "time": time, "state": {}}
        content.append(begun)
        self.lines[own_id] = step.line
        return begun

    def called(self, step: Step) -> None:
        """A tool was called."""
        self.call(step)["state"] = {"input": step.told.get("input")}

    def answered(self, step: Step) -> None:
        """A tool answered, or failed."""
        call, fault = self.call(step), step.told.get("error")
        told = {key: step.told.get(key) for key in ("content", "metadata", "structured")}
        mapping_of(call["state"]).update(told, error=fault, status="error" if fault else "completed")
        mapping_of(call["time"])["completed"] = step.event.get("created")

    def reverted(self, step: Step) -> None:
        """A message and all behind it were taken back."""
        messages = self.told.get(step.session, [])
        ids = [message["id"] for message in messages]
        if step.told.get("to") in ids:
            del messages[ids.index(step.told.get("to")) :]

    def _say(self, step: Step, message: Json, line: int) -> Json:
        self.told.setdefault(step.session, []).append(message)
        self.lines[text_of(message["id"])] = line
        return message


TAKEN: dict[str, Callable[[Steps, Step], object]] = {
    "created": Steps.created,
    "renamed": Steps.created,
    "inbox.enqueued": Steps.enqueued,
    "input.admitted": Steps.enqueued,
    "inbox.delivered": Steps.delivered,
    "input.promoted": Steps.delivered,
    "synthetic": Steps.synthetic,
    "skill.activated": Steps.skill,
    "compaction.ended": Steps.compacted,
    "shell.started": Steps.ran,
    "shell.ended": Steps.ended,
    "shell.settled": Steps.ended,
    "step.started": Steps.answer,
    "step.failed": Steps.failed,
    "text.ended": Steps.text,
    "tool.input.started": Steps.call,
    "tool.called": Steps.called,
    "tool.success": Steps.answered,
    "tool.failed": Steps.answered,
    "revert.committed": Steps.reverted,
}
