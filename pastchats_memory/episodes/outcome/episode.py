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
_MARKS = re.compile(r"[*`]+|^[ \t]*[#>]+", re.MULTILINE)
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
        called, told_tool = _calls(self)
        is_command = heading.startswith("$ ")
        alike = (told_tool if is_command else called).of(heading.removeprefix("$ "), output.removeprefix("$ "))
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


class _Calls:
    """Steps in order by what was called, without the mark of what is cut, and by its length."""

    def __init__(self) -> None:
        self._whole: dict[int, dict[str, list[Step]]] = {}
        """All of them."""
        self._cut: dict[int, dict[str, list[Step]]] = {}
        """Those that were cut."""

    def note(self, step: Step, label: str) -> None:
        called = label.rstrip("… ")
        for known in (self._whole, self._cut) if label.endswith("…") else (self._whole,):
            if called:
                known.setdefault(len(called), {}).setdefault(called, []).append(step)

    def of(self, heading: str, output: str) -> list[Step]:
        """Of the call that the heading of an answer names; either may be cut, and says so.

        Of a command of several lines the heading is the first, while the label has all of them, as the output begins.
        """
        named = heading.rstrip("… ")
        texts = {named}
        if output.startswith(f"{named} "):
            texts |= {output[:length] for length in self._whole if length > len(named)}
        if heading.endswith("…"):
            texts |= {text for known in self._whole.values() for text in known if text.startswith(named)}
        found = [steps for text in texts if (steps := self._whole.get(len(text), {}).get(text))]
        found += [steps for length, known in self._cut.items() if (steps := known.get(named[:length]))]
        return found[0] if len(found) == 1 else sorted({step for steps in found for step in steps})


@once
def _calls(episode: Episode) -> tuple[_Calls, _Calls]:
    """The steps by what was called, and by what a tool was told."""
    called, told = _Calls(), _Calls()
    for step, label in episode.steps():
        called.note(step, label)
        told.note(step, label.partition(" ")[2])
    return called, told


def plain(text: str) -> str:
    """On one line, without marks of emphasis, as a quotation has it."""
    return " ".join(_MARKS.sub("", text).split())


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
