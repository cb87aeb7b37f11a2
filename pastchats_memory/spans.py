"""Spans of time as people name them ("last week", "since March", "3 days ago") to days. Pure."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from datetime import date, timedelta

UNITS = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "quarter": 91, "year": 365}
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "couple of": 2, "three": 3, "few": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
            "ten": 10}  # fmt: skip
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
Bounds = tuple[date | None, date | None]


def unit_around(unit: str, day: date) -> tuple[date, date]:
    """The calendar week, month, quarter or year of a day."""
    if unit == "week":
        start = day - timedelta(days=day.weekday())
        return start, start + timedelta(days=6)
    if unit == "month":
        return day.replace(day=1), month_end(day)
    if unit == "quarter":
        start = day.replace(month=day.month - (day.month - 1) % 3, day=1)
        return start, month_end(start.replace(month=start.month + 2))
    if unit == "year":
        return day.replace(month=1, day=1), day.replace(month=12, day=31)
    return day, day


def month_end(day: date) -> date:
    """The last day of a day's month."""
    return day.replace(day=monthrange(day.year, day.month)[1])


def _this(found: re.Match[str], today: date) -> Bounds:
    return unit_around(found[1], today)


def _last(found: re.Match[str], today: date) -> Bounds:
    start, _ = unit_around(found[1], today)
    return unit_around(found[1], start - timedelta(days=1))


def _next(found: re.Match[str], today: date) -> Bounds:
    _, end = unit_around(found[1], today)
    return unit_around(found[1], end + timedelta(days=1))


def _back(found: re.Match[str], today: date) -> Bounds:
    number = int(found[1]) if found[1].isdecimal() else _NUMBERS.get(found[1], 1)
    return today - timedelta(days=min(number * UNITS[found[2]], 36_500)), today


def _older(found: re.Match[str], today: date) -> Bounds:
    return None, _back(found, today)[0]


def _weekday(found: re.Match[str], today: date) -> Bounds:
    day = today - timedelta(days=(today.weekday() - _DAYS.index(found[2])) % 7 or 7)
    return (day, today) if (found[1] or "").startswith("since") else (day, day)


def _month(found: re.Match[str], today: date) -> Bounds:
    month = MONTHS.index(found[2]) + 1
    year = int(found[3]) if found[3] else today.year - (month > today.month)
    start = date(year, month, 1)
    return (
        (start, None)
        if found[1] == "since"
        else (None, start - timedelta(days=1))
        if found[1] == "before"
        else (start, month_end(start))
    )


def _iso(found: re.Match[str], _: date) -> Bounds:
    try:
        day = date.fromisoformat(found[2])
    except ValueError:
        return None, None
    match found[1]:
        case "since" | "after" | "from":
            return day, None
        case "before":
            return None, day - timedelta(days=1)
        case "until" | "by":
            return None, day
        case _:
            return day, day


def _relative(days: int, *, since: bool = False) -> Callable[[re.Match[str], date], Bounds]:
    def span(_: re.Match[str], today: date) -> Bounds:
        day = today + timedelta(days=days)
        return (day, today) if since else (day, day)

    return span


def _patterns() -> Iterator[tuple[str, Callable[[re.Match[str], date], Bounds]]]:
    units = "|".join(UNITS)
    numbers = r"\d{1,4}|" + "|".join(_NUMBERS)
    yield rf"\b(?:older than|more than|over|for more than) (?:the )?({numbers}) ({units})s?(?: ago| old)?\b", _older
    yield rf"\b(?:in|over|during|within|for) the (?:last|past|previous) ({numbers}) ({units})s?\b", _back
    yield rf"\b(?:last|past|previous) ({numbers}) ({units})s?\b", _back
    yield rf"\b(?:since |in )?({numbers}) ({units})s? ago\b", _back
    yield (
        r"\b(?:in |over |during |within )?(?:the )?past ()(week|month|quarter|year)\b",
        lambda f, t: (t - timedelta(days=UNITS[f[2]]), t),
    )
    yield r"\bsince last (week|month|quarter|year)\b", lambda f, t: (_last(f, t)[0], t)
    yield r"\b(?:(?:in|over|during|within|for) the )?(?:last|previous) (week|month|quarter|year)\b", _last
    yield r"\b(?:this|the current) (week|month|quarter|year)\b", _this
    yield r"\bnext (week|month|quarter|year)\b", _next
    yield r"\bsince yesterday\b", _relative(-1, since=True)
    yield r"\bthe day before yesterday\b", _relative(-2)
    yield r"\byesterday\b", _relative(-1)
    yield r"\b(?:today|tonight|this morning|this afternoon)\b", _relative(0)
    yield r"\btomorrow\b", _relative(1)
    yield rf"\b(since |on |last |since last )?({'|'.join(_DAYS)})\b", _weekday
    yield rf"\b(in|since|during|before)? ?({'|'.join(MONTHS)})(?: ([1-9]\d{{3}}))?\b", _month
    yield r"\b(since|after|from|before|until|by|on)? ?([1-9]\d{3}-\d\d-\d\d)\b", _iso
    yield r"\b(?:recently|lately)\b", lambda _, t: (t - timedelta(days=14), t)


TIMES = tuple(_patterns())
"""Patterns of spans of time, the first that fits is meant, each with what makes days of it."""
