"""An excerpt: always a part of the text, never longer than asked for, around what matched."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pastchats_memory.text.excerpt import ELLIPSIS, excerpt

WORDS = st.sampled_from(["retry", "retries", "webhook", "backoff", "the", "a", "Jitter,", "x" * 90, "数据库", "🎉"])
TEXTS = st.one_of(
    st.text(max_size=400),
    st.lists(st.tuples(WORDS, st.sampled_from([" ", "\n", "  ", "\n\n", "\t"])), max_size=80).map(
        lambda parts: "".join(word + blank for word, blank in parts)
    ),
)
WEIGHTS = st.dictionaries(st.sampled_from(["retry", "webhook", "jitter", "数据库", "absent"]), st.floats(0.1, 9))
FILLER = "There is nothing of any weight in this sentence at all. "


def inner(shown: str) -> str:
    return shown.removeprefix(ELLIPSIS).removesuffix(ELLIPSIS)


@given(TEXTS, WEIGHTS, st.integers(2, 300))
@example("y" * 1000, {}, 60)
@example("word " * 200, {"word": 1.0}, 60)
def test_an_excerpt_is_a_part_of_the_text_and_never_longer_than_the_width(text: str, weights: dict, width: int) -> None:
    shown = excerpt(text, weights, width)
    assert len(shown) <= width
    assert inner(shown) in text or shown in text


@given(TEXTS, WEIGHTS)
def test_a_text_that_fits_is_shown_whole(text: str, weights: dict) -> None:
    assert excerpt(text, weights, max(1, len(text))) == text.strip()


@given(
    st.integers(0, 60), st.integers(0, 60), st.integers(60, 300), st.sampled_from(["webhook", "webhooks", "Webhook,"])
)
def test_an_excerpt_contains_the_one_place_that_matched(before: int, after: int, width: int, word: str) -> None:
    shown = excerpt(FILLER * before + word + " " + FILLER * after, {"webhook": 3.0}, width)
    assert word in shown


def test_the_heaviest_words_are_shown_if_not_all_fit() -> None:
    text = f"retry {FILLER * 10} webhook jitter {FILLER * 10} retry retry retry"
    assert "webhook jitter" in excerpt(text, {"retry": 2.0, "webhook": 2.0, "jitter": 2.0}, 120)
    assert "retry" in excerpt(text, {"retry": 9.0, "webhook": 2.0, "jitter": 2.0}, 120)


def test_the_earlier_of_two_equally_heavy_places_is_shown() -> None:
    text = f"{FILLER * 5}webhook first {FILLER * 20}webhook second {FILLER * 5}"
    assert "webhook first" in excerpt(text, {"webhook": 1.0}, 100)


def test_the_start_is_shown_if_no_word_matches() -> None:
    shown = excerpt(FILLER * 20, {"absent": 1.0}, 100)
    assert shown.startswith("There is nothing")
    assert shown.endswith(ELLIPSIS)


@pytest.mark.parametrize(
    ("place", "marks"), [("start", (False, True)), ("middle", (True, True)), ("end", (True, False))]
)
def test_an_ellipsis_stands_exactly_for_omissions(place: str, marks: tuple[bool, bool]) -> None:
    before, after = {"start": (0, 20), "middle": (20, 20), "end": (20, 0)}[place]
    shown = excerpt(FILLER * before + "webhook. " + FILLER * after, {"webhook": 1.0}, 120)
    assert (shown.startswith(ELLIPSIS), shown.endswith(ELLIPSIS)) == marks


def test_words_stay_whole_where_there_are_blanks_to_cut_at() -> None:
    text = FILLER * 10 + "webhook " + FILLER * 10
    assert set(inner(excerpt(text, {"webhook": 1.0}, 110)).split()) <= set(text.split())


def test_an_excerpt_of_an_excerpt_is_a_part_of_it() -> None:
    wide = excerpt(FILLER * 20, {}, 300)
    assert inner(excerpt(wide, {}, 80)) in wide
