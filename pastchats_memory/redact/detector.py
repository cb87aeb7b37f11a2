"""A detector: where a literal occurs, does a secret of this kind stand there?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

BOUNDARY = (
    r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4})|(?<=\[[0-9]m)|(?<=[;\[][0-9]{2}m))"
)
r"""Where a token may begin: not within a word, but after an escape (`\n`, `%3D`, `\u003d`) whose last letter looks like one."""


@dataclass(frozen=True, slots=True)
class Found:
    """A secret in a text: where it stands, what it is, and how much the kind says (0 the most)."""

    start: int
    end: int
    kind: str
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Detector:
    """Secrets of one kind, known by their shape."""

    kind: str
    anchor: str
    """Occurs in every such secret, as it stands."""
    pattern: re.Pattern[str]
    """Tried from `reach` characters before each anchor; its group `secret`, or all of it, is the secret."""
    reach: int = 0
    rank: int = 0

    def find(self, text: str) -> Iterator[Found]:
        """The secrets of this kind, from left to right."""
        at = text.find(self.anchor)
        end = 0
        while at >= 0:
            found = None
            if at >= end:
                start = max(end, at - self.reach)
                found = (
                    self.pattern.match(text, start) if not self.reach else self.pattern.search(text, start, at + SPAN)
                )
            if found is not None and found.start() <= at < found.end():
                group = "secret" if "secret" in self.pattern.groupindex else 0
                yield Found(found.start(group), found.end(group), self.kind, self.rank)
                end = found.end()
            at = text.find(self.anchor, max(at + 1, end))


SPAN = 96
"""Characters from an anchor on within which a pattern that begins before it must end."""


def shape(kind: str, anchor: str, pattern: str, *, reach: int = 0, bounded: bool = True, rank: int = 0) -> Detector:
    """A detector whose pattern begins at a boundary, unless `bounded` is False."""
    return Detector(kind, anchor, re.compile((BOUNDARY if bounded else "") + pattern), reach, rank)


T = TypeVar("T")


def gated(looked_for: Iterable[tuple[str, T]], gates: Iterable[str]) -> tuple[tuple[str, tuple[T, ...]], ...]:
    """Things that are looked for by a literal each, under the first of the gates that is part of it: where a gate is missing
    from a text, so are all literals that it is part of. A literal without a gate is its own.
    """
    behind: dict[str, list[T]] = {}
    for literal, thing in looked_for:
        behind.setdefault(next((gate for gate in gates if gate in literal), literal), []).append(thing)
    return tuple((gate, tuple(things)) for gate, things in behind.items())
