"""The short form of `make scan-patterns`: every pattern of the package once with texts made from it, and proof that a slow one is seen."""

from __future__ import annotations

import random
import re
import time

import pytest
from scan_patterns import Used, found_patterns, modules, slow_uses, within

SECONDS = 5
"""Of the processor for all patterns."""
EACH = 6
"""Texts a pattern."""


@pytest.mark.promise("text", "No text makes a regular expression run for long; each is tried with texts made from it.")
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


POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{[^}]*\})\+")


def test_no_group_is_repeated_possessively_which_python_before_3_11_5_matches_wrongly() -> None:
    patterns = [found for module in modules() for name, value in vars(module).items() for found in within(value, name)]
    assert [path for path, pattern in patterns if POSSESSIVE_GROUP.search(str(pattern.pattern))] == []
    assert POSSESSIVE_GROUP.search(r"(?:[^a]|aa){0,3}+") is not None
