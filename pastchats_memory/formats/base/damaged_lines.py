"""Read the lines of a JSONL file so that damage costs no more than the record that it hit.

A crash leaves zeros or half a record, two writers join their records, and careless tools break a string over lines.
"""

import json
import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import takewhile

LONGEST_RECORD = 64 * 1024 * 1024
"""Bytes of a record that is put together from several lines."""
MOST_LINES_READ_AGAIN = 2000
"""Lines of failed joins in one file, after which no more are joined: each join reads up to the next record."""
MOST_TRIES = 16
"""Places in a line at which a record may begin that follows half a record."""
NEAR = 8
"""Characters before a parser's error in which that record begins."""
ZEROS = "zero bytes, as a crash leaves them"
BOM = b"\xef\xbb\xbf"
RECORD_START = re.compile(rb'(?:\0|\xef\xbb\xbf)*\{\s*"')

_INDENTED_START = re.compile(rb"\{\s*\Z")
_BETWEEN_RECORDS = " \t\r\n\0\x1e,\ufeff"
_FIRST_KEY = re.compile(r'\{\s*"(?:[^"\\]|\\.)*"')
_STRING_REST = re.compile(rb'(?>(?:[^"\\]++|\\.)*)', re.DOTALL)
_STRING_OR_BRACKET = re.compile(rb'"(?>(?:[^"\\]++|\\.)*)"?|[\[\]{}]', re.DOTALL)


def strip_line(line: bytes) -> bytes:
    """Strip blanks, byte order marks, and the NUL bytes that a crash leaves."""
    stripped = line.strip(b" \t\r\n\0")
    while stripped.startswith(BOM):
        stripped = stripped[len(BOM) :].lstrip(b" \t\0")
    return stripped


def has_zeros(line: bytes) -> bool:
    """Check whether a whole line begins or ends with zero bytes."""
    return line.endswith(b"\n") and (line.startswith(b"\0") or line.rstrip(b"\r\n").endswith(b"\0"))


@dataclass(frozen=True, slots=True)
class Passage:
    """One line, or the lines over which one record is broken."""

    raw: bytes
    """The lines with their ends."""
    lines: int = 1
    """How many lines these are."""


class LineReader:
    """The lines of a file one after the other, and on request the lines over which a record is broken."""

    def __init__(self, lines: Iterator[bytes], is_json: Callable[[bytes], bool]) -> None:
        self._lines = lines
        self._is_json = is_json
        self._waiting: deque[bytes] = deque()
        self._lines_read_again = 0
        self._rest = 0
        self.is_rest = False
        """Whether the last line follows the start of a record that no line completes.

        Then it belongs to that record, unless it is a record itself.
        """

    def __iter__(self) -> Iterator[bytes]:
        """Yield each line that no joined record has taken."""
        while line := self._next():
            self.is_rest = self._rest > 0
            self._rest -= self.is_rest
            yield line

    def _next(self) -> bytes:
        return self._waiting.popleft() if self._waiting else next(self._lines, b"")

    def join(self, line: bytes) -> Passage:
        """Return the last line with those that complete its record; they are joined only if that gives a record."""
        is_start = RECORD_START.match(line) or _INDENTED_START.match(line)
        if self._lines_read_again > MOST_LINES_READ_AGAIN or not is_start:
            return Passage(line)
        block, following, is_open = self._read_open_record(line)
        if len(block) > 1 and not is_open and self._is_json(strip_line(b"".join(block))):
            self._waiting.extendleft(filter(None, [following]))
            return Passage(b"".join(block), len(block))
        self._lines_read_again += len(block)
        self._waiting.extendleft(reversed([*block[1:], *filter(None, [following])]))
        self._rest = sum(1 for _ in takewhile(lambda each: not RECORD_START.match(each), block[1:]))
        return Passage(line)

    def _read_open_record(self, line: bytes) -> tuple[list[bytes], bytes, bool]:
        """Read on until the record is closed; return its lines, a line behind them, and whether it is still open."""
        block, size, balance = [line], len(line), _Balance()
        balance.read(line)
        while balance.is_open and (line := self._next()):
            size += len(line)
            is_next = RECORD_START.match(line) and (balance.in_string or self._is_json(strip_line(line)))
            if is_next or size > LONGEST_RECORD:
                return block, line, True
            block.append(line)
            balance.read(line)
        return block, b"", balance.is_open


@dataclass(slots=True)
class _Balance:
    """Which brackets and strings are open at the end of the text read so far."""

    depth: int = 0
    in_string: bool = False

    @property
    def is_open(self) -> bool:
        return self.in_string or self.depth > 0

    def read(self, text: bytes) -> None:
        start = 0
        if self.in_string:
            rest = _STRING_REST.match(text)
            start = rest.end() + 1 if rest else 0
            self.in_string = start > len(text)
        for found in _STRING_OR_BRACKET.finditer(text, start):
            token = found[0]
            if token[:1] == b'"':
                self.in_string = len(token) == 1 or not token.endswith(b'"') or _ends_escaped(token)
            else:
                self.depth += 1 if token in (b"[", b"{") else -1


def _ends_escaped(token: bytes) -> bool:
    """Check whether the last quotation mark of a string is escaped."""
    before = token[:-1]
    return (len(before) - len(before.rstrip(b"\\"))) % 2 == 1


def split_records(line: bytes) -> tuple[list[dict[str, object]], bool]:
    """Return the objects of a line that is no JSON (whole, or behind half a one), and whether other text is in it."""
    text = line.decode("utf-8", errors="replace")
    found: list[dict[str, object]] = []
    at, is_damaged = 0, False
    while (at := _skip(text, at)) < len(text):
        value, end = _decode(text, at)
        if isinstance(value, dict):
            found.append(value)
            at = end
            continue
        is_damaged = True
        start = _find_record(text, at, end)
        if start is None:
            break
        at = start
    return found, is_damaged


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BETWEEN_RECORDS:
        at += 1
    return at


def _decode(text: str, at: int) -> tuple[object, int]:
    """Return the JSON value at a place and its end; None and the place of the error if there is none."""
    try:
        return json.JSONDecoder(strict=False).raw_decode(text, at)
    except json.JSONDecodeError as fault:
        return None, fault.pos
    except (RecursionError, ValueError):  # nested too deeply, or a number of thousands of digits
        return None, at


def _find_record(text: str, at: int, error: int) -> int | None:
    """Return where the record begins that follows half a record, or other output; None if there is none.

    It begins where the parser failed, or with the first key of the half record. A whole value within the half record is no
    record.
    """
    if (first_key := _FIRST_KEY.match(text, at)) is None:
        start = text.find('{"', at + 1)
        return start if start >= 0 and isinstance(_decode(text, start)[0], dict) else None
    near = text.rfind('{"', max(at + 1, error - NEAR), error + 2)
    starts = [near] if near >= 0 else []
    start = at
    while len(starts) < MOST_TRIES and (start := text.find(first_key[0], start + 1)) >= 0:
        starts.append(start)
    return next((start for start in starts if isinstance(_decode(text, start)[0], dict)), None)
