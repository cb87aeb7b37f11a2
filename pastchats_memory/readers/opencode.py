"""OpenCode conversations: exports, the database of 1.2 and later, the folders of files before it, captured events.

Each keeps the same records (a session, its messages, their parts); `opencode_session` makes turns of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pastchats_memory.foreign import Database
from pastchats_memory.model import Task, Turn, Unreadable
from pastchats_memory.readers.fields import Json, list_of, mapping_of, text_of
from pastchats_memory.readers.opencode_session import Message, Session, is_session, messages_in
from pastchats_memory.readers.opencode_tree import Tree, tree_of
from pastchats_memory.readers.places import Places
from pastchats_memory.readers.source import BadJson, Record, Source, parse_json

FORMAT = "opencode"
VERSION = 2

TABLES = {
    "session": {"id", "project_id"},
    "message": {"id", "session_id", "data"},
    "part": {"id", "message_id", "data"},
}
EVENTS = ("message.", "session.")


def recognise(source: Source) -> bool:
    """Whether it is an export, a session's file, OpenCode's database, or a capture of its events."""
    if source.shape == "sqlite":
        return all(source.tables.get(table, frozenset()) >= columns for table, columns in TABLES.items())
    if source.shape == "jsonl":
        return any(text_of(event.get("type")).startswith(EVENTS) for event in map(_event, source.sample) if event)
    if source.shape != "json":
        return False
    if is_session(source.outline) or _exported(source.outline):
        return True
    tree = tree_of(source.path)
    return tree is not None and bool(tree.messages())


def read(source: Source) -> Iterator[Turn | Task | Unreadable]:
    """The turns of every session, oldest first; of a subagent's they are a sidechain, undone ones are abandoned."""
    if source.shape == "sqlite":
        yield from source.from_database(_from_database)
    elif source.shape == "jsonl":
        yield from _from_events(source)
    elif _exported(source.document):
        yield from _from_export(source)
    elif (tree := tree_of(source.path)) is not None:
        yield from _from_tree(tree)


def _exported(document: object) -> list[object]:
    """The messages of an export."""
    fields = mapping_of(document)
    messages = list_of(fields.get("messages")) if isinstance(fields.get("info"), dict) else []
    return messages if messages_in(messages)[0] else []


def _from_export(source: Source) -> Iterator[Turn | Task | Unreadable]:
    document, places = mapping_of(source.document), Places(source.text)
    messages, lost = messages_in(_exported(document))
    for place in lost:
        yield Unreadable(str(source.path), 1, f"message {place} of the export is none")
    yield from Session(
        mapping_of(document.get("info")),
        messages,
        lambda part: places.line(text_of(part.get("text")) or text_of(part.get("id"))),
    ).turns()


def _from_tree(tree: Tree) -> Iterator[Turn | Task | Unreadable]:
    """Parts may be missing or half-written: what is there is told."""
    faults: list[Unreadable] = []

    def record(path: object, text: bytes) -> Json:
        value = parse_json(text)
        if not isinstance(value, dict):
            reason = value.reason if isinstance(value, BadJson) else "no object"
            faults.append(Unreadable(str(path), 0, f"not JSON: {reason}"))
        return mapping_of(value)

    info = record(tree.session, tree.session.read_bytes()) if tree.session else {}
    messages = []
    for file in tree.messages():
        parts = [record(part, part.read_bytes()) for part in tree.parts(file)]
        messages.append(Message({"id": file.stem, **record(file, file.read_bytes())}, parts))
    yield from faults
    yield from Session({"id": tree.session_id, **info}, messages, lambda _: 1).turns()


def _from_database(database: Database) -> Iterator[Turn | Task | Unreadable]:
    worktrees = {row[0]: row[1] for row in database.rows("project", ("id", "worktree"))}
    columns = ("id", "project_id", "parent_id", "title", "directory", "revert", "data")
    for own_id, project, parent, title, directory, revert, data in database.rows("session", columns, order=("id",)):
        info = {
            "id": own_id,
            "parentID": parent,
            "title": title,
            "directory": directory or worktrees.get(project),
            "revert": parse_json(text_of(revert)),
        }
        known = {key: value for key, value in info.items() if value}
        yield from Session(_record(data) | known, list(_messages(database, own_id)), lambda _: 1).turns()


def _messages(database: Database, session_id: object) -> Iterator[Message]:
    where = {"session_id": text_of(session_id)}
    for own_id, created, data in database.rows("message", ("id", "time_created", "data"), where=where, order=("id",)):
        parts = database.rows("part", ("id", "data"), where={"message_id": own_id}, order=("id",))
        info: Json = {"id": own_id, "time": {"created": created}}
        yield Message(info | _record(data), [{"id": part_id} | _record(part) for part_id, part in parts])


def _record(data: object) -> Json:
    return mapping_of(parse_json(data)) if isinstance(data, str | bytes) else {}


def _event(record: Json) -> Json:
    event = record.get("event", record)
    return mapping_of(event) if isinstance(mapping_of(event).get("properties"), dict) else {}


@dataclass
class _Captured:
    """What the events have said so far: of each record the last word, at its first place."""

    sessions: dict[str, Json] = field(default_factory=dict)
    messages: dict[str, Json] = field(default_factory=dict)
    parts: dict[str, Json] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def take(self, record: Json, line: int) -> None:
        event = _event(record)
        told = mapping_of(event.get("properties"))
        info, part = mapping_of(told.get("info")), mapping_of(told.get("part"))
        info_id, part_id = text_of(info.get("id")), text_of(part.get("id"))
        match text_of(event.get("type")):
            case "session.created" | "session.updated" if info_id:
                self.sessions[info_id] = info
            case "message.updated" if info_id:
                self.messages[info_id] = info
                directory = {"directory": record.get("projectDirectory")}
                self.sessions.setdefault(text_of(info.get("sessionID")), {"id": info.get("sessionID"), **directory})
            case "message.part.updated" if part_id:
                self.parts[part_id] = part
                self.lines[part_id] = line
            case "message.removed":
                self.messages.pop(text_of(told.get("messageID")), None)
            case "message.part.removed":
                self.parts.pop(text_of(told.get("partID")), None)


def _from_events(source: Source) -> Iterator[Turn | Task | Unreadable]:
    captured = _Captured()
    for item in source.records():
        if isinstance(item, Record) and isinstance(item.value, dict):
            captured.take(item.value, item.line)
        else:
            yield Unreadable(str(source.path), item.line, getattr(item, "reason", "no object"))
    parts: dict[str, list[Json]] = {}
    for part in captured.parts.values():
        parts.setdefault(text_of(part.get("messageID")), []).append(part)
    for session_id, info in captured.sessions.items():
        messages = [
            Message(message, parts.get(own_id, []))
            for own_id, message in captured.messages.items()
            if message.get("sessionID") == session_id
        ]
        yield from Session(info, messages, lambda part: captured.lines[text_of(part.get("id"))]).turns()
