"""What an outcome is read from, and what it quotes."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import TypeVar, cast

from pastchats_memory.model import EMPTY, Metadata

QUOTED = 120
"""Characters of a quotation at most."""
OPENING = 240
"""Characters of a text in which its first sentences stand: whoever accepts, rejects or claims does so first."""
_WORD = re.compile(r"\w")
_EMPHASIS = re.compile(r"[*`#>]+")
LONGEST = 6000
"""Characters of a text that are read at each of its ends."""


class Pattern:
    """A pattern that is compiled when it is first looked for: a process that asks for no outcome does not pay for it."""

    def __init__(self, source: str, *, cased: bool = False) -> None:
        self._source = source
        self._flags = re.VERBOSE | re.MULTILINE | (re.NOFLAG if cased else re.IGNORECASE)

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._source, self._flags)

    def search(self, text: str) -> re.Match[str] | None:
        """The first place, if any. Blanks in the source count only where they are escaped."""
        return self._compiled.search(text)

    def match(self, text: str) -> re.Match[str] | None:
        """At the beginning."""
        return self._compiled.match(text)

    def all(self, text: str) -> Iterator[re.Match[str]]:
        """Every place, the first first."""
        return self._compiled.finditer(text)

    def last(self, text: str) -> re.Match[str] | None:
        """The last place, if any."""
        found = None
        for found in self._compiled.finditer(text):  # noqa: B007 - the last one is wanted
            pass
        return found


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


Step = tuple[int, int]
"""Of a call: place of the turn with which it was noted, and its number there."""


@dataclass(frozen=True, slots=True, eq=False)
class Episode:
    """The turns of an episode with what the person said next, empty where nothing was."""

    turns: tuple[Row, ...]
    following: str
    tasks: tuple[str, ...] = ()
    """The states that tasks came to while it lasted."""
    found: dict[str, object] = field(default_factory=dict)
    """What was looked for already, by the name of the function that did."""

    @property
    def asked(self) -> str:
        """The person's words, joined."""
        return "\n".join(turn.content for turn in self.turns if turn.role == "user")

    def answers(self) -> list[tuple[int, str]]:
        """Places and texts of what was answered."""
        return [(place, turn.content) for place, turn in enumerate(self.turns) if turn.role == "assistant"]

    def steps(self) -> Iterator[tuple[Step, str]]:
        """The tools that were used, such as `Bash git push`, in order, as far as the client recorded them."""
        for place, turn in enumerate(self.turns):
            for number, label in enumerate(labels(turn)):
                yield (place, number), label

    def calls(self) -> Iterator[tuple[int, str]]:
        """The same, with the places of the turns that they were noted with."""
        return ((place, label) for (place, _), label in self.steps())

    def is_mended(self, place: int) -> bool:
        """Whether the command that failed at the place succeeded later."""
        return _last_results(self).get(self._heading(place), place) > place

    def step_of(self, place: int) -> Step:
        """Where the call whose answer stands at the place was noted; the place itself where no call fits.

        Clients note a call with the answer that it followed, and one before any answer with the first that comes; of
        several that are alike the last one is the one of which the last answer is.
        """
        heading = self._heading(place)
        output = " ".join(self.turns[place].content[: 2 * OPENING].split())
        alike = _calls_of(self, heading, output)
        told = _told_at(self)[heading]
        later = len(told) - bisect_left(told, place)
        return alike[-min(later, len(alike))] if alike else (place, 0)

    def _heading(self, place: int) -> str:
        return _heading_of(self.turns[place])

    def traffic(self) -> Iterator[tuple[int, Row]]:
        """Places and rows of errors and of results of checks, the last first."""
        for place in range(len(self.turns) - 1, -1, -1):
            if self.turns[place].role == "tool":
                yield place, self.turns[place]


Signal = Callable[[Episode], tuple[Evidence, ...]]
Found = TypeVar("Found")


def once(look: Callable[[Episode], Found]) -> Callable[[Episode], Found]:
    """The same function, which looks at an episode only once."""

    @wraps(look)
    def looked(episode: Episode) -> Found:
        if look.__name__ not in episode.found:
            episode.found[look.__name__] = look(episode)
        return cast("Found", episode.found[look.__name__])

    return looked


def _heading_of(row: Row) -> str:
    return " ".join(row.content.partition("\n")[0].split())


@once
def _told_at(episode: Episode) -> dict[str, list[int]]:
    """Places of what tools answered, in order, by its first line."""
    places: dict[str, list[int]] = {}
    for place, row in enumerate(episode.turns):
        if row.role == "tool":
            places.setdefault(_heading_of(row), []).append(place)
    return places


@once
def _last_results(episode: Episode) -> dict[str, int]:
    """The last place of each of those first lines below which nothing failed."""
    rows = enumerate(episode.turns)
    return {_heading_of(row): place for place, row in rows if row.role == "tool" and row.kind == "result"}


@once
def _noted(episode: Episode) -> list[tuple[Step, str, bool]]:
    """The steps with what was called, without the mark of what is cut, and whether it is cut."""
    return [(step, label.rstrip("… "), label.endswith("…")) for step, label in episode.steps()]


def _calls_of(episode: Episode, heading: str, output: str) -> list[Step]:
    """The steps of the call that the heading of an answer names; heading and label may be cut, and say so.

    Of a command of several lines the heading is the first, while the label has all of them, as the output begins.
    """
    is_command = heading.startswith("$ ")
    command, output = heading.removeprefix("$ "), output.removeprefix("$ ")
    cut = command.rstrip("… ")
    found = []
    for step, label, is_cut in _noted(episode):
        whole = label.partition(" ")[2] if is_command else label
        if whole and (
            whole == cut
            or (is_cut and cut.startswith(whole))
            or (command.endswith("…") and whole.startswith(cut))
            or (whole.startswith(f"{cut} ") and output.startswith(whole))
        ):
            found.append(step)
    return found


def plain(text: str) -> str:
    """On one line, without marks of emphasis, as a quotation has it."""
    return " ".join(_EMPHASIS.sub("", text).split())


def quoted(text: str, place: int, at: int = 0) -> tuple[Evidence]:
    """The line of the text that holds the position, or the next with a word, without its marks of emphasis; of a long line the part around it."""
    word = _WORD.search(text, text.rfind("\n", 0, at) + 1)
    at = max(at, word.start() if word else 0)
    start = text.rfind("\n", 0, at) + 1
    if at - start > QUOTED // 2:
        start = text.rfind(" ", start, at - QUOTED // 2) + 1 or start
    return (Evidence(shortened(plain(text[start:].partition("\n")[0])), place),)


def shortened(line: str) -> str:
    """As a quotation: at most 120 characters."""
    return line if len(line) <= QUOTED else f"{line[: QUOTED - 1]}…"


def labels(turn: Row) -> list[str]:
    """The calls that the client noted with the turn, in order."""
    tools = turn.metadata.get("tools")
    return [str(label) for label in tools] if isinstance(tools, Sequence) and not isinstance(tools, str) else []


def listed(turn: Row, key: str) -> frozenset[str]:
    """What the client recorded under the key."""
    values = turn.metadata.get(key)
    return frozenset(map(str, values)) if isinstance(values, Sequence) else frozenset()
