"""Decisions and open work that a text states."""

from __future__ import annotations

import pytest

from pastchats_memory.episodes.statements import find_decisions, leaves_work_open


@pytest.mark.parametrize(
    ("request_", "is_one"),
    [
        ("Ok, S3 then", True),
        ("Yes, Postgres then!", True),
        ("Transaction mode it is.", True),
        ("Ok, go ahead then", False),
        ("Ok, fix the tests then", False),
        ("Is S3 cheaper then?", False),
    ],
)
def test_a_few_words_that_choose_a_thing_are_a_decision(request_: str, is_one: bool) -> None:
    assert find_decisions(request_) == ([request_] if is_one else [])


@pytest.mark.parametrize(
    ("sentence", "is_open"),
    [
        ("One test is still red: 20 MB must be refused with 413.", True),
        ("2 upload tests fail.", True),
        ("One test stays red", True),
        ("All tests are green.", False),
        ("One test is now green.", False),
        ("Three tests are new.", False),
        ("One test fails if the bucket is missing.", False),
    ],
)
def test_a_test_that_is_red_is_open_work(sentence: str, is_open: bool) -> None:
    assert leaves_work_open(sentence) is is_open
