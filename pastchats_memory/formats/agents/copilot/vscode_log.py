"""VS Code chat sessions as a log of changes: `{"kind": 0…3, "k": path, "v": value, "i": index}` on each line."""

import re
from collections.abc import Iterator

from pastchats_memory.formats.base.source import Record, SourceFile
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, number_of, text_of
from pastchats_memory.model import Unreadable

BEGIN, SET, PUSH, DELETE = range(4)

_INDEX = re.compile(r"[0-9]{1,9}\Z")


def is_beginning(record: Json) -> bool:
    """Return whether a record has the whole session at the start of the log."""
    session = mapping_of(record.get("v"))
    return record.get("kind") == BEGIN and ("requests" in session or "sessionId" in session)


def replay(source: SourceFile) -> Iterator[Unreadable | tuple[Json, dict[str, int]]]:
    """Yield unreadable lines, then the session with the first line of each request."""
    session: Json = {}
    lines: dict[str, int] = {}
    for item in source.records():
        if isinstance(item, Unreadable):
            yield item
            continue
        if not _apply_change(session, item):
            yield Unreadable(str(source.path), item.line, "no change of the session")
        for request in map(mapping_of, list_of(session.get("requests"))[len(lines) :]):
            lines.setdefault(text_of(request.get("requestId")), item.line)
    yield session, lines


def _apply_change(session: Json, item: Record) -> bool:
    record = mapping_of(item.value)
    if record.get("kind") == BEGIN and isinstance(record.get("v"), dict):
        session.clear()
        session.update(mapping_of(record["v"]))
        return True
    path, kind = list_of(record.get("k")), record.get("kind")
    holder = _value_at(session, path[:-1])
    if not path or kind not in (SET, PUSH, DELETE):
        return False
    if kind == PUSH:
        return _extend_list(holder, path[-1], list_of(record.get("v")), record.get("i"))
    return _set_value(holder, path[-1], [record.get("v")] if kind == SET else [])


def _value_at(value: object, path: list[object]) -> object:
    for key in path:
        place = _index_of(value, key)
        if isinstance(value, dict):
            value = value.get(text_of(key))
        elif isinstance(value, list) and place is not None and place < len(value):
            value = value[place]
        else:
            return None
    return value


def _index_of(holder: object, key: object) -> int | None:
    """Return the index of a key in a list: a number, also as text."""
    number = int(key) if isinstance(key, str) and _INDEX.match(key) else number_of(key)
    return number if isinstance(holder, list) and number is not None and number >= 0 else None


def _set_value(holder: object, key: object, values: list[object]) -> bool:
    """Set a value, which may follow the last one of a list; without one, delete it."""
    place = _index_of(holder, key)
    if isinstance(holder, dict) and isinstance(key, str):
        if values:
            holder[key] = values[0]
        else:
            holder.pop(key, None)
    elif isinstance(holder, list) and place is not None and place < len(holder) + len(values):
        holder[place : place + 1] = values
    else:
        return False
    return True


def _extend_list(holder: object, key: object, items: list[object], start: object) -> bool:
    """Extend the list at the key, after truncating it to `start` items if that is given."""
    if isinstance(holder, dict) and isinstance(key, str):
        holder.setdefault(key, [])
    found = _value_at(holder, [key])
    if not isinstance(found, list):
        return False
    if isinstance(start, int) and start >= 0:
        del found[start:]
    found.extend(items)
    return True
