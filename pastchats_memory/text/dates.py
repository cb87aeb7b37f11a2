"""Read times as people name them: "last week", `7d`, "in May 2023". Pure but for the clock of `parse_time`.

The three parts build on each other: phrases become spans of days, an option becomes a bound, a question names a time.
`timestamps` reads the times that programs write.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, timedelta, tzinfo
from typing import NamedTuple

from pastchats_memory.errors import UsageFault
from pastchats_memory.text.timestamps import is_iso, parse_bound

# --- spans of time, such as "since March" and "3 days ago" -------------------------------------------------------------

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


def _span_of_ago(found: re.Match[str], today: date) -> Bounds:
    number = parse_number(found[1])
    return today - timedelta(days=min(number * UNITS[found[2]], 36_500)), today


def parse_number(word: str) -> int:
    """Return the number that digits or a word of NUMBERS name."""
    return int(word) if word.isdecimal() else NUMBERS.get(word, 1)


def _ahead(found: re.Match[str], today: date) -> Bounds:
    return today, today + (today - (_span_of_ago(found, today)[0] or today))


def _older(found: re.Match[str], today: date) -> Bounds:
    return None, _span_of_ago(found, today)[0]


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
    yield rf"\b(?:in|over|during|within|for) the (?:last|past|previous) ({numbers}) ({units})s?\b", _span_of_ago
    yield rf"\b(?:last|past|previous) ({numbers}) ({units})s?\b", _span_of_ago
    yield rf"\b(?:since |in )?({numbers}) ({units})s? ago\b", _span_of_ago
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


# --- the time of an option: an ISO date, `7d`, `yesterday` or "last week" ----------------------------------------------

HINT = "Write it as 2026-01-31, 2026-01-31T08:15, 2026-01, 7d, 12h, today, 'yesterday 14:00' or 'last week'."
_UNITS = {"min": "minutes", "minute": "minutes", "h": "hours", "hr": "hours", "hour": "hours", "d": "days", "day": "days",
          "w": "weeks", "wk": "weeks", "week": "weeks", "mo": "months", "month": "months", "y": "years", "yr": "years",
          "year": "years"}  # fmt: skip
_AMOUNT = re.compile(rf"(\d{{1,5}}|an?) ?({'|'.join(sorted(_UNITS, key=len, reverse=True))})s?( ago)?")
_YEAR_OR_MONTH = re.compile(r"([1-9]\d{3})(?:-(0[1-9]|1[0-2]))?")
_CLOCK = re.compile(r"(?:(?P<day>\S.*?),? )?(?:at )?(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)")
"""A time of day after the words for a day; without them it is one of today."""
_CALENDAR_UNITS = ("week", "month", "quarter", "year")
_DAYS = {"days": 1, "weeks": 7, "months": 30, "years": 365}


def parse_time(text: str, *, is_end: bool, is_ahead: bool = False, zone: tzinfo | None = None) -> str:
    """Return a bound for `timestamp` from an ISO time or from words.

    Spans count from now. A day, week, month or year means all of it.

    Args:
        text: such as `2026-01-31`, `2026-01`, `7d`, `2 hours ago`, `today` or `last week`.
        is_end: whether the bound is the last moment of the named time, not its first.
        is_ahead: whether the time is to come, as that of a due date is.
        zone: the zone of a time without one; by default the system's.

    Raises:
        UsageFault: the text names no time, or one outside the calendar.
    """
    words = " ".join(text.lower().split())
    if is_iso(words):
        return parse_bound(text, is_end=is_end, zone=zone)
    now = datetime.now(zone)
    words = _spell_out(words)
    try:
        if words == "now":
            return parse_bound(now.isoformat(), is_end=False, zone=zone)
        if found := _AMOUNT.fullmatch(words):
            return _away(found, now, is_end=is_end, is_ahead=is_ahead, zone=zone)
        named, clock = _split_clock(words)
        day = _day_of(named, now.date(), is_end=is_end, is_ahead=is_ahead)
    except (OverflowError, ValueError) as fault:
        raise UsageFault(f"{text!r} lies outside the calendar", HINT) from fault
    if day is None:
        raise UsageFault(f"{text!r} is no date or time", HINT)
    return parse_bound(day.isoformat() + clock, is_end=is_end, zone=zone)


def parse_span(text: str, zone: tzinfo | None = None) -> tuple[str, str | None]:
    """Return the bounds of a span that one text names; the end is None for a span up to now.

    Args:
        text: a time as for `parse_time`, a number of units such as `7d`, a unit such as `week` for the present one,
            or two times with `..` between them.
        zone: the zone of a time without one; by default the system's.

    Raises:
        UsageFault: the text names no time.
    """
    words = " ".join(text.lower().split())
    if ".." in words:
        since, _, until = words.partition("..")
        return parse_time(since, is_end=False, zone=zone), parse_time(until, is_end=True, zone=zone)
    if words in _CALENDAR_UNITS:
        words = f"this {words}"
    since = parse_time(words, is_end=False, zone=zone)
    amount = _AMOUNT.fullmatch(words)
    return since, None if amount and not amount[3] else parse_time(words, is_end=True, zone=zone)


def _spell_out(words: str) -> str:
    """Return words with full names of months and weekdays, without an article, and with hyphens in a date of numbers."""
    names = {name[:3]: name for name in (*DAYS, *MONTH_NAMES)} | {"sept": "september"}
    words = re.sub(r"[a-z]{3,4}\b\.?", lambda found: names.get(found[0].rstrip("."), found[0]), words)
    words = re.sub(r"([1-9]\d{3})/(\d\d?)/(\d\d?)\b", lambda found: f"{found[1]}-{found[2]:0>2}-{found[3]:0>2}", words)
    return re.sub(r"the (?=last |past )", "", words, count=1)


def _split_clock(words: str) -> tuple[str, str]:
    """Return the words for a day and the time of day after them, such as `T14:05`; today without a day."""
    found = _CLOCK.fullmatch(words)
    return (found["day"] or "today", f"T{found['hour']:0>2}:{found['minute']}") if found else (words, "")


def _away(found: re.Match[str], now: datetime, *, is_end: bool, is_ahead: bool, zone: tzinfo | None) -> str:
    """Return the bound of a number of units away from now; from days on, it is a whole day."""
    number = int(found[1]) if found[1].isdecimal() else 1
    unit = _UNITS[found[2]]
    way = timedelta(days=number * _DAYS[unit]) if unit in _DAYS else timedelta(**{unit: number})
    moment = now + way if is_ahead and not found[3] else now - way
    text = moment.date().isoformat() if unit in _DAYS else moment.isoformat()
    return parse_bound(text, is_end=is_end, zone=zone)


def _day_of(words: str, today: date, *, is_end: bool, is_ahead: bool) -> date | None:
    """Return the first or last day of what the words name; None if they name nothing with such an end."""
    if found := _YEAR_OR_MONTH.fullmatch(words):
        first = date(int(found[1]), int(found[2] or 1), 1)
        last = month_end(first) if found[2] else unit_around("year", first)[1]
        return last if is_end else first
    for pattern, days_of in TIME_PATTERNS:
        if match := re.fullmatch(pattern, words):
            bounds = days_of(match, today)
            since, until = next_occurrence(bounds, words, today) if is_ahead else bounds
            return until if is_end else since
    return None


# --- the time that a question names ------------------------------------------------------------------------------------
#
# A time with one open side ("since", "before") is a filter: it says when the sought text was written. The day, month or
# year of an event is no filter, because people write about events afterwards too.

MOST_YEARS = 10
"""Years in which a day or month without a year is looked for, the latest first."""
ALSO_WORDS = frozenset({"april", "august", "june", "march", "may"})
"""Months that are also names or verbs."""
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
_TIME_MENTION = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|(?:19|20)\d\d|"
    rf"(?:last|next|this|past) (?:\w+ )?(?:{'|'.join((*UNITS, *SEASONS))}|weekend|night|morning|evening)s?|"
    rf"{'|'.join((*DAYS, *(month for month in MONTH_NAMES if month != 'may')))})\b"
)
_OPEN_END = re.compile(r",? (?:on|onwards?|to|until|till|through)\b|\s?[-–]")
_POSSESSIVE = re.compile(r"['’]s\b")


class When(NamedTuple):
    """The time that a phrase of a question names."""

    words: str
    """The phrase in lower case."""
    spans: tuple[Bounds, ...]
    """First and last days, None for an open side; several if no year was named, the latest first."""
    is_filter: bool
    """Whether it has one open side and no other reading; otherwise it only favours rows of that time."""


def read_when(question: str, today: date) -> When | None:
    """Return the first time that a question names, or None.

    The most exact kind comes first.
    """
    plain = " ".join(question.lower().split())
    for read in (_day, _month, _year, _the_last, _ago, _calendar, _yesterday):
        if found := read(plain, today):
            return found
    return None


def mentions_time(text: str) -> bool:
    """Check whether a text mentions a day, a part of one, or a longer time.

    Such a text may answer "when".
    """
    return _TIME_MENTION.search(text.lower()) is not None


def _day(plain: str, today: date) -> When | None:
    for pattern in (_ISO, _DAY, _DAY_FIRST):
        for found in pattern.finditer(plain):
            if found["month"] == "may" and pattern is _DAY and not (found["with"] or found["year"]):
                continue  # "you may 3"
            month = int(found["month"]) if pattern is _ISO else _month_number(found["month"])
            years = _years(found["year"], today)
            days = [day for year in years if (day := _date(year, month, int(found["day"])))]
            if bounded := _apply_preposition(found, [(day, day) for day in days if found["year"] or day <= today]):
                return bounded
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
        if bounded := _apply_preposition(found, spans):
            return bounded
    return None


def _year(plain: str, today: date) -> When | None:
    for found in _ONE_YEAR.finditer(plain):
        if found["with"] and int(found["year"]) <= today.year:
            return _apply_preposition(found, [(date(int(found["year"]), 1, 1), date(int(found["year"]), 12, 31))])
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
    return _apply_preposition(found, [span])


def _yesterday(plain: str, today: date) -> When | None:
    found = _YESTERDAY.search(plain)
    day = today - timedelta(days=1)
    return None if found is None else _apply_preposition(found, [(day, day)])


def _apply_preposition(found: re.Match[str], spans: Sequence[tuple[date, date]]) -> When | None:
    """Return the days as their preposition bounds them.

    "two weeks before 11 August" is about that time.
    """
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
    """Check whether a phrase bounds time.

    "notes from May" and "since last week's release" do not.
    """
    word, behind = found["with"], found.string[found.end() :]
    if found["distance"] or _POSSESSIVE.match(behind):
        return False
    return word in FROM_THEN_ON | UP_TO_THEN and (word != "from" or _OPEN_END.match(behind) is not None)


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
