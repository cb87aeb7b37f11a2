"""Read texts that once held a pattern up. A cost that doubled with each character would exceed the time limit of a test."""

from __future__ import annotations

import pytest

from pastchats_memory.formats.markdown.dialogue.markers import _LEADING
from pastchats_memory.redact.heuristics import looks_random
from pastchats_memory.text.pasted import split_paste


def test_a_million_blanks_behind_a_time_are_read() -> None:
    assert _LEADING.match("[0000-00-00 00:00:00.0 Z]" + " " * 1_000_000)


@pytest.mark.parametrize("part", ["_", "a_", "a_b-"])
def test_a_value_of_many_parts_is_not_random(part: str) -> None:
    assert not looks_random(part * (1_000 // len(part)) + "é!")


def test_a_run_of_ideographs_with_a_number_behind_it_is_no_paste() -> None:
    text = "设" * 100 + "1"
    assert split_paste(text).typed == text
