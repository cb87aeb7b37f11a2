"""In which line of a file a quotation stands: a turn has many lines, and what a tool did is told below it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from os import SEEK_CUR
from pathlib import Path
from typing import BinaryIO

from pastchats_memory.model import Place

BEFORE, BEHIND = 40, 400
"""Lines around the beginning of a turn in which the quotation is looked for, and in the turn itself."""
LARGEST = 16 << 20
"""Bytes of a file up to which it is read for that: a recall, which may quote six lines, waits for no more."""
BLOCK = 1 << 18
"""Bytes read at a time on the way to the place."""
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|[nrtbf\"/\\])")
_WORD = re.compile(r"[^\W_]+")


def line_of(quotation: str, place: Place) -> int:
    """The first line from the place on that holds the words of the quotation in order, else the nearest before it, else the place's."""
    before = place.line
    for number in _holding(quotation, place):
        if number >= place.line:
            return number
        before = number
    return before


def line_near(quotation: str, place: Place) -> int:
    """The line nearest to the place that holds the words of the quotation in order, of two as near the former, else the place's."""
    return min(_holding(quotation, place), key=lambda number: abs(number - place.line), default=place.line)


def _holding(quotation: str, place: Place) -> Iterator[int]:
    """Numbers of the lines around the place that hold the words of the quotation in order, ascending."""
    words = _WORD.findall(quotation)
    if not words or not place.line:
        return
    longest = max(words, key=len).encode()
    with suppress(OSError):
        for number, raw in _lines(place):
            if (longest in raw or b"\\u" in raw) and _holds(raw, words):
                yield number


def _lines(place: Place) -> Iterator[tuple[int, bytes]]:
    """Numbered lines around the place; none of a file that is large, or inside an archive."""
    path = Path(place.path)
    if not path.is_file() or path.stat().st_size > LARGEST:
        return
    with path.open("rb") as file:
        skipped = _skip(file, max(0, place.line - 1 - BEFORE))
        last = max(place.end_line or 0, place.line) + BEHIND
        yield from islice(enumerate(file, start=skipped + 1), last - skipped)


def _skip(file: BinaryIO, lines: int) -> int:
    """Go behind so many lines, fewer where the file ends before; how many it were. Counting blocks takes a third of reading lines."""
    left = lines
    while left and (block := file.read(BLOCK)):
        found = block.count(b"\n")
        if found >= left:
            end = -1
            for _ in range(left):
                end = block.index(b"\n", end + 1)
            file.seek(end + 1 - len(block), SEEK_CUR)
            return lines
        left -= found
    return lines - left


def _holds(raw: bytes, words: list[str]) -> bool:
    """Whether the words stand in the line one after the other, whatever is between them, as JSON spells it or plainly."""
    text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)) if found[1] else " ", raw.decode(errors="replace"))
    at = 0
    for word in words:
        at = text.find(word, at)
        if at < 0:
            return False
        at += len(word)
    return True
