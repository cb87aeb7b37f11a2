"""Where in a JSON document a string stands, since parsed JSON has no lines."""

from __future__ import annotations

import json
from bisect import bisect_left
from functools import cached_property

NEEDLE = 48
"""Characters of a string that are searched for."""
MISSES = 64
"""Searches that may fail before the rest of the file is no longer searched: each costs a pass over the text."""


class Places:
    """Answers for the strings of one document, best asked in the order in which they stand there."""

    def __init__(self, text: str, first_line: int = 1) -> None:
        self._text = text
        self._first_line = first_line
        self._at = 0
        self._misses = 0
        self._spellings = list(SPELLINGS)

    @cached_property
    def _line_ends(self) -> list[int]:
        ends: list[int] = []
        at = self._text.find("\n")
        while at >= 0:
            ends.append(at)
            at = self._text.find("\n", at + 1)
        return ends

    def line(self, value: str, start: int | None = None) -> int:
        """1-based line of the string `value`, searched onward from `start` or from the string found last, then from the top.

        A string that cannot be found (empty, unusual escapes) gets the line of `start` or of the string found last.
        """
        if not self._line_ends:
            return self._first_line
        begin = self._at if start is None else start
        found = self._find(value, begin) if value else None
        self._at = begin if found is None else found + 1
        return self._first_line + bisect_left(self._line_ends, self._at)

    def _find(self, value: str, begin: int) -> int | None:
        """Position of the string in the spelling that the file used last, else in another one, else above."""
        if self._misses > MISSES:
            return None
        for start in (begin, 0):
            for spelling in self._spellings:
                spell, close = spelling
                if (at := self._text.find(spell(value[:NEEDLE]) + close * (len(value) <= NEEDLE), start)) >= 0:
                    self._spellings.remove(spelling)
                    self._spellings.insert(0, spelling)
                    return at
        self._misses += 1
        return None


def _as_it_is(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)[:-1]


def _in_ascii(value: str) -> str:
    return json.dumps(value)[:-1]


def _with_slashes_escaped(value: str) -> str:
    return _as_it_is(value).replace("/", "\\/")


def _in_ascii_with_slashes_escaped(value: str) -> str:
    return _in_ascii(value).replace("/", "\\/")


def _within_a_string(value: str) -> str:
    return _as_it_is(_as_it_is(value))[1:]


def _within_a_string_in_ascii(value: str) -> str:
    return _in_ascii(_in_ascii(value))[1:]


SPELLINGS = (
    (_as_it_is, '"'),
    (_in_ascii, '"'),
    (_with_slashes_escaped, '"'),
    (_in_ascii_with_slashes_escaped, '"'),
    (_within_a_string, '\\"'),
    (_within_a_string_in_ascii, '\\"'),
)
"""The ways in which JSON writers spell the same string, itself and in JSON that is a string, and the closing quotation mark of each."""
