"""JSON that stands in strings of JSON, as logs of requests and exports of databases keep it."""

from __future__ import annotations

from base64 import b64decode

from pastchats_memory.readers.source import parse_json

CODED = ("eyJ", "eyA", "ewo", "W3s", "Wwo", "W1s", "WyJ")
"""How an object or a list of some begins in base64."""
BEGINNINGS = ("{", "[", *CODED)
SHORTEST_JSON = 24
"""Characters; what is shorter says nothing."""
DEEPEST = 24


def spelled_out(value: object) -> object:
    """The value with each string that spells an object or a list replaced by that; the very same value where none does."""
    return _replaced(value, 0) if _may_spell(value) else value


def _may_spell(value: object) -> bool:
    """Whether any string begins as an object or a list does: a quick look, since most values have none."""
    stack = [value]
    while stack:
        at = stack.pop()
        if isinstance(at, str):
            if len(at) >= SHORTEST_JSON and at.lstrip().startswith(BEGINNINGS):
                return True
        elif isinstance(at, dict):
            stack.extend(at.values())
        elif isinstance(at, list):
            stack.extend(at)
    return False


def _replaced(value: object, depth: int) -> object:
    if depth > DEEPEST:
        return value
    if isinstance(value, str):
        inner = _spelled(value)
        return inner if inner is value else _replaced(inner, depth + 1)
    if isinstance(value, list):
        items = [_replaced(item, depth + 1) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if isinstance(value, dict):
        fields = {key: _replaced(item, depth + 1) for key, item in value.items()}
        return fields if any(fields[key] is not item for key, item in value.items()) else value
    return value


def _spelled(text: str) -> object:
    """The object or list that a string spells as JSON, plainly or in base64; else the string."""
    spelling = text
    if len(text) < SHORTEST_JSON:
        return text
    if text.startswith(CODED):
        try:
            spelling = b64decode(text, validate=True).decode()
        except ValueError:
            return text
    if not spelling.lstrip().startswith(("{", "[")):
        return text
    inner = parse_json(spelling)
    return inner if isinstance(inner, dict | list) else text
