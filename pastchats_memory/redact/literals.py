"""Where any of many literals stands in a text, by one pass for all of them: an automaton after Aho and Corasick (1975)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Generic, TypeVar

from ahocorasick_rs import BytesAhoCorasick, Implementation

T = TypeVar("T")


class Literals(Generic[T]):
    """Things that are looked for by an ASCII literal in small letters each."""

    def __init__(self, looked_for: Sequence[tuple[str, T]]) -> None:
        self._things = tuple(thing for _, thing in looked_for)
        numbers: dict[str, list[int]] = {}
        for number, (literal, _) in enumerate(looked_for):
            numbers.setdefault(literal, []).append(number)
        self._numbers = tuple(numbers.values())
        self._automaton = BytesAhoCorasick([literal.encode() for literal in numbers], implementation=Implementation.DFA)

    def places(self, letters: bytes) -> list[tuple[T, list[int]]]:
        """In the order in which they were given, those whose literal stands in a text in small letters, a byte for each, with its places."""
        places: defaultdict[int, list[int]] = defaultdict(list)
        for literal, at, _ in self._automaton.find_matches_as_indexes(letters, overlapping=True):
            places[literal].append(at)
        found = [(number, at) for literal, at in places.items() for number in self._numbers[literal]]
        found.sort()
        return [(self._things[number], at) for number, at in found]
