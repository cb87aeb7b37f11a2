"""What recall makes of earlier episodes: the entries of a block."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pastchats_memory.model import Citation, Hit

SAID_NEXT = "said next"
NO_ANSWER = "no answer"
BASES: Mapping[str, str] = {
    "unanswered": NO_ANSWER,
    "asked_again": "the user asked again",
    "broke_off": "stopped before the end",
    "moved_on": "no objection; the user moved on",
    "stands": "no reply; not tested",
    "built_on": SAID_NEXT,
    "task_completed": "task completed",
    "judged": "judged",
}
"""How a line shows the outcome, by rule. Lines that speak for themselves, such as `12 passed`, need none."""


class Evidence(NamedTuple):
    """A line of a transcript that shows how an episode ended."""

    quotation: str
    source_path: str
    source_line: int | None
    """Of the quotation where it can be found, else of the turn; 1-based."""
    citation: Citation | None = None
    """Whether the turn still stands there; None for one of no file."""


class Outcome(NamedTuple):
    """What is said of how an episode ended."""

    verdict: str = "unknown"
    """`worked`, `failed`, `mixed` or `unknown`."""
    evidence: tuple[Evidence, ...] = ()
    """What shows it, the decisive line last; of unknown what the person said next, if anything."""
    signal: str = ""
    """The rule that decided, empty where none did."""

    @property
    def is_told(self) -> bool:
        """Whether there is anything to say: a verdict, what was said next, or that somebody judged it as unknown."""
        return self.verdict != "unknown" or bool(self.basis)

    @property
    def shown_by(self) -> str:
        """The decisive line, or what was said next; empty where there is none."""
        return self.evidence[-1].quotation if self.evidence else ""

    @property
    def basis(self) -> str:
        """What that line has to do with the outcome, empty where it says so itself; of unknown also that somebody judged so."""
        if self.verdict != "unknown":
            return BASES.get(self.signal, "")
        said = SAID_NEXT if self.evidence else ""
        return ", ".join(filter(None, (self.signal, said)))


class Attempt(NamedTuple):
    """Another episode about the same problem."""

    id: str
    """Of the turn that asks."""
    asked: str
    """An excerpt on one line."""
    answered: str
    """What the last answer came to, on one line; empty where there is none."""
    outcome: str
    """`worked`, `failed`, `mixed` or `unknown`."""
    shown_by: str
    """The line that shows it."""
    timestamp: str | None
    source_path: str
    source_line: int | None
    citation: Citation | None = None
    """Whether it still stands there; None for one of no file."""
    signal: str = ""
    """The rule that decided on the outcome, empty where none did."""

    @property
    def basis(self) -> str:
        """What the line has to do with the outcome, empty where it says so itself."""
        return BASES.get(self.signal, "")


class Sheet(NamedTuple):
    """An episode laid out for somebody who judges how it ended; of long texts beginning and end."""

    id: str
    """Of the turn that asks."""
    project: str
    timestamp: str | None
    asked: str
    answered: str
    """All that was, of a long episode near its beginning and its end; empty where that is nothing."""
    done: tuple[str, ...]
    """Commands that worked and files that were changed, as of a recollection."""
    results: tuple[str, ...]
    """What commands answered last, as far as it was kept, in order."""
    said_next: str
    """By the person, up to the next answer; empty where that is nothing."""
    outcome: Outcome
    """What is said of it."""
    source_path: str
    source_line: int | None
    citation: Citation | None = None
    """Whether it still stands there; None for one of no file."""
    was: str = ""
    """Of one that was just judged, what was said of it before: `worked`, `failed`, `mixed` or `unknown`; else empty."""


class Unjudged(NamedTuple):
    """Episodes that somebody may judge."""

    sheets: tuple[Sheet, ...]
    left: int
    """How many more there are."""


class Recollection(NamedTuple):
    """One entry of a recall block: an episode, with the turn of it that matched."""

    hit: Hit
    asked: str | None
    """Excerpt of what was asked; None where nothing was, as in a note."""
    answered: str | None
    """Excerpt of what was answered, around what matched; None where the match is all there is."""
    outcome: Outcome
    is_current: bool
    """It belongs to the project in which the caller stands."""
    question: Hit | None = None
    """The turn that asks, where another one of the episode matched: the entry has its time and is cited by it."""
    done: tuple[str, ...] = ()
    """What was done: commands that worked as `$ make test`, in the order in which they did, or `$ make test (failed)` where
    none did, then paths of files; each on one line."""
    before: tuple[Attempt, ...] = ()
    """Failed attempts at the same, in order."""
    after: Attempt | None = None
    """The later attempt at the same that worked, where this one did not."""
    superseded_by: Attempt | None = None
    """Where something else was later put in the place of what was decided."""


class Block(NamedTuple):
    """What primes an agent."""

    query: str
    memories: tuple[Recollection, ...]
    text: str
    """Markdown within the budget."""
    tokens: int
    """Of the text, counted as `budget.count_tokens` does; never over the budget."""
    warnings: tuple[str, ...] = ()
    least: int = 0
    """Budget that would do, where this one was too small for what there is to say, else 0."""

    @property
    def hits(self) -> tuple[Hit, ...]:
        """The turns that matched, one an entry."""
        return tuple(memory.hit for memory in self.memories)


class Lesson(NamedTuple):
    """What failed repeatedly before something ended it."""

    project: str
    times: int
    """That it failed."""
    attempts: tuple[Attempt, ...]
    """The last of those that failed, in order; what was asked in the same words, once."""
    ended_by: Attempt
    """The one after them that worked."""


class Command(NamedTuple):
    """A command that worked before."""

    project: str
    command: str
    """On one line, as it was run."""
    times: int
    """Episodes that worked in which its last run did not fail, of those that fit the question."""
    episode: Attempt
    """The one of these with most of the commands that are told, else the one that fits best."""
    run: Evidence
    """Where it was run there."""
