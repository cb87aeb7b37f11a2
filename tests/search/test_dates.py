"""What questions say of time, and what a search makes of it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import date

import pytest

from pastchats_memory import Memory
from pastchats_memory.model import TimeRead
from pastchats_memory.search.times import match_time
from pastchats_memory.text.dates import mentions_time, read_when
from pastchats_memory.views.answers.search import build_search
from pastchats_memory.views.text import render_time_read

TODAY = date(2026, 5, 20)
"""A Wednesday."""


@pytest.mark.parametrize(
    ("question", "since", "until"),
    [
        ("what broke since 2026-03-01", "2026-03-01", None),
        ("decisions after 3 March 2025", "2025-03-04", None),
        ("what we knew before February 2026", None, "2026-01-31"),
        ("everything until Oct 5, 2025", None, "2025-10-05"),
        ("commits from June 2025 on", "2025-06-01", None),
        ("commits from 3 June 2025 to 5 June", "2025-06-03", None),
        ("retries since 2024", "2024-01-01", None),
        ("what failed since last month", "2026-04-01", None),
        ("since yesterday the build is red", "2026-05-19", None),
        ("what did we do in the last two weeks", "2026-05-06", None),
        ("errors over the past 10 days", "2026-05-10", None),
    ],
)
def test_a_time_with_one_open_side_is_a_filter(question: str, since: str | None, until: str | None) -> None:
    found = read_when(question, TODAY)
    assert found is not None
    assert found.is_filter
    assert found.spans == ((since and date.fromisoformat(since), until and date.fromisoformat(until)),)


@pytest.mark.parametrize(
    ("question", "since", "until"),
    [
        ("what did Ann paint in May 2023", "2023-05-01", "2023-05-31"),
        ("what did she show on October 13, 2023?", "2023-10-13", "2023-10-13"),
        ("the evening of 7 July, 2023", "2023-07-07", "2023-07-07"),
        ("dinner on 2023-06-03", "2023-06-03", "2023-06-03"),
        ("the puppy she got two weeks before August 11, 2023", "2023-08-11", "2023-08-11"),
        ("what did we ship last week", "2026-05-11", "2026-05-17"),
        ("how often did we go to the beach in 2023?", "2023-01-01", "2023-12-31"),
        ("the outage 3 weeks ago", "2026-04-26", "2026-05-02"),
        ("the report from June 2025", "2025-06-01", "2025-06-30"),
        ("what was the bug from last week?", "2026-05-11", "2026-05-17"),
        ("what broke since last week's release", "2026-05-11", "2026-05-17"),
    ],
)
def test_the_time_of_an_event_only_favours_rows_of_that_time(question: str, since: str, until: str) -> None:
    found = read_when(question, TODAY)
    assert found is not None
    assert not found.is_filter
    assert found.spans == ((date.fromisoformat(since), date.fromisoformat(until)),)


def test_a_month_without_a_year_is_the_latest_one_or_else_an_earlier_one() -> None:
    found = read_when("camping in June", TODAY)
    assert found is not None
    assert found.words == "in june"
    assert [since.year for since, _ in found.spans if since] == list(range(2025, 2016, -1))


@pytest.mark.parametrize(
    "question",
    [
        "you may retry 3 times",
        "we march on, come what may",
        "may 3 workers run at once",
        "the sun and the second one",
        "ask April from accounting",
        "what did we learn from May",
        "a table of 2000 rows in 2000 ms",
        "port 2024 is taken",
        "run it before the release",
        "dec hex oct",
        "the last 3 commits",
        "",
    ],
)
def test_words_that_only_look_like_dates_are_words(question: str) -> None:
    assert read_when(question, TODAY) is None


TEXTS = {
    "2023-04-20": "the pump of the fountain was repaired",
    "2023-05-12": "the fountain leaks again at the pump",
    "2023-06-02": "last month we sealed the pump of the fountain",
    "2024-02-11": "the fountain got a new pump",
}


@pytest.fixture(scope="module")
def fountain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder = tmp_path_factory.mktemp("fountain")
    messages = [
        {"conversation_id": day, "role": "user", "content": text, "timestamp": f"{day}T12:00:00Z"}
        for day, text in TEXTS.items()
    ]
    (folder / "chat.jsonl").write_text("".join(json.dumps(message) + "\n" for message in messages))
    with Memory.open(folder / "memory.db") as memory:
        memory.index([folder / "chat.jsonl"])
        yield memory


def days(memory: Memory, query: str, **how: str) -> list[str]:
    return [(hit.timestamp or "")[:10] for hit in memory.search(query, **how)]


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
def test_a_bound_in_the_query_excludes_other_times_in_every_mode(fountain: Memory, mode: str) -> None:
    assert days(fountain, "fountain pump since 2024", mode=mode) == ["2024-02-11"]
    assert days(fountain, "fountain pump before May 2023", mode=mode) == ["2023-04-20"]


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_rows_from_the_time_of_an_event_or_soon_after_come_first(fountain: Memory, mode: str) -> None:
    found = days(fountain, "what happened to the fountain pump in May 2023", mode=mode)
    assert set(found[:2]) == {"2023-05-12", "2023-06-02"}
    assert sorted(found) == list(TEXTS)  # nothing is withheld


def test_a_month_without_a_year_is_the_latest_that_has_rows(fountain: Memory) -> None:
    assert days(fountain, "the fountain pump in April")[0] == "2023-04-20"


def test_a_time_that_leaves_no_row_is_dropped_with_a_warning(fountain: Memory) -> None:
    hits = fountain.search("fountain pump before 2001-01-01")
    assert len(hits) == len(TEXTS)
    assert hits.warnings == ("nothing here is of the time that 'before 2001-01-01' names; all times were searched",)


def test_the_callers_time_filter_overrides_the_querys(fountain: Memory) -> None:
    assert days(fountain, "fountain pump since 2024", until="2023-05-01") == ["2023-04-20"]


def test_recall_excludes_no_row_by_a_time_in_the_question(fountain: Memory) -> None:
    text = fountain.recall("the pump of the fountain leaks since February 2024")
    assert any(memory.hit.timestamp < "2024" for memory in text.entries)


@pytest.mark.parametrize(
    "text",
    [
        "we sealed it yesterday",
        "Last night it leaked again",
        "I'll look next weekend",
        "that was two years ago",
        "on Monday, I think",
        "since March",
        "in 2019 already",
        "this past summer",
        "released 2024-05-06",
    ],
)
def test_a_text_that_names_a_day_mentions_a_time(text: str) -> None:
    assert mentions_time(text)


@pytest.mark.parametrize(
    "text",
    [
        "the pump leaks",
        "you may try",
        "it lasted",
        "at port 2500",
        "one more day",
        "this is the last line",
        "Chicago",
        "",
    ],
)
def test_a_text_without_a_day_mentions_no_time(text: str) -> None:
    assert not mentions_time(text)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """Of what was said of a journey, one turn tells its time, and is longer for it."""
    folder = tmp_path_factory.mktemp("lake")
    words = [
        "we took the boat to the lake",
        "the week before last, actually last week, we took the boat to the lake",
        "it rained",
    ]
    messages = [{"conversation_id": text, "role": "user", "content": text} for text in words]
    (folder / "chat.jsonl").write_text("".join(json.dumps(message) + "\n" for message in messages))
    with Memory.open(folder / "memory.db") as memory:
        memory.index([folder / "chat.jsonl"])
        yield memory


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
@pytest.mark.parametrize(
    "question",
    [
        "When did we take the boat to the lake?",
        "What month was the boat on the lake?",
        "the boat to the lake, how long ago",
    ],
)
def test_rows_that_mention_a_time_come_first_if_the_question_asks_when(lake: Memory, question: str, mode: str) -> None:
    assert "last week" in lake.search(question, mode=mode)[0].content


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
@pytest.mark.parametrize("question", ["Did we take the boat to the lake?", "when I take the boat to the lake"])
def test_a_mentioned_time_counts_only_if_the_question_asks_when(lake: Memory, question: str, mode: str) -> None:
    assert lake.search(question, mode=mode)[0].content == "we took the boat to the lake"


def test_explain_shows_the_time_in_the_callers_zone(fountain: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        hits = fountain.search("fountain pump in May 2023")
        assert hits.time_read is not None
        assert render_time_read(hits.time_read) == (
            "Time: 'in may 2023' is 2023-05-01 to 2023-05-31; what was said then or soon after ranks higher."
        )
        answer = build_search(hits, explain=True)
        assert answer["time"]["since"] == "2023-04-30T15:00:00.000Z"
        assert "time" not in build_search(hits)
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_row_two_weeks_after_a_named_day_fits_it_less_than_one_two_weeks_after_a_named_month() -> None:
    day = TimeRead("on 3 may", "2026-05-03T00:00:00.000Z", "2026-05-03T23:59:59.999Z", is_filter=False)
    month = TimeRead("in april", "2026-04-04T00:00:00.000Z", "2026-05-03T23:59:59.999Z", is_filter=False)
    open_ended = TimeRead("before may", None, "2026-05-03T23:59:59.999Z", is_filter=False)
    later = ["2026-05-17T23:59:59.999Z"]
    by_day, by_month, by_open = (float(match_time(read, later)[0]) for read in (day, month, open_ended))
    assert by_day < by_month / 4
    assert by_month == by_open
