"""What an outcome is read from, and what it quotes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from pastchats_memory.model import EMPTY, Metadata

QUOTED = 120
"""Characters of a quotation at most."""
OPENING = 240
"""Characters of a text in which its first sentences stand: whoever accepts, rejects or claims does so first."""
LONGEST = 6000
"""Characters of a text that are read at each of its ends."""


@dataclass(frozen=True, slots=True)
class Row:
    """One turn of an episode, as the readers give it."""

    role: str
    kind: str
    """`prompt`, `command`, `answer`, `error`, `result` …"""
    content: str
    metadata: Metadata = field(default_factory=lambda: EMPTY)
    """Of which `tools`, `files`, `commits` and `flags` are read: what the client recorded beside the words."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What shows an outcome."""

    quotation: str
    """On one line, at most 120 characters."""
    place: int
    """Of the turn in the episode, from 0; the number of its turns for the person's next words."""


@dataclass(frozen=True, slots=True)
class Episode:
    """The turns of an episode with what the person said next, empty where nothing was."""

    turns: tuple[Row, ...]
    following: str

    @property
    def asked(self) -> str:
        """The person's words, joined."""
        return "\n".join(turn.content for turn in self.turns if turn.role == "user")

    def answers(self) -> list[tuple[int, str]]:
        """Places and texts of what was answered."""
        return [(place, turn.content) for place, turn in enumerate(self.turns) if turn.role == "assistant"]

    def traffic(self) -> Iterator[tuple[int, Row]]:
        """Places and rows of errors and of results of checks, the last first."""
        for place in range(len(self.turns) - 1, -1, -1):
            if self.turns[place].role == "tool":
                yield place, self.turns[place]


Signal = Callable[[Episode], tuple[Evidence, ...]]


def quoted(text: str, place: int, at: int = 0) -> tuple[Evidence]:
    """The line of the text that holds the position, without its marks of emphasis."""
    start = text.rfind("\n", 0, at) + 1
    line = " ".join(re.sub(r"[*`#>]+", "", text[max(start, at - QUOTED // 2) :].partition("\n")[0]).split())
    return (Evidence(line if len(line) <= QUOTED else f"{line[: QUOTED - 1]}…", place),)


def listed(turn: Row, key: str) -> frozenset[str]:
    """What the client recorded under the key."""
    values = turn.metadata.get(key)
    return frozenset(map(str, values)) if isinstance(values, Sequence) else frozenset()


def last_of(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The last match, if any."""
    found = None
    for found in pattern.finditer(text):  # noqa: B007 - the last one is wanted
        pass
    return found
