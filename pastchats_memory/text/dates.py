"""The time that a question speaks of ("in May 2023", "since last week", "on 3 June") as days. Pure.

What bounds one side of time ("since", "before") is a filter: it says when what is sought was said. The day, month or year in
which something happened is none, since it is told of afterwards too.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from pathlib import PurePath
from typing import NamedTuple

from pastchats_memory.errors import UsageFault

# Spans of time as people name them ("last week", "since March", "3 days ago") to days. Pure.

UNITS = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "quarter": 91, "year": 365}
NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "couple of": 2, "three": 3, "few": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
           "eight": 8, "nine": 9, "ten": 10, "twelve": 12}  # fmt: skip
"""Words that stand for a number."""
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
"""By the month in which each begins, as meteorologists of the northern half of the earth have it."""
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
    number = number_of(found[1])
    return today - timedelta(days=min(number * UNITS[found[2]], 36_500)), today


def number_of(word: str) -> int:
    """What digits or a word of NUMBERS say."""
    return int(word) if word.isdecimal() else NUMBERS.get(word, 1)


def _ahead(found: re.Match[str], today: date) -> Bounds:
    return today, today + (today - (_back(found, today)[0] or today))


def _older(found: re.Match[str], today: date) -> Bounds:
    return None, _back(found, today)[0]


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


def _season(found: re.Match[str], today: date) -> Bounds:
    """Without a year the latest that has begun, `last` the latest that is over, `next` the first that has not begun."""
    side, month = found["side"], SEASONS[found["season"]]
    latest = today - timedelta(days=92 if "last" in side else 0)
    begun = max(latest.year - (latest < date(latest.year, month, 1)), 1)
    start = date(int(found["year"] or begun + ("next" in side)), month, 1)
    end = month_end(start + timedelta(days=62))
    if side.startswith("since"):
        return start, None
    return (None, start - timedelta(days=1)) if side.startswith("before") else (start, end)


def _day_in_year(today: date, day: str, month: str, year: str | None) -> date | None:
    """The day in the year that was said, else the last such day; None for one that no calendar has."""
    number = MONTH_NAMES.index(month) + 1
    for written in (int(year),) if year else (today.year, today.year - 1):
        if 1 <= int(day) <= monthrange(written, number)[1]:
            found = date(written, number, int(day))
            if year or found <= today:
                return found
    return None


def _days(found: re.Match[str], today: date) -> Bounds:
    """From one day of a month to another."""
    since = _day_in_year(today, found["from"], found["month"], found["year"])
    return since, since and _day_in_year(today, found["to"], found["month"], str(since.year))


def _span_of_date(found: re.Match[str], today: date) -> Bounds:
    day = _day_in_year(today, found["day"], found["month"], found["year"])
    return (None, None) if day is None else _span_on_side(found["side"], day)


def _between(found: re.Match[str], _: date) -> Bounds:
    try:
        return date.fromisoformat(found[1]), date.fromisoformat(found[2])
    except ValueError:
        return None, None


def to_come(bounds: Bounds, words: str, today: date) -> Bounds:
    """The bounds of a weekday or a month that was named without a year, as what is due means it: the next one."""
    since, until = bounds
    if since is None or until is None or until >= today or re.search(r"\d{4}|last|ago|past", words):
        return bounds
    if any(day in words for day in DAYS):
        return since + timedelta(days=7), until + timedelta(days=7)
    if any(month in words for month in MONTH_NAMES):
        return _a_year_on(since), _a_year_on(until)
    return bounds


def _a_year_on(day: date) -> date:
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


def _dated() -> Patterns:
    """Days by their number."""
    months, day = "|".join(MONTH_NAMES), r"{1,2})(?:st|nd|rd|th)?"
    year = r"(?:,? (?P<year>[1-9]\d{3}))?\b"
    to = r" ?(?:and|to|until|till|-|–) ?"
    yield (
        rf"\b(?:between |from )?(?:the )?(?P<from>\d{day}{to}(?:the )?(?P<to>\d{day}(?: of)? (?P<month>{months}){year}",
        _days,
    )
    yield rf"\b(?:between |from )?(?P<month>{months}) (?P<from>\d{day}{to}(?P<to>\d{day}{year}", _days
    side = r"\b(?:(?P<side>since|after|from|before|until|by|on) )?(?:the )?"
    yield rf"{side}(?P<day>\d{day}(?: of)? (?P<month>{months}){year}", _span_of_date
    yield rf"{side}(?P<month>{months}) (?P<day>\d{day}{year}", _span_of_date
    yield rf"\b(?:between|from) ({_ISO_DAY}) (?:and|to|until) ({_ISO_DAY})\b", _between


def _seasonal() -> Patterns:
    """Seasons, where they are none of a name: `in spring` may be in a framework."""
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


def _patterns() -> Patterns:
    yield from _dated()
    units = "|".join(UNITS)
    numbers = r"\d{1,4}|" + "|".join(NUMBERS)
    yield rf"\b(?:in|within) (?:the next )?({numbers}) ({units})s?\b(?! ago)", _ahead
    yield rf"\b(?:over )?the next ({numbers}) ({units})s?\b", _ahead
    yield rf"\bfor (?:over |more than |at least )?({numbers}) ({units})s?\b", _older
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
    yield r"\b(by |before |until )?(?:the )?end of (?:the |this )?(week|month|quarter|year)\b", _end_of
    yield r"\b(?:in |of )?q([1-4])(?: (?:of )?([1-9]\d{3}))?\b", _quarter
    yield r"\b(?:in |over |during |within )?(?:the )?(?:last|past|previous) (\d{1,5}) hours?\b", _hours
    yield r"\btomorrow\b", _relative(1)
    yield rf"\b(since |on |last |since last |next |by |until |before )?({'|'.join(DAYS)})\b", _weekday
    yield rf"\b(in|since|during|before)? ?({'|'.join(MONTH_NAMES)})(?: ([1-9]\d{{3}}))?\b", _span_of_month
    yield from _seasonal()
    yield r"\b(since|after|from|before|until|by|on)? ?([1-9]\d{3}-\d\d-\d\d)\b", _iso
    yield r"\b(?:recently|lately)\b", lambda _, t: (t - timedelta(days=14), t)


TIMES = tuple(_patterns())
"""Patterns of spans of time, the first that fits is meant, each with what makes days of it."""


MOST_YEARS = 10
"""Years in which a day or month without a year is looked for, the latest first."""
ALSO_WORDS = frozenset({"april", "august", "june", "march", "may"})
"""Months that are names of people or verbs as well."""
FROM_THEN_ON, UP_TO_THEN = frozenset({"since", "from", "after"}), frozenset({"before", "until", "till"})

_NUMBERS = {name: number for number, name in enumerate(MONTH_NAMES, start=1)}
_SHORT = {name[:3]: number for name, number in _NUMBERS.items()} | {"sept": 9}
_NAMES = "|".join((*_NUMBERS, *sorted(_SHORT, key=len, reverse=True)))
_WITH = (
    r"(?:\b(?P<distance>(?:days?|weeks?|weekends?|months?|years?) )?"
    r"(?P<with>in|on|of|at|by|during|since|from|after|before|until|till) (?:the )?)?\b"
)
_YEAR = r"(?P<year>(?:19|20)\d\d)\b"
_COUNT = r"(?P<count>\d{1,3}|an?|one|two|three|few|four|five|six)"
_UNIT = rf"(?P<unit>{'|'.join(UNITS)})"
_COUNTED = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "few": 3, "four": 4, "five": 5, "six": 6}

_DAY = re.compile(rf"{_WITH}(?P<month>{_NAMES})\.? (?P<day>\d\d?)(?:st|nd|rd|th)?\b(?:,? {_YEAR})?")
_DAY_FIRST = re.compile(rf"{_WITH}(?P<day>\d\d?)(?:st|nd|rd|th)?(?: of)? (?P<month>{_NAMES})\b\.?(?:,? {_YEAR})?")
_ISO = re.compile(rf"{_WITH}{_YEAR}-(?P<month>\d\d)-(?P<day>\d\d)\b")
_MONTH = re.compile(rf"{_WITH}(?:last |this )?(?P<month>{_NAMES})\b\.?(?:,? {_YEAR})?")
_ONE_YEAR = re.compile(
    rf"{_WITH}{_YEAR}(?=\s*(?:[?.!,;:)]|$)|\s(?:about|and|as|did|does|for|i|or|that|the|to|was|we|were|when|where|which|with|you)\b)"
)
_AGO = re.compile(rf"\b{_COUNT} {_UNIT}s? ago\b")
_THE_LAST = re.compile(rf"\b(?:in|over|during|within) the (?:last|past) (?:{_COUNT} )?{_UNIT}s?\b")
_CALENDAR = re.compile(rf"{_WITH}(?P<which>last|this) {_UNIT}\b")
_YESTERDAY = re.compile(rf"{_WITH}yesterday\b")
_TELLS = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|(?:19|20)\d\d|"
    rf"(?:last|next|this|past) (?:\w+ )?(?:{'|'.join((*UNITS, *SEASONS))}|weekend|night|morning|evening)s?|"
    rf"{'|'.join((*DAYS, *(month for month in MONTH_NAMES if month != 'may')))})\b"
)
_ONWARD = re.compile(r",? (?:on|onwards?|to|until|till|through)\b|\s?[-–]")
_POSSESSIVE = re.compile(r"['’]s\b")


class When(NamedTuple):
    """What a phrase of a question says of time."""

    words: str
    """The phrase, in lower case."""
    spans: tuple[Bounds, ...]
    """Days, both inclusive, None for no bound; several where no year was named, the latest first."""
    is_filter: bool
    """It bounds one side of time and has no other reading; else it only speaks for what was said then."""


def read_when(question: str, today: date) -> When | None:
    """The first kind of time that a question speaks of, the most exact kind first; None where it speaks of none."""
    plain = " ".join(question.lower().split())
    for read in (_day, _month, _year, _the_last, _ago, _calendar, _yesterday):
        if found := read(plain, today):
            return found
    return None


def tells_when(text: str) -> bool:
    """Whether a text names a day, a part of one or more than one: so it may answer a question that asks when."""
    return _TELLS.search(text.lower()) is not None


def _day(plain: str, today: date) -> When | None:
    for pattern in (_ISO, _DAY, _DAY_FIRST):
        for found in pattern.finditer(plain):
            if found["month"] == "may" and pattern is _DAY and not (found["with"] or found["year"]):
                continue  # "you may 3"
            month = int(found["month"]) if pattern is _ISO else _month_number(found["month"])
            years = _years(found["year"], today)
            days = [day for year in years if (day := _date(year, month, int(found["day"])))]
            if said := _bounded(found, [(day, day) for day in days if found["year"] or day <= today]):
                return said
    return None


def _month(plain: str, today: date) -> When | None:
    for found in _MONTH.finditer(plain):
        name, is_sure = found["month"], found["year"] or found["with"] in ("in", "during")
        if not (is_sure or (found["with"] and name not in ALSO_WORDS)) or (
            name in _SHORT and not found["year"] and name != "may"
        ):
            continue
        starts = [date(year, _month_number(name), 1) for year in _years(found["year"], today)]
        spans = [(start, month_end(start)) for start in starts if found["year"] or start <= today]
        if said := _bounded(found, spans):
            return said
    return None


def _year(plain: str, today: date) -> When | None:
    for found in _ONE_YEAR.finditer(plain):
        if found["with"] and int(found["year"]) <= today.year:
            return _bounded(found, [(date(int(found["year"]), 1, 1), date(int(found["year"]), 12, 31))])
    return None


def _the_last(plain: str, today: date) -> When | None:
    found = _THE_LAST.search(plain)
    if found is None:
        return None
    days = _count(found["count"] or "one") * UNITS[found["unit"]]
    return When(found[0], ((today - timedelta(days=days), None),), is_filter=True)


def _ago(plain: str, today: date) -> When | None:
    found = _AGO.search(plain)
    if found is None:
        return None
    length = UNITS[found["unit"]]
    day, around = today - timedelta(days=_count(found["count"]) * length), timedelta(days=length // 2)
    return When(found[0], ((day - around, day + around),), is_filter=False)


def _calendar(plain: str, today: date) -> When | None:
    found = _CALENDAR.search(plain)
    if found is None:
        return None
    span = unit_around(found["unit"], today)
    if found["which"] == "last":
        span = unit_around(found["unit"], span[0] - timedelta(days=1))
    return _bounded(found, [span])


def _yesterday(plain: str, today: date) -> When | None:
    found = _YESTERDAY.search(plain)
    day = today - timedelta(days=1)
    return None if found is None else _bounded(found, [(day, day)])


def _bounded(found: re.Match[str], spans: Sequence[tuple[date, date]]) -> When | None:
    """What the preposition makes of the days; "two weeks before 11 August" is about that time, not all before it."""
    if not spans:
        return None
    word, words = found["with"], found[0].strip()
    if not _is_bound(found):
        return When(words, tuple(spans), is_filter=False)
    bounds: list[Bounds] = []
    for start, end in spans:
        if word in FROM_THEN_ON:
            bounds.append((end + timedelta(days=1) if word == "after" else start, None))
        else:
            bounds.append((None, start - timedelta(days=1) if word == "before" else end))
    return When(words, tuple(bounds), is_filter=True)


def _is_bound(found: re.Match[str]) -> bool:
    """Whether it says since or until when; "notes from May" says of when, "since last week's release" since what."""
    word, behind = found["with"], found.string[found.end() :]
    if found["distance"] or _POSSESSIVE.match(behind):
        return False
    return word in FROM_THEN_ON | UP_TO_THEN and (word != "from" or _ONWARD.match(behind) is not None)


def _month_number(name: str) -> int:
    return _NUMBERS.get(name) or _SHORT[name]


def _count(word: str) -> int:
    return int(word) if word.isdecimal() else _COUNTED[word]


def _years(named: str | None, today: date) -> Sequence[int]:
    return [int(named)] if named else range(today.year, today.year - MOST_YEARS, -1)


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


# One reading of time for every format: numbers of any unit, ISO in its many spellings, to ISO 8601 UTC.

SECONDS_PER_UNIT = ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6))
"""Epoch numbers below the first bound are seconds, then milliseconds, then microseconds; above, nanoseconds."""
NANOSECONDS = 1e9
EARLIEST = 1e8
"""Smaller numbers (March 1973 as seconds) are counters and durations, not times."""

LATEST = 1e20
MONTHS_IN_YEAR = 12
DAY_DIGITS = 8
"""As many digits are a day such as 20260131, more are an epoch number."""

LOCAL = None
"""The zone of the person's own calendar, daylight saving as of each date: what people mean by a date they write by hand."""
MOMENT = (
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?: ?(?:Z|UTC|GMT)(?![^\W_]|[+-])| ?[+-]\d\d:?\d\d)?)?"
)
"""A date in running text, with the time and the zone behind it where there are any."""

_SLASHED = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4}),? (\d{1,2}):(\d\d)(?::\d\d)?(?:[ \u202f]([AP])M)?\Z")
_DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4}),? (\d{1,2}):(\d\d)(?::\d\d)?\Z")
_FRACTION = re.compile(r"(\.\d{6})\d+")
_ZONE = re.compile(r" {0,2}(?:(Z|UTC|GMT)|([+-]\d\d:?\d\d))\Z")
_NUMBER = re.compile(r"\d+(\.\d+)?\Z")


def iso_utc(value: object, zone: tzinfo | None = UTC) -> str | None:
    """`2026-01-31T08:15:00.000Z`, or None for what is missing (null, 0, "") or no time.

    Args:
        value: epoch number, the same as text, or ISO text with any number of fractional digits.
        zone: what a time without one is in; LOCAL for what was written by hand, which comes to the minute: which moment
            it was depends on where it is read, so it must not be what tells a turn from itself.

    """
    moment = _moment(value, zone)
    return None if moment is None else moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def handwritten(text: str) -> str | None:
    """The time of a heading or a fact: ISO, with the day before the dot, or with slashes, where AM and PM or a number above twelve tell which is the month."""
    if found := _DOTTED.match(text):
        day, month, year, hour, minute = map(int, found.groups())
        return iso_utc(f"{year}-{month:02}-{day:02} {hour:02}:{minute:02}", LOCAL)
    if found := _SLASHED.match(text):
        first, second, year, hour, minute = (int(part) for part in found.groups()[:5])
        if not found[6] and max(first, second) <= MONTHS_IN_YEAR:
            return None
        month, day = (second, first) if first > MONTHS_IN_YEAR else (first, second)
        hour = hour % 12 + 12 * (found[6] == "P") if found[6] else hour
        text = f"{year}-{month:02}-{day:02} {hour:02}:{minute:02}"
    return iso_utc(text, LOCAL)


def to_the_minute(moment: str | None) -> str | None:
    """A time of `iso_utc` without seconds: what may be given to all turns of a conversation that have none of their own.

    A time finer than a minute counts as a turn's own and would make one turn of two equal ones.
    """
    return None if moment is None else f"{moment[:16]}:00.000Z"


def _moment(value: object, zone: tzinfo | None) -> datetime | None:
    if isinstance(value, str):
        text = value.strip()
        return _from_epoch(float(text)) if _NUMBER.match(text) and len(text) > DAY_DIGITS else _from_iso(text, zone)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _from_epoch(value)
    return None


def _from_epoch(number: float) -> datetime | None:
    if not EARLIEST <= number < LATEST:
        return None
    divisor = next((unit for bound, unit in SECONDS_PER_UNIT if number < bound), NANOSECONDS)
    return datetime.fromtimestamp(number / divisor, UTC)  # LATEST is the year 5138, which every unit can hold


def _from_iso(text: str, zone: tzinfo | None) -> datetime | None:
    text = _ZONE.sub(lambda found: found[2] or "Z", _FRACTION.sub(r"\1", text))
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None and zone is LOCAL:
            moment = moment.replace(second=0, microsecond=0)
        return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


# The day that a path tells: `2026-01-31-foo.md`, `logs/2026/01/31.md`.

COMPONENTS = 4
"""Of a path, so many from its end are looked at."""

_DAY_IN_PATH = re.compile(r"(?<!\d)((?:19|20)\d\d)[-_./]?(0[1-9]|1[0-2])[-_./]?(0[1-9]|[12]\d|3[01])(?!\d)")


def date_in_path(path: PurePath) -> str | None:
    """The first moment, in UTC, of the last local day that the end of the path names; None without one."""
    days = _DAY_IN_PATH.findall("/".join(path.parts[-COMPONENTS:]))
    return next((moment for day in reversed(days) if (moment := iso_utc("-".join(day), LOCAL))), None)


# A bound for a filter.

DATES = "Write it as 2026-01-31 or 2026-01-31T08:15."

_WHOLE_DAY = re.compile(r"\d{4}-?\d\d-?\d\d\Z|\d{4}-?W\d\d-?\d\Z")
_TIME_OF_DAY = re.compile(r"[T ]\d\d(?P<minute>:?\d\d)?(?P<second>:?\d\d)?(?P<fraction>[.,]\d+)?(Z|[+-][\d:.]+)?\Z")


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
    if _WHOLE_DAY.match(text.strip()):
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
    found = _TIME_OF_DAY.search(text)
    if found is None or found["fraction"]:
        return timedelta(0)
    if found["second"]:
        return timedelta(milliseconds=999)
    return timedelta(minutes=0 if found["minute"] else 59, seconds=59, milliseconds=999)
