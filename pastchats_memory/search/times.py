"""The time that a query speaks of, as a filter or as something that speaks for a row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pastchats_memory.model import Filters, TimeRead
from pastchats_memory.search.rank import timeliness
from pastchats_memory.store.database import Database
from pastchats_memory.store.filters import is_any
from pastchats_memory.store.turn_context import text_beginnings
from pastchats_memory.text.dates import moment

_TIMELY = re.compile(
    r"\b(?:(?:19|20)\d\d|yesterday|ago|(?:day|week|fortnight|month|quarter|year)s?|"
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)\b",
    re.IGNORECASE,
)
"""Without one of these nothing is read, and the tables for it are not loaded."""
_ASKS_WHEN = re.compile(
    r"\bwhen (?:did|was|were|is|are|will|ha[sd]|have)\b|\b(?:what|which) (?:date|day|month|year)\b|\bhow long ago\b",
    re.IGNORECASE,
)
DAY = timedelta(days=1)


class Times(NamedTuple):
    """What of a query's time is used."""

    filters: Filters
    """The caller's, narrowed where the time is a filter."""
    read: TimeRead | None = None
    warnings: tuple[str, ...] = ()
    are_asked: bool = False
    """The query asks for a time."""


def times_of(database: Database, text: str, filters: Filters, today: date, *, may_filter: bool) -> Times:
    """The time that a query speaks of, and whether it asks for one. Raises StoreFault; arguments as for `_named`."""
    named = _named(database, text, filters, today, may_filter=may_filter)
    return named._replace(are_asked=_ASKS_WHEN.search(text) is not None)


def _named(database: Database, text: str, filters: Filters, today: date, *, may_filter: bool) -> Times:
    """The time that a query speaks of; none where the caller said when. Raises StoreFault.

    Args:
        database: where a month without a year is looked for, and a filter that would leave nothing is dropped.
        text: the query.
        filters: the caller's.
        today: what "last week" counts from.
        may_filter: else the time only ever speaks for rows.
    """
    if filters.since or filters.until or not _TIMELY.search(text):
        return Times(filters)
    from pastchats_memory.text.dates import read_when

    when = read_when(text, today)
    if when is None:
        return Times(filters)
    readings = [
        TimeRead(when.words, _moment(since, is_end=False), _moment(until, is_end=True), when.is_filter and may_filter)
        for since, until in when.spans
    ]
    for read in readings:
        narrowed = filters._replace(since=read.since, until=read.until)
        if is_any(database, narrowed):
            return Times(narrowed if read.is_filter else filters, read)
    if not readings[0].is_filter:
        return Times(filters)
    return Times(filters, None, (f"nothing here is of the time that {when.words!r} names; all times were searched",))


def _moment(day: date | None, *, is_end: bool) -> str | None:
    return None if day is None else moment(day.isoformat(), is_end=is_end)


def timely(read: TimeRead | None, timestamps: list[str | None]) -> NDArray[np.float64]:
    """How much the time that a query speaks of is that of each row, 0 to 1; shape (rows,)."""
    if read is None or read.is_filter:
        return np.zeros(len(timestamps))
    return timeliness(np.array([_days_off(read, timestamp) for timestamp in timestamps]))


def told(database: Database, times: Times, ids: Sequence[int]) -> NDArray[np.bool_]:
    """Whether each row tells a time, where the query asks for one; shape (ids,). Raises StoreFault."""
    if not times.are_asked:
        return np.zeros(len(ids), np.bool_)
    from pastchats_memory.text.dates import tells_when

    texts = text_beginnings(database, ids)
    return np.array([tells_when(texts.get(id_, "")) for id_ in ids])


def _days_off(read: TimeRead, timestamp: str | None) -> float:
    """Days that a row is after the span, negative before it, 0 within; infinitely many for a row without a time."""
    if timestamp is None:
        return -np.inf
    if read.since is not None and timestamp < read.since:
        return (_time(timestamp) - _time(read.since)) / DAY
    if read.until is not None and timestamp > read.until:
        return (_time(timestamp) - _time(read.until)) / DAY
    return 0.0


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
