"""OpenCode conversations: exports, the database of 1.2 and later, files before it, captured events.

All have the same records: a session, its messages, their parts. `session` builds turns from them; `v2` converts the
records of version 2 to those of version 1.
"""

from collections.abc import Iterator, Mapping, Sequence

from pastchats_memory.files.foreign_sqlite import ForeignDatabase, Value
from pastchats_memory.formats.agents.opencode import files, session
from pastchats_memory.formats.agents.opencode.events import Captured, is_certainly_printed, parse_event
from pastchats_memory.formats.agents.opencode.files import Tree, tree_of
from pastchats_memory.formats.agents.opencode.v2 import parse_v2_message
from pastchats_memory.formats.base.format import Companions, Format, StoredSession, confident
from pastchats_memory.formats.base.source import Element, Places, Record, SourceFile
from pastchats_memory.formats.base.sqlite_sessions import has_tables
from pastchats_memory.formats.base.values import BadJson, Json, list_of, mapping_of, number_of, parse_json, text_of
from pastchats_memory.model import Task, Turn, Unreadable

SESSIONS = ("session", "session_v2")
"""Tables of sessions, of OpenCode 1 and 2. A session that OpenCode 2 took over is in both."""
TABLES = {"message": frozenset({"id", "session_id", "data"}), "part": frozenset({"id", "message_id", "data"})}
TABLES_OF_V2 = {"session_message": frozenset({"id", "session_id", "type", "data"})}
"""The tables of OpenCode 2, which may be next to those of OpenCode 1."""


def matches(source: SourceFile) -> bool:
    """Return whether a file is an export, a session's file, OpenCode's database, or captured events."""
    if source.shape == "sqlite":
        has_sessions = any(has_tables(source, {name: frozenset({"id"})}) for name in SESSIONS)
        return has_sessions and (has_tables(source, TABLES) or has_tables(source, TABLES_OF_V2))
    if source.shape == "jsonl":
        return any(parse_event(record) or is_certainly_printed(record) for record in source.sample)
    if source.shape != "json":
        return False
    if session.is_session(source.outline) or _is_export(source.outline):
        return True
    tree = tree_of(source.path)
    return tree is not None and bool(tree.messages())


def read(source: SourceFile) -> Iterator[Turn | Task | Unreadable]:
    """Yield the turns, oldest session first: a subagent's on a sidechain, undone ones abandoned."""
    if source.shape == "sqlite":
        yield from source.from_database(_from_database)
    elif source.shape == "jsonl":
        yield from _from_events(source)
    elif _is_export(source.outline):
        yield from _from_export(source)
    elif (tree := tree_of(source.path)) is not None:
        yield from _from_tree(tree)


def _message_in(value: object, line_of: session.Lines = session.first_line) -> session.StoredMessage | None:
    return session.parse_message(value, line_of) or parse_v2_message(value, line_of)


def _is_export(document: object) -> bool:
    fields = mapping_of(document)
    messages = list_of(fields.get("messages")) if isinstance(fields.get("info"), dict) else []
    return any(_message_in(message) for message in messages)


def _from_export(source: SourceFile) -> Iterator[Turn | Task | Unreadable]:
    """Yield the turns of an export, read twice, so that memory holds only one message."""
    infos: list[Json] = []
    for item in source.elements("messages"):
        if isinstance(item, Unreadable):
            yield item
        elif (message := _message_in(item.value)) is not None:
            info = message.info
            infos.append({key: info[key] for key in ("id", "parentID", "path", "type") if key in info})
        else:
            yield Unreadable(str(source.path), item.line, "not a message of an export")
    info = mapping_of(mapping_of(source.outline).get("info"))
    order = session.order_of(infos)
    items = (item for item in source.elements("messages") if isinstance(item, Element))
    data = (message for item in items if (message := _message_in(item.value, _lines_in(item))))
    if order != sorted(order):
        each = list(data)
        data = (each[place] for place in order)
    yield from session.Session(info, session.folder_of(info) or session.folder_of_answers(infos)).turns(data)


def _lines_in(item: Element) -> session.Lines:
    places = Places(item.text, item.line)
    return lambda part: places.line(text_of(part.get("text")) or text_of(part.get("id")))


def _from_tree(tree: Tree) -> Iterator[Turn | Task | Unreadable]:
    """Yield the turns of a tree of files, without missing and half-written parts."""
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
        messages.append(session.StoredMessage({"id": file.stem, **record(file, file.read_bytes())}, parts))
    yield from faults
    yield from _session({"id": tree.session_id, **info}, messages)


def _from_database(database: ForeignDatabase) -> Iterator[Turn | Task | Unreadable]:
    worktrees = {row[0]: row[1] for row in database.rows("project", ("id", "worktree"))}
    columns = ("id", "project_id", "parent_id", "title", "directory", "revert", "data")
    sessions = {row[0]: row for name in SESSIONS for row in database.rows(name, columns, order=("id",))}
    for own_id, project, parent, title, directory, revert, data in sessions.values():
        info: Json = {"id": own_id, "parentID": parent, "title": title, "revert": parse_json(text_of(revert))}
        info["worktree"] = worktrees.get(project)
        info["directory"] = directory or info["worktree"]
        known = {key: value for key, value in info.items() if value}
        names, where = ("content", "status", "priority", "time_updated"), {"session_id": text_of(own_id)}
        rows = database.rows("todo", names, where=where, order=("position",))
        todos: list[Json] = [dict(zip(names, row, strict=True)) for row in rows]
        yield from _session(_record(data) | known, _messages(database, where), todos)


def _session(info: Json, messages: list[session.StoredMessage], todos: Sequence[Json] = ()) -> Iterator[Turn | Task]:
    infos = [message.info for message in messages]
    cwd = session.folder_of(info) or session.folder_of_answers(infos)
    yield from session.Session(info, cwd, todos).turns(messages[place] for place in session.order_of(infos))


def _messages(database: ForeignDatabase, where: Mapping[str, Value]) -> list[session.StoredMessage]:
    """Return the messages of OpenCode 2, and the older ones of version 1 that it did not take over."""
    columns, order = ("id", "type", "time_created", "data"), ("seq", "id")
    second: list[session.StoredMessage] = []
    for own_id, kind, created, data in database.rows("session_message", columns, where=where, order=order):
        record: Json = {"time": {"created": created}} | _record(data) | {"id": own_id, "type": kind}
        if message := parse_v2_message(record):
            second.append(message)
    begun = min((_created(message.info) for message in second if message.parts), default=None)
    first = list(_first_messages(database, where, begun))
    return [first[place] for place in session.order_of([message.info for message in first])] + second


def _created(info: Json) -> int:
    """Return the time in milliseconds since 1970, or 0."""
    return number_of(mapping_of(info.get("time")).get("created")) or 0


def _first_messages(
    database: ForeignDatabase, where: Mapping[str, Value], before: int | None
) -> Iterator[session.StoredMessage]:
    """Yield the messages of version 1 before a time in milliseconds."""
    columns, order = ("id", "time_created", "sequence", "data"), ("sequence", "time_created", "id")
    for own_id, created, sequence, data in database.rows("message", columns, where=where, order=order):
        info: Json = {"id": own_id, "time": {"created": created}} | _record(data)
        if sequence is not None:
            info["sequence"] = sequence
        if before is None or _created(info) < before:
            parts = database.rows("part", ("id", "data"), where={"message_id": own_id}, order=("sequence", "id"))
            yield session.StoredMessage(info, [{"id": part_id} | _record(part) for part_id, part in parts])


def _record(data: object) -> Json:
    return mapping_of(parse_json(data)) if isinstance(data, str | bytes) else {}


def _from_events(source: SourceFile) -> Iterator[Turn | Task | Unreadable]:
    captured = Captured()
    for item in source.records():
        if isinstance(item, Record) and isinstance(item.value, dict):
            captured.add(item.value, item.line)
        else:
            yield Unreadable(str(source.path), item.line, getattr(item, "reason", "no object"))
    for info, messages in captured.conversations():
        yield from _session(info | {"id": text_of(info.get("id")) or source.path.stem}, messages)


def resume(session: StoredSession) -> list[str]:
    """Return the command of the program whose file it is."""
    own_id = session.conversation_id.partition("/")[0]
    if session.path.name == "db.sqlite":
        return ["zcode", "--resume", own_id]
    return ["kilo" if "kilo" in session.path.parts else "opencode", "--session", own_id]  # https://opencode.ai/docs/cli


OPENCODE = Format(
    name="opencode",
    version=14,
    detect=confident(matches, 90),
    read=read,
    program="OpenCode, Kilo CLI, ZCode",
    dialect=lambda: session.DIALECT,
    companions=Companions((files.SESSION, files.MESSAGE), files.other_files, files.hidden_in),
    resume=resume,
)
