"""The short form of `make scan-patterns`: every pattern of the package once with texts made from it, and proof that a slow one is seen."""

from __future__ import annotations

import random
import re
import time

import pytest
from scan_patterns import Used, found_patterns, slow_uses

SECONDS = 5
"""Of the processor for all patterns."""
EACH = 6
"""Texts a pattern."""


def test_no_pattern_is_held_up_by_texts_made_from_it() -> None:
    patterns = found_patterns()
    assert len(patterns) > 500
    random.shuffle(patterns)  # where time runs out it is others the next time
    ends = time.process_time() + SECONDS
    slow = []
    for used in patterns:
        slow += slow_uses(used, 4_000, EACH)
        if time.process_time() > ends:
            break
    assert slow == []


@pytest.mark.parametrize("pattern", [r"(?:a+)+b", r"\s*\n?\s*x", r"<!--.*?-->", r"(?:_|a_)+\d", r"(\w+\s?)*:"])
def test_a_pattern_that_is_held_up_is_noticed(pattern: str) -> None:
    assert list(slow_uses(Used("here", re.compile(pattern, re.DOTALL), ("search",)), 14_000))
