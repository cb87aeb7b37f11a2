"""Turn a time as people name it into a bound: an ISO date, `7d`, `yesterday` or "last week"."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, tzinfo

from pastchats_memory.errors import UsageFault
from pastchats_memory.text.timestamps import is_iso, parse_bound

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
    from pastchats_memory.text.time_spans import DAYS, MONTH_NAMES

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
    from pastchats_memory.text.time_spans import TIME_PATTERNS, month_end, next_occurrence, unit_around

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
