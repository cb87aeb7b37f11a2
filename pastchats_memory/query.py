"""What a person typed, as the engines want it: words, an FTS5 expression, filters."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time, timedelta, tzinfo

from pastchats_memory.errors import UsageFault

MOST_WORDS = 48
"""Of a long query the rarest words are looked up: every one more is a list to rank."""
COMMON = 0.4
"""A word in more than this share of the rows tells rows apart hardly at all, and costs the most to rank."""

DATES = "Write it as 2026-01-31 or 2026-01-31T08:15."

_WORD = re.compile(r"[^\W_]+")
_DAY = re.compile(r"\d{4}-\d\d-\d\d\Z")
_SECONDS = re.compile(r"\d\d:\d\d:\d\d\Z")
_MINUTES = re.compile(r"[T ]\d\d:\d\d\Z")


def words(text: str) -> list[str]:
    """The distinct words, lower-cased, in order: runs of letters and digits, as the index splits them."""
    return list(dict.fromkeys(word.lower() for word in _WORD.findall(text)))


def weights(frequencies: Mapping[str, int], rows: int) -> dict[str, float]:
    """Inverse document frequency of each word, ln(1 + (N - n + ½)/(n + ½)), as Lucene's BM25 has it; 0 for no match."""
    return {word: _idf(found, rows) if found else 0.0 for word, found in frequencies.items()}


def _idf(found: int, rows: int) -> float:
    return math.log(1 + (rows - found + 0.5) / (found + 0.5))


def coverage(frequencies: Mapping[str, int], rows: int) -> float:
    """Share of the query's weight that occurs in the corpus, 0 to 1; a word that does not occur weighs the most."""
    total = sum(_idf(found, rows) for found in frequencies.values())
    return sum(_idf(found, rows) for found in frequencies.values() if found) / total if total else 0.0


def telling(frequencies: Mapping[str, int], rows: int) -> list[str]:
    """The words worth looking up, rarest first: without the common ones, unless there are no others."""
    present = sorted((word for word, found in frequencies.items() if found), key=lambda word: frequencies[word])
    rare = [word for word in present if frequencies[word] <= COMMON * rows]
    return (rare or present)[:MOST_WORDS]


def expression(some_words: Sequence[str]) -> str:
    """An FTS5 expression that any of the words matches. Each is quoted, so nothing in it is syntax."""
    return " OR ".join(f'"{word}"' for word in some_words)


def moment(text: str, *, is_end: bool, zone: tzinfo | None = None) -> str:
    """A bound for `timestamp` out of an ISO date or time; a day, minute or second means all of it.

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
    bare = re.sub(r"(Z|[+-]\d\d:?\d\d)\Z", "", text)
    if _SECONDS.search(bare):
        return timedelta(milliseconds=999)
    return timedelta(seconds=59, milliseconds=999) if _MINUTES.search(bare) else timedelta(0)
