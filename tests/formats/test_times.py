import json
import re
from datetime import UTC, timedelta, timezone

import pytest

from pastchats_memory import Memory
from pastchats_memory.text.timestamps import LOCAL, MOMENT, iso_utc, to_the_minute

NOON = "2026-01-31T12:00:00.000Z"


@pytest.mark.parametrize(
    "value",
    [
        1769860800, 1769860800.0, 1769860800000, 1769860800000000, 1769860800000000000, "1769860800", "1769860800000",
        "2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000000000Z", "2026-01-31T13:00:00+01:00", "2026-01-31 12:00:00",
        "2026-01-31T12:00", " 2026-01-31T12:00:00.000Z ", "20260131T120000Z",
        "2026-01-31 12:00 UTC", "2026-01-31 12:00:00 GMT", "2026-01-31 13:00:00 +0100",
    ],
)  # fmt: skip
def test_every_spelling_of_a_moment_is_the_same_moment(value):
    assert iso_utc(value) == NOON


@pytest.mark.parametrize(
    "value",
    [
        None,
        0,
        "",
        0.0,
        -1,
        5,
        99_999,
        True,
        False,
        "soon",
        "12",
        [],
        {},
        1e300,
        float("nan"),
        float("inf"),
        10**400,
        "9" * 400,
    ],
)
def test_a_missing_or_malformed_time_is_none(value):
    assert iso_utc(value) is None


@pytest.mark.parametrize(
    "value",
    [
        "0001-01-01T00:00:00Z",
        "0001-01-01T00:00:00.0000000",
        "0000-00-00 00:00:00",
        "1601-01-01T00:00:00Z",
        "1899-12-30T00:00:00",
        "1904-01-01",
        "1970-01-01T00:00:00.000Z",
        "1969-12-31T16:00:00-08:00",
        "1970-01-01T01:00:00+01:00",
        "1970-01-21T11:37:40.800Z",  # seconds that were taken for milliseconds
        "1980-01-01 00:00:00",
        "9999-12-31T23:59:59Z",
        "2106-02-07T06:28:15Z",
        -62135596800,
        "-62135596800000",
        -1.5,
        100_000_000,
        2**32 - 1,
        791_553_600,  # seconds since 2001
        13_414_334_400_000_000,  # microseconds since 1601
        638_967_456_000_000_000,  # ticks since the year 1
        253402300799,
        "253402300799000",
        2**63 - 1,
    ],
)
def test_a_time_by_which_programs_mean_none_is_none(value):
    assert iso_utc(value) is None


@pytest.mark.parametrize(
    "zero", ["0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", 0, -62135596800, "9999-12-31T23:59:59Z"]
)
def test_turns_without_a_time_outlive_pruning(tmp_path, zero):
    path = tmp_path / "session.jsonl"
    path.write_text(json.dumps({"role": "user", "content": "Which kiln is hot?", "timestamp": zero}) + "\n")
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([path])
        (hit,) = memory.search("kiln")
        assert hit.timestamp is None
        assert memory.search("kiln", until="2026-01-01") == []


def test_a_day_is_its_first_moment():
    assert iso_utc("2026-01-31") == iso_utc("20260131") == "2026-01-31T00:00:00.000Z"


def test_a_time_without_a_zone_is_in_the_one_that_the_format_says():
    assert iso_utc("2026-01-31T12:00:00", UTC) == NOON
    assert iso_utc("2026-01-31T12:00:00", timezone(timedelta(hours=2))) == "2026-01-31T10:00:00.000Z"


@pytest.mark.parametrize(
    ("zone", "winter", "summer"),
    [
        ("America/New_York", "2026-01-31T05:00:00.000Z", "2026-07-31T04:00:00.000Z"),
        ("Asia/Tokyo", "2026-01-30T15:00:00.000Z", "2026-07-30T15:00:00.000Z"),
    ],
)
def test_a_day_written_by_hand_begins_at_midnight_of_the_clock_on_the_wall(in_zone, zone, winter, summer):
    in_zone(zone)
    assert (iso_utc("2026-01-31", LOCAL), iso_utc("2026-07-31", LOCAL)) == (winter, summer)
    assert iso_utc("2026-01-31T12:00:00Z", LOCAL) == iso_utc("2026-01-31 12:00 UTC", LOCAL) == NOON
    assert iso_utc("0001-01-01", LOCAL) is None


def test_a_time_that_depends_on_where_it_is_read_comes_to_the_minute():
    assert iso_utc("2026-01-31T12:00:59.5", LOCAL) == NOON
    assert iso_utc("2026-01-31T12:00:59.5Z", LOCAL) == "2026-01-31T12:00:59.500Z"
    assert iso_utc(1769860859.5, LOCAL) == "2026-01-31T12:00:59.500Z"


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("on 2026-01-31, at noon", "2026-01-31"),
        ("_Started 2026-02-12 01:39 UTC_", "2026-02-12 01:39 UTC"),
        ("at 2026-01-31 10:00 GMT+1", "2026-01-31 10:00"),
        ("at 2026-01-31T10:00:59.123456Z.", "2026-01-31T10:00:59.123456Z"),
        ("at 2026-01-31 10:00 -0500", "2026-01-31 10:00 -0500"),
        ("from 2026-01-31 10:00 - 12:00", "2026-01-31 10:00"),
    ],
)
def test_a_moment_in_a_text_comes_with_its_zone(text, moment):
    assert re.search(MOMENT, text)[0] == moment


def test_a_time_for_a_whole_conversation_has_no_seconds():
    assert to_the_minute("2026-01-31T12:00:59.999Z") == NOON
    assert to_the_minute(None) is None
