"""Lines or items of a file in windows that are small enough to be understood as one value, whatever the size of the file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate

from pastchats_memory.formats.base.source import SAMPLE_RECORDS, Element, Json, Places, Record

Nest = Callable[[object], object]
"""From what is below some keys of a document to the document with that there."""


@dataclass(frozen=True, slots=True)
class Window:
    """Some of the values that follow each other in a file."""

    values: list[object] | Json
    """A list, or of the members of an object an object."""
    places: Places


def windows(items: Iterable[Record | Element], most: int) -> Iterator[Window]:
    """All of the items, in windows that end with the item by which they have `most` characters of JSON; the last has up to twice as many."""
    held: list[tuple[Record | Element, str]] = []
    size = 0
    for item in items:
        spelled = item.text if isinstance(item, Element) else json.dumps(item.value, ensure_ascii=False)
        held.append((item, spelled))
        size += len(spelled)
        if size >= 2 * most:
            ends = accumulate(len(text) for _, text in held)
            cut = next(place for place, end in enumerate(ends, 1) if end >= most)
            yield _window(held[:cut])
            held = held[cut:]
            size = sum(len(text) for _, text in held)
    if held:
        yield _window(held)


def _window(held: list[tuple[Record | Element, str]]) -> Window:
    text: list[str] = []
    line = held[0][0].line
    for item, spelled in held:
        text.append("\n" * (item.line - line) + spelled)
        line = item.line + spelled.count("\n")
    keyed = {item.key: item.value for item, _ in held if isinstance(item, Element) and item.key is not None}
    return Window(keyed or [item.value for item, _ in held], Places("".join(text), held[0][0].line))


def longest_within(outline: object) -> tuple[tuple[str, ...], Nest]:
    """The keys down to the longest list or map of a document's outline, and how what is there is nested in the rest."""
    keys: list[str] = []
    around: list[Json] = []
    at = outline
    while isinstance(at, dict) and len(at) < SAMPLE_RECORDS:
        sizes = {key: len(json.dumps(inner)) for key, inner in at.items() if isinstance(inner, dict | list)}
        if not sizes:
            break
        keys.append(max(sizes, key=sizes.__getitem__))
        around.append(at)
        at = at[keys[-1]]

    def nested(value: object) -> object:
        for key, fields in zip(reversed(keys), reversed(around), strict=True):
            value = {**fields, key: value}
        return value

    return tuple(keys), nested
