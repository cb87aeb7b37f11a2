"""A lazy pattern answers like the expression itself, and is compiled only for a text that may match."""

from __future__ import annotations

import re
import sys

import pytest
from program import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "scripts"))

from word_lists.required_words import required_words

from pastchats_memory.text import key_sentences
from pastchats_memory.text.lazy_pattern import LazyPattern
from pastchats_memory.text.words import fold_case

SOURCE = r"(\w)=(\d)"
TEXTS = ("a=1 b=2", "a=1", "no sign", "")


@pytest.mark.parametrize("text", TEXTS)
def test_a_lazy_pattern_answers_like_its_expression(text: str) -> None:
    expected, lazy = re.compile(SOURCE), LazyPattern(SOURCE, words=("=",))
    for method in ("search", "match", "fullmatch"):
        one, other = getattr(expected, method)(text), getattr(lazy, method)(text)
        assert (one and one.span()) == (other and other.span()), method
    assert [found.span() for found in lazy.finditer(text)] == [found.span() for found in expected.finditer(text)]
    assert lazy.findall(text) == expected.findall(text)
    assert lazy.sub("_", text) == expected.sub("_", text)
    assert lazy.split(text) == expected.split(text)


def test_a_text_without_the_words_compiles_nothing() -> None:
    lazy = LazyPattern(SOURCE, words=("=",))
    lazy.search("no sign")
    assert "compiled" not in vars(lazy)
    lazy.search("a=1")
    assert "compiled" in vars(lazy)


def test_each_match_of_an_edit_has_one_of_the_words_that_its_pattern_names() -> None:
    edits = key_sentences._EDITS  # noqa: SLF001 - the pattern whose words are tested
    assert _have_cue(edits, tuple(map(fold_case, edits.words)))


def _have_cue(pattern: LazyPattern, cues: tuple[str, ...]) -> bool:
    """Return whether each of the words that a match needs contains a cue."""
    words = required_words(pattern.source, pattern.compiled.flags)
    return bool(words) and all(any(cue in word for cue in cues) for word in words)
