"""Turn spans of time as people name them into days. Pure.

Examples are "last week", "since March" and "3 days ago".
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from datetime import date, timedelta

UNITS = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "quarter": 91, "year": 365}
NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "couple of": 2, "three": 3, "few": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
           "eight": 8, "nine": 9, "ten": 10, "twelve": 12}  # fmt: skip
"""Words for numbers."""
_ISO_DAY = r"[1-9]\d{3}-\d\d-\d\d"
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTH_NAMES = (
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
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""First month of each season, as meteorologists of the northern hemisphere count."""
PARTS_OF_MONTH = {
    "first": (1, 7), "second": (8, 14), "third": (15, 21), "fourth": (22, 28), "last": (-6, None),
    "early": (1, 10), "beginning": (1, 10), "start": (1, 10), "mid": (11, 20), "middle": (11, 20),
    "late": (-10, None), "end": (-10, None),
}  # fmt: skip
"""First and last day of each part of a month; a part that lasts until the end of the month counts back from it."""
Bounds = tuple[date | None, date | None]


def unit_around(unit: str, day: date) -> tuple[date, date]:
    """Return the calendar week, month, quarter or year of a day."""
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
    """Return the last day of a day's month."""
    return day.replace(day=monthrange(day.year, day.month)[1])


def _this(found: re.Match[str], today: date) -> Bounds:
    return unit_around(found[1], today)


def _last(found: re.Match[str], today: date) -> Bounds:
    start, _ = unit_around(found[1], today)
    return unit_around(found[1], start - timedelta(days=1))


def _next(found: re.Match[str], today: date) -> Bounds:
    _, end = unit_around(found[1], today)
    return unit_around(found[1], end + timedelta(days=1))


def _ago(found: re.Match[str], today: date) -> Bounds:
    number = parse_number(found[1])
    return today - timedelta(days=min(number * UNITS[found[2]], 36_500)), today


def parse_number(word: str) -> int:
    """Return the number that digits or a word of NUMBERS name."""
    return int(word) if word.isdecimal() else NUMBERS.get(word, 1)


def _ahead(found: re.Match[str], today: date) -> Bounds:
    return today, today + (today - (_ago(found, today)[0] or today))


def _older(found: re.Match[str], today: date) -> Bounds:
    return None, _ago(found, today)[0]


def _weekday(found: re.Match[str], today: date) -> Bounds:
    side = (found[1] or "").split(" ")[0]
    if side in ("by", "until", "before", "next"):
        day = today + timedelta(days=(DAYS.index(found[2]) - today.weekday()) % 7 or 7)
        return (day, day) if side == "next" else (None, day - timedelta(days=side == "before"))
    day = today - timedelta(days=(today.weekday() - DAYS.index(found[2])) % 7 or 7)
    return (day, today) if side == "since" else (day, day)


def _end_of(found: re.Match[str], today: date) -> Bounds:
    return (None if found[1] else unit_around(found[2], today)[1]), unit_around(found[2], today)[1]


def _quarter(found: re.Match[str], today: date) -> Bounds:
    month = int(found[1]) * 3 - 2
    year = int(found[2]) if found[2] else today.year - (month > today.month)
    return unit_around("quarter", date(year, month, 1))


def _hours(found: re.Match[str], today: date) -> Bounds:
    return today - timedelta(days=-(-min(int(found[1]), 99_999) // 24)), today


def _span_of_month(found: re.Match[str], today: date) -> Bounds:
    month = MONTH_NAMES.index(found[2]) + 1
    year = int(found[3]) if found[3] else today.year - (month > today.month)
    start = date(year, month, 1)
    return (
        (start, None)
        if found[1] == "since"
        else (None, start - timedelta(days=1))
        if found[1] == "before"
        else (start, month_end(start))
    )


def _part_of_month(found: re.Match[str], today: date) -> Bounds:
    """Return the first to fourth or last week of a month, or its beginning, middle or end."""
    month = MONTH_NAMES.index(found["month"]) + 1
    start = date(int(found["year"]) if found["year"] else today.year - (month > today.month), month, 1)
    first, last = PARTS_OF_MONTH[found["part"].split(" ")[0]]
    if last is None:
        return month_end(start) - timedelta(days=-first), month_end(start)
    return start.replace(day=first), start.replace(day=last)


def _season(found: re.Match[str], today: date) -> Bounds:
    """Return the bounds of a season.

    Without a year: the latest that has begun, `last` the latest that is over, `next` the first that has not begun.
    """
    side, month = found["side"], SEASONS[found["season"]]
    latest = today - timedelta(days=92 if "last" in side else 0)
    begun = max(latest.year - (latest < date(latest.year, month, 1)), 1)
    start = date(int(found["year"] or begun + ("next" in side)), month, 1)
    end = month_end(start + timedelta(days=62))
    if side.startswith("since"):
        return start, None
    return (None, start - timedelta(days=1)) if side.startswith("before") else (start, end)


def _day_in_year(today: date, day: str, month: str, year: str | None) -> date | None:
    """Return the day in the named year, else the last such day.

    None for an impossible day.
    """
    number = MONTH_NAMES.index(month) + 1
    for written in (int(year),) if year else (today.year, today.year - 1):
        if 1 <= int(day) <= monthrange(written, number)[1]:
            found = date(written, number, int(day))
            if year or found <= today:
                return found
    return None


def _days(found: re.Match[str], today: date) -> Bounds:
    """Return the bounds from one day of a month to another."""
    since = _day_in_year(today, found["from"], found["month"], found["year"])
    return since, since and _day_in_year(today, found["to"], found["month"], str(since.year))


def _dates(found: re.Match[str], today: date) -> Bounds:
    """Return the bounds from one month to another, or from a day of the one to a day of the other."""
    since = _day_in_year(today, found["day"] or found["day_after"] or "1", found["month"], found["year"])
    last_day = found["last_day"] or found["last_day_after"]
    until = _day_in_year(today, last_day or "1", found["last_month"], found["year"])
    return since, until if last_day or until is None else month_end(until)


def _span_of_date(found: re.Match[str], today: date) -> Bounds:
    day = _day_in_year(today, found["day"], found["month"], found["year"])
    return (None, None) if day is None else _span_on_side(found["side"], day)


def _between(found: re.Match[str], _: date) -> Bounds:
    try:
        return date.fromisoformat(found[1]), date.fromisoformat(found[2])
    except ValueError:
        return None, None


def next_occurrence(bounds: Bounds, words: str, today: date) -> Bounds:
    """Return the next weekday or month without a year, as a due date means it."""
    since, until = bounds
    if since is None or until is None or until >= today or re.search(r"\d{4}|last|ago|past", words):
        return bounds
    if any(day in words for day in DAYS):
        return since + timedelta(days=7), until + timedelta(days=7)
    if any(month in words for month in MONTH_NAMES):
        return _add_year(since), _add_year(until)
    return bounds


def _add_year(day: date) -> date:
    later = monthrange(day.year + 1, day.month)[1]
    return day.replace(year=day.year + 1, day=later if day == month_end(day) else min(day.day, later))


def _iso(found: re.Match[str], _: date) -> Bounds:
    try:
        day = date.fromisoformat(found[2])
    except ValueError:
        return None, None
    return _span_on_side(found[1], day)


def _span_on_side(side: str | None, day: date) -> Bounds:
    match side:
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


Patterns = Iterator[tuple[str, Callable[[re.Match[str], date], Bounds]]]


def _day_patterns() -> Patterns:
    """Yield patterns of days by number."""
    months, day = "|".join(MONTH_NAMES), r"{1,2})(?:st|nd|rd|th)?"
    year = r"(?:,? (?P<year>[1-9]\d{3}))?\b"
    to = r" ?(?:and|to|until|till|-|–) ?"
    first, last = (
        rf"(?:the )?(?:(?P<{name}day>\d{day}(?: of)? (?=(?:{months})\b))?(?P<{name}month>{months})(?: (?P<{name}day_after>\d{day})?"
        for name in ("", "last_")
    )
    yield rf"\b(?:between|from) {first}{to}{last}{year}", _dates
    yield (
        rf"\b(?:between |from )?(?:the )?(?P<from>\d{day}{to}(?:the )?(?P<to>\d{day}(?: of)? (?P<month>{months}){year}",
        _days,
    )
    yield rf"\b(?:between |from )?(?P<month>{months}) (?P<from>\d{day}{to}(?P<to>\d{day}{year}", _days
    side = r"\b(?:(?P<side>since|after|from|before|until|by|on) )?(?:the )?"
    yield rf"{side}(?P<day>\d{day}(?: of)? (?P<month>{months}){year}", _span_of_date
    yield rf"{side}(?P<month>{months}) (?P<day>\d{day}{year}", _span_of_date
    yield rf"\b(?:between|from) ({_ISO_DAY}) (?:and|to|until) ({_ISO_DAY})\b", _between


def _season_patterns() -> Patterns:
    """Yield patterns of seasons, but not of names: `in spring` may be in a framework."""
    seasons, year = "|".join(SEASONS), r"[1-9]\d{3}"
    yield (
        rf"\b(?P<side>(?:in |since |during |before |over )?(?:the |this |last |next ))(?P<season>{seasons})(?P<year>)\b(?! boot| framework|,? {year})",
        _season,
    )
    yield (
        rf"\b(?P<side>(?:in |since |during |before )?(?:the )?)(?P<season>{seasons})(?: of)? (?P<year>{year})\b",
        _season,
    )
    yield (
        r"\b(?P<side>in |since |during |before |over )(?P<season>summer|autumn|fall|winter)(?P<year>)\b",
        _season,
    )


def _all_patterns() -> Patterns:
    yield from _day_patterns()
    part = r"(?:first|second|third|fourth|last) week of|(?:beginning|start|middle|end) of|early|mid|late"
    yield (
        rf"\b(?:in |at |during |from |around )?(?:the )?(?P<part>{part})[ -](?P<month>{'|'.join(MONTH_NAMES)})(?: (?P<year>[1-9]\d{{3}}))?\b",
        _part_of_month,
    )
    yield r"\b(by |before |until )?(?:the )?end of (?:the |this )?(week|month|quarter|year)\b", _end_of
    units = "|".join(UNITS)
    numbers = r"\d{1,4}|" + "|".join(NUMBERS)
    yield rf"\b(?:in|within) (?:the next )?({numbers}) ({units})s?\b(?! ago)", _ahead
    yield rf"\b(?:over )?the next ({numbers}) ({units})s?\b", _ahead
    yield rf"\bfor (?:over |more than |at least )?({numbers}) ({units})s?\b", _older
    yield rf"\b(?:older than|more than|over|for more than) (?:the )?({numbers}) ({units})s?(?: ago| old)?\b", _older
    yield rf"\b(?:in|over|during|within|for) the (?:last|past|previous) ({numbers}) ({units})s?\b", _ago
    yield rf"\b(?:last|past|previous) ({numbers}) ({units})s?\b", _ago
    yield rf"\b(?:since |in )?({numbers}) ({units})s? ago\b", _ago
    yield (
        r"\b(?:in |over |during |within )?(?:the )?past ()(week|month|quarter|year)\b",
        lambda f, t: (t - timedelta(days=UNITS[f[2]]), t),
    )
    yield r"\bsince last (week|month|quarter|year)\b", lambda f, t: (_last(f, t)[0], t)
    yield r"\b(?:(?:in|over|during|within|for) the )?(?:last|previous) (week|month|quarter|year)\b", _last
    yield r"\b(?:this|the current) (week|month|quarter|year)\b", _this
    yield r"\bnext (week|month|quarter|year)\b", _next
    yield r"\bsince yesterday\b", _relative(-1, since=True)
    yield r"\b(?:the )?day before yesterday\b", _relative(-2)
    yield r"\byesterday\b", _relative(-1)
    yield r"\b(?:today|tonight|this morning|this afternoon)\b", _relative(0)
    yield r"\b(?:in |of )?q([1-4])(?: (?:of )?([1-9]\d{3}))?\b", _quarter
    yield r"\b(?:in |over |during |within )?(?:the )?(?:last|past|previous) (\d{1,5}) hours?\b", _hours
    yield r"\btomorrow\b", _relative(1)
    yield rf"\b(since |on |last |since last |next |by |until |before )?({'|'.join(DAYS)})\b", _weekday
    yield rf"\b(in|since|during|before)? ?({'|'.join(MONTH_NAMES)})(?: ([1-9]\d{{3}}))?\b", _span_of_month
    yield from _season_patterns()
    yield r"\b(since|after|from|before|until|by|on)? ?([1-9]\d{3}-\d\d-\d\d)\b", _iso
    yield r"\b(?:recently|lately)\b", lambda _, t: (t - timedelta(days=14), t)


TIME_PATTERNS = tuple(_all_patterns())
"""Patterns of spans of time, each with the function that turns a match into days. The first match counts."""
