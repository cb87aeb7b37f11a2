"""Hold the values that outcomes are derived from: turns and evidence."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import wraps
from itertools import islice
from typing import TypeVar, cast

from pastchats_memory.episodes import list_recorded
from pastchats_memory.episodes.outcome.patterns import Pattern, load_pattern
from pastchats_memory.episodes.outcome.reply import Reply
from pastchats_memory.model import EMPTY, Metadata
from pastchats_memory.text.groups import group_by_key
from pastchats_memory.text.instruction import find_instruction

MAX_QUOTATION = 240
"""Characters."""
OPENING = 240
"""Characters of a text that hold its first sentences: people accept, reject and claim there."""
MAX_SCANNED = 6000
"""Characters that are read at each end of a text."""
MIN_WORDS = 3
"""Words of a sentence with content. A shorter prompt ("yes", "go on") may recur with another meaning."""
NO_ANSWERS = ("No response requested.", "(no content)")
"""Texts that a client writes where an answer would be."""
_WORD = re.compile(r"\w")
_EMPHASIS = re.compile(r"[*`]+|^[ \t]*[#>]+", re.MULTILINE)
_SENTENCE_END = re.compile(r"[!?\n。！？]|\.(?=\s|\Z)")
_SENTENCE_BREAK = re.compile(r"(?<=[.!?])(?<!\bi\.e\.)(?<!\be\.g\.)\s+(?=[^\s\d])|(?<=[。！？])")
_SAYS_NOTHING = re.compile(
    r"\s*(?:\Z|#{1,6}\s.*|\*\*[^*]*\*\*:?|`{3}.*|[<>=+-]{3,}|user input|documentation|[`\"']?[\w.-]*[/\\][^\s]*)\s*\Z",
    re.IGNORECASE,
)
"""A heading, a fence, a rule, or a bare path."""
MAX_SKIPPED_LINES = 5
_QUOTED_LINES = re.compile(r"\A\s*+(?:>[^\n]*\n\s*+)+(?=[^>\s])")
_FILE_LINE = re.compile(r"\A(?:(?:in|at|for|file)\s+)?[`@]?[\w./\\-]{1,200}\.\w{1,5}`?\s*:\s*\n\s*", re.IGNORECASE)
"""A line that names the file of the next lines."""


CLIENT_COMMANDS = load_pattern("episode", "client_commands")
TRIAL_COMMANDS = Pattern(r"\s*(?:/(?:run|test|lint)\b|!)[^\n]*(?:\n|\Z)")
"""Commands with which the user tries the work. Their comment follows."""


@dataclass(frozen=True, slots=True)
class EpisodeTurn:
    """One turn of an episode, as the readers give it."""

    role: str
    kind: str
    """`prompt`, `command`, `answer`, `error`, `result` …"""
    content: str
    metadata: Metadata = field(default_factory=lambda: EMPTY)
    """The client's records. Outcomes use `tools`, `files`, `commits` and `flags`."""


@dataclass(frozen=True, slots=True)
class QuotedLine:
    """One line that shows an outcome."""

    quotation: str
    """On one line, at most 240 characters."""
    place: int
    """Index of the turn in the episode, from 0. The number of turns stands for the user's next message."""


Step = tuple[int, int]
"""Position of a call: index of the turn that records it, and its number there."""


@dataclass(frozen=True, slots=True, eq=False)
class Episode:
    """The turns of an episode, and the user's next message."""

    turns: tuple[EpisodeTurn, ...]
    next_message: str
    """Empty at the end of a transcript."""
    tasks: tuple[str, ...] = ()
    """States that tasks reached during the episode."""
    reply: Reply | None = None
    """Meaning of the next message by the model; None if it was not computed."""
    cache: dict[str, object] = field(default_factory=dict)
    """Results of `cached` functions, by function name."""

    @property
    def request(self) -> str:
        """The user's messages, joined."""
        return "\n".join(turn.content for turn in self.turns if turn.role == "user")

    def answers(self) -> list[tuple[int, str]]:
        """Return places and texts of the agent's answers. A plan says what should hold, not what does."""
        return [
            (place, turn.content)
            for place, turn in enumerate(self.turns)
            if turn.role == "assistant" and turn.kind != "plan" and has_words(turn)
        ]

    @property
    def last_place(self) -> int:
        """The place of the last turn that somebody spoke, or a tool printed."""
        return max((place for place, turn in enumerate(self.turns) if has_words(turn)), default=len(self.turns) - 1)

    @property
    def last_flags(self) -> frozenset[str]:
        """The flags of the last such turn, and of what the client wrote behind it."""
        return frozenset().union(*(recorded_values(turn, "flags") for turn in self.turns[self.last_place :]))

    def steps(self) -> Iterator[tuple[Step, str]]:
        """Yield the recorded tool calls in order, such as `Bash git push`."""
        for place, turn in enumerate(self.turns):
            for number, label in enumerate(list_recorded(turn, "tools")):
                yield (place, number), label

    def calls(self) -> Iterator[tuple[int, str]]:
        """Yield the recorded tool calls with the places of their turns."""
        return ((place, label) for (place, _), label in self.steps())

    def tool_results(self) -> Iterator[tuple[int, EpisodeTurn]]:
        """Yield places and rows of errors and check results, the last first."""
        for place in range(len(self.turns) - 1, -1, -1):
            if self.turns[place].role == "tool":
                yield place, self.turns[place]

    def is_repaired(self, place: int) -> bool:
        """Return whether the command that failed at the place succeeded later."""
        return _last_successes(self).get(self._heading(place), place) > place

    def find_step(self, place: int) -> Step:
        """Return the position of the call whose result is at the place.

        Clients record a call with the answer before it, and an early call with the first answer. Among equal calls,
        the last call belongs to the last result. Without a matching call, return the place itself.
        """
        heading = self._heading(place)
        output = " ".join(self.turns[place].content[: 2 * OPENING].split())
        by_call, by_command = _indexed_calls(self)
        index = by_command if heading.startswith("$ ") else by_call
        equal_calls = index.find(heading.removeprefix("$ "), output.removeprefix("$ "))
        results = _result_places(self)[heading]
        later = len(results) - bisect_left(results, place)
        return equal_calls[-min(later, len(equal_calls))] if equal_calls else (place, 0)

    def _heading(self, place: int) -> str:
        return _result_heading(self.turns[place])


Signal = Callable[[Episode], tuple[QuotedLine, ...]]
"""A pure function that returns evidence for one way to end, or nothing."""
Result = TypeVar("Result")


def cached(function: Callable[[Episode], Result]) -> Callable[[Episode], Result]:
    """Return a function that evaluates each episode once."""
    name = function.__name__

    @wraps(function)
    def evaluate(episode: Episode) -> Result:
        results = cast("dict[str, Result]", episode.cache)
        if name not in results:
            results[name] = function(episode)
        return results[name]

    return evaluate


def _result_heading(row: EpisodeTurn) -> str:
    return " ".join(row.content.partition("\n")[0].split())


@cached
def _result_places(episode: Episode) -> dict[str, list[int]]:
    """Return the places of tool results in order, by first line."""
    return group_by_key((_result_heading(row), place) for place, row in enumerate(episode.turns) if row.role == "tool")


@cached
def _last_successes(episode: Episode) -> dict[str, int]:
    """Return the last place of each successful tool result, by first line."""
    rows = enumerate(episode.turns)
    return {_result_heading(row): place for place, row in rows if row.role == "tool" and row.kind == "result"}


class _CallIndex:
    """Steps in order, by length and text of their label without an ellipsis."""

    def __init__(self) -> None:
        self._all: dict[int, dict[str, list[Step]]] = {}
        self._cut: dict[int, dict[str, list[Step]]] = {}
        """Only the labels that the client cut."""

    def add(self, step: Step, label: str) -> None:
        text = label.rstrip("… ")
        for index in (self._all, self._cut) if label.endswith("…") else (self._all,):
            if text:
                index.setdefault(len(text), {}).setdefault(text, []).append(step)

    def find(self, heading: str, output: str) -> list[Step]:
        """Return the steps of the call that a result heading names. Both may be cut.

        The heading of a long command is only its first line. The label has all lines, and the output begins with them.
        """
        name = heading.rstrip("… ")
        texts = {name}
        if output.startswith(f"{name} "):
            texts |= {output[:length] for length in self._all if length > len(name)}
        if heading.endswith("…"):
            texts |= {text for labels in self._all.values() for text in labels if text.startswith(name)}
        found = [steps for text in texts if (steps := self._all.get(len(text), {}).get(text))]
        found += [steps for length, labels in self._cut.items() if (steps := labels.get(name[:length]))]
        return found[0] if len(found) == 1 else sorted({step for steps in found for step in steps})


@cached
def _indexed_calls(episode: Episode) -> tuple[_CallIndex, _CallIndex]:
    """Return the steps by whole label, and by the tool's argument."""
    by_call, by_command = _CallIndex(), _CallIndex()
    for step, label in episode.steps():
        by_call.add(step, label)
        by_command.add(step, label.partition(" ")[2])
    return by_call, by_command


def strip_emphasis(text: str) -> str:
    """Return the text on one line without Markdown emphasis, as quotations have it."""
    return " ".join(_EMPHASIS.sub("", text).split())


def quote_line(text: str, place: int, at: int = 0) -> tuple[QuotedLine]:
    """Quote the sentence at a position, or the next one with a word, without emphasis.

    Of a line that says nothing by itself, such as a heading or a path, quote the next line that does, or the last one before.
    """
    start = text.rfind("\n", 0, at) + 1
    word = _WORD.search(text, start)
    at = max(at, word.start() if word else 0)
    start = text.rfind("\n", 0, at) + 1
    lines = [text[start:].partition("\n")[0], *islice(text[at:].split("\n")[1:], MAX_SKIPPED_LINES)]
    lines += reversed(text[max(0, start - MAX_SCANNED) : start].split("\n"))
    line = next((one for one in lines if not _SAYS_NOTHING.match(one)), lines[0])
    sentence = _find_sentence(line, at - start if line is lines[0] else 0)
    return (QuotedLine(shorten(strip_emphasis(sentence)), place),)


def _find_sentence(line: str, at: int) -> str:
    """Return the sentence of the line at a position; a short one takes what follows it."""
    start = max((found.end() for found in _SENTENCE_BREAK.finditer(line, 0, at + 1)), default=0)
    ends = (found.start() for found in _SENTENCE_BREAK.finditer(line, at))
    end = next((end for end in ends if len(line[start:end].split()) >= MIN_WORDS), len(line))
    return line[start:end]


def shorten(line: str) -> str:
    """Return the line, cut to 240 characters at the end of a word, with an ellipsis."""
    if len(line) <= MAX_QUOTATION:
        return line
    cut = line[: MAX_QUOTATION - 1]
    return f"{cut[: cut.rfind(' ')] if ' ' in cut else cut}…"


def has_words(turn: EpisodeTurn) -> bool:
    """Return whether a turn is no summary of the client, and no stand-in for an answer."""
    return turn.kind != "summary" and turn.content.strip() not in NO_ANSWERS


def recorded_values(turn: EpisodeTurn, key: str) -> frozenset[str]:
    """Return the set of the values that the client recorded under the key."""
    return frozenset(list_recorded(turn, key))


def strip_client_commands(message: str) -> str:
    """Return a message without leading client commands, file name and client text, and without lines quoted above its words.

    If it consists of commands, return the last command that tries something.
    """
    text, trial = _QUOTED_LINES.sub("", message), ""
    while found := CLIENT_COMMANDS.match(text) or TRIAL_COMMANDS.match(text):
        trial = found[0] if TRIAL_COMMANDS.match(found[0]) else trial
        text = text[found.end() :]
    return _FILE_LINE.sub("", find_instruction(text.strip() or trial.strip()), count=1)


def first_sentence(text: str) -> str:
    """Return the first sentence, at most 240 characters."""
    return _SENTENCE_END.split(text, maxsplit=1)[0][:OPENING]


def first_statement(text: str) -> str:
    """Return the text up to the end of the sentence with its third word."""
    ends = (found.start() for found in _SENTENCE_END.finditer(text))
    return text[: next((end for end in ends if len(text[:end].split()) >= MIN_WORDS), len(text))]


@cached
def message_opening(episode: Episode) -> str:
    """Return the first 240 characters of the next message, without client commands."""
    return find_opening(episode.next_message)


def find_opening(message: str) -> str:
    """Return the first 240 characters of a message, without client commands."""
    return strip_client_commands(message[:MAX_SCANNED])[:OPENING]


def quote_next_message(episode: Episode, at: int = 0) -> tuple[QuotedLine]:
    """Quote the line of the next message that holds a position."""
    text = strip_client_commands(episode.next_message[:MAX_SCANNED]) or episode.next_message
    return quote_line(text, len(episode.turns), at)


def quote_message_start(episode: Episode) -> tuple[QuotedLine, ...]:
    """Quote the start of the next message on one line; nothing if it has only client commands."""
    line = " ".join(strip_client_commands(episode.next_message[:MAX_SCANNED]).split())
    return (QuotedLine(shorten(line), len(episode.turns)),) if line else ()
