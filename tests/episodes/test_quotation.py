"""A quotation is found although blanks and emphasis differ."""

from __future__ import annotations

import pytest

from pastchats_memory.episodes.judge import find_quotation

TEXT = "**Done**, and the list\n  is _fast_ now.\n\n> it never works\n> on `Mondays`\n- ok\n试了一下可以了，接着\n  改归档页面\ntotal: 12 passed\nthe run_total is 12 of it"


@pytest.mark.parametrize(
    ("words", "stands"),
    [
        ("the list is _fast_ now.", "the list\n  is _fast_ now."),
        ("Done, and the list", "Done**, and the list"),
        ("it never works on Mondays", "it never works\n> on `Mondays"),
        ("> it never works\n> on `Mondays`", "it never works\n> on `Mondays"),
        ("total: 12 passed", "total: 12 passed"),
        ("ok", "ok"),
        ("可以了", "可以了"),
        ("接着改归档页面", "接着\n  改归档页面"),
        ("接着 改归档", "接着\n  改归档"),
        ("x\u200by is there", None),
        ("works", None),
        ("the list", None),
        ("otal: 12 passed", None),
        ("total: 12 pass", None),
        ("total is 12 of it", None),
        ("THE LIST IS _FAST_", None),
        (".", None),
        ("**", None),
        ("了", None),
    ],
)
def test_words_are_found_whole_whatever_blanks_and_marks_are_between_them(words: str, stands: str | None) -> None:
    found = find_quotation(TEXT, words)
    assert (TEXT[found[0] : found[0] + found[1]] if found else None) == stands


def test_the_last_of_several_places_is_returned() -> None:
    text = "12 tests passed\nno, 1 failed\n12 tests passed\nreally, 12 tests passedX"
    assert find_quotation(text, "12 tests passed") == (29, 15)


def test_invisible_characters_do_not_split_words() -> None:
    assert find_quotation("the sum of x\u200by is right", "the sum of xy is") == (0, 17)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("#" * 1_000_000 + "x", "# Title of the text"),
        ("好" + "\n" * 1_000_000 + "x", "好 了，接着改归档页面"),
        ("a " * 200_000, "a"),
        ("a " * 500_000, "a a a a a a a a b"),
        ("* x" * 300_000, "* x * y is what it says"),
        ("@" * 1_000_000, "@@@ what it says"),
    ],
)
def test_no_text_holds_it_up(text: str, words: str) -> None:
    assert find_quotation(text, words) is None
