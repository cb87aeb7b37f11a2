"""Test how values are displayed."""

from __future__ import annotations

from datetime import UTC, timedelta, timezone

import pytest

from pastchats_memory.text.display import format_time

TOKYO = timezone(timedelta(hours=9))


@pytest.mark.parametrize(
    ("timestamp", "zone", "shown"),
    [
        ("2026-01-31T08:15:59.999Z", UTC, "2026-01-31 08:15"),
        ("2026-01-31T08:15:00.000Z", TOKYO, "2026-01-31 17:15"),
        ("2026-01-31T00:00:00.000Z", UTC, "2026-01-31"),
        ("2026-01-30T15:00:00.000Z", TOKYO, "2026-01-31"),
        ("2026-01-31T00:00:00.000Z", TOKYO, "2026-01-31 09:00"),
        ("2026-01-31T00:00:00.001Z", UTC, "2026-01-31 00:00"),
        ("9999-12-31T23:00:00.000Z", TOKYO, "9999-12-31 23:00"),
        (None, UTC, ""),
    ],
)
def test_midnight_is_shown_as_the_day_alone(timestamp: str | None, zone: timezone, shown: str) -> None:
    assert format_time(timestamp, zone) == shown
