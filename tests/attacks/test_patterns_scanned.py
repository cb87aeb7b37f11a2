"""The parts of `make scan-patterns` that need no clock."""

from __future__ import annotations

import re
from itertools import islice

import pytest
from scan_patterns import KNOWN_SLOW, attacks, done, found_patterns, modules, text_of, within

LENGTH = 2_000
"""Characters of a text: enough to hang where each character doubles the time."""
EACH = 2
"""Texts a pattern."""


@pytest.mark.promise("text", "No text makes a regular expression run for long; each is tried with texts made from it.")
def test_no_pattern_hangs_at_texts_made_from_it() -> None:
    patterns = found_patterns()
    assert len(patterns) > 300
    for used in patterns:
        for use in used.uses:
            for attack in islice(attacks(used.pattern), EACH):
                done(used.pattern, use, text_of(attack, LENGTH))()


@pytest.mark.parametrize(("pattern", "pump"), KNOWN_SLOW.items())
def test_a_text_is_made_that_holds_up_a_slow_pattern(pattern: str, pump: str) -> None:
    assert pump in {repeated for _, repeated, _ in attacks(re.compile(pattern, re.DOTALL))}


POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{[^}]*\})\+")


def test_no_group_is_repeated_possessively_which_python_before_3_11_5_matches_wrongly() -> None:
    patterns = [found for module in modules() for name, value in vars(module).items() for found in within(value, name)]
    assert [path for path, pattern in patterns if POSSESSIVE_GROUP.search(str(pattern.pattern))] == []
    assert POSSESSIVE_GROUP.search(r"(?:[^a]|aa){0,3}+") is not None
