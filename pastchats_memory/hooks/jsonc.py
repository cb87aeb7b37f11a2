"""Edit an agent's settings file without touching any other byte, and undo the edit.

Settings are JSON, often with comments, in an order and an indentation that somebody chose. So nothing is parsed and
rewritten: a scanner finds the end of a container, and text is inserted there. Every function raises UsageFault if a text is not
JSON, or has another value where an object or a list belongs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pastchats_memory.errors import UsageFault

BY_HAND = "Mend the file, or add the hooks by hand: see `install TARGET --print`."

_TOKEN = re.compile(
    r'"(?>(?:[^"\\]|\\.)*)"|//[^\n]*|/\*(?>(?:[^*]|\*(?!/))*)\*/|(?P<unclosed>(?:"|/\*).*)|[{}\[\]:,]|[^\s{}\[\]:,"/]+|\s+',
    re.DOTALL,
)
"""What is not closed is one token to the end, or every quotation mark behind it would be looked at as if it opened one."""

_Token = tuple[int, int, str]
"""Where a token starts and ends, and its text."""
_CLOSING = {"{": "}", "[": "]"}


@dataclass(slots=True)
class Node:
    """A JSON value and its place in the text."""

    start: int
    end: int
    value: Any = None
    """Of a scalar."""
    members: dict[str, Node] | None = None
    elements: list[Node] | None = None
    last: int = 0
    """Of a container: where its last element ends, or its opening bracket."""
    has_trailing_comma: bool = False

    def plain(self) -> Any:
        """Return the value as `json.loads` does."""
        if self.members is not None:
            return {key: node.plain() for key, node in self.members.items()}
        if self.elements is not None:
            return [node.plain() for node in self.elements]
        return self.value


@dataclass(frozen=True, slots=True)
class Edited:
    """A text with inserted pieces, and those pieces."""

    text: str
    pieces: tuple[str, ...] = ()


def scan(text: str) -> Node:
    """Parse JSON with comments and trailing commas."""
    tokens = [
        (found.start(), found.end(), found[0])
        for found in _TOKEN.finditer(text)
        if not found[0].isspace() and not found[0].startswith(("//", "/*"))
    ]
    is_covered = sum(len(found[0]) for found in _TOKEN.finditer(text) if found["unclosed"] is None) == len(text)
    reader = iter(tokens)
    try:
        node = _value(reader, next(reader))
    except (ValueError, StopIteration, RecursionError) as fault:
        raise UsageFault("it is not JSON", BY_HAND) from fault
    if not is_covered or next(reader, None) is not None:
        raise UsageFault("it is not JSON", BY_HAND)
    return node


def _value(reader: Iterator[_Token], first: _Token) -> Node:
    start, end, word = first
    closing = _CLOSING.get(word)
    return _container(reader, start, closing) if closing else Node(start, end, json.loads(word))


def _container(reader: Iterator[_Token], start: int, closing: str) -> Node:
    """Parse an object or a list behind its opening bracket."""
    node = Node(start, start, last=start + 1)
    members: dict[str, Node] = {}
    elements: list[Node] = []
    token = next(reader)
    while token[2] != closing:
        if closing == "}":
            key = json.loads(token[2])
            if next(reader)[2] != ":" or not isinstance(key, str):
                raise ValueError(key)
            element = members[key] = _value(reader, next(reader))
        else:
            element = _value(reader, token)
            elements.append(element)
        node.last = element.end
        token = _after_element(reader, node, closing)
    node.end = token[1]
    node.members, node.elements = (members, None) if closing == "}" else (None, elements)
    return node


def _after_element(reader: Iterator[_Token], node: Node, closing: str) -> _Token:
    token = next(reader)
    node.has_trailing_comma = False
    if token[2] == ",":
        node.last = token[1]
        node.has_trailing_comma = True
        return next(reader)
    if token[2] != closing:
        raise ValueError(token)
    return token


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
        text, pieces, lambda old: without_ours(old, is_ours), lambda bare: _add_hooks(bare, hooks, extra)
    )


def _insert_again(
    text: str, pieces: Sequence[str], remove: Callable[[str], str], insert: Callable[[str], Edited]
) -> Edited:
    """Return the settings with our part, in the place of what was put in before; the same text if it is there."""
    if not text.strip():
        return insert(text)
    edited = insert(without_inserted(text, pieces, remove))
    return Edited(text) if scan(edited.text).plain() == scan(text).plain() else edited


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
        if events[event].elements is None:
            raise UsageFault(f"hooks.{event} in it is no list", BY_HAND)
        for entry in entries:
            edited = _appended(edited, _members(_members(scan(edited.text))["hooks"])[event], entry, 3)
    return edited


def _members(node: Node) -> dict[str, Node]:
    if node.members is None:
        raise UsageFault("it has no object where hooks belong", BY_HAND)
    return node.members


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
    if not container.members and not container.elements:
        if "\n" not in text[container.last : container.end]:
            piece += "\n" + unit * (depth - 1)
    else:  # in the style of the container
        piece = f"{piece}," if container.has_trailing_comma else f",{piece}"
    if "\r\n" in text:
        piece = piece.replace("\n", "\r\n")
    return Edited(text[: container.last] + piece + text[container.last :], (*edited.pieces, piece))


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


def without_ours(text: str, is_ours: re.Pattern[str]) -> str:
    """Return the settings without our entries, wherever they stand now."""
    while True:
        root = scan(text)
        hooks = (root.members or {}).get("hooks")
        lists = [node for node in ((hooks.members or {}) if hooks else {}).values() if node.elements]
        ours = next(
            (
                (events, place)
                for events in lists
                for place, node in enumerate(events.elements or ())
                if is_ours.search(json.dumps(node.plain()))
            ),
            None,
        )
        if ours is None:
            return text
        text = _cut(text, ours[0], ours[1])


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

    return _insert_again(text, pieces, lambda old: without_member(old, parent, key), add)


def find_member(text: str, parent: str, key: str) -> Any:
    """Return the value of a member of a top-level object, or None."""
    if not text.strip():
        return None
    above = _members(scan(text)).get(parent)
    node = _members(above).get(key) if above is not None else None
    return None if node is None else node.plain()


def without_member(text: str, parent: str, key: str) -> str:
    """Return the settings without a member of a top-level object."""
    above = _members(scan(text)).get(parent)
    if above is None or key not in _members(above):
        return text
    return _cut(text, above, list(_members(above)).index(key))


def _cut(text: str, container: Node, place: int) -> str:
    """Return the text without the element of a container at a place, and without its comma."""
    elements = container.elements or list((container.members or {}).values())
    start = elements[place - 1].end if place else container.start + 1
    end = elements[place].end
    if not place and len(elements) > 1:  # the comma behind the first element goes with it
        end = text.index(",", end) + 1
    return text[:start] + text[end:]
