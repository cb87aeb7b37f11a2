"""The document that a list of JSON Patch operations (RFC 6902) makes, as logs of a state keep it."""

from __future__ import annotations

from pastchats_memory.readers.fields import Json, list_of, mapping_of

PATCHES = frozenset({"add", "replace", "remove"})
DEEPEST = 40
"""Lists and objects within each other; no chat is kept deeper."""


def patched(items: list[object]) -> object | None:
    """The document that a list of JSON Patch operations makes, or None for any other list."""
    steps = [mapping_of(item) for item in items]
    if not steps or not all(isinstance(s.get("path"), str) and s.get("op") in PATCHES for s in steps):
        return None
    top: Json = {}
    for step in steps:
        *way, last = ["", *filter(None, str(step["path"]).split("/"))]
        at: object = top
        for name, after in zip(way, [*way[1:], last], strict=True):
            empty: object = [] if after == "-" or after.isdigit() else {}
            at = at.setdefault(name, empty) if isinstance(at, dict) else _item(at, name)
        _change(at, last, step)
    return top.get("", {})


def _item(at: object, name: str) -> object:
    items = list_of(at)
    return items[int(name)] if name.isdigit() and int(name) < len(items) else None


def _change(at: object, name: str, step: Json) -> None:
    if isinstance(at, dict):
        if step["op"] == "remove":
            at.pop(name, None)
        else:
            at[name] = _copied(step.get("value"), 0)
    elif isinstance(at, list):
        place = int(name) if name.isdigit() else len(at)
        if step["op"] != "add":
            del at[place : place + 1]
        if step["op"] != "remove":
            at.insert(place, _copied(step.get("value"), 0))


def _copied(value: object, depth: int) -> object:
    """The value, of which later operations change nothing in the operation that brought it; None for what is too deep to be looked at."""
    if depth > DEEPEST:
        return None
    if isinstance(value, dict):
        return {key: _copied(inner, depth + 1) for key, inner in value.items()}
    return [_copied(item, depth + 1) for item in value] if isinstance(value, list) else value
