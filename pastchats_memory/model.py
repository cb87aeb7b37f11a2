"""The values that flow through the house: plain, frozen, without behaviour that needs anything else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

Metadata = Mapping[str, object]
EMPTY: Metadata = MappingProxyType({})

RECALL_HEADING = "# Memory Recall"
"""First line of every block this program hands to an agent, by which its own echo is known again."""


def utf8(text: str) -> str:
    r"""The text with `\udce9` written out for a byte that was no UTF-8, as names of files and arguments may have them."""
    return text.encode("utf-8", "backslashreplace").decode()


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation as a reader understood it; a row of `prompts` before it has a number.

    Readers yield the turns of a conversation in the order in which they were said. Conversations of one file may be
    interleaved; the place within a conversation (`turn_index`) is counted by `ingest`.
    """

    role: str
    """`user`, `assistant`, `system`, `tool`, `note`, or another word of a generic file, lower-cased."""
    content: str
    """Visible text, never empty, without NUL bytes and lone surrogates, line ends as `\\n`."""
    line: int
    """1-based line in the source at which the message starts."""
    end_line: int | None = None
    """1-based last line, for parts of Markdown; None where the format has one line a message."""
    conversation_id: str | None = None
    """The native id exactly as the file has it."""
    timestamp: str | None = None
    """ISO 8601 in UTC with milliseconds, such as `2026-01-31T08:15:00.000Z`."""
    cwd: str | None = None
    """The working directory as recorded, a path; `ingest` makes the project of it."""
    project: str | None = None
    """A project's name where the file has one instead of a working directory."""
    native_id: str | None = None
    """The record's own id, where copies of the record keep it (`uuid`, `message.id`): the turn's identity."""
    branch: str = "main"
    """`main`, `abandoned` or `sidechain`."""
    kind: str = "prompt"
    """`prompt`, `command`, `answer`, `summary`, `error`, `result` or `note`."""
    metadata: Metadata = field(default_factory=lambda: EMPTY)
    """Further JSON-able keys, among them those of a generic message that were not understood."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line, or with line 0 a whole file, that was not understood."""

    path: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Filters:
    """What a hit must be; None lets everything through. Rows without a time are left out by either bound."""

    project: str | None = None
    role: str | None = None
    since: str | None = None
    """Earliest timestamp, inclusive, in the form that `prompts.timestamp` has."""
    until: str | None = None
    """Latest timestamp, inclusive."""
    notes: bool | None = None
    """True for notes alone, False for everything but notes."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A prompt near a query vector."""

    id: int
    similarity: float
    """Cosine, rounded to six decimals."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A turn on its way into the table: what the reader said and what `ingest` made of it."""

    source_path: str
    project: str
    turn_index: int
    turn: Turn
    content_hash: str
    """Hex SHA-256 of the turn's identity (`ingest.identity`)."""
    text_hash: bytes
    """SHA-256 of the content alone."""
    metadata: Metadata


@dataclass(frozen=True, slots=True)
class Place:
    """Where a turn was seen: a file and its 1-based lines."""

    path: str
    line: int
    end_line: int | None


@dataclass(frozen=True, slots=True)
class Item:
    """A stored turn."""

    id: int
    source_path: str
    project: str
    conversation_id: str | None
    turn_index: int
    role: str
    content: str
    timestamp: str | None
    metadata: Metadata
    places: tuple[Place, ...]
    """Every place where it was seen, the one it is filed under first."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One result of a search, with everything that `search --json` shows."""

    rank: int
    score: float
    relevance: float | None
    """0 to 1; until it is calibrated the similarity."""
    lexical_rank: int | None
    semantic_rank: int | None
    similarity: float | None
    """Cosine to the query; None where no vector was asked for."""
    id: str
    type: str
    content: str
    snippet: str
    role: str
    source_path: str
    source_line: int | None
    source_project: str
    conversation_id: str | None
    turn_index: int
    timestamp: str | None
    metadata: Metadata
    contributions: Metadata = field(default_factory=lambda: EMPTY)
    """By list, what it added to the score."""


class Hits(list[Hit]):
    """The results of a search, best first, with what the person should know about them."""

    def __init__(self, hits: Iterable[Hit] = (), warnings: tuple[str, ...] = ()) -> None:
        super().__init__(hits)
        self.warnings = warnings


@dataclass(frozen=True, slots=True)
class Recollection:
    """One entry of a recall block: an episode, with the turn of it that matched."""

    hit: Hit
    asked: str | None
    """Excerpt of what was asked; None where nothing was, as in a note."""
    answered: str | None
    """Excerpt of what was answered, around what matched; None where the match is all there is."""
    outcome: str
    """`worked`, `failed`, `mixed` or `unknown`."""
    is_current: bool
    """It belongs to the project in which the caller stands."""


@dataclass(frozen=True, slots=True)
class Block:
    """What primes an agent."""

    query: str
    memories: tuple[Recollection, ...]
    text: str
    """Markdown within the budget."""
    tokens: int
    """Of the text, counted as `budget.count_tokens` does; never over the budget."""
    warnings: tuple[str, ...] = ()

    @property
    def hits(self) -> tuple[Hit, ...]:
        """The turns that matched, one an entry."""
        return tuple(memory.hit for memory in self.memories)
