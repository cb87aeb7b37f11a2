"""Dates in the other forms that ISO 8601 has."""

from __future__ import annotations

from datetime import UTC

import pytest

from pastchats_memory.text.timestamps import parse_bound


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("20260131", "2026-01-31T00:00:00.000Z", "2026-01-31T23:59:59.999Z"),
        ("2026-W05-6", "2026-01-31T00:00:00.000Z", "2026-01-31T23:59:59.999Z"),
        ("2026-01-31T08", "2026-01-31T08:00:00.000Z", "2026-01-31T08:59:59.999Z"),
        ("2026-01-31T08+02:00", "2026-01-31T06:00:00.000Z", "2026-01-31T06:59:59.999Z"),
        ("20260131T0815", "2026-01-31T08:15:00.000Z", "2026-01-31T08:15:59.999Z"),
        ("20260131T081507Z", "2026-01-31T08:15:07.000Z", "2026-01-31T08:15:07.999Z"),
        ("20260131T081507,250", "2026-01-31T08:15:07.250Z", "2026-01-31T08:15:07.250Z"),
    ],
)
def test_a_bound_in_basic_form_covers_the_whole_unit_too(text: str, first: str, last: str) -> None:
    assert parse_bound(text, is_end=False, zone=UTC) == first
    assert parse_bound(text, is_end=True, zone=UTC) == last
