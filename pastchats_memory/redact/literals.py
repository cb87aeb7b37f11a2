"""Where any of many literals stands in a text, by one pass of array arithmetic instead of a search for each.

Of every literal the three characters are known that are rarest, as a number of fifteen bits. The numbers of a text at all its
places are looked up in one table; where it has something, the literal is compared with the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Generic, TypeVar

import numpy as np

_SPAN = 3
_BITS = 5
_LETTERS = " etaoinsrhldcumfpgwybvkxjqz"
"""Those of English, the commonest first; every other character is one of five kinds, or like a blank."""
_CLASSES = ("0123456789", "_", "-", ".:/", "=|$+~@'\"(<")
_ANY = range(1 << _BITS)
_AT_ONCE = 1 << 16
"""Characters that are looked at in one go."""


def _classes() -> bytes:
    of = bytearray(256)
    for number, kind in enumerate((*_LETTERS, *_CLASSES)):
        for letter in kind:
            of[ord(letter)] = number
    return bytes(of)


_CLASS_OF = _classes()
_FIRST, _SECOND = np.uint16(1 << 2 * _BITS), np.uint16(1 << _BITS)

T = TypeVar("T")


class Literals(Generic[T]):
    """Things that are looked for by an ASCII literal in small letters each."""

    def __init__(self, looked_for: Sequence[tuple[str, T]]) -> None:
        self._things = tuple(thing for _, thing in looked_for)
        numbers: dict[str, list[int]] = {}
        for number, (literal, _) in enumerate(looked_for):
            numbers.setdefault(literal, []).append(number)
        self._numbers = {literal: tuple(of_literal) for literal, of_literal in numbers.items()}
        behind: dict[int, list[tuple[int, str]]] = {}
        for literal in numbers:
            at = _rarest(literal)
            for code in _codes(literal[at : at + _SPAN]):
                behind.setdefault(code, []).append((at, literal))
        self._behind = {code: tuple(literals) for code, literals in behind.items()}
        self._is_of_any = np.zeros(1 << _SPAN * _BITS, np.bool_)
        self._is_of_any[list(behind)] = True

    def places(self, lowered: str) -> list[tuple[T, list[int]]]:
        """In the order in which they were given, those whose literal stands in a text in small letters, with its places."""
        places: dict[str, list[int]] = {}
        letters = lowered.encode("latin-1", "replace").translate(_CLASS_OF) + bytes(_SPAN - 1)
        for start in range(0, len(lowered), _AT_ONCE):
            for at, code in self._known(letters[start : start + _AT_ONCE + _SPAN - 1]):
                for within, literal in self._behind[code]:
                    begins = start + at - within
                    if lowered.startswith(literal, begins) and begins >= 0:
                        places.setdefault(literal, []).append(begins)
        found = [(number, at) for literal, at in places.items() for number in self._numbers[literal]]
        found.sort()
        return [(self._things[number], at) for number, at in found]

    def _known(self, letters: bytes) -> Iterator[tuple[int, int]]:
        """Places at which the number is one of a literal's, with the number."""
        each = np.frombuffer(letters, np.uint8).astype(np.uint16)
        codes = each[:-2] * _FIRST | each[1:-1] * _SECOND | each[2:]
        places = self._is_of_any.take(codes).nonzero()[0]
        return zip(places.tolist(), codes[places].tolist(), strict=True)


def _rarest(literal: str) -> int:
    """Where in a literal the three characters begin that follow each other least often, by how common each is."""
    common = [_CLASS_OF[ord(letter)] for letter in literal]
    return max(range(max(1, len(literal) - _SPAN + 1)), key=lambda at: sum(common[at : at + _SPAN]))


def _codes(three: str) -> Iterator[int]:
    """The numbers of three characters, or of fewer and whatever comes behind them."""
    of = [(_CLASS_OF[ord(letter)],) for letter in three]
    for first, second, third in product(*of, *[_ANY] * (_SPAN - len(three))):
        yield first << 2 * _BITS | second << _BITS | third
