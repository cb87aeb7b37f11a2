"""JSON in strings, as logs of requests and databases write it, and lists whose places are in keys, as traces have them."""

import re
from base64 import b64decode

from pastchats_memory.formats.base.values import Json, mapping_of, parse_json

BASE64_STARTS = ("eyJ", "eyA", "ewo", "W3s", "Wwo", "W1s", "WyJ")
"""Starts of an object or a list of objects in base64."""
EVENT_STARTS = ("data:", "event:", "id:")
"""Starts of a line of server-sent events."""
JSON_STARTS = ("{", "[", *BASE64_STARTS, *EVENT_STARTS)
SHORTEST_JSON = 24
DEEPEST_JSON = 24
PAIR_KEYS = ({"key", "value"}, {"name", "value"})
FEWEST_PATHS = 4
"""Keys that are paths: two of each of two records."""

_PATH = re.compile(r"(?P<list>.{1,80}?)[._/\[](?P<place>\d{1,4})\]?[._/](?P<key>\D{1,80})")


def decode_nested_json(value: object, depth: int = 0) -> object:
    """Return the value with JSON strings decoded and keys that are paths made lists; without any, the very value."""
    if depth > DEEPEST_JSON:
        return value
    if isinstance(value, str):
        inner = _decode_string(value)
        return inner if inner is value else decode_nested_json(inner, depth + 1)
    if not isinstance(value, dict | list):
        return value
    value = _expand_paths(value)
    if isinstance(value, list):
        items = [decode_nested_json(item, depth + 1) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    fields = {key: decode_nested_json(item, depth + 1) for key, item in value.items()}
    return fields if any(fields[key] is not item for key, item in value.items()) else value


def _expand_paths(value: Json | list[object]) -> Json | list[object]:
    """Return the object with lists for keys such as `messages.0.role` and `messages[0].role`; pairs are an object."""
    fields = _read_pairs(value) if isinstance(value, list) else value
    found = [match for key in fields if (match := _PATH.fullmatch(key))] if len(fields) >= FEWEST_PATHS else []
    lists: dict[str, dict[int, Json]] = {}
    for match in found:
        lists.setdefault(match["list"], {}).setdefault(int(match["place"]), {})[match["key"]] = fields[match[0]]
    if not any(len(items) > 1 and all(len(item) > 1 for item in items.values()) for items in lists.values()):
        return value
    paths = {match[0] for match in found}
    ordered = {key: [items[place] for place in sorted(items)] for key, items in lists.items()}
    expanded = {key: items if len(items) > 1 else items[0] for key, items in ordered.items()}
    return {key: inner for key, inner in fields.items() if key not in paths} | expanded


def _read_pairs(items: list[object]) -> Json:
    pairs = [mapping_of(item) for item in items]
    if not all(pair.keys() in PAIR_KEYS for pair in pairs):
        return {}
    named = {name: pair["value"] for pair in pairs if isinstance(name := pair.get("key", pair.get("name")), str)}
    return {name: _untyped(value) for name, value in named.items()} if len(named) == len(items) else {}


def _untyped(value: object) -> object:
    """Return the value of an object that names its type: `{"stringValue": "…"}`."""
    return next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 else value


def _decode_string(text: str) -> object:
    """Return the object or list in a string of JSON, base64 or server-sent events; return any other string unchanged."""
    if len(text) < SHORTEST_JSON or not text.lstrip().startswith(JSON_STARTS):
        return text
    decoded = text
    if text.startswith(BASE64_STARTS):
        try:
            decoded = b64decode(text, validate=True).decode()
        except ValueError:
            return text
    if not decoded.lstrip().startswith(("{", "[")):
        return _read_events(decoded) or text
    inner = parse_json(decoded)
    return inner if isinstance(inner, dict | list) else text


def _read_events(text: str) -> list[object]:
    """Return the objects of server-sent events, one for each line of data."""
    lines = (line.removeprefix("data:").strip() for line in text.splitlines() if line.startswith("data:"))
    return [inner for line in lines if line.startswith("{") and isinstance(inner := parse_json(line), dict)]
