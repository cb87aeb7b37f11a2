"""Lists become one: the sums of fusion against a table worked by hand, and laws that must hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pastchats_memory.search import rank
from pastchats_memory.search.rank import EVIDENCE, MEANING, WORDS, extend, fuse, list_weights, reciprocal_rank, rerank

NAMES = (WORDS, MEANING, EVIDENCE)
ORDERS = st.lists(st.integers(1, 12), unique=True, max_size=12)
LISTS = st.fixed_dictionaries(dict.fromkeys(NAMES, ORDERS))
WEIGHTS = st.fixed_dictionaries({name: st.sampled_from([0.0, 0.5, 1.0, 8.0]) for name in NAMES})


def test_fusion_gives_the_sums_of_a_table_worked_by_hand() -> None:
    fused = fuse({WORDS: [1, 2, 3], MEANING: [3, 4, 1], EVIDENCE: [3]}, {WORDS: 1.0, MEANING: 1.0, EVIDENCE: 8.0})
    by_hand = [  # k is 10
        (3, 1 / 13 + 1 / 11 + 8 / 11),
        (1, 1 / 11 + 1 / 13),
        (2, 1 / 12),
        (4, 1 / 12),  # as much as 2, which comes first by its id
    ]
    assert [row.id for row in fused] == [id_ for id_, _ in by_hand]
    assert [row.score for row in fused] == pytest.approx([score for _, score in by_hand])
    assert fused[0].ranks == {WORDS: 3, MEANING: 1, EVIDENCE: 1}
    assert fused[2].ranks == {WORDS: 2}
    assert fused[0].contributions == pytest.approx({WORDS: 1 / 13, MEANING: 1 / 11, EVIDENCE: 8 / 11})


def test_the_published_constant_gives_the_published_value() -> None:
    assert reciprocal_rank(1, 1.0, k=60) == pytest.approx(1 / 61)


def test_equal_scores_are_ordered_by_id() -> None:
    assert [row.id for row in fuse({WORDS: [9], MEANING: [4], EVIDENCE: [7]}, dict.fromkeys(NAMES, 1.0))] == [4, 7, 9]


def test_a_list_of_weight_zero_gives_only_ranks() -> None:
    fused = fuse({WORDS: [1], MEANING: [2, 1]}, {WORDS: 1.0, MEANING: 0.0})
    assert [(row.id, row.ranks) for row in fused] == [(1, {WORDS: 1, MEANING: 2})]
    assert fused[0].contributions == {WORDS: 1 / 11}


def test_fusing_no_lists_gives_no_rows() -> None:
    assert fuse({}, {}) == []
    assert fuse({WORDS: [], MEANING: []}, {WORDS: 1.0, MEANING: 1.0}) == []


@given(LISTS, WEIGHTS)
def test_the_contributions_of_every_row_sum_to_its_score(lists: dict, weights: dict) -> None:
    for row in fuse(lists, weights):
        assert row.score == sum(row.contributions.values())
        assert row.score == pytest.approx(sum(weights[name] / (10 + place) for name, place in row.ranks.items()))


@given(LISTS, WEIGHTS, st.permutations(NAMES))
def test_the_order_in_which_the_lists_are_named_changes_nothing(lists: dict, weights: dict, names: list) -> None:
    there = fuse(lists, weights)
    again = fuse({name: lists[name] for name in names}, {name: weights[name] for name in names})
    assert {row.id: row.ranks for row in there} == {row.id: row.ranks for row in again}
    scores = {row.id: row.score for row in again}
    assert {row.id: row.score for row in there} == pytest.approx(scores)  # sums of floats differ in their last bit


@given(LISTS, WEIGHTS)
def test_a_row_that_is_before_another_in_every_list_is_never_ranked_after_it(lists: dict, weights: dict) -> None:
    fused = [row.id for row in fuse(lists, weights)]
    for better in fused:
        for worse in fused:
            if better != worse and all(_is_before(better, worse, ids) for ids in lists.values()):
                assert fused.index(better) < fused.index(worse)


def _is_before(better: int, worse: int, ids: list[int]) -> bool:
    places = {id_: place for place, id_ in enumerate(ids)}
    return better in places and places[better] < places.get(worse, len(ids))


@given(LISTS, WEIGHTS)
def test_fusion_is_sorted_by_score_and_lists_every_row_once(lists: dict, weights: dict) -> None:
    fused = fuse(lists, weights)
    assert [row.score for row in fused] == sorted((row.score for row in fused), reverse=True)
    assert sorted(row.id for row in fused) == sorted({id_ for name in NAMES if weights[name] for id_ in lists[name]})


def test_the_balance_gives_the_usual_weights_in_the_middle_and_one_list_alone_at_its_ends() -> None:
    assert list_weights(0.5) == rank.WEIGHTS
    assert list_weights(0) == {WORDS: 2 * rank.WEIGHTS[WORDS], MEANING: 0, EVIDENCE: 0}
    assert list_weights(1) == {WORDS: 0, MEANING: 2 * rank.WEIGHTS[MEANING], EVIDENCE: 0}


@given(st.floats(0, 1), st.floats(0, 1))
def test_more_meaning_never_makes_words_weigh_more(first: float, second: float) -> None:
    less, more = sorted((first, second))
    assert list_weights(less)[WORDS] >= list_weights(more)[WORDS]
    assert list_weights(less)[MEANING] <= list_weights(more)[MEANING]
    assert all(weight >= 0 for weight in list_weights(less).values())


def test_rows_of_longer_lists_follow_the_head_below_its_last_score() -> None:
    head = fuse({WORDS: [1, 2], MEANING: [2, 3], EVIDENCE: [3, 2, 1]}, rank.WEIGHTS)
    longer = {WORDS: [1, 2, 4, 5], MEANING: [2, 3, 6, 4]}
    rows = extend(head, longer, rank.WEIGHTS)
    assert rows[: len(head)] == head
    assert [row.id for row in rows[len(head) :]] == [4, 6, 5]
    assert [row.score for row in rows] == sorted((row.score for row in rows), reverse=True)
    assert all(row.score == sum(row.contributions.values()) for row in rows)


@given(LISTS, st.sampled_from([0.0, 0.001, 0.5, 0.999, 1.0]))
def test_scores_never_rise_where_the_head_ends(lists: dict, meaning: float) -> None:
    weights = list_weights(meaning)
    head = fuse({WORDS: lists[WORDS][:2], MEANING: lists[MEANING][:2], EVIDENCE: lists[EVIDENCE][:2]}, weights)
    rows = extend(head, {WORDS: lists[WORDS], MEANING: lists[MEANING]}, weights)
    assert [row.score for row in rows] == sorted((row.score for row in rows), reverse=True)
    assert len({row.id for row in rows}) == len(rows)


def test_reranked_rows_stand_above_the_others() -> None:
    rows = fuse({WORDS: [1, 2, 3, 4, 5]}, {WORDS: 1.0})
    again = rerank(rows, np.array([-1.0, 900.0, -900.0]))
    assert [row.id for row in again] == [2, 1, 3, 4, 5]
    assert all(row.score > 0 for row in again)
    assert [row.score for row in again] == sorted((row.score for row in again), reverse=True)
    assert [row.ranks for row in again[:3]] == [{WORDS: 2}, {WORDS: 1}, {WORDS: 3}]
