"""A detector: where a literal occurs, does a secret of this kind stand there?"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

BOUNDARY = (
    r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4})|(?<=\[[0-9]m)|(?<=[;\[][0-9]{2}m))"
)
r"""Where a token may begin: not within a word, but after an escape (`\n`, `%3D`, `\u003d`) whose last letter looks like one."""


class Found(NamedTuple):
    """A secret in a text: where it stands, what it is, and how much the kind says (0 the most)."""

    start: int
    end: int
    kind: str
    rank: int = 0


class Looked(NamedTuple):
    """A text that is looked through."""

    text: str
    lowered: str
    """The same in small letters, place by place."""
    shapes: dict[int, int]
    """Where secrets that are known by their shape begin, and where each ends."""

    def is_known(self, start: int) -> bool:
        """Whether what begins at a place is known by its shape, to the end of the text or up to a blank or the line's end."""
        known = self.shapes.get(start)
        return known is not None and self.text[known : known + 1] in " \r\n"


class Rule(Protocol):
    """How secrets are found where a literal stands."""

    def find(self, looked: Looked, places: Iterable[int]) -> Iterable[Found]:
        """Such secrets in a text, from left to right; `places` are those at which the literal stands in small letters."""


TELLING = re.compile(r"\d|[a-z][A-Z]|[A-Z]{6}")
"""Has every token; most that is written where one would be, as paths and names with underscores, has it not."""


@dataclass(frozen=True)
class Detector:
    """Secrets of one kind, known by their shape."""

    kind: str
    anchor: str
    """Occurs in every such secret, as it stands."""
    written: str
    """As a regular expression; its group `secret`, or all of it, is the secret."""
    reach: int = 0
    """Characters before each anchor from which on it is tried."""
    rank: int = 0
    is_token: bool = False
    """Has something that is `TELLING`, where it begins with the anchor behind that."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when its anchor is first met: there are hundreds, of which a run meets a few."""
        return re.compile(self.written)

    def find(self, looked: Looked, places: Iterable[int]) -> list[Found]:
        """The secrets of this kind, from left to right."""
        text, anchor, reach, end = looked.text, self.anchor, self.reach, 0
        secrets: list[Found] = []
        for at in places:
            if at < end or not text.startswith(anchor, at):
                continue
            found = (
                self.pattern.search(text, max(end, at - reach), at + SPAN) if reach else self.pattern.match(text, at)
            )
            if (
                found is not None
                and found.start() <= at < found.end()
                and (
                    not self.is_token or TELLING.search(text, found.start() if reach else at + len(anchor), found.end())
                )
            ):
                begins, ends = found.span(found.lastgroup or 0)
                if not self.rank:
                    looked.shapes[begins] = max(ends, looked.shapes.get(begins, 0))
                secrets.append(Found(begins, ends, self.kind, self.rank))
                end = found.end()
        return secrets


SPAN = 96
"""Characters from an anchor on within which a pattern that begins before it must end."""


def shape(kind: str, anchor: str, pattern: str, *, reach: int = 0, bounded: bool = True, rank: int = 0) -> Detector:
    """A detector whose pattern begins at a boundary, unless `bounded` is False."""
    return Detector(kind, anchor, (BOUNDARY if bounded else "") + pattern, reach, rank)
