"""What a query's words are taken for: which count, how much, which are looked up; and what a date covers."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pastchats_memory.errors import UsageFault
from pastchats_memory.search.query import FUNCTION_WORD, MOST_ROWS, Term, measure_coverage, select_words, weigh_term
from pastchats_memory.text.timestamps import parse_bound
from pastchats_memory.text.words import FUNCTION_WORDS, words

CORPUS = 1000


# --- words ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Build Webhook retries", ["build", "webhook", "retries"]),
        ("retry, Retry; RETRY!", ["retry"]),
        ("pool_size=5 in courier/delivery.py", ["pool", "size", "5", "in", "courier", "delivery", "py"]),
        ("don't", ["don", "t"]),
        ('"NEAR(a b)" OR col:x* ^y', ["near", "a", "b", "or", "col", "x", "y"]),
        ("数据库 café Ünïcode", ["数据库", "café", "ünïcode"]),
        ("… — ()", []),
        ("", []),
    ],
)
def test_words_are_the_distinct_runs_of_letters_and_digits_in_order(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(st.text(max_size=80))
def test_words_are_distinct_and_nothing_in_them_is_syntax(text: str) -> None:
    found = words(text)
    assert len(set(found)) == len(found)
    assert all(word and not set(word) & set('"*^:(){}+-_ ') for word in found)


# --- weights ----------------------------------------------------------------------------------------------------------


def test_a_word_weighs_its_inverse_document_frequency() -> None:
    assert weigh_term("webhook", 4, CORPUS).weight == pytest.approx(math.log(1 + 996.5 / 4.5))
    assert weigh_term("webhook", 4, CORPUS).importance == 1


def test_a_function_word_counts_for_its_share() -> None:
    assert "with" in FUNCTION_WORDS
    assert weigh_term("with", 4, CORPUS).importance == FUNCTION_WORD
    assert weigh_term("with", 4, CORPUS).weight == pytest.approx(
        FUNCTION_WORD * weigh_term("webhook", 4, CORPUS).weight
    )


@given(st.integers(0, CORPUS), st.integers(0, CORPUS))
def test_a_rarer_word_weighs_more_and_no_word_weighs_less_than_nothing(first: int, second: int) -> None:
    rare, common = sorted((first, second))
    assert weigh_term("word", rare, CORPUS).weight >= weigh_term("word", common, CORPUS).weight > 0


def test_coverage_is_the_share_of_the_weight_that_the_corpus_knows() -> None:
    known, unknown, function = (
        weigh_term("webhook", 9, CORPUS),
        weigh_term("sourdough", 0, CORPUS),
        weigh_term("how", 400, CORPUS),
    )
    total = known.weight + unknown.weight + function.weight
    assert measure_coverage([known, unknown, function]) == pytest.approx((known.weight + function.weight) / total)
    assert measure_coverage([known, function]) == 1
    assert measure_coverage([unknown]) == 0
    assert measure_coverage([]) == 0


@given(st.lists(st.tuples(st.sampled_from(["word", "the"]), st.integers(0, CORPUS)), max_size=8))
def test_coverage_is_a_share_and_one_more_known_word_never_lowers_it(rows: list[tuple[str, int]]) -> None:
    terms = [weigh_term(word, count, CORPUS) for word, count in rows]
    assert 0 <= measure_coverage(terms) <= 1
    assert measure_coverage([*terms, weigh_term("more", 1, CORPUS)]) >= measure_coverage(terms)


def test_the_rarest_words_are_looked_up_first_and_those_that_do_not_occur_never() -> None:
    terms = [
        weigh_term(word, rows, CORPUS) for word, rows in (("the", 900), ("retry", 30), ("webhook", 4), ("zebra", 0))
    ]
    assert list(select_words(terms).items()) == [("webhook", 1.0), ("retry", 1.0), ("the", FUNCTION_WORD)]


def test_words_are_looked_up_until_their_rows_are_too_many() -> None:
    terms = [Term("rare", 10, 1.0, 9.0), Term("often", MOST_ROWS - 10, 1.0, 3.0), Term("more", MOST_ROWS, 1.0, 2.0)]
    assert list(select_words(terms)) == ["rare", "often"]
    assert list(select_words([*terms, Term("another", 11, 1.0, 9.0)])) == ["rare", "another"]


def test_one_word_is_looked_up_however_many_rows_it_has() -> None:
    assert list(select_words([Term("data", 10 * MOST_ROWS, 1.0, 0.1)])) == ["data"]


def test_a_query_of_function_words_alone_is_still_looked_up() -> None:
    terms = [weigh_term(word, 500, CORPUS) for word in words("how was it")]
    assert select_words(terms) == dict.fromkeys(["how", "was", "it"], FUNCTION_WORD)


@given(st.lists(st.integers(0, 2 * MOST_ROWS), max_size=9))
def test_at_least_one_word_is_looked_up_where_one_occurs_and_never_more_rows_than_the_limit(rows: list[int]) -> None:
    terms = [Term(f"w{place}", count, 1.0, 1.0) for place, count in enumerate(rows)]
    chosen = select_words(terms)
    assert bool(chosen) == any(rows)
    assert len(chosen) == 1 or sum(rows[int(word[1:])] for word in chosen) <= MOST_ROWS


# --- dates ------------------------------------------------------------------------------------------------------------


BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        pytest.param("2026-01-31", "2026-01-31T00:00:00.000Z", "2026-01-31T23:59:59.999Z", id="a day"),
        pytest.param("2026-01-31T08:15", "2026-01-31T08:15:00.000Z", "2026-01-31T08:15:59.999Z", id="a minute"),
        pytest.param("2026-01-31 08:15", "2026-01-31T08:15:00.000Z", "2026-01-31T08:15:59.999Z", id="with a blank"),
        pytest.param("2026-01-31T08:15:07", "2026-01-31T08:15:07.000Z", "2026-01-31T08:15:07.999Z", id="a second"),
        pytest.param("2026-01-31T08:15:07.250", *["2026-01-31T08:15:07.250Z"] * 2, id="a millisecond"),
        pytest.param("2026-01-31T08:15Z", "2026-01-31T08:15:00.000Z", "2026-01-31T08:15:59.999Z", id="UTC"),
        pytest.param("2026-01-31T08:15+02:00", "2026-01-31T06:15:00.000Z", "2026-01-31T06:15:59.999Z", id="a zone"),
        pytest.param(
            "2026-01-31T08:15:07+0200", "2026-01-31T06:15:07.000Z", "2026-01-31T06:15:07.999Z", id="bare zone"
        ),
        pytest.param(" 2026-01-31 ", "2026-01-31T00:00:00.000Z", "2026-01-31T23:59:59.999Z", id="blanks around it"),
    ],
)
def test_a_bound_covers_the_named_time_from_first_to_last_moment(text: str, first: str, last: str) -> None:
    assert parse_bound(text, is_end=False, zone=UTC) == first
    assert parse_bound(text, is_end=True, zone=UTC) == last


def test_a_day_is_the_day_of_the_zone_summer_time_included() -> None:
    assert parse_bound("2026-01-31", is_end=False, zone=BERLIN) == "2026-01-30T23:00:00.000Z"
    assert parse_bound("2026-03-29", is_end=False, zone=BERLIN) == "2026-03-28T23:00:00.000Z"
    assert parse_bound("2026-03-29", is_end=True, zone=BERLIN) == "2026-03-29T21:59:59.999Z"  # a day of 23 hours


def test_a_zone_in_the_text_is_stronger_than_that_of_the_system() -> None:
    assert parse_bound("2026-01-31T08:15Z", is_end=False, zone=BERLIN) == "2026-01-31T08:15:00.000Z"


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "2026-02-30", "31.01.2026", "2026-01-31T25:00"])
def test_an_invalid_date_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageFault) as refused:
        parse_bound(text, is_end=False)
    assert "2026-01-31" in refused.value.hint


@pytest.mark.parametrize(("text", "hours"), [("0001-01-01", 1), ("9999-12-31T23:59", -1)])
def test_a_moment_that_its_zone_pushes_out_of_the_calendar_is_refused(text: str, hours: int) -> None:
    with pytest.raises(UsageFault, match="outside the calendar"):
        parse_bound(text, is_end=False, zone=timezone(timedelta(hours=hours)))


@given(st.datetimes(datetime(1970, 1, 2), datetime(2100, 1, 1)), st.integers(-12, 14))  # noqa: DTZ001 - the zone follows
def test_an_end_is_never_before_its_beginning_and_moments_sort_as_text(when: datetime, hours: int) -> None:
    zone = timezone(timedelta(hours=hours))
    for text in (f"{when:%Y-%m-%d}", f"{when:%Y-%m-%dT%H:%M}", f"{when:%Y-%m-%dT%H:%M:%S}", when.isoformat()):
        first, last = (parse_bound(text, is_end=is_end, zone=zone) for is_end in (False, True))
        stored = when.replace(tzinfo=zone).astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        assert first <= stored <= last
