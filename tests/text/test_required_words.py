"""An expression is not searched in a text that lacks all words of which each match has one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pastchats_memory.episodes.outcome import answers, checks, episode, feedback, requests
from pastchats_memory.episodes.outcome.episode import Pattern
from pastchats_memory.text.required_words import fold_case, required_words

WRITTEN = sorted((Path(__file__).parents[2] / "benchmarks" / "outcome" / "written").glob("*.txt"))
PATTERNS = {
    f"{module.__name__.rpartition('.')[2]}.{name}": value
    for module in (answers, checks, episode, feedback, requests)
    for name, value in vars(module).items()
    if isinstance(value, Pattern)
}


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("fail(?:s|ed)?|broken", {"fail", "broken"}),
        (r"\b(?:can(?:'t|not))\s+(?:open|read)\b", {"can't", "cannot"}),
        (r"^\W*todo:.*\d$", {"todo:"}),
        ("hm+, (?:ok|okay)", {"m, ok"}),
        (r"u(?:gh\w|h+)", {"ugh", "uh"}),
        ("(?:not )?done", {"done"}),
        (r"(?=wrong)\w+", set()),
        (r"(?!right)\w+", set()),
        (r"[abc]\d", {"a", "b", "c"}),
        (r"[a-z]\d", set()),
        ("a?", set()),
        ("(a|bc){2,}z", {"az", "bcz"}),
        ("(a|b){0,3}", set()),
        ("Straße", {"straße"}),
    ],
)
def test_the_words_are_those_of_which_a_match_has_one(expression: str, words: set[str]) -> None:
    assert required_words(expression, re.IGNORECASE) == words


@pytest.mark.parametrize(
    ("word", "text"), [("task", "TASK"), ("task", "taſk"), ("kelvin", "\u212aelvin"), ("is", "İS"), ("σας", "ΣΑΣ")]
)
def test_words_are_found_in_every_spelling_that_an_expression_takes_as_equal(word: str, text: str) -> None:
    expression = re.compile(word, re.IGNORECASE)
    assert expression.search(text)
    assert any(required in fold_case(text) for required in required_words(word, re.IGNORECASE))


@given(st.text(alphabet="abkısſİK Kµ.|()?*+[]^$\\{}12,-"), st.text(alphabet="abkısſİKKSAB.12 "))
def test_an_expression_matches_no_text_that_lacks_its_words(source: str, text: str) -> None:
    try:
        expression = re.compile(source, re.IGNORECASE)
    except (re.error, OverflowError, FutureWarning, DeprecationWarning):
        return
    words = required_words(source, re.IGNORECASE)
    if expression.search(text) and words:
        assert any(word in fold_case(text) for word in words)


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_of_outcomes_finds_what_its_expression_finds(name: str) -> None:
    assert WRITTEN
    pattern = PATTERNS[name]
    for line in {line for path in WRITTEN for line in path.read_text(encoding="utf-8").splitlines()}:
        assert pattern.may_occur(line) or not pattern.compiled.search(line), line
