"""Define the values about episodes: outcomes, attempts, the entries of a recall block, and packets.

Annotations are evaluated here, as in `model`.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple

from pastchats_memory import fields
from pastchats_memory.model import Cited, Hit, Item

Done = Annotated[
    tuple[str, ...],
    "The last commands that worked, as `$ make test` and in the order in which they ran; if none worked, those that "
    "failed, with ` (failed)` appended; then the paths of changed files.",
]


class StandingLines(NamedTuple):
    """The lines that an episode added, and those of them that stand in HEAD today."""

    lines: Annotated[fields.Count, "Lines of these that stand in HEAD."]
    added: Annotated[fields.Count, "Lines that the episode added."]

    def __str__(self) -> str:
        """Say it as people read it."""
        return f"{self.lines:,} of {self.added:,} added lines are in HEAD"


Standing = Annotated[
    StandingLines | None,
    "Added lines that stand in HEAD, read from transcript and repository; null without a recorded edit.",
]


@fields.shown_as("ItemView")
class ShownItem(NamedTuple):
    """A stored turn or note, whole."""

    item: Annotated[Item, fields.Flat()]
    outcome: Annotated["Outcome", fields.Flat(), fields.Shown(after="timestamp")]
    is_asked: Annotated[bool, "True for the one item whose id was given.", fields.Shown(after="type")] = False
    standing: Standing = None


class QuestionView(fields.View):
    """The turn that asks, with its source."""

    id: fields.TurnId
    timestamp: str | None
    source_path: str
    source_line: fields.Line
    citation: Cited


class ContextItem(NamedTuple):
    """An item of a context."""

    hit: Annotated[Hit, fields.Flat(but=("contributions", "resume"))]
    excerpt: Annotated[str, "As much of the content as fits; `show ID` has all of it."]


class Context(NamedTuple):
    """The context that a chat or an agent gets with its question."""

    items: tuple[ContextItem, ...]
    text: str
    """Markdown; empty if the budget does not even hold the message that nothing was found."""
    tokens: int
    """Tokens of the text, never over the budget."""
    warnings: tuple[str, ...] = ()


PACKET_SECTIONS = ("task", "open", "refused", "decided", "changed", "read", "ran", "answer", "since")
"""Parts of a packet, in the order in which they are shown."""


@fields.shown_as("PacketLineView")
class PacketLine(NamedTuple):
    """One line of a packet, with the turn that shows it."""

    section: Annotated[
        str,
        fields.one_of(*PACKET_SECTIONS),
        "task: the user's words; open: what is left; refused: what the user refused, and why; decided: the user's decisions; "
        "changed: a file; read: a file that was only read; ran: a command with its last result; answer: what the last answers came to; since: a file that "
        "changed after the session.",
    ]
    text: Annotated[str, "On one line, whole sentences where they fit."]
    id: fields.ItemId
    """The turn or the task; empty for a turn that a hook read and that is not stored yet."""
    source_line: fields.Line
    turn_index: Annotated[int, fields.HIDDEN] = 0


PacketMoment = Literal["compaction", "return", "handoff"]
"""When an agent gets a packet."""


class Packet(NamedTuple):
    """The state of a conversation: its task, decisions, refusals, files, commands, and what is open."""

    moment: Annotated[PacketMoment, fields.HIDDEN]
    project: str
    conversation_id: str
    title: str
    outcome: Annotated[fields.OutcomeWord, "Outcome of its last episode."]
    until: Annotated[fields.Time, "Time of its last turn."]
    source_path: fields.SourcePath
    lines: Annotated[tuple[PacketLine, ...], "The most useful first."]


FAILURES = ("failed", "mixed")
"""Outcomes of an episode whose problem stays, at least in part."""
NEXT_MESSAGE = "said next"
BASES: Mapping[str, str] = {
    "asked_again": "the user asked again",
    "unanswered": "before any answer",
    "broke_off": "before the end",
    "taken_up": NEXT_MESSAGE,
    "built_on": NEXT_MESSAGE,
    "judged": "judged",
    "refuted": "the user later",
}
"""How a line relates to the outcome that it shows, by signal, unless it speaks for itself as `12 passed` does."""


class Evidence(NamedTuple):
    """A line of a transcript, with its source."""

    quotation: Annotated[str, {"maxLength": 240}]
    source_path: str
    source_line: fields.Line
    """Line of the quotation if it can be found, else of the turn."""
    citation: Cited = None


class Outcome(NamedTuple):
    """The outcome of an episode."""

    verdict: Annotated[fields.OutcomeWord, fields.Shown("outcome")] = "unknown"
    evidence: Annotated[
        tuple[Evidence, ...],
        {"maxItems": 2},
        "Lines that show the outcome, the decisive one last; for an unknown outcome the user's next words, if any.",
    ] = ()
    signal: Annotated[str, fields.HIDDEN] = ""
    """The rule that decided; empty if none did."""

    @property
    def is_known(self) -> bool:
        """Return whether there is anything to show: a verdict, the next message, or a judgement as unknown."""
        return self.verdict != "unknown" or bool(self.basis)

    @property
    def shown_by(self) -> str:
        """Return the decisive line, or the next message; empty if there is none."""
        return self.evidence[-1].quotation if self.evidence else ""

    @property
    def basis(self) -> Annotated[fields.Basis, fields.Shown(after="outcome")]:
        """Return how that line relates to the outcome; empty if it speaks for itself."""
        if self.verdict != "unknown":
            return BASES.get(self.signal, "")
        return ", ".join(filter(None, (self.signal, NEXT_MESSAGE if self.evidence else "")))


class Attempt(NamedTuple):
    """Another episode about the same problem."""

    id: fields.TurnId
    """Of the turn that asks."""
    asked: str
    """An excerpt on one line."""
    answered: Annotated[
        str, "Summary of the answers; in a recall block their lines that are worth most. Empty without one."
    ]
    outcome: fields.OutcomeWord
    shown_by: Annotated[str, "The line that shows the outcome, quoted from a transcript."]
    timestamp: str | None
    source_path: str
    source_line: fields.Line
    citation: Cited = None
    signal: Annotated[str, fields.HIDDEN] = ""
    """The rule that decided on the outcome; empty if none did."""
    reply: Annotated[str, "The user's next words about it; empty if there are none."] = ""
    likelihood: Annotated[float, fields.HIDDEN] = 1.0
    """Probability that it answers the query."""
    is_match: Annotated[bool, fields.HIDDEN] = False
    """Whether the query matched it."""

    @property
    def basis(self) -> Annotated[fields.Basis, fields.Shown(after="outcome")]:
        """Return how the line relates to the outcome; empty if it speaks for itself."""
        return BASES.get(self.signal, "")


class Sheet(NamedTuple):
    """An episode laid out for a reader who judges its outcome; of long texts beginning and end."""

    id: Annotated[fields.TurnId, "Id of the prompt."]
    project: str
    timestamp: str | None
    asked: Annotated[str, {"maxLength": 1003}]
    answered: Annotated[str, {"maxLength": 1003}, "All answers; empty if there is none."]
    """Of a long episode those near its beginning and its end."""
    done: Annotated[
        tuple[Annotated[str, {"maxLength": 120}], ...], "Commands that worked as `$ make test`, then changed files."
    ]
    results: Annotated[
        tuple[Annotated[str, {"maxLength": 303}], ...], {"maxItems": 3}, "The last results of commands, in order."
    ]
    said_next: Annotated[str, {"maxLength": 1003}, "The user's words up to the next answer; empty if there are none."]
    outcome: Annotated[Outcome, fields.Flat()]
    """The outcome that recall shows."""
    source_path: str
    source_line: fields.Line
    citation: Cited = None
    was: Annotated[fields.OutcomeWord, "The outcome before it was judged just now.", fields.IF_ANY] = ""


class Unjudged(NamedTuple):
    """Episodes that somebody may judge."""

    sheets: tuple[Sheet, ...]
    left: int
    """Number of further episodes, at most MOST_COUNTED of `store.outcomes`."""


class Edits(NamedTuple):
    """The files that an episode changed, and when."""

    files: frozenset[str] = frozenset()
    """Paths from the folder of the project."""
    begin: str | None = None
    """Time of the request."""
    end: str | None = None
    """Time of the last turn."""
    turns: tuple[Item, ...] = ()
    """The turns with the edits."""


class RecallEntry(NamedTuple):
    """An entry of a recall block: an episode with the hit that matched."""

    hit: Annotated[Hit, fields.Flat(but=("contributions", "resume"))]
    asked: str | None
    """Excerpt of the question; None without one, as in a note."""
    answered: str | None
    """Excerpt of the answer around what matched; None without one."""
    outcome: Annotated[Outcome, fields.Flat()]
    is_current: Annotated[bool, fields.Shown("current_project", "reverted_by")]
    """Whether it belongs to the caller's project."""
    question: Annotated[
        Hit | None,
        fields.As(QuestionView | None),
        "The prompt, if another turn of the episode matched: the entry in the text has its time and source. "
        "Null if the match itself is shown first.",
        fields.Shown(after="current_project"),
    ] = None
    title: Annotated[str, "What the thread is about: the start of its first request."] = ""
    done: Done = ()
    before: Annotated[
        tuple[Attempt, ...], "Earlier attempts at the same problem, in order, each with the user's words about it."
    ] = ()
    after: Annotated[
        Attempt | None, "The end of the thread, if a filter chose an earlier attempt.", fields.Shown("ended_later")
    ] = None
    superseded_by: Annotated[Attempt | None, "The later episode that replaced what was decided here."] = None
    edits: Annotated[Edits, fields.HIDDEN] = Edits()
    """What it changed."""
    commit: Annotated[
        str,
        "Short hash of the commit with its edits, read from the repository of the working directory.",
        fields.NULL_IF_EMPTY,
    ] = ""
    """It is never stored."""
    reverted_by: Annotated[str, "Short hash of the commit that reverted that one.", fields.NULL_IF_EMPTY] = ""
    standing: Standing = None
    """It is never stored."""
    supersedes: Annotated[str, fields.HIDDEN] = ""
    """Id of an earlier decision of the block that this one replaced; empty for none."""
    has_turned: Annotated[bool, fields.HIDDEN] = False
    """Whether the thread turned to another thing before its end, so that the attempt that matched is shown first."""
    likelihood: Annotated[float, fields.HIDDEN] = 1.0
    """Probability that its end answers the query."""
    no_resume: Annotated[str, fields.HIDDEN] = ""
    """Why its session cannot be resumed; empty if nothing is known against it."""
    is_short: Annotated[bool, fields.HIDDEN] = False
    """Whether room is scarce, so that its source is named without the turn."""
    is_left_out: Annotated[bool, fields.HIDDEN] = False
    """Whether there is an answer that no budget was left for."""

    @property
    def first(self) -> Hit:
        """Return the turn by which the episode is known: the one that asks, else the one that matched."""
        return self.question or self.hit

    @property
    def ids(self) -> frozenset[str]:
        """Return the ids of all items that the entry shows."""
        others = (*self.before, self.after, self.superseded_by)
        hits = filter(None, (self.hit, self.question))
        return frozenset([*(hit.id for hit in hits), *(one.id for one in others if one is not None)])


class PossibleEpisode(NamedTuple):
    """An episode that perhaps fits, if nothing is close enough."""

    title: str
    hit: Hit
    concluded: str
    """What came of it; empty if nothing did."""


class RecallBlock(NamedTuple):
    """The block of earlier episodes that an agent is given before it starts work."""

    query: str
    entries: tuple[RecallEntry, ...]
    text: str
    """Markdown within the budget."""
    tokens: int
    """Tokens of the text, as `text.tokens.count_tokens` counts them; never over the budget."""
    warnings: tuple[str, ...] = ()
    least: int = 0
    """The budget that would suffice if this one was too small for any entry, else 0."""

    @property
    def hits(self) -> tuple[Hit, ...]:
        """Return the turns that matched, one for each entry."""
        return tuple(entry.hit for entry in self.entries)


class Lesson(NamedTuple):
    """A repeated failure, and what ended it."""

    project: str
    times: Annotated[int, {"minimum": 2}, "Number of failures."]
    attempts: Annotated[
        tuple[Attempt, ...], {"minItems": 1, "maxItems": 5}, "The last attempts that failed, the earliest first."
    ]
    """Requests in the same words appear once."""
    ended_by: Annotated[Attempt, "The attempt after them that worked."]


class RunView(fields.View):
    """The place where a command ran."""

    quotation: Annotated[str, "The command."]
    source_path: str
    source_line: fields.Line
    citation: Cited


class Command(NamedTuple):
    """A command that worked before."""

    project: str
    command: Annotated[str, "On one line, quoted from a transcript."]
    times: Annotated[int, {"minimum": 1}, "Number of fitting episodes in which it ran and that worked."]
    episode: Annotated[
        Attempt,
        "The episode with most of the listed commands, else the best fitting one; the commands of an episode come "
        "together, in the order in which they worked.",
        fields.Shown(after="run"),
    ]
    run: Annotated[Evidence, fields.As(RunView)]
