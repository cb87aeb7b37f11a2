"""How much of a topic a text names."""

from __future__ import annotations

import pytest

from pastchats_memory.text.topics import (
    COMMON_WORD,
    NAME,
    PLAIN_WORD,
    is_resuming,
    is_small_talk,
    measure_topic,
    topic_words,
)


@pytest.mark.parametrize(
    ("text", "worths"),
    [
        ("add tests for this", {}),
        ("Refactoring the longer functions", {}),
        ("water the tulips", {"water": PLAIN_WORD, "tulips": PLAIN_WORD}),
        ("add a button", {"button": COMMON_WORD}),
        ("npm ERR! path /usr/src\nnpm ERR! command failed", {"npm": COMMON_WORD, "path": COMMON_WORD}),
        ("Tulips wilt in the Keukenhof", {"tulips": PLAIN_WORD, "wilt": PLAIN_WORD, "keukenhof": NAME}),
        ("why is next_attempt_at empty", {"attempt": NAME}),
        ("status 503 in step 2", {"503": COMMON_WORD}),
        ("删除郁金香", {"删除郁金香": PLAIN_WORD}),
        ("upozornění na tulipány", {"upozornění": PLAIN_WORD, "tulipány": PLAIN_WORD}),
    ],
)
def test_names_count_most_and_words_of_any_work_count_nothing(text: str, worths: dict[str, float]) -> None:
    assert topic_words(text) == worths
    assert measure_topic(text) == sum(worths.values())


@pytest.mark.parametrize(
    ("text", "is_talk"),
    [
        ("hi", True),
        ("Thank you so much!", True),
        ("谢谢", True),
        ("thanks for the tulip", False),
        ("why?", False),
        ("", False),
    ],
)
def test_greetings_and_thanks_are_small_talk(text: str, is_talk: bool) -> None:
    assert is_small_talk(text) is is_talk


@pytest.mark.parametrize(
    ("text", "is_one"),
    [("continue", True), ("mach bitte weiter", True), ("continúa", True), ("let's pick up where we left off", True), ("继续工作", True), ("続けてください", True),
     ("bitte fahr fort", True), ("weiter geht's", True), ("let's pick this back up", True), ("fort mit dem Parser", False),
     ("yes, go on", False), ("work on it", False), ("continue with the parser", False), ("继续登录页面", False), ("", False)],
)  # fmt: skip
def test_a_text_that_only_asks_to_go_on_is_recognised(text: str, is_one: bool) -> None:
    assert is_resuming(text) is is_one
