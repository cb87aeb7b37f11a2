"""OpenCode conversations: exports, the database of 1.2 and later, the folders of files before it, captured events.

Each keeps the same records (a session, its messages, their parts); `opencode_session` makes turns of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pastchats_memory.foreign import Database
from pastchats_memory.model import Task, Turn, Unreadable
from pastchats_memory.readers.fields import Json, list_of, mapping_of, text_of
from pastchats_memory.readers.opencode_session import (
    Lines,
    Message,
    Session,
    folder_told_in,
    is_session,
    message_in,
    order_of,
)
from pastchats_memory.readers.opencode_tree import Tree, tree_of
from pastchats_memory.readers.places import Places
from pastchats_memory.readers.source import BadJson, Element, Record, Source, parse_json

FORMAT = "opencode"
VERSION = 6

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
    if is_session(source.outline) or _is_export(source.outline):
        return True
    tree = tree_of(source.path)
    return tree is not None and bool(tree.messages())


def read(source: Source) -> Iterator[Turn | Task | Unreadable]:
    """The turns of every session, oldest first; of a subagent's they are a sidechain, undone ones are abandoned."""
    if source.shape == "sqlite":
        yield from source.from_database(_from_database)
    elif source.shape == "jsonl":
        yield from _from_events(source)
    elif _is_export(source.outline):
        yield from _from_export(source)
    elif (tree := tree_of(source.path)) is not None:
        yield from _from_tree(tree)


def _is_export(document: object) -> bool:
    fields = mapping_of(document)
    messages = list_of(fields.get("messages")) if isinstance(fields.get("info"), dict) else []
    return any(message_in(message) for message in messages)


def _from_export(source: Source) -> Iterator[Turn | Task | Unreadable]:
    """Read twice, so that no more of it is held than a message: first who says what to whom, then what is said."""
    infos: list[Json] = []
    for item in source.elements("messages"):
        if isinstance(item, Unreadable):
            yield item
        elif (message := message_in(item.value)) is not None:
            infos.append(_kept_of(message.info))
        else:
            yield Unreadable(str(source.path), item.line, "not a message of an export")
    info = mapping_of(mapping_of(source.outline).get("info"))
    order = order_of(infos)
    told = _told_in_export(source)
    if order != sorted(order):
        each = list(told)
        told = (each[place] for place in order)
    yield from Session(info, text_of(info.get("directory")) or folder_told_in(infos)).turns(told)


def _kept_of(info: Json) -> Json:
    return {key: info[key] for key in ("id", "parentID", "path") if key in info}


def _told_in_export(source: Source) -> Iterator[Message]:
    for item in source.elements("messages"):
        if isinstance(item, Element) and (message := message_in(item.value, _lines_in(item))):
            yield message


def _lines_in(item: Element) -> Lines:
    places = Places(item.text, item.line)
    return lambda part: places.line(text_of(part.get("text")) or text_of(part.get("id")))


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
    yield from _session({"id": tree.session_id, **info}, messages)


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
        todos = _todos(database, own_id)
        yield from _session(_record(data) | known, list(_messages(database, own_id)), todos)


def _session(info: Json, messages: list[Message], todos: Sequence[Json] = ()) -> Iterator[Turn | Task]:
    infos = [message.info for message in messages]
    cwd = text_of(info.get("directory")) or folder_told_in(infos)
    yield from Session(info, cwd, todos).turns(messages[place] for place in order_of(infos))


def _todos(database: Database, session_id: object) -> list[Json]:
    columns = ("content", "status", "priority", "time_updated")
    where = {"session_id": text_of(session_id)}
    rows = database.rows("todo", columns, where=where, order=("position",))
    return [dict(zip(columns, row, strict=True)) for row in rows]


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
            Message(message, parts.get(own_id, []), lambda part: captured.lines[text_of(part.get("id"))])
            for own_id, message in captured.messages.items()
            if message.get("sessionID") == session_id
        ]
        yield from _session(info, messages)
