"""Read times as people name them: "last week", `7d`, "in May 2023". Pure but for the clock of `parse_time` and `parse_span`.

One grammar reads every place: an option, a question about tasks, and a search. A phrase names a period of days, and the
preposition before it says whether the period itself is meant, or the time since or before it. `timestamps` reads the
times that programs write.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import date, datetime, timedelta
from typing import Literal, NamedTuple

from pastchats_memory.errors import UsageFault
from pastchats_memory.text.data_file import read_text
from pastchats_memory.text.lazy_pattern import LazyPattern
from pastchats_memory.text.timestamps import is_iso, parse_bound

UNITS = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "quarter": 91, "year": 365}
"""Days of each unit."""
NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "couple of": 2, "three": 3, "few": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
           "eight": 8, "nine": 9, "ten": 10, "twelve": 12}  # fmt: skip
"""Words for numbers."""
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
NEAR_DAYS = {"day before yesterday": -2, "yesterday": -1, "today": 0, "tonight": 0, "this morning": 0, "this afternoon": 0,
             "tomorrow": 1}  # fmt: skip
"""Days from today on."""
MONTH_NAMES = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
               "december")  # fmt: skip
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""First month of each season, as meteorologists of the northern hemisphere count."""
PARTS_OF_MONTH = {
    "first": (1, 7), "second": (8, 14), "third": (15, 21), "fourth": (22, 28), "last": (-6, None),
    "early": (1, 10), "beginning": (1, 10), "start": (1, 10), "mid": (11, 20), "middle": (11, 20),
    "late": (-10, None), "end": (-10, None),
}  # fmt: skip
"""First and last day of each part of a month; a part that lasts until the end of the month counts back from it."""
SIDES = {
    "since": "since",
    "from": "since",
    "after": "after",
    "before": "before",
    "until": "until",
    "till": "until",
    "by": "until",
}
"""Prepositions that name the time on one side of a period. Others, such as "in" and "during", name the period itself."""
ALSO_WORDS = frozenset({"april", "august", "june", "march", "may"})
"""Months that are also names or verbs."""
MOST_YEARS = 10
"""Years in which a day or month without a year is looked for, the latest first."""
MOST_DAYS = 36_500
"""Days that a number of units counts at most."""

Bounds = tuple[date | None, date | None]
Kind = Literal["since", "within", "before"]
_SHORT_MONTHS = {name[:3]: name for name in MONTH_NAMES} | {"sept": "september"}


class TimePhrase(NamedTuple):
    """A phrase that names a time."""

    words: str
    """The phrase in lower case."""
    place: tuple[int, int]
    """Where it begins and ends in the text."""
    first: date
    """First day of the period that it names."""
    last: date
    side: str = ""
    """`since`, `after`, `before` or `until`; empty if the period itself is meant."""
    slack: int = 0
    """Days around the period that a rough phrase such as "three weeks ago" may mean as well."""
    is_yearly: bool = False
    """Whether it names no year, so that earlier years may be meant."""
    preposition: str = ""
    name: str = ""
    """The name alone, if it is a bare one such as "May" or "Monday", which may be no time."""

    @property
    def kind(self) -> Kind:
        """Return whether the time since the period, within it or before it is meant."""
        return "within" if not self.side else "since" if self.side in ("since", "after") else "before"

    @property
    def bounds(self) -> Bounds:
        """Return the first and last day that are meant, None for an open side."""
        return self.bounds_in_year(0)

    @property
    def widened(self) -> "TimePhrase":
        """Return the phrase with the slack added to its period."""
        slack = timedelta(days=self.slack)
        return self._replace(first=self.first - slack, last=self.last + slack)

    def bounds_in_year(self, earlier: int) -> Bounds:
        """Return the bounds of the same phrase so many years earlier."""
        first, last = (_add_years(day, -earlier) for day in (self.first, self.last))
        match self.side:
            case "since":
                return first, None
            case "after":
                return min(last, date.max - timedelta(days=1)) + timedelta(days=1), None
            case "before":
                return None, first - timedelta(days=1)
            case "until":
                return None, last
            case _:
                return first, last


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


def parse_number(word: str) -> int:
    """Return the number that digits or a word of NUMBERS name; 1 for any other text."""
    return int(word) if word.isdecimal() else NUMBERS.get(word, 1)


def next_occurrence(bounds: Bounds, words: str, today: date) -> Bounds:
    """Return the next weekday or month without a year, as a due date means it."""
    since, until = bounds
    if since is None or until is None or until >= today or re.search(r"\d{4}|last|ago|past", words):
        return bounds
    if any(day in words for day in DAYS):
        return since + timedelta(days=7), until + timedelta(days=7)
    if any(month in words for month in MONTH_NAMES):
        return _add_years(since, 1), _add_years(until, 1)
    return bounds


def _add_years(day: date, years: int) -> date:
    """Return the day in another year; the end of a month stays its end."""
    if not years:
        return day
    last = monthrange(day.year + years, day.month)[1]
    return day.replace(year=day.year + years, day=last if day == month_end(day) else min(day.day, last))


Period = tuple[date, date] | None
"""First and last day; None for an impossible day."""
Reader = Callable[[re.Match[str], date], Period]


def _days_of(found: re.Match[str]) -> timedelta:
    return timedelta(days=min(parse_number(found["number"]) * UNITS[found["unit"]], MOST_DAYS))


def _one_day(day: date) -> Period:
    return day, day


def _unit_from_month(unit: str, month: int, found: re.Match[str], today: date) -> Period:
    return unit_around(unit, date(_year_of(found, month, today), month, 1))


def _read_unit(found: re.Match[str], today: date) -> Period:
    """Return the calendar unit around today, or the one before or after it."""
    start, end = unit_around(found["unit"], today)
    if found["which"] in ("last", "previous"):
        return unit_around(found["unit"], start - timedelta(days=1))
    return unit_around(found["unit"], end + timedelta(days=1)) if found["which"] == "next" else (start, end)


def _read_weekday(found: re.Match[str], today: date) -> Period:
    """Return the last such day before today, or the next one after a word that looks ahead."""
    place, here = DAYS.index(found["name"]), today.weekday()
    if found["which"] == "next" or found["side"] in ("by", "until", "till", "before"):
        day = today + timedelta(days=(place - here) % 7 or 7)
    else:
        day = today - timedelta(days=(here - place) % 7 or 7)
    return day, day


def _read_part_of_month(found: re.Match[str], today: date) -> Period:
    """Return the first to fourth or last week of a month, or its beginning, middle or end."""
    month = _number_month(found["month"])
    start = date(_year_of(found, month, today), month, 1)
    first, last = PARTS_OF_MONTH[found["part"].split(" ")[0]]
    if last is None:
        return month_end(start) - timedelta(days=-first), month_end(start)
    return start.replace(day=first), start.replace(day=last)


def _read_season(found: re.Match[str], today: date) -> Period:
    """Return a season: the latest that has begun, `last` the latest that is over, `next` the first to come."""
    month, which = SEASONS[found["name"]], found["which"]
    latest = today - timedelta(days=92 if which == "last" else 0)
    begun = max(latest.year - (latest < date(latest.year, month, 1)), 1)
    start = date(int(found["year"] or begun + (which == "next")), month, 1)
    return start, month_end(start + timedelta(days=62))


def _read_day(found: re.Match[str], today: date) -> Period:
    day = _day_in_year(today, found["day"], found["month"], found["year"])
    return None if day is None else (day, day)


def _read_days(found: re.Match[str], today: date) -> Period:
    since = _day_in_year(today, found["from"], found["month"], found["year"])
    until = since and _day_in_year(today, found["to"], found["month"], str(since.year))
    return (since, until) if since and until else None


def _read_dates(found: re.Match[str], today: date) -> Period:
    """Return the days from one month to another, or from a day of the one to a day of the other."""
    since = _day_in_year(today, found["day"] or found["day_after"] or "1", found["month"], found["year"])
    last_day = found["last_day"] or found["last_day_after"]
    until = _day_in_year(today, last_day or "1", found["last_month"], found["year"])
    if since is None or until is None:
        return None
    return since, until if last_day else month_end(until)


def _read_iso(found: re.Match[str], _: date) -> Period:
    try:
        return date.fromisoformat(found["iso"]), date.fromisoformat(found["last_iso"] or found["iso"])
    except ValueError:
        return None


def _number_month(name: str) -> int:
    name = name.rstrip(".")
    return MONTH_NAMES.index(_SHORT_MONTHS.get(name, name)) + 1


def _year_of(found: re.Match[str], month: int, today: date) -> int:
    """Return the named year, else that of the latest such month."""
    return int(found["year"]) if found["year"] else today.year - (month > today.month)


def _day_in_year(today: date, day: str, month: str, year: str | None) -> date | None:
    """Return the day in the named year, else the latest such day; None for an impossible day."""
    number = _number_month(month)
    for written in (int(year),) if year else range(today.year, today.year - MOST_YEARS, -1):
        if 1 <= int(day) <= monthrange(written, number)[1]:
            found = date(written, number, int(day))
            if year or found <= today:
                return found
    return None


class TimeRule(NamedTuple):
    """One way to name a time."""

    kind: str
    """How the period is read, a key of `_READERS`."""
    words: tuple[str, ...]
    """Texts of which each match has one. Most questions have none of them, and then nothing is compiled."""
    source: str
    """An expression. Its groups `side`, `distance`, `name`, `which`, `year` and `unit` have one meaning in all rules."""
    side: str = ""
    """Side of the period that the phrase means without a preposition."""
    is_of_tasks: bool = False
    """Whether it names a time only of tasks or in an option, such as "for three days" and "recently"."""


_OPEN_END = re.compile(r",? (?:on|onwards?|to|until|till|through)\b|\s?[-–]")
_POSSESSIVE = re.compile(r"['’]s\b")
_PART = re.compile(r"\(\?&([\w-]+)\)")
_WORDS: Mapping[str, Collection[str]] = {
    "units": UNITS, "numbers": NUMBERS, "weekdays": DAYS, "near-days": NEAR_DAYS, "months": MONTH_NAMES,
    "short-months": sorted(_SHORT_MONTHS, key=len, reverse=True), "month-starts": [name[:3] for name in MONTH_NAMES],
    "seasons": SEASONS,
}  # fmt: skip
"""Lists of words that the rules name."""
_READERS: Mapping[str, Reader] = {
    "dates": _read_dates,
    "days": _read_days,
    "iso": _read_iso,
    "day": _read_day,
    "part_of_month": _read_part_of_month,
    "end_of_unit": lambda found, today: _one_day(unit_around(found["unit"], today)[1]),
    "ahead": lambda found, today: (today, today + _days_of(found)),
    "ago": lambda found, today: _one_day(today - _days_of(found)),
    "past_units": lambda found, today: (today - _days_of(found), today),
    "unit": _read_unit,
    "near_day": lambda found, today: _one_day(today + timedelta(days=NEAR_DAYS[found["near"]])),
    "hours": lambda found, today: (today - timedelta(days=-(-min(int(found["number"]), 99_999) // 24)), today),
    "weekday": _read_weekday,
    "quarter": lambda found, today: _unit_from_month("quarter", int(found["quarter"]) * 3 - 2, found, today),
    "month": lambda found, today: _unit_from_month("month", _number_month(found["name"]), found, today),
    "year": lambda found, today: _unit_from_month("year", 1, found, today),
    "year_and_month": lambda found, today: _unit_from_month("month", int(found["month"]), found, today),
    "season": _read_season,
    "recently": lambda _, today: (today - timedelta(days=14), today),
}
"""How the rules read a period, by the names in `time_rules.txt`."""


def _read_rules() -> Iterator[TimeRule]:
    """Yield the rules of `time_rules.txt`, the most exact first."""
    parts = {name: "|".join(listed) for name, listed in _WORDS.items()}
    for line in read_text(__file__, "time_rules.txt").splitlines():
        if not line or line.startswith("#"):
            continue
        head, _, written = line.partition(": ")
        kind, name, *columns = head.split()
        source = _PART.sub(lambda found: f"(?:{parts[found[1]]})", written)
        if kind == "part":
            parts[name] = source
        else:
            words = tuple(_WORDS.get(name) or name.split(","))
            yield TimeRule(kind, words, source, columns[0].removeprefix("none"), "tasks" in columns)


RULES = tuple((rule, LazyPattern(rule.source, words=rule.words)) for rule in _read_rules())
"""Rules in the order in which they count."""


def find_times(text: str, today: date, *, is_of_tasks: bool = False) -> Iterator[TimePhrase]:
    """Yield the times that a text in lower case names, in the order of the rules; "last week" counts from `today`.

    A text that `is_of_tasks` may name a time by "for three days".
    """
    for rule, pattern in RULES:
        if is_of_tasks or not rule.is_of_tasks:
            for found in pattern.finditer(text):
                if phrase := _read_phrase(rule, found, today):
                    yield phrase


def match_time(words: str, today: date) -> TimePhrase | None:
    """Return the time that a whole text in lower case names, or None."""
    matches = ((rule, pattern.fullmatch(words)) for rule, pattern in RULES)
    phrases = (_read_phrase(rule, found, today) for rule, found in matches if found)
    return next((phrase for phrase in phrases if phrase), None)


def _read_phrase(rule: TimeRule, found: re.Match[str], today: date) -> TimePhrase | None:
    period = _READERS[rule.kind](found, today)
    if period is None:
        return None
    groups = found.groupdict(default="")
    word, behind = groups.get("side", ""), found.string[found.end() :]
    is_about = groups.get("distance") or _POSSESSIVE.match(behind) or (word == "from" and not _OPEN_END.match(behind))
    side = ("" if is_about else SIDES.get(word, "")) or rule.side
    is_bare = not groups.get("year") and groups.get("which", "") in ("", "the")
    return TimePhrase(
        words=found[0].strip(),
        place=found.span(),
        first=period[0],
        last=period[1],
        side=side,
        slack=UNITS[found["unit"]] // 2 if rule.kind == "ago" and not side else 0,
        is_yearly=rule.kind in ("day", "month") and not groups["year"],
        preposition=word,
        name=groups.get("name", "") if is_bare else "",
    )


HINT = "Write it as 2026-01-31, 2026-01-31T08:15, 2026-01, 7d, 12h, today, 'yesterday 14:00' or 'last week'."
_SHORT_UNITS = {"min": "minute", "h": "hour", "hr": "hour", "d": "day", "w": "week", "wk": "week", "mo": "month", "y": "year",
                "yr": "year"}  # fmt: skip
_LENGTHS = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)} | {
    unit: timedelta(days=days) for unit, days in UNITS.items()
}
_UNIT_NAMES = "|".join(sorted((*_SHORT_UNITS, *_LENGTHS), key=len, reverse=True))
_SHORT_AMOUNT = re.compile(rf"(?P<number>\d{{1,5}}|an?) ?(?P<unit>{_UNIT_NAMES})s?(?P<ago> ago)?")
_CLOCK = re.compile(r"(?:(?P<day>\S.*?),? )?(?:at )?(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)")
"""A time of day after the words for a day; without them it is one of today."""


class _Named(NamedTuple):
    """The ISO days or moments that an option names; None for an open side."""

    since: str | None
    until: str | None
    is_to_now: bool = False


def parse_time(text: str, *, is_end: bool, is_ahead: bool = False, now: datetime | None = None) -> str:
    """Return a bound for `timestamp` from an ISO time or from words.

    A day, week, month or year means all of it.

    Args:
        text: such as `2026-01-31`, `2026-01`, `7d`, `2 hours ago`, `today` or `last week`.
        is_end: whether the bound is the last moment of the named time, not its first.
        is_ahead: whether the time is to come, as that of a due date is.
        now: the moment from which spans count, in the zone of a time without one; by default the present one here.

    Raises:
        UsageFault: the text names no time, or one outside the calendar.
    """
    moment = now or datetime.now()  # noqa: DTZ005 - a time without a zone is one of the system's
    named = _read_option(text, moment, is_ahead=is_ahead)
    return _parse_named(text, named.until if is_end else named.since, moment, is_end=is_end)


def parse_span(text: str, now: datetime | None = None) -> tuple[str, str]:
    """Return the first and last moment of a span that one text names.

    Args:
        text: a time as for `parse_time`, a number of units such as `7d`, a unit such as `week` for the present one,
            or two times with `..` between them. A span up to now ends now.
        now: as for `parse_time`.

    Raises:
        UsageFault: the text names no time.
    """
    if ".." in text:
        since, _, until = text.partition("..")
        return parse_time(since, is_end=False, now=now), parse_time(until, is_end=True, now=now)
    moment = now or datetime.now()  # noqa: DTZ005 - as above
    words = f"this {text}" if re.fullmatch(r"\s*(?:week|month|quarter|year)\s*", text.lower()) else text
    named = _read_option(words, moment, is_ahead=False)
    end = moment.isoformat(timespec="milliseconds") if named.is_to_now else named.until
    return _parse_named(text, named.since, moment, is_end=False), _parse_named(text, end, moment, is_end=True)


def _parse_named(text: str, named: str | None, now: datetime, *, is_end: bool) -> str:
    if named is None:
        raise UsageFault(f"{text!r} is no date or time", HINT)
    return parse_bound(named, is_end=is_end, zone=now.tzinfo)


def _read_option(text: str, now: datetime, *, is_ahead: bool) -> _Named:
    """Return what the text of an option names. Raises UsageFault for a time outside the calendar."""
    words = " ".join(text.lower().split())
    if is_iso(words):
        return _Named(text, text)
    if words == "now":
        return _Named(now.isoformat(), now.isoformat())
    try:
        if found := _SHORT_AMOUNT.fullmatch(words):
            return _read_short_amount(found, now, is_ahead=is_ahead)
        return _read_words(_spell_out(words), now.date(), is_ahead=is_ahead)
    except (OverflowError, ValueError) as fault:
        raise UsageFault(f"{text!r} lies outside the calendar", HINT) from fault


def _spell_out(words: str) -> str:
    """Return the words with whole names of months, and with hyphens in `2026/1/31`."""
    words = re.sub(r"[a-z]{3,4}\b\.?", lambda found: _SHORT_MONTHS.get(found[0].rstrip("."), found[0]), words)
    return re.sub(r"([1-9]\d{3})/(\d\d?)/(\d\d?)\b", lambda found: f"{found[1]}-{found[2]:0>2}-{found[3]:0>2}", words)


def _read_short_amount(found: re.Match[str], now: datetime, *, is_ahead: bool) -> _Named:
    """Return the time a number of units away from now; from days on, it is a whole day."""
    unit = _SHORT_UNITS.get(found["unit"], found["unit"])
    way = parse_number(found["number"]) * _LENGTHS[unit]
    moment = now + way if is_ahead and not found["ago"] else now - way
    named = moment.date().isoformat() if unit in UNITS else moment.isoformat()
    return _Named(named, named, is_to_now=not found["ago"])


def _read_words(words: str, today: date, *, is_ahead: bool) -> _Named:
    """Return the days that words name, with the time of day after them."""
    found = _CLOCK.fullmatch(words)
    named, clock = (found["day"] or "today", f"T{found['hour']:0>2}:{found['minute']}") if found else (words, "")
    phrase = match_time(named, today)
    if phrase is None:
        return _Named(None, None)
    since, until = next_occurrence(phrase.bounds, named, today) if is_ahead else phrase.bounds
    until = today if phrase.kind == "since" else until
    first, last = (None if day is None else day.isoformat() + clock for day in (since, until))
    return _Named(first, last, is_to_now=phrase.kind == "since")


#
# A time with one open side ("since", "before") is a filter: it says when the sought text was written. The day, month or
# year of an event is no filter, because people write about events afterwards too.

_TIME_MENTION = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|(?:19|20)\d\d|"
    rf"(?:last|next|this|past) (?:\w+ )?(?:{'|'.join((*UNITS, *SEASONS))}|weekend|night|morning|evening)s?|"
    rf"{'|'.join((*DAYS, *(month for month in MONTH_NAMES if month != 'may')))})\b"
)


class When(NamedTuple):
    """The time that a phrase of a question names."""

    words: str
    """The phrase in lower case."""
    spans: tuple[Bounds, ...]
    """First and last days, None for an open side; several if no year was named, the latest first."""
    is_filter: bool
    """Whether it has one open side and no other reading; otherwise it only favours rows of that time."""


def read_when(question: str, today: date) -> When | None:
    """Return the past time that a question names in the most exact way, or None."""
    for phrase in find_times(" ".join(question.lower().split()), today):
        if phrase.first <= today and _is_time(phrase):
            years = phrase.first.year - today.year + MOST_YEARS if phrase.is_yearly else 1
            spans = tuple(phrase.widened.bounds_in_year(earlier) for earlier in range(years))
            return When(phrase.words, spans, is_filter=phrase.kind != "within")
    return None


def _is_time(phrase: TimePhrase) -> bool:
    """Check whether a phrase of a search names a time: a bare name such as "May" often names none."""
    if not phrase.name or phrase.preposition in ("in", "during"):
        return True
    return phrase.preposition != "" and phrase.name not in ALSO_WORDS


def mentions_time(text: str) -> bool:
    """Check whether a text mentions a day, a part of one, or a longer time, and so may answer "when"."""
    return _TIME_MENTION.search(text.lower()) is not None
