"""A detector: where a literal occurs, does a secret of this kind stand there?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

BOUNDARY = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4})|(?<=\[0m))"
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
