"""Damage done to a good transcript: what a reader has to live through without raising."""

import contextlib
import copy
import json

import apsw
from hypothesis import strategies as st
from made import made

STRANGE = st.sampled_from(
    [None, True, 0, -1, 1.5, 10**400, "", "x", "\ud83d", "\0", [], [[]], ["x"], {}, {"type": "text"}, {"x": {}}]
)
DELETED = object()
STRANGEST = (DELETED, None, True, -1, 10**400, "x", ["x"], {"x": {}})
"""Of each kind one, for trying all of them everywhere."""


def places(value, path=()):
    """Paths to every value inside a JSON value, itself included."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


def at(value, path):
    """What stands at the path."""
    for key in path:
        value = value[key]
    return value


def changed(value, path, new):
    """A copy of the value with what stands at the path replaced, or left out when `new` is DELETED."""
    if not path:
        return new
    whole = copy.deepcopy(value)
    holder = at(whole, path[:-1])
    if new is DELETED:
        del holder[path[-1]]
    else:
        holder[path[-1]] = new
    return whole


def changed_everywhere(path):
    """Bytes of a JSON file, again and again: each place of it in turn gone or of each strange type; items after the second are as the second."""
    text = path.read_text(encoding="utf-8", errors="replace")
    pieces = [text] if path.suffix in (".json", ".tree") else text.split("\n")
    seen = set()
    for number, piece in enumerate(pieces):
        try:
            value = json.loads(piece)
        except ValueError:
            continue
        kind = [value.get(key) for key in ("type", "subtype", "role")] if isinstance(value, dict) else []
        for place in places(value):
            key = repr((kind, [min(key, 1) if isinstance(key, int) else key for key in place]))
            for new in () if key in seen else STRANGEST if place else STRANGEST[1:]:
                yield "\n".join(
                    [*pieces[:number], json.dumps(changed(value, place, new)), *pieces[number + 1 :]]
                ).encode()
            seen.add(key)


@st.composite
def damaged_lines(draw, lines):
    """Bytes of a file of lines after one accident: cut anywhere, a line twice, lost or moved, and in JSON a value changed."""
    lines = list(lines)
    number = draw(st.integers(0, len(lines) - 1))
    accident = draw(st.sampled_from(["cut", "twice", "lost", "type", "key", "moved"]))
    if accident == "cut":
        text = "\n".join(lines).encode()
        return text[: draw(st.integers(0, len(text)))]
    if accident == "twice":
        lines.insert(number, lines[number])
    elif accident == "lost":
        del lines[number]
    elif accident == "moved":
        lines.insert(0, lines.pop(number))
    else:
        try:
            value = json.loads(lines[number])
        except ValueError:
            value = {}
        lines[number] = json.dumps(draw(damaged_value(value)))
    return "\n".join(lines).encode() + b"\n"


@st.composite
def damaged_value(draw, value):
    """The JSON value with something in it changed, gone, twice, or put where something else stood."""
    path = draw(st.sampled_from(list(places(value))))
    accident = draw(st.sampled_from(["type", "key", "twice", "moved"]))
    if accident == "key" and path:
        return changed(value, path, DELETED)
    if accident == "twice" and isinstance(found := at(value, path), list) and found:
        number = draw(st.integers(0, len(found) - 1))
        return changed(value, path, [*found[:number], found[number], *found[number:]])
    if accident == "moved":
        return changed(value, path, copy.deepcopy(at(value, draw(st.sampled_from(list(places(value)))))))
    return changed(value, path, draw(STRANGE))


@st.composite
def damaged(draw, path):
    """Bytes of the file after one accident of any kind."""
    if path.suffix == ".sql" and draw(st.booleans()):
        return draw(damaged_database(path))
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        value = json.loads(text) if path.suffix in (".json", ".tree") and draw(st.booleans()) else None
    except ValueError:
        value = None
    if value is None:
        return draw(damaged_lines(text.split("\n")))
    value = draw(damaged_value(value))
    return json.dumps(value, indent=draw(st.sampled_from([None, 1]))).encode()


@st.composite
def damaged_database(draw, path):
    """Bytes of the database of a fixture after a value was changed, or a stretch of the file overwritten or cut off."""
    built = made(path)
    raw = built.read_bytes()
    accident = draw(st.sampled_from(["value", "value", "cut", "overwritten"]))
    start = draw(st.integers(min(100, len(raw)), len(raw)))
    if accident == "cut":
        return raw[:start]
    if accident == "overwritten":
        new = draw(st.binary(min_size=1, max_size=64))
        return raw[:start] + new + raw[start + len(new) :]
    with contextlib.suppress(apsw.Error, ValueError):  # it was damaged before, or may not have that value
        change_a_value(draw, built)
    return built.read_bytes()


def change_a_value(draw, path):
    """Puts another value into a cell of the database."""
    with contextlib.closing(apsw.Connection(str(path))) as database:
        database.execute("PRAGMA synchronous=OFF")
        tables = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
        names = [name for (name,) in database.execute(tables)]
        table = draw(st.sampled_from(names or ["none"]))
        columns = [row[1] for row in database.execute(f'PRAGMA table_info("{table}")')]
        column = draw(st.sampled_from(columns or ["none"]))
        rows = list(database.execute(f'SELECT rowid, "{column}" FROM "{table}"'))
        rowid, value = draw(st.sampled_from(rows or [(0, None)]))
        statement = f'UPDATE OR IGNORE "{table}" SET "{column}" = ? WHERE rowid = ?'
        database.execute(statement, (draw(other(value)), rowid))


@st.composite
def other(draw, value):
    """Another value for a cell: JSON that was damaged, or a scalar of whatever type."""
    try:
        found = json.loads(value) if isinstance(value, str) else None
    except ValueError:
        found = None
    if isinstance(found, dict | list) and draw(st.booleans()):
        return json.dumps(draw(damaged_value(found)))
    return draw(st.sampled_from([None, 0, -1, 1.5, 1 << 62, "", "x", "{", b"", b"\xff\x00"]))
