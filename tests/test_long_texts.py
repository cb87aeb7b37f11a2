"""A text of megabytes costs what its length costs, whatever it says."""

from __future__ import annotations

import time

from pastchats_memory.text.excerpt import excerpt
from pastchats_memory.text.key_sentences import key_sentences


def test_an_excerpt_of_a_megabyte_that_repeats_one_word_takes_no_longer_than_the_megabyte() -> None:
    start = time.process_time()
    assert len(excerpt("a " * 500_000 + "needle", {"a": 1.0, "needle": 2.0}, 700)) <= 700
    assert time.process_time() - start < 10


def test_the_decisive_lines_of_a_megabyte_are_found_in_time_that_grows_with_it() -> None:
    start = time.process_time()
    for text in (
        "one line of many that the width of a screen broke, and here\n" * 20_000,
        "." * 1_000_000 + "x\nand on",
    ):
        assert len(key_sentences(text, {"line": 1.0}, 700)) <= 700
    assert time.process_time() - start < 10
