"""Parse timestamps of every format into ISO 8601 in UTC."""

from datetime import UTC, datetime, time, timedelta, tzinfo
from pathlib import PurePath

from pastchats_memory.errors import UsageFault
from pastchats_memory.text.lazy_pattern import LazyPattern

FIRST_YEAR = 1981
"""Programs write earlier times for no time: year 1 (Go, .NET), 1601 (Windows), 1900, 1904, 1970 (Unix), 1980 (ZIP)."""
LAST_YEAR = 2099
"""Programs write later times for no time, as the year 9999."""
UNITS = (1, 10**3, 10**6, 10**9)
"""Epoch numbers count seconds, milliseconds, microseconds or nanoseconds; their ranges do not overlap."""
EARLIEST = 946_684_800
"""The year 2000 in seconds. Smaller numbers are counters and durations, or count from another day than 1970."""
LATEST = 4_102_444_800
"""The year 2100 in seconds."""
MONTHS_IN_YEAR = 12
DAY_DIGITS = 8
"""Digits of a day such as 20260131; longer numbers are epoch numbers."""
LOCAL = None
"""The time zone of the machine, with daylight saving; people mean it by dates that they write by hand."""
MOMENT = (
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?: ?(?:Z|UTC|GMT)(?![^\W_]|[+-])| ?[+-]\d\d:?\d\d)?)?"
)
"""A date in running text, with time and zone if they follow."""
_SLASHED = LazyPattern(r"(\d{1,2})/(\d{1,2})/(\d{4}),? (\d{1,2}):(\d\d)(?::\d\d)?(?:[ \u202f]([AP])M)?\Z")
_DOTTED = LazyPattern(r"(\d{1,2})\.(\d{1,2})\.(\d{4}),? (\d{1,2}):(\d\d)(?::\d\d)?\Z")
_ZONE = LazyPattern(r" {0,2}(?:(Z|UTC|GMT)|([+-]\d\d:?\d\d))\Z")
_NUMBER = LazyPattern(r"\d+(\.\d+)?\Z")


def format_moment(moment: datetime) -> str:
    """Return a moment in UTC as it is stored: `2026-01-31T08:15:00.000Z`."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def current_time() -> str:
    """Return the current time as it is stored."""
    return format_moment(datetime.now(UTC))


def iso_utc(value: object, zone: tzinfo | None = UTC) -> str | None:
    """Return a time as `2026-01-31T08:15:00.000Z`, or None for one outside FIRST_YEAR to LAST_YEAR, which is no time.

    Args:
        value: an epoch number, the same as text, or ISO text with any number of fractional digits.
        zone: the zone of a time without one. A LOCAL time is rounded to the minute: the moment it names depends on the
            machine that reads it, so it must not identify a turn.
    """
    moment = _parse(value, zone)
    return None if moment is None else format_moment(moment)


def parse_handwritten(text: str, zone: tzinfo | None = LOCAL) -> str | None:
    """Return the time of a heading or a fact, or None.

    Accepts ISO, days before a dot, and slashes if AM, PM or a number above twelve shows which part is the month.
    """
    if found := _DOTTED.match(text):
        day, month, year, hour, minute = map(int, found.groups())
        return iso_utc(f"{year}-{month:02}-{day:02} {hour:02}:{minute:02}", zone)
    if found := _SLASHED.match(text):
        first, second, year, hour, minute = (int(part) for part in found.groups()[:5])
        if not found[6] and max(first, second) <= MONTHS_IN_YEAR:
            return None
        month, day = (second, first) if first > MONTHS_IN_YEAR else (first, second)
        hour = hour % 12 + 12 * (found[6] == "P") if found[6] else hour
        text = f"{year}-{month:02}-{day:02} {hour:02}:{minute:02}"
    return iso_utc(text, zone)


def to_the_minute(moment: str | None) -> str | None:
    """Return a time of `iso_utc` rounded down to the minute, for turns that have no time of their own.

    A finer time counts as a turn's own, and would merge two equal turns.
    """
    return None if moment is None else f"{moment[:16]}:00.000Z"


def _parse(value: object, zone: tzinfo | None) -> datetime | None:
    if isinstance(value, str):
        text = value.strip()
        return _from_epoch(float(text)) if _NUMBER.match(text) and len(text) > DAY_DIGITS else _from_iso(text, zone)
    return _from_epoch(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _from_epoch(number: float) -> datetime | None:
    unit = next((unit for unit in UNITS if EARLIEST * unit <= number < LATEST * unit), None)
    return None if unit is None else datetime.fromtimestamp(number / unit, UTC)


def _from_iso(text: str, zone: tzinfo | None) -> datetime | None:
    try:
        moment = _read_iso(text)
        if moment.tzinfo is None and zone is LOCAL:
            moment = moment.replace(second=0, microsecond=0)
        moment = (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment if FIRST_YEAR <= moment.year <= LAST_YEAR else None


def _read_iso(text: str) -> datetime:
    """Return the time of a text, whose zone may follow a blank or be a name. Raises ValueError."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return datetime.fromisoformat(_ZONE.sub(lambda found: found[2] or "Z", text))


PATH_PARTS = 4
"""Parts at the end of a path that are looked at."""
_DAY_IN_PATH = LazyPattern(r"(?<!\d)((?:19|20)\d\d)[-_./]?(0[1-9]|1[0-2])[-_./]?(0[1-9]|[12]\d|3[01])(?!\d)")


def date_in_path(path: PurePath) -> str | None:
    """Return the start in UTC of the last local day that the end of a path names, such as `logs/2026/01/31.md`."""
    days = _DAY_IN_PATH.findall("/".join(path.parts[-PATH_PARTS:]))
    return next((moment for day in reversed(days) if (moment := iso_utc("-".join(day), LOCAL))), None)


DATE_HINT = "Write it as 2026-01-31 or 2026-01-31T08:15."
_LIKE_ISO = LazyPattern(r"\d{4}-\d\d?-|\d{8}")
"""What is meant as ISO, so that an impossible day is refused as one."""
_WHOLE_DAY = LazyPattern(r"\d{4}-?\d\d-?\d\d\Z|\d{4}-?W\d\d-?\d\Z")
_TIME_OF_DAY = LazyPattern(r"[T ]\d\d(?P<minute>:?\d\d)?(?P<second>:?\d\d)?(?P<fraction>[.,]\d+)?(Z|[+-][\d:.]+)?\Z")


def is_iso(text: str) -> bool:
    """Check whether a text has the form of an ISO date or time."""
    try:
        datetime.fromisoformat(text.strip())
    except ValueError:
        return _LIKE_ISO.match(text.strip()) is not None
    return True


def parse_bound(text: str, *, is_end: bool, zone: tzinfo | None = None) -> str:
    """Return a bound for `timestamp` from an ISO date or time; a day, hour, minute or second means all of it.

    Args:
        text: such as `2026-01-31` or `2026-01-31T08:15Z`.
        is_end: whether the bound is the last moment of the named time, not its first.
        zone: the zone of a text without one; by default the system's.

    Raises:
        UsageFault: the text is no date or time.
    """
    try:
        parsed = datetime.fromisoformat(text.strip())
    except ValueError as fault:
        raise UsageFault(f"{text!r} is no date or time", DATE_HINT) from fault
    if _WHOLE_DAY.match(text.strip()):
        parsed = datetime.combine(parsed.date(), time.max if is_end else time.min)
    elif is_end:
        parsed = parsed + _remaining_unit(text.strip())
    if parsed.tzinfo is None and zone is not None:
        parsed = parsed.replace(tzinfo=zone)
    try:
        return format_moment(parsed.astimezone(UTC))
    except (ValueError, OverflowError) as fault:
        raise UsageFault(f"{text!r} lies outside the calendar", DATE_HINT) from fault


def _remaining_unit(text: str) -> timedelta:
    found = _TIME_OF_DAY.search(text)
    if found is None or found["fraction"]:
        return timedelta(0)
    if found["second"]:
        return timedelta(milliseconds=999)
    return timedelta(minutes=0 if found["minute"] else 59, seconds=59, milliseconds=999)
