"""A large JSON text as a stream of bytes: one value at a time, with its line.

Only keys are parsed here. An event parser (ijson) reports no positions and cannot continue after a broken value. This
scanner cuts the text at brackets, and `parse_json` parses each piece.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO, cast

CHUNK = 1 << 20
NESTED = 4
"""Levels that one match takes in at once, which passes over a chat export in two thirds of the time of none."""

# groups are atomic, not repeated possessively, which Python before 3.11.5 matches wrongly
_STRING = rb'"(?>(?:[^"\\]++|\\.)*)"'


def _up_to_a_bracket() -> re.Pattern[bytes]:
    flat = rb'[^"\[\]{}]++|' + _STRING
    within = flat
    for _ in range(NESTED):
        within = flat + rb"|[\[{](?>(?:" + within + rb")*)[\]}]"
    return re.compile(rb"(?>(?:" + within + rb")*)([\[\]{}])?", re.DOTALL)


BRACKET = _up_to_a_bracket()
"""All that is whole up to the next bracket that closes, or opens more than NESTED levels, and that bracket, if it is there."""
STRING = re.compile(_STRING, re.DOTALL)
SCALAR = re.compile(rb"[^\s,:\[\]{}\"]++")
BLANKS = re.compile(rb"[\s\0]*+")


class Torn(ValueError):
    """The text ends, or stops being JSON, where a value or a bracket should be."""


class Scanner:
    """A place in a JSON text that moves on value by value."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._buffer = b""
        self._at = 0
        self._mark: int | None = None
        self._line = 1
        self._counted = 0  # up to where the buffer's line ends are in `_line`

    @property
    def line(self) -> int:
        """1-based line of the place."""
        self._line += self._buffer.count(b"\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def peek(self) -> bytes:
        """Return the next byte that is no blank, `b""` at the end. Raises OSError."""
        while True:
            self._at = cast("re.Match[bytes]", BLANKS.match(self._buffer, self._at)).end()
            if self._at < len(self._buffer):
                return self._buffer[self._at : self._at + 1]
            if not self._more():
                return b""

    def take(self) -> bytes:
        """Return the next byte that is no blank, and move behind it."""
        byte = self.peek()
        self._at += len(byte)
        return byte

    def value(self) -> bytes:
        """Return the bytes of the next value, unparsed. Raises Torn, OSError."""
        self.peek()
        self._mark = self._at
        try:
            self._pass_value()
            return self._buffer[self._mark : self._at]
        finally:
            self._mark = None

    def skip(self) -> None:
        """Move behind the next value, whatever its size. Raises Torn, OSError."""
        self.peek()
        self._pass_value()

    def entered(self, wanted: str) -> bool:
        """Enter the object that begins here, and move to the value of a key. Return whether the object has the key."""
        for key in self.members():
            if key == wanted:
                return True
            self.skip()
        return False

    def members(self) -> Iterator[str | None]:
        """Enter an array or object: before each value, which the caller takes, None or its key. Raises Torn."""
        opening = self.take()
        if opening not in (b"[", b"{"):
            raise Torn("neither an array nor an object")
        while (byte := self.peek()) not in (b"]", b"}"):
            if byte in (b"", b":"):
                raise Torn("the document is cut short" if not byte else "a key is missing")
            if byte == b",":
                self.take()
                continue
            yield self._key() if opening == b"{" else None
        self.take()

    def _key(self) -> str:
        try:
            key = json.loads(self.value())
        except ValueError as fault:
            raise Torn("a key that is no JSON string") from fault
        if not isinstance(key, str) or self.take() != b":":
            raise Torn("a key without its value")
        return key

    def _pass_value(self) -> None:
        opening = self._buffer[self._at : self._at + 1]
        if opening in (b"[", b"{"):
            self._pass_container()
        elif opening == b'"':
            self._pass_string()
        else:
            while (found := SCALAR.match(self._buffer, self._at)) and found.end() == len(self._buffer):
                if not self._more():
                    break
            if not found:
                raise Torn("a value is missing")
            self._at = found.end()

    def _pass_string(self) -> None:
        while (found := STRING.match(self._buffer, self._at)) is None:
            if not self._more():
                raise Torn("the document is cut short")
        self._at = found.end()

    def _pass_container(self) -> None:
        self._at += 1
        depth = 1
        while depth:
            found = cast("re.Match[bytes]", BRACKET.match(self._buffer, self._at))  # it matches nothing too
            self._at, bracket = found.end(), found[1]
            if bracket is not None:
                depth += 1 if bracket in (b"[", b"{") else -1
            elif not self._more():
                raise Torn("the document is cut short")

    def _more(self) -> bool:
        """Read on; False at the end. What lies before the place, or before a value that is being kept, is let go."""
        start = self._at if self._mark is None else self._mark
        self._line += self._buffer.count(b"\n", self._counted, start) if self._counted < start else 0
        # as much again as is kept, so that a long value is copied a few times and not once a chunk
        more = self._stream.read(max(CHUNK, len(self._buffer) - start))
        self._buffer = self._buffer[start:] + more
        self._at -= start
        self._counted = max(self._counted, start) - start
        if self._mark is not None:
            self._mark = 0
        return bool(more)


OUTLINE_DEPTH = 3
OUTLINE_KEYS = 200
OUTLINE_ITEMS = 40


def outlined(scanner: Scanner, parse: Callable[[bytes], object], depth: int = 0) -> object:
    """Return the next value, above `OUTLINE_DEPTH` with long arrays and objects cut. Raises Torn, and as `parse`."""
    opening = scanner.peek()
    if opening not in (b"[", b"{") or depth >= OUTLINE_DEPTH:
        return parse(scanner.value())
    items: list[tuple[str | None, object]] = []
    most = OUTLINE_ITEMS if opening == b"[" else OUTLINE_KEYS
    for key in scanner.members():
        if len(items) < most:
            items.append((key, outlined(scanner, parse, depth + 1)))
        elif depth == 0 and opening == b"[":
            break  # what comes after it is of no interest
        else:
            scanner.skip()
    return [value for _, value in items] if opening == b"[" else dict(items)
