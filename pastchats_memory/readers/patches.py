"""The document that a list of JSON Patch operations (RFC 6902) makes, as logs of a state keep it."""

from __future__ import annotations

from pastchats_memory.readers.fields import Json, list_of, mapping_of

PATCHES = frozenset({"add", "replace", "remove"})


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
    value, gone = step.get("value"), step["op"] == "remove"
    if isinstance(at, dict):
        at.pop(name, None) if gone else at.update({name: value})
    elif isinstance(at, list):
        place = int(name) if name.isdigit() else len(at)
        if step["op"] != "add" and place < len(at):
            at[place : place + 1] = [] if gone else [value]
        elif not gone:
            at.insert(place, value)
