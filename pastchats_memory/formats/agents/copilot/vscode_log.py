"""VS Code chat sessions as a log of changes: `{"kind": 0…3, "k": path, "v": value, "i": index}` on each line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pastchats_memory.formats.base.source import (
    Json,
    Record,
    SourceFile,
    list_of,
    mapping_of,
    number_of,
    text_of,
)
from pastchats_memory.model import Unreadable

BEGIN, SET, PUSH, DELETE = range(4)

_INDEX = re.compile(r"[0-9]{1,9}\Z")


def is_beginning(record: Json) -> bool:
    """Whether the line has the whole session as it was when the log was begun."""
    session = mapping_of(record.get("v"))
    return record.get("kind") == BEGIN and ("requests" in session or "sessionId" in session)


def replay(source: SourceFile) -> Iterator[Unreadable | tuple[Json, dict[str, int]]]:
    """The lines that are no changes, and last the session with the line on which each of its requests was begun."""
    session: Json = {}
    lines: dict[str, int] = {}
    for item in source.records():
        if isinstance(item, Unreadable):
            yield item
            continue
        if not _change(session, item):
            yield Unreadable(str(source.path), item.line, "no change of the session")
        for request in map(mapping_of, list_of(session.get("requests"))[len(lines) :]):
            lines.setdefault(text_of(request.get("requestId")), item.line)
    yield session, lines


def _change(session: Json, item: Record) -> bool:
    """Apply one line; False for a line that is none, or whose path leads nowhere."""
    record = mapping_of(item.value)
    if record.get("kind") == BEGIN and isinstance(record.get("v"), dict):
        session.clear()
        session.update(mapping_of(record["v"]))
        return True
    path = list_of(record.get("k"))
    holder = _at(session, path[:-1])
    if not path or holder is None:
        return False
    match record.get("kind"):
        case kind if kind == SET:
            return _put(holder, path[-1], record.get("v"))
        case kind if kind == PUSH:
            return _push(holder, path[-1], list_of(record.get("v")), record.get("i"))
        case kind if kind == DELETE:
            return _delete(holder, path[-1])
    return False


def _at(value: object, path: list[object]) -> object:
    """What stands at the path; None where there is nothing."""
    for key in path:
        place = _place(value, key)
        if isinstance(value, dict):
            value = value.get(text_of(key))
        elif isinstance(value, list) and place is not None and place < len(value):
            value = value[place]
        else:
            return None
    return value


def _place(holder: object, key: object) -> int | None:
    """The index that a key means in a list: a number, or one as text."""
    number = int(key) if isinstance(key, str) and _INDEX.match(key) else number_of(key)
    return number if isinstance(holder, list) and number is not None and number >= 0 else None


def _put(holder: object, key: object, value: object) -> bool:
    place = _place(holder, key)
    if isinstance(holder, dict) and isinstance(key, str):
        holder[key] = value
    elif isinstance(holder, list) and place is not None and place <= len(holder):
        holder[place : place + 1] = [value]
    else:
        return False
    return True


def _push(holder: object, key: object, items: list[object], start: object) -> bool:
    """Add items to the list at the key, after cutting it at `start` where that is given."""
    if isinstance(holder, dict) and isinstance(key, str):
        holder.setdefault(key, [])
    found = _at(holder, [key])
    if not isinstance(found, list):
        return False
    if isinstance(start, int) and start >= 0:
        del found[start:]
    found.extend(items)
    return True


def _delete(holder: object, key: object) -> bool:
    place = _place(holder, key)
    if isinstance(holder, dict) and isinstance(key, str):
        holder.pop(key, None)
    elif isinstance(holder, list) and place is not None and place < len(holder):
        del holder[place]
    else:
        return False
    return True
