"""Each phrase of the table in docs/cli.md names the same time in every place that takes one."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

import pytest
from program import REPOSITORY

from pastchats_memory.errors import UsageFault
from pastchats_memory.search.times import TIME_WORD
from pastchats_memory.tasks.ask import parse_question
from pastchats_memory.text.dates import parse_span, parse_time, read_when

TODAY = date(2026, 5, 20)
"""The Wednesday of the table."""
NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)
TABLE = re.findall(
    r"^\| `(.+?)` \| (any|\d{4}-\d\d-\d\d) \| (now|\d{4}-\d\d-\d\d) \|$",
    (REPOSITORY / "docs" / "cli.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)
ROWS = pytest.mark.parametrize(("phrase", "first", "last"), TABLE)


def open_ends(first: str, last: str) -> tuple[str | None, str | None]:
    """Return the days of a row, None for an open end."""
    return None if first == "any" else first, None if last == "now" else last


def test_the_table_has_phrases() -> None:
    assert len(TABLE) > 25


@ROWS
def test_a_search_reads_the_phrase(phrase: str, first: str, last: str) -> None:
    question = f"what broke {phrase}"
    found = read_when(question, TODAY)
    assert found is not None
    assert found.words == phrase.lower()
    assert tuple(day and day.isoformat() for day in found.spans[0]) == open_ends(first, last)
    assert found.is_filter == ("any" in (first, last) or last == "now")
    assert TIME_WORD.search(question.lower())  # otherwise a search does not look for a time


@ROWS
def test_a_question_about_tasks_reads_the_phrase(phrase: str, first: str, last: str) -> None:
    span = parse_question(f"tasks closed {phrase}", TODAY).span
    assert span is not None
    since, until = open_ends(first, last)
    assert (span.since and span.since.isoformat()) == since
    assert span.until == (date.fromisoformat(until) if until else TODAY)


@ROWS
def test_an_option_takes_the_start_or_the_end_of_the_phrase(phrase: str, first: str, last: str) -> None:
    if first == "any":
        with pytest.raises(UsageFault):
            parse_time(phrase, is_end=False, now=NOW)
    else:
        assert parse_time(phrase, is_end=False, now=NOW) == f"{first}T00:00:00.000Z"
    end = TODAY.isoformat() if last == "now" else last
    assert parse_time(phrase, is_end=True, now=NOW) == f"{end}T23:59:59.999Z"


@ROWS
def test_timeline_and_digest_read_the_phrase_as_a_span(phrase: str, first: str, last: str) -> None:
    if first == "any":
        with pytest.raises(UsageFault):
            parse_span(phrase, NOW)
    else:
        end = "2026-05-20T12:00:00.000Z" if last == "now" else f"{last}T23:59:59.999Z"
        assert parse_span(phrase, NOW) == (f"{first}T00:00:00.000Z", end)


@pytest.mark.parametrize("phrase", ["after 9999-12-31", "since 9999-12-31", "before 1000-01-01", "9999 years ago"])
def test_a_time_at_the_edge_of_the_calendar_is_no_fault_of_a_question(phrase: str) -> None:
    assert parse_question(f"tasks closed {phrase}", TODAY).span is not None
    read_when(f"what broke {phrase}", TODAY)
