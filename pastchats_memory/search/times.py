"""Read the time that a question names, as a filter or as evidence."""

import math
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

from pastchats_memory.arrays import Bools, Floats, np
from pastchats_memory.model import Filters, TimeRead
from pastchats_memory.search.rank import time_decay
from pastchats_memory.store.database import Database
from pastchats_memory.store.filters import is_any
from pastchats_memory.store.turn_context import text_beginnings
from pastchats_memory.text.lazy_pattern import LazyPattern
from pastchats_memory.text.timestamps import parse_bound

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_SEASONS = ("spring", "summer", "autumn", "fall", "winter")
TIME_WORD = LazyPattern(
    r"\b(?:(?:19|20)\d\d|[a-z]*day|tonight|q[1-4]|this (?:morning|afternoon)|hours?|"
    rf"(?:day|week|fortnight|month|quarter|year)s?|{'|'.join(_SEASONS)}|(?:{'|'.join(_MONTHS)})[a-z]*)\b",
    words=("19", "20", "day", "night", "q", "hour", "week", "fortnight", "month", "quarter", "year", "morning", "noon",
           *_SEASONS, *_MONTHS),
)  # fmt: skip
"""Lower-case words without which a question names no time, so that the time patterns need not be loaded."""
_ASKS_WHEN = LazyPattern(
    r"\bwhen (?:did|was|were|is|are|will|ha[sd]|have)\b|\b(?:what|which) (?:date|day|month|year)\b|\bhow long ago\b",
    words=("when ", " date", " day", " month", " year", " ago"),
)
DAY = timedelta(days=1)


class QueryTime(NamedTuple):
    """The time that a question names, and how the search uses it."""

    filters: Filters
    """The caller's filters, narrowed if the time is a filter."""
    read: TimeRead | None = None
    warnings: tuple[str, ...] = ()
    asks_when: bool = False
    """Whether the question asks for a time."""


def read_time(database: Database, text: str, filters: Filters, today: date, *, may_filter: bool) -> QueryTime:
    """Return the time that a question names, unless the caller's filters set one, and whether it asks for one."""
    unread = QueryTime(filters, asks_when=_ASKS_WHEN.search(text.lower()) is not None)
    if filters.since or filters.until or not TIME_WORD.search(text.lower()):
        return unread
    from pastchats_memory.text.dates import read_when

    when = read_when(text, today)
    if when is None:
        return unread
    readings = [
        TimeRead(when.words, _bound(since, is_end=False), _bound(until, is_end=True), when.is_filter and may_filter)
        for since, until in when.spans
    ]
    for read in readings:
        narrowed = filters._replace(since=read.since, until=read.until)
        if is_any(database, narrowed):
            return unread._replace(filters=narrowed if read.is_filter else filters, read=read)
    note = f"nothing here is of the time that {when.words!r} names; all times were searched"
    return unread._replace(warnings=(note,)) if readings[0].is_filter else unread


def _bound(day: date | None, *, is_end: bool) -> str | None:
    return None if day is None else parse_bound(day.isoformat(), is_end=is_end)


def match_time(read: TimeRead | None, timestamps: list[str | None]) -> Floats:
    """Return how well each row's time matches the question's, 0 to 1; shape (rows,)."""
    if read is None or read.is_filter:
        return np.zeros(len(timestamps))
    since, until = (bound and datetime.fromisoformat(bound) for bound in (read.since, read.until))
    length = (until - since) / DAY if since and until else math.inf
    return time_decay(np.array([_days_off(read, timestamp) for timestamp in timestamps]), length)


def has_time(database: Database, time: QueryTime, ids: Sequence[int]) -> Bools:
    """Return which rows mention a time, if the question asks for one; shape (ids,)."""
    if not time.asks_when:
        return np.zeros(len(ids), np.bool_)
    from pastchats_memory.text.dates import mentions_time

    texts = text_beginnings(database, ids)
    return np.array([mentions_time(texts.get(id_, "")) for id_ in ids])


def _days_off(read: TimeRead, timestamp: str | None) -> float:
    """Return the days by which a row is off the span: positive after it, negative before, -inf without a time."""
    if timestamp is None:
        return -np.inf
    if read.since is not None and timestamp < read.since:
        return (datetime.fromisoformat(timestamp) - datetime.fromisoformat(read.since)) / DAY
    if read.until is not None and timestamp > read.until:
        return (datetime.fromisoformat(timestamp) - datetime.fromisoformat(read.until)) / DAY
    return 0.0
