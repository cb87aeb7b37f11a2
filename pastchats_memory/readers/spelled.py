"""JSON that stands in strings of JSON, as logs of requests and exports of databases keep it."""

from __future__ import annotations

from base64 import b64decode

from pastchats_memory.readers.source import parse_json

CODED = ("eyJ", "eyA", "ewo", "W3s", "Wwo", "W1s", "WyJ")
"""How an object or a list of some begins in base64."""
SHORTEST_JSON = 24
DEEPEST = 24


def spelled_out(value: object, depth: int = 0) -> object:
    """The value with each string that spells an object or a list replaced by that; the very same value where none does."""
    if isinstance(value, str):
        inner = _spelled(value)
        return inner if inner is value or depth > DEEPEST else spelled_out(inner, depth + 1)
    if depth > DEEPEST or not isinstance(value, dict | list):
        return value
    if isinstance(value, list):
        items = [spelled_out(item, depth + 1) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    fields = {key: spelled_out(item, depth + 1) for key, item in value.items()}
    return fields if any(fields[key] is not item for key, item in value.items()) else value


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
    if spelling.lstrip()[:1] not in ("{", "["):
        return text
    inner = parse_json(spelling)
    return inner if isinstance(inner, dict | list) else text
