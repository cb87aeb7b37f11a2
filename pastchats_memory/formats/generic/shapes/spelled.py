"""JSON that is told in other words: in strings of JSON, as logs of requests and databases keep it, and in keys that are paths, as traces do."""

from __future__ import annotations

import re
from base64 import b64decode

from pastchats_memory.formats.base.source import Json, mapping_of, parse_json

CODED = ("eyJ", "eyA", "ewo", "W3s", "Wwo", "W1s", "WyJ")
"""How an object or a list of some begins in base64."""
STREAMED = ("data:", "event:", "id:")
"""How a line of server-sent events begins."""
BEGINNINGS = ("{", "[", *CODED, *STREAMED)
SHORTEST_JSON = 24
"""Characters; what is shorter says nothing."""
DEEPEST = 24
PAIRS = ({"key", "value"}, {"name", "value"})
FEWEST_PATHS = 4
"""Keys: two of each of two records."""

_PATH = re.compile(r"(?P<list>.{1,80}?)[._/\[](?P<at>\d{1,4})\]?[._/](?P<key>\D{1,80})")


def spelled_out(value: object) -> object:
    """The value with each string that spells an object or a list replaced by that, and keys that are paths by lists; else the very same value."""
    return _replaced(value, 0) if _may_spell(value) else value


def _may_spell(value: object) -> bool:
    """Whether any string begins as an object or a list does, or any keys are paths: a quick look, since most values have none."""
    stack = [value]
    while stack:
        at = stack.pop()
        if isinstance(at, str):
            if len(at) >= SHORTEST_JSON and at.lstrip().startswith(BEGINNINGS):
                return True
        elif isinstance(at, dict | list):
            if _by_paths(at) is not at:
                return True
            stack.extend(at.values() if isinstance(at, dict) else at)
    return False


def _replaced(value: object, depth: int) -> object:
    if depth > DEEPEST:
        return value
    if isinstance(value, str):
        inner = _spelled(value)
        return inner if inner is value else _replaced(inner, depth + 1)
    if isinstance(value, dict | list):
        value = _by_paths(value)
    if isinstance(value, list):
        items = [_replaced(item, depth + 1) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if isinstance(value, dict):
        fields = {key: _replaced(item, depth + 1) for key, item in value.items()}
        return fields if any(fields[key] is not item for key, item in value.items()) else value
    return value


def _by_paths(value: Json | list[object]) -> Json | list[object]:
    """The object in which `messages.0.role` or `messages[0].role` is a key as the one that is meant, a list of keys and values being such a one."""
    fields = _of_pairs(value) if isinstance(value, list) else value
    found = [match for key in fields if (match := _PATH.fullmatch(key))] if len(fields) >= FEWEST_PATHS else []
    lists: dict[str, dict[int, Json]] = {}
    for match in found:
        lists.setdefault(match["list"], {}).setdefault(int(match["at"]), {})[match["key"]] = fields[match[0]]
    if not any(len(items) > 1 and all(len(item) > 1 for item in items.values()) for items in lists.values()):
        return value
    paths = {match[0] for match in found}
    made = {
        key: [items[at] for at in sorted(items)] if len(items) > 1 else items.popitem()[1]
        for key, items in lists.items()
    }
    return {key: inner for key, inner in fields.items() if key not in paths} | made


def _of_pairs(items: list[object]) -> Json:
    """The object of a list of keys with their values; an empty one of any other list."""
    pairs = [mapping_of(item) for item in items if mapping_of(item).keys() in PAIRS]
    named = {name: item["value"] for item in pairs if isinstance(name := item.get("key", item.get("name")), str)}
    return {name: _alone(value) for name, value in named.items()} if len(named) == len(items) else {}


def _alone(value: object) -> object:
    """The value in an object that says of which type it is: `{"stringValue": "…"}`."""
    return next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 else value


def _spelled(text: str) -> object:
    """The object or list that a string spells as JSON, plainly, in base64 or as a server's events; else the string."""
    spelling = text
    if len(text) < SHORTEST_JSON:
        return text
    if text.startswith(CODED):
        try:
            spelling = b64decode(text, validate=True).decode()
        except ValueError:
            return text
    if not spelling.lstrip().startswith(("{", "[")):
        return _streamed(spelling) or text
    inner = parse_json(spelling)
    return inner if isinstance(inner, dict | list) else text


def _streamed(text: str) -> list[object]:
    """The objects in a text of server-sent events, one a line; none in any other text."""
    if not text.lstrip().startswith(STREAMED):
        return []
    lines = (line.removeprefix("data:").strip() for line in text.splitlines() if line.startswith("data:"))
    return [inner for line in lines if line.startswith("{") and isinstance(inner := parse_json(line), dict)]
