"""Which few words say that it is as it was, so that what was done before them failed."""

from __future__ import annotations

import pytest

from pastchats_memory.episodes.outcome import Row, outcome_of
from pastchats_memory.episodes.outcome.complaints import is_complaint


@pytest.mark.parametrize(
    "said",
    [
        "Still, let's add a dark mode.",
        "Same page, now the footer please.",
        "Same page, add a footer",
        "I still prefer blue here.",
        "It is still raining, add the weather widget",
        "It still should show the date",
        "Same, but in green",
    ],
)
def test_what_asks_for_something_new_or_tells_a_taste_is_no_complaint(said: str) -> None:
    assert not is_complaint(said)


@pytest.mark.parametrize(
    "said",
    [
        "still 500",
        "no, same 500. look at the log",
        "no, same 500, look at the log",
        "still broken, please fix it",
        "I still get the error",
        "but it is still showing the old list",
        "Still doesn't compile",
    ],
)
def test_what_says_that_it_is_as_it_was_is_a_complaint(said: str) -> None:
    assert is_complaint(said)


def test_a_complaint_that_a_complaint_follows_was_answered_in_vain() -> None:
    asked, answer = Row("user", "prompt", "still 500"), Row("assistant", "answer", "I look at the header instead.")
    assert outcome_of((asked, answer), "hm, same 500").verdict == "failed"
    assert outcome_of((asked, answer), "Which header is it?").verdict == "unknown"
    asks = Row("assistant", "answer", "Does the other page work?")
    assert outcome_of((asked, asks), "hm, same 500").verdict == "unknown"
