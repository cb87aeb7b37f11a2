"""What a person typed, as the engines want it: words, an FTS5 expression, filters."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta, tzinfo
from itertools import pairwise
from typing import NamedTuple

from pastchats_memory.errors import UsageFault

MOST_ROWS = 30_000
"""Rows that the words of one query may be looked up in, the rarest words first: a word in half of a large corpus tells
hardly anything and costs as much as all others together."""
MOST_PAIRS = 12
"""Pairs of neighbouring words of one query that are looked up."""
FUNCTION_WORD = 0.5
"""What a function word counts for: at 0 code loses ("if", "not", "with"), at 1 talk does."""
PASTED_WORD = 0.25
"""What a word counts for that stands in a paste alone."""
FUNCTION_WORDS = frozenset(
    """a about above after again against all am an and any are as at be because been before being below between both but
    by can could d did do does doing don down during each few for from further had has have having he her here him his
    how i if in into is isn it its just ll m may me might more most must my no nor not now of off on once only or other
    our out over own re s same shall she should so some such t than that the their them then there these they this
    those through to too under until up us ve very was we were what when where which while who whom whose why will with
    would you your""".split()  # noqa: SIM905 - a list of 130 strings would fill a page
)

FIRST_PERSON = frozenset({"i", "me", "mine", "my", "myself", "our", "ours", "us", "we"})
"""Words by which a question speaks of who asks it."""

DATES = "Write it as 2026-01-31 or 2026-01-31T08:15."

_WORD = re.compile(r"[^\W_]+")
_DAY = re.compile(r"\d{4}-?\d\d-?\d\d\Z|\d{4}-?W\d\d-?\d\Z")
_TIME = re.compile(r"[T ]\d\d(?P<minute>:?\d\d)?(?P<second>:?\d\d)?(?P<fraction>[.,]\d+)?(Z|[+-][\d:.]+)?\Z")


def words(text: str) -> list[str]:
    """The distinct words, lower-cased, in order: runs of letters and digits, as the index splits them."""
    return list(dict.fromkeys(word.lower() for word in _WORD.findall(text)))


class Term(NamedTuple):
    """A word of a query and what the corpus makes of it."""

    word: str
    """As it was typed, lower-cased."""
    rows: int
    """In how many rows of the corpus it occurs."""
    importance: float
    """1, or FUNCTION_WORD."""
    weight: float
    """Importance times inverse document frequency; also of a word that does not occur, which weighs the most."""


def term(word: str, rows: int, corpus: int, *, pasted: bool = False) -> Term:
    """A word that occurs in `rows` of the `corpus` rows, weighed as Lucene's BM25 does: ln(1 + (N - n + ½) / (n + ½))."""
    importance = (FUNCTION_WORD if word in FUNCTION_WORDS else 1.0) * (PASTED_WORD if pasted else 1.0)
    return Term(word, rows, importance, importance * math.log(1 + (corpus - rows + 0.5) / (rows + 0.5)))


def coverage(terms: Sequence[Term]) -> float:
    """Share of the query's weight that occurs in the corpus, 0 to 1."""
    total = sum(term.weight for term in terms)
    return sum(term.weight for term in terms if term.rows) / total if total else 0.0


def looked_up(terms: Sequence[Term]) -> dict[str, float]:
    """The importance of the words worth looking up, rarest first, until their rows are too many; at least one."""
    chosen: dict[str, float] = {}
    rows = 0
    for term in sorted((term for term in terms if term.rows), key=lambda term: term.rows):
        rows += term.rows
        if chosen and rows > MOST_ROWS:
            break
        chosen[term.word] = term.importance
    return chosen


def pairs(text: str, terms: Sequence[Term]) -> dict[str, float]:
    """Words that stand side by side in a query, both of importance, with the weight of the lesser; the weightiest MOST_PAIRS."""
    weights = {term.word: term.weight for term in terms if term.rows and term.importance == 1}
    row = [word.lower() for word in _WORD.findall(text)]
    found = {
        f"{first} {second}": min(weights[first], weights[second])
        for first, second in pairwise(row)
        if first in weights and second in weights and first != second
    }
    return dict(sorted(found.items(), key=lambda pair: -pair[1])[:MOST_PAIRS])


def moment(text: str, *, is_end: bool, zone: tzinfo | None = None) -> str:
    """A bound for `timestamp` out of an ISO date or time; a day, hour, minute or second means all of it.

    Args:
        text: such as `2026-01-31` or `2026-01-31T08:15Z`.
        is_end: the bound is the last moment of what was named rather than its first.
        zone: of a text without one; the system's by default.

    Raises:
        UsageFault: it is no date.
    """
    try:
        parsed = datetime.fromisoformat(text.strip())
    except ValueError as fault:
        raise UsageFault(f"{text!r} is no date or time", DATES) from fault
    if _DAY.match(text.strip()):
        parsed = datetime.combine(parsed.date(), time.max if is_end else time.min)
    elif is_end:
        parsed = parsed + _rest_of_unit(text.strip())
    if parsed.tzinfo is None and zone is not None:
        parsed = parsed.replace(tzinfo=zone)
    try:
        return parsed.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError) as fault:
        raise UsageFault(f"{text!r} lies outside the calendar", DATES) from fault


def _rest_of_unit(text: str) -> timedelta:
    found = _TIME.search(text)
    if found is None or found["fraction"]:
        return timedelta(0)
    if found["second"]:
        return timedelta(milliseconds=999)
    return timedelta(minutes=0 if found["minute"] else 59, seconds=59, milliseconds=999)


# What of a text is asked: its words of the one engine, what is said in it of the other.


class Asked(NamedTuple):
    """What of a text the two engines are asked."""

    words: str
    """All but our own blocks that it quotes."""
    said: str
    """Without what was pasted, but for the line of it that says what went wrong: a sentence below sixty lines of a log
    would be lost in one vector with them."""


def asked_in(text: str) -> Asked:
    """What is asked in a text; of a paste alone in which nothing went wrong, all of it."""
    if "\n" not in text:
        return Asked(text, text)  # what a paste is shows by its lines
    from pastchats_memory.text.pasted import parted
    from pastchats_memory.text.recall_block import without_echoes

    own = without_echoes(text) or text
    return Asked(own, "\n".join(part for part in parted(own) if part) or own)
