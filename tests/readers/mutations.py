"""Damage done to a good transcript: what a reader has to live through without raising."""

import copy
import json

from hypothesis import strategies as st

STRANGE = st.sampled_from(
    [None, True, 0, -1, 1.5, 10**400, "", "x", "\ud83d", "\0", [], [[]], ["x"], {}, {"type": "text"}, {"x": {}}]
)


def places(value, path=()):
    """Paths to every value inside a JSON value, itself included."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


def changed(value, path, new):
    """A copy of the value with what stands at the path replaced, or left out when `new` is DELETED."""
    if not path:
        return new
    whole = copy.deepcopy(value)
    holder = whole
    for key in path[:-1]:
        holder = holder[key]
    if new is DELETED:
        del holder[path[-1]]
    else:
        holder[path[-1]] = new
    return whole


DELETED = object()


@st.composite
def damaged_lines(draw, lines):
    """Bytes of a JSONL file after one accident: cut anywhere, a line twice or lost, a value of another type, a key gone."""
    lines = list(lines)
    at = draw(st.integers(0, len(lines) - 1))
    accident = draw(st.sampled_from(["cut", "twice", "lost", "type", "key", "moved"]))
    if accident == "cut":
        text = "\n".join(lines).encode()
        return text[: draw(st.integers(0, len(text)))]
    if accident == "twice":
        lines.insert(at, lines[at])
    elif accident == "lost":
        del lines[at]
    elif accident == "moved":
        lines.insert(0, lines.pop(at))
    else:
        try:
            value = json.loads(lines[at])
        except ValueError:
            value = {}
        path = draw(st.sampled_from(list(places(value))))
        new = DELETED if accident == "key" and path else draw(STRANGE)
        lines[at] = json.dumps(changed(value, path, new))
    return "\n".join(lines).encode() + b"\n"
