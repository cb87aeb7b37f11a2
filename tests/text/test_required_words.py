"""An expression is not searched in a text that lacks all words of which each match has one."""

from __future__ import annotations

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from program import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "scripts"))

from word_lists.required_words import build_table, list_patterns, required_words

from pastchats_memory.episodes.outcome.patterns import REQUIRED_WORDS
from pastchats_memory.text.words import fold_case

WRITTEN = sorted((REPOSITORY / "benchmarks" / "outcome" / "written").glob("*.txt"))
PATTERNS = list_patterns()


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
        ("Straße", {"strasse"}),
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


def test_letters_that_an_expression_takes_as_equal_are_one_letter() -> None:
    for letter in map(chr, range(sys.maxunicode + 1)):
        for other in {letter.lower(), letter.upper(), letter.upper().lower(), letter.casefold()} - {letter}:
            if len(other) == 1 and re.fullmatch(re.escape(letter), other, re.IGNORECASE):
                assert fold_case(letter) == fold_case(other), (letter, other)


@given(st.text(alphabet="abkısſİK Kµ.|()?*+[]^$\\{}12,-"), st.text(alphabet="abkısſİKKSAB.12 "))
def test_an_expression_matches_no_text_that_lacks_its_words(source: str, text: str) -> None:
    try:
        expression = re.compile(source, re.IGNORECASE)
    except (re.error, OverflowError, FutureWarning, DeprecationWarning):
        return
    words = required_words(source, re.IGNORECASE)
    if expression.search(text) and words:
        assert any(word in fold_case(text) for word in words)


def test_the_package_uses_nothing_private_of_re() -> None:
    files = sorted((REPOSITORY / "pastchats_memory").rglob("*.py"))
    assert len(files) > 150
    private = re.compile(r"\bfrom re import _|\bre\._|\bsre_")
    assert [str(file) for file in files if private.search(file.read_text(encoding="utf-8"))] == []


def test_the_table_of_required_words_is_current() -> None:
    assert len(PATTERNS) > 40
    assert REQUIRED_WORDS.read_text(encoding="utf-8") == build_table(), "run scripts/word_lists/required_words.py"


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_of_outcomes_finds_what_its_expression_finds(name: str) -> None:
    assert WRITTEN
    pattern = PATTERNS[name]
    for line in {line for path in WRITTEN for line in path.read_text(encoding="utf-8").splitlines()}:
        assert pattern.may_occur(line) or not pattern.compiled.search(line), line
