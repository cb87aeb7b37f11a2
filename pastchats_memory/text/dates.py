"""Read the time that a question names as days. Pure.

Examples are "in May 2023", "since last week" and "on 3 June".

A time with one open side ("since", "before") is a filter: it says when the sought text was written. The day, month or year
of an event is no filter, because people write about events afterwards too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from typing import NamedTuple

from pastchats_memory.text.time_spans import DAYS, MONTH_NAMES, SEASONS, UNITS, Bounds, month_end, unit_around

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
