"""Read hostile texts of megabytes. A cost that grew with the square of the length would exceed the time limit of a test."""

from __future__ import annotations

from pastchats_memory.text.excerpt import excerpt
from pastchats_memory.text.key_sentences import key_sentences


def test_a_megabyte_that_repeats_one_word_has_an_excerpt() -> None:
    assert len(excerpt("a " * 500_000 + "needle", {"a": 1.0, "needle": 2.0}, 700)) <= 700


def test_the_decisive_lines_of_a_megabyte_are_found() -> None:
    for text in (
        "one line of many that the width of a screen broke, and here\n" * 20_000,
        "." * 1_000_000 + "x\nand on",
    ):
        assert len(key_sentences(text, {"line": 1.0}, 700)) <= 700
