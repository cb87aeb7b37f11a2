"""Times as people name them."""

from datetime import UTC, datetime, timedelta

import pytest

from pastchats_memory.errors import UsageFault
from pastchats_memory.text.dates import parse_time

NOW = datetime(2026, 5, 20, 12, 30, tzinfo=UTC)
"""A Wednesday."""


def day_after(days: int) -> str:
    return (NOW.date() + timedelta(days=days)).isoformat()


def bound(text: str, *, is_end: bool = False, is_ahead: bool = False) -> str:
    return parse_time(text, is_end=is_end, is_ahead=is_ahead, now=NOW)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("today", 0), ("Today", 0), ("yesterday", -1), ("the day before yesterday", -2), ("day before yesterday", -2), ("7d", -7), ("7 days ago", -7),
        ("7 days", -7), ("a week ago", -7), ("2w", -14), ("1mo", -30), ("1 year", -365), ("the last 7 days", -7), ("  3   days  ago ", -3),
    ],
)  # fmt: skip
def test_words_name_whole_days(text: str, days: int) -> None:
    assert bound(text)[:10] == day_after(days)
    assert bound(text)[10:] == "T00:00:00.000Z"
    assert bound(text, is_end=True)[10:] == "T23:59:59.999Z"


@pytest.mark.parametrize(
    ("text", "hours"), [("12h", 12), ("2 hours ago", 2), ("an hour ago", 1), ("90min", 1.5), ("now", 0)]
)
def test_hours_and_minutes_name_a_moment(text: str, hours: float) -> None:
    assert datetime.fromisoformat(bound(text)) == NOW - timedelta(hours=hours)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026-07", "2026-07-01", "2026-07-31"), ("2024-02", "2024-02-01", "2024-02-29"), ("2025", "2025-01-01", "2025-12-31"),
        ("march 2025", "2025-03-01", "2025-03-31"), ("2025-03-04", "2025-03-04", "2025-03-04"),
    ],
)  # fmt: skip
def test_a_month_or_year_means_all_of_it(text: str, first: str, last: str) -> None:
    assert bound(text) == f"{first}T00:00:00.000Z"
    assert bound(text, is_end=True) == f"{last}T23:59:59.999Z"


@pytest.mark.parametrize("text", ["Jul 3, 2025", "jul. 3 2025", "3 July 2025", "2025/07/03", "2025/7/3"])
def test_a_date_may_be_abbreviated_or_have_slashes(text: str) -> None:
    assert (bound(text), bound(text, is_end=True)) == ("2025-07-03T00:00:00.000Z", "2025-07-03T23:59:59.999Z")


@pytest.mark.parametrize(
    ("text", "days", "clock"),
    [("yesterday 14:00", -1, "14:00"), ("yesterday at 9:30", -1, "09:30"), ("08:15", 0, "08:15")],
)
def test_a_time_of_day_may_follow_a_day(text: str, days: int, clock: str) -> None:
    assert bound(text)[:10] == day_after(days)
    assert bound(text)[10:] == f"T{clock}:00.000Z"
    assert bound(text, is_end=True)[10:] == f"T{clock}:59.999Z"


def test_last_week_begins_on_a_monday_and_ends_on_a_sunday() -> None:
    first, last = (datetime.fromisoformat(bound("last week", is_end=is_end)) for is_end in (False, True))
    assert (first.weekday(), last.weekday(), (last - first).days) == (0, 6, 6)


@pytest.mark.parametrize(("text", "days"), [("3d", 3), ("tomorrow", 1), ("in 2 weeks", 14)])
def test_a_due_date_is_to_come(text: str, days: int) -> None:
    assert bound(text, is_end=True, is_ahead=True)[:10] == day_after(days)


@pytest.mark.parametrize(
    "text", ["", "soon", "7", "7x", "99999y", "2026-13-01", "2026-02-30", "last", "d", "-7d", "32 march"]
)
def test_a_text_that_names_no_time_is_refused_with_examples(text: str) -> None:
    with pytest.raises(UsageFault) as fault:
        bound(text)
    assert "2026-01-31" in fault.value.hint
