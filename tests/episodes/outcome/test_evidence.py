"""The line that shows an outcome is a sentence that decides."""

from __future__ import annotations

import pytest
from one_episode import ANSWER, REQUEST

from pastchats_memory.episodes.outcome import derive_outcome
from pastchats_memory.episodes.outcome.episode import MAX_QUOTATION, quote_line


@pytest.mark.parametrize(
    ("text", "at", "quoted"),
    [
        ("The menu is red now. It still fails on the phone. Look again.", "fails", "It still fails on the phone."),
        ("## User Input\n\nThe list is empty.", "User", "The list is empty."),
        ("src/app/main.py\nThe file has no end.", "src", "The file has no end."),
        ("**Result**\n```sh\nmake all tests\n```", "Result", "make all tests"),
        (
            "See [the documentation](https://docs.example.org/a.b.html) of it. It fails.",
            "docs",
            "See [the documentation](https://docs.example.org/a.b.html) of it.",
        ),
        ("Use a name, e.g. flue, for it. Then go on.", "flue", "Use a name, e.g. flue, for it."),
        ("===== 1 failed, 8 passed in 0.49s =====", "failed", "===== 1 failed, 8 passed in 0.49s ====="),
        ("修好了。但是还有一个错误。请看。", "错误", "但是还有一个错误。请看。"),
    ],
)
def test_a_quotation_is_the_sentence_at_its_place(text: str, at: str, quoted: str) -> None:
    assert quote_line(text, 0, text.index(at))[0].quotation == quoted


def test_a_long_sentence_ends_with_a_word() -> None:
    words = "No, that is wrong, because " + "the clock is read twice and " * 20
    (shown,) = derive_outcome((REQUEST, ANSWER), words).evidence
    assert len(shown.quotation) <= MAX_QUOTATION
    assert words.startswith(shown.quotation[:-1] + " ")
