"""What OpenCode's events say, captured in a file: whole records of version 1, steps of version 2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pastchats_memory.readers.fields import Json, mapping_of, text_of
from pastchats_memory.readers.opencode_session import Message
from pastchats_memory.readers.opencode_steps import Steps

_EVENTS = ("message.", "session.")


def event_in(record: Json) -> Json:
    """The event of a line, bare or in an envelope; an empty one where there is none, as where others have `sessionId`."""
    event = mapping_of(record.get("event", record))
    if not text_of(event.get("type")).startswith(_EVENTS):
        return {}
    is_event = isinstance(event.get("properties"), dict) or "sessionID" in mapping_of(event.get("data"))
    return event if is_event else {}


@dataclass
class Captured:
    """What the events have said so far: of each record of version 1 the last word, at its first place."""

    sessions: dict[str, Json] = field(default_factory=dict)
    messages: dict[str, Json] = field(default_factory=dict)
    parts: dict[str, Json] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    steps: Steps = field(default_factory=Steps)

    def take(self, record: Json, line: int) -> None:
        """Take a line of the file, 1-based."""
        event = event_in(record)
        if "data" in event:
            self.steps.take(event, line)
        told = mapping_of(event.get("properties"))
        info, part = mapping_of(told.get("info")), mapping_of(told.get("part"))
        info_id, part_id = text_of(info.get("id")), text_of(part.get("id"))
        match text_of(event.get("type")):
            case "session.created" | "session.updated" if info_id:
                self.sessions[info_id] = info
            case "message.updated" if info_id:
                self.messages[info_id] = info
                session, directory = info.get("sessionID"), record.get("projectDirectory")
                self.sessions.setdefault(text_of(session), {"id": session, "directory": directory})
            case "message.part.updated" if part_id:
                self.parts[part_id] = part
                self.lines[part_id] = line
            case "message.removed":
                self.messages.pop(text_of(told.get("messageID")), None)
            case "message.part.removed":
                self.parts.pop(text_of(told.get("partID")), None)

    def told(self) -> Iterator[tuple[Json, list[Message]]]:
        """Each session and its messages."""
        parts: dict[str, list[Json]] = {}
        for part in self.parts.values():
            parts.setdefault(text_of(part.get("messageID")), []).append(part)
        for session, info in self.sessions.items():
            yield (
                info,
                [
                    Message(message, parts.get(own_id, []), lambda part: self.lines[text_of(part.get("id"))])
                    for own_id, message in self.messages.items()
                    if message.get("sessionID") == session
                ],
            )
        for session, info in self.steps.sessions.items():
            yield info, list(self.steps.messages(session))
