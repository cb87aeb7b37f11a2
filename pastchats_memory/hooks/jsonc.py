"""Edit an agent's settings file without touching any other byte, and undo the edit.

Settings are JSON, often with comments, in an order and an indentation that somebody chose. So nothing is parsed and
rewritten: a scanner finds the end of a container, and text is inserted there. Every function raises UsageFault if a text is not
JSON, or has another value where an object or a list belongs.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pastchats_memory.errors import UsageFault

BY_HAND = "Mend the file, or add the hooks by hand: see `install TARGET --print`."

_REMARK = r"//[^\n]*|/\*(?>(?:[^*]|\*(?!/))*)\*/"
_NO_JSON = re.compile(
    rf"""
    "(?>(?:[^"\\]|\\.)*)"                  # a text
    | [\[{{](?>(?:\s|{_REMARK})*),         # a mistake: a comma without an element before it
    | (?P<blank>{_REMARK} | ,(?=(?>(?:\s|{_REMARK})*)[}}\]]) | [^\S\x20\t\r\n])
    | (?:"|/\*).*                         # not closed; else every quotation mark behind it would be looked at, too
    """,
    re.DOTALL | re.VERBOSE,
)
"""Remarks, commas before a closing bracket and blanks that JSON does not have."""
_COMMA = re.compile(rf"(?>(?:\s|{_REMARK})*),")
_BLANKS = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Node:
    """A JSON value and its place in the text."""

    bare: str
    """The whole text, with blanks in place of what is no JSON."""
    start: int
    end: int
    value: Any
    key: str | None = None
    """Of a member of an object."""

    @property
    def elements(self) -> "list[Node]":
        """Return the members of an object or the elements of a list, in order; none of another value."""
        found: list[Node] = []
        at = self._skip_blanks(self.start + 1) if isinstance(self.value, dict | list) else self.end
        while at < self.end - 1:
            key = None
            if isinstance(self.value, dict):
                key, at = _DECODER.raw_decode(self.bare, at)
                at = self._skip_blanks(self._skip_blanks(at) + 1)  # the colon
            value, end = _DECODER.raw_decode(self.bare, at)
            found.append(Node(self.bare, at, end, value, key))
            at = self._skip_blanks(end)
            at = self._skip_blanks(at + 1) if self.bare[at] == "," else at
        return found

    def _skip_blanks(self, at: int) -> int:
        found = _BLANKS.match(self.bare, at)
        return found.end() if found else at


@dataclass(frozen=True, slots=True)
class Edited:
    """A text with inserted pieces, and those pieces."""

    text: str
    pieces: tuple[str, ...] = ()


def scan(text: str) -> Node:
    """Parse JSON with comments and trailing commas."""
    bare = _NO_JSON.sub(lambda found: found[0] if found["blank"] is None else " " * len(found[0]), text)
    try:
        value = json.loads(bare)
    except (ValueError, RecursionError) as fault:
        raise UsageFault("it is not JSON", BY_HAND) from fault
    return Node(bare, len(bare) - len(bare.lstrip()), len(bare.rstrip()), value)


def with_hooks(
    text: str,
    hooks: Mapping[str, Sequence[Any]],
    extra: Mapping[str, Any],
    is_ours: re.Pattern[str],
    pieces: Sequence[str] = (),
) -> Edited:
    """Return the settings, blank for a file to be made, with the entries of each event and missing top-level members.

    Where the entries are there already, nothing changes; others of ours, such as those of an installation that has moved, make
    room for them. `pieces` were put into this text before.
    """
    return _insert_again(
        text, pieces, lambda old: without_ours(old, is_ours, pieces), lambda bare: _add_hooks(bare, hooks, extra)
    )


def _insert_again(
    text: str, pieces: Sequence[str], remove: Callable[[str], str], insert: Callable[[str], Edited]
) -> Edited:
    """Return the settings with our part, in the place of what was put in before; the same text if it is there."""
    if not text.strip():
        return insert(text)
    edited = insert(without_inserted(text, pieces, remove))
    return Edited(text) if scan(edited.text).value == scan(text).value else edited


def _make(text: str, value: Any) -> Edited:
    """Return a file to be made, behind the blanks that it has."""
    made = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    return Edited(text + made, (made,))


def _add_hooks(text: str, hooks: Mapping[str, Sequence[Any]], extra: Mapping[str, Any]) -> Edited:
    if not text.strip():
        return _make(text, {**extra, "hooks": dict(hooks)})
    edited = Edited(text)
    for key, value in extra.items():
        if key not in _members(scan(edited.text)):
            edited = _appended(edited, scan(edited.text), value, 1, key)
    if "hooks" not in _members(scan(edited.text)):
        return _appended(edited, scan(edited.text), dict(hooks), 1, "hooks")
    for event, entries in hooks.items():
        events = _members(_members(scan(edited.text))["hooks"])
        if event not in events:
            edited = _appended(edited, _members(scan(edited.text))["hooks"], list(entries), 2, event)
            continue
        if not isinstance(events[event].value, list):
            raise UsageFault(f"hooks.{event} in it is no list", BY_HAND)
        for entry in entries:
            edited = _appended(edited, _members(_members(scan(edited.text))["hooks"])[event], entry, 3)
    return edited


def _members(node: Node) -> dict[str | None, Node]:
    if not isinstance(node.value, dict):
        raise UsageFault("it has no object where hooks belong", BY_HAND)
    return {one.key: one for one in node.elements}


def _appended(edited: Edited, container: Node, value: Any, depth: int, key: str | None = None) -> Edited:
    """Return the text with an element appended to a container.

    The container's elements are indented `depth` times.
    """
    text = edited.text
    indented = re.search(r"\n([ \t]+)\S", text)
    unit = indented[1] if indented else "  "
    label = "" if key is None else f"{json.dumps(key)}: "
    inside = json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", "\n" + unit * depth)
    piece = f"\n{unit * depth}{label}{inside}"
    last = container.start + 1
    if not container.value:
        if "\n" not in text[last : container.end]:
            piece += "\n" + unit * (depth - 1)
    else:  # in the style of the container
        last = container.elements[-1].end
        comma = _COMMA.match(text, last)
        last, piece = (comma.end(), f"{piece},") if comma else (last, f",{piece}")
    if "\r\n" in text:
        piece = piece.replace("\n", "\r\n")
    return Edited(text[:last] + piece + text[last:], (*edited.pieces, piece))


def without_pieces(text: str, pieces: Sequence[str]) -> str | None:
    """Return the text without inserted pieces; None if one is no longer there unchanged."""
    for piece in reversed(pieces):
        if text.count(piece) != 1:
            return None
        text = text.replace(piece, "")
    return text


def without_inserted(text: str, pieces: Sequence[str], remove: Callable[[str], str]) -> str:
    """Return JSON without inserted pieces.

    If one is no longer there unchanged, or something behind it needs it, such as a comma, `remove` finds our part.
    """
    restored = without_pieces(text, pieces) if pieces else None
    try:
        if restored is not None and restored.strip():
            scan(restored)
    except UsageFault:
        restored = None
    return remove(text) if restored is None else restored


def without_ours(text: str, is_ours: re.Pattern[str], pieces: Sequence[str] = ()) -> str:
    """Return the settings without our entries, wherever they stand now; `pieces` were put in."""
    while True:
        root = scan(text)
        ours = (
            [(root, place), (hooks, at), (events, number)]
            for place, hooks in enumerate(root.elements)
            for at, events in enumerate(hooks.elements if hooks.key == "hooks" else ())
            for number, entry in enumerate(events.value if events.key and isinstance(events.value, list) else ())
            if is_ours.search(json.dumps(entry))
        )
        if (path := next(ours, None)) is None:
            return text
        text = _cut_made(text, path, pieces)


def with_member(text: str, parent: str, key: str, value: Any, pieces: Sequence[str] = ()) -> Edited:
    """Return the settings with one member of a top-level object, such as a server of `mcpServers`, in place of an older one.

    The text may be blank, for a file to be made. `pieces` were put into it before.
    """

    def add(bare: str) -> Edited:
        if not bare.strip():
            return _make(bare, {parent: {key: value}})
        root = scan(bare)
        above = _members(root).get(parent)
        if above is None:
            return _appended(Edited(bare), root, {key: value}, 1, parent)
        return _appended(Edited(bare), above, value, 2, key)

    return _insert_again(text, pieces, lambda old: without_member(old, parent, key, pieces), add)


def find_member(text: str, parent: str, key: str) -> Any:
    """Return the value of a member of a top-level object, or None."""
    if not text.strip():
        return None
    above = _members(scan(text)).get(parent)
    node = _members(above).get(key) if above is not None else None
    return None if node is None else node.value


def without_member(text: str, parent: str, key: str, pieces: Sequence[str] = ()) -> str:
    """Return the settings without a member of a top-level object; `pieces` were put in."""
    root = scan(text)
    found = [
        [(root, place), (above, at)]
        for place, above in enumerate(root.elements)
        for at, one in enumerate(above.elements if above.key == parent else ())
        if one.key == key
    ]
    return _cut_made(text, found[-1], pieces) if found else text


def _cut_made(text: str, path: list[tuple[Node, int]], pieces: Sequence[str]) -> str:
    """Return the text without the element at the end of a path, and without what would be empty and was put in for it."""
    while len(path) > 1:
        holder = path[-1][0]
        label = f"{json.dumps(holder.key)}: {text[holder.start]}"
        if len(holder.elements) > 1 or (pieces and not any(label in piece for piece in pieces)):
            break
        path.pop()
    return _cut(text, *path[-1])


def _cut(text: str, container: Node, place: int) -> str:
    """Return the text without the element of a container at a place, and without its comma."""
    elements = container.elements
    start = elements[place - 1].end if place else container.start + 1
    end = elements[place].end
    if not place and len(elements) > 1:  # the comma behind the first element goes with it
        end = text.index(",", end) + 1
    return text[:start] + text[end:]
