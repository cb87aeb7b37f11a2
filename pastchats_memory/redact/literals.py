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
        things: dict[str, list[tuple[int, T]]] = {}
        for number, (literal, thing) in enumerate(looked_for):
            things.setdefault(literal, []).append((number, thing))
        self._things = tuple(things.values())
        self._automaton = BytesAhoCorasick([literal.encode() for literal in things], implementation=Implementation.DFA)

    def places(self, letters: bytes) -> list[tuple[int, T, list[int]]]:
        """Those whose literal stands in a text in small letters, a byte for each, in the order in which they were given: number, thing, places."""
        places: defaultdict[int, list[int]] = defaultdict(list)
        for literal, at, _ in self._automaton.find_matches_as_indexes(letters, overlapping=True):
            places[literal].append(at)
        found = [(number, thing, at) for literal, at in places.items() for number, thing in self._things[literal]]
        found.sort()  # by the numbers, of which each is there once
        return found
