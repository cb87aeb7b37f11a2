"""What speaks for a row, and how relevant it is: formulas against tables worked by hand, laws that must hold, and a second, plainer implementation."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pastchats_memory.search import rank
from pastchats_memory.search.query import weigh_term
from pastchats_memory.search.rank import emphasize, evidence, standard_scores

NUMBERS = st.floats(-5, 5, allow_nan=False).map(lambda number: round(number, 3))


def plainly_unit(vector: list[float]) -> list[float]:
    length = math.sqrt(sum(part * part for part in vector))
    return [part / length for part in vector] if length else vector


def plainly_standing_out(query: list[float], rows: list[list[float]], background: list[list[float]]) -> list[float]:
    """The same without arrays: cosine, z-score; centre, and again; the mean of both."""
    centres = [[0.0] * len(query), [statistics.fmean(column) for column in zip(*background, strict=True)]]
    views = [plain_deviations(query, rows, background, centre) for centre in centres]
    return [statistics.fmean(both) for both in zip(*views, strict=True)]


def plain_deviations(
    query: list[float], rows: list[list[float]], background: list[list[float]], centre: list[float]
) -> list[float]:
    def cosine(row: list[float]) -> float:
        ours, theirs = (plainly_unit([a - b for a, b in zip(vector, centre, strict=True)]) for vector in (row, query))
        return sum(a * b for a, b in zip(ours, theirs, strict=True))

    usual = [cosine(row) for row in background]
    spread = statistics.pstdev(usual)
    return [(cosine(row) - statistics.fmean(usual)) / spread for row in rows]


@st.composite
def vectors(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A query, rows and a background whose rows differ."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    dim = draw(st.integers(2, 9))
    query, rows = generator.standard_normal(dim), generator.standard_normal((draw(st.integers(1, 6)), dim))
    return query, rows, generator.standard_normal((draw(st.integers(3, 20)), dim)) + generator.standard_normal(dim)


@given(vectors())
def test_standing_out_equals_a_second_implementation_without_arrays(data: tuple) -> None:
    query, rows, background = data
    plainly = plainly_standing_out(query.tolist(), rows.tolist(), background.tolist())
    assert standard_scores(query, rows, background).tolist() == pytest.approx(plainly, rel=1e-6, abs=1e-9)


@given(vectors(), vectors())
def test_a_standard_score_does_not_depend_on_the_other_rows(data: tuple, more: tuple) -> None:
    query, rows, background = data
    others = np.resize(more[1], rows.shape)
    together = standard_scores(query, np.vstack([rows, others]), background)[: len(rows)]
    assert together == pytest.approx(standard_scores(query, rows, background))


@given(vectors())
def test_the_corpus_stands_out_from_itself_by_nothing_on_average(data: tuple) -> None:
    query, _, background = data
    own = standard_scores(query, background, background)
    assert own.mean() == pytest.approx(0, abs=1e-9)
    assert own.std() <= 1 + 1e-9  # of the mean of two views, of which each has 1


def test_the_row_that_is_the_query_stands_out_the_most() -> None:
    generator = np.random.default_rng(7)
    background = generator.standard_normal((50, 8))
    rows = np.vstack([generator.standard_normal((10, 8)), background[3]])
    assert standard_scores(background[3], rows, background).argmax() == 10


@pytest.mark.parametrize(
    ("rows", "background"),
    [
        pytest.param([[1.0, 0.0]], [[1.0, 0.0]], id="one row, and it is all there is"),
        pytest.param([[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0]], id="a background of one"),
        pytest.param([[0.6, 0.8]] * 3, [[0.6, 0.8]] * 5, id="all rows equal"),
        pytest.param([[0.0, 1.0]], [[1.0, 0.0], [-1.0, 0.0]], id="a background that lies on both sides"),
    ],
)
@pytest.mark.parametrize("query", [[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
def test_a_corpus_too_small_to_compare_with_still_gives_numbers(query: list, rows: list, background: list) -> None:
    deviations = standard_scores(np.array(query), np.array(rows), np.array(background))
    assert deviations.shape == (len(rows),)
    assert np.isfinite(deviations).all()
    if len(rows) == 3:
        assert len(set(deviations.tolist())) == 1


@given(st.lists(NUMBERS, max_size=8))
def test_emphasis_keeps_the_sign_and_equals_a_power_taken_one_by_one(deviations: list[float]) -> None:
    by_one = [math.copysign(abs(z) ** rank.EMPHASIS, z) for z in deviations]
    assert emphasize(np.array(deviations)).tolist() == pytest.approx(by_one)


def test_a_word_counts_by_its_bm25_and_by_its_presence() -> None:
    strong = rank.word_strengths(np.array([[3.0, 0.0], [0.0, 2.0]]), np.array([5.0, 0.0]))
    assert strong.tolist() == [[3.0 + rank.PRESENCE * 5.0, 0.0], [0.0, 2.0]]  # the second is a function word


def test_neighbours_add_words_that_the_row_lacks_each_once() -> None:
    strong = np.array([[4.0, 0.0, 0.0, 1.0], [0.0, 2.0, 3.0, 2.5]])  # two words; rows 0 and 1, and two more around them
    around = np.array([[1, 3, -1], [0, 2, 3]])
    assert rank.neighbour_terms(strong, around, 1.0).tolist() == [2.5, 4.0 + 1.0]


def test_a_neighbour_that_counts_half_adds_half_of_its_lead() -> None:
    strong = np.array([[1.0, 5.0, 2.0]])
    around = np.array([[1, 2], [0, 2]])
    assert rank.neighbour_terms(strong, around, np.array([[0.5, 1.0], [1.0, 1.0]])).tolist() == [2.0, 0.0]
    assert rank.neighbour_terms(strong, around, np.array([[0.1, 1.0], [1.0, 1.0]])).tolist() == [1.0, 0.0]
    assert rank.neighbour_similarity(strong[0, :2], around, np.array([[0.5, 1.0], [1.0, 1.0]])).tolist() == [
        2.0,
        0.0,
    ]


def test_a_row_without_neighbours_gets_nothing_from_them() -> None:
    assert rank.neighbour_terms(np.array([[4.0]]), np.array([[-1]]), 1.0).tolist() == [0.0]
    assert rank.neighbour_terms(np.array([[4.0]]), np.empty((1, 0), dtype=np.int64), 1.0).tolist() == [0.0]
    assert rank.neighbour_terms(np.empty((0, 2)), np.array([[1], [0]]), 1.0).tolist() == [0.0, 0.0]


def test_rows_count_less_the_farther_they_are_from_the_named_time() -> None:
    found = rank.time_decay(np.array([0.0, 30.0, 60.0, -3.0, -np.inf]), math.inf)
    assert found.tolist() == pytest.approx([1.0, math.exp(-1), math.exp(-2), math.exp(-1), 0.0])


def test_the_worth_of_a_named_time_lasts_longer_after_a_longer_time() -> None:
    later = np.array([14.0, -3.0])
    by_length = {days: rank.time_decay(later, days).tolist() for days in (1.0, 7.0, 31.0, math.inf)}
    assert by_length[1.0] == pytest.approx([math.exp(-2), math.exp(-1)])
    assert by_length[7.0] == pytest.approx([math.exp(-1), math.exp(-1)])
    assert by_length[31.0] == by_length[math.inf] == pytest.approx([math.exp(-14 / 30), math.exp(-1)])


def test_a_conversation_counts_by_its_best_rows_and_fewer_of_them_count_less() -> None:
    own = np.array([9.0, 1.0, 6.0, 3.0, 6.0])
    mean = rank.conversation_evidence(own, np.array([0, 0, 0, 0, 1]))
    assert mean.tolist() == pytest.approx([6.0, 6.0, 6.0, 6.0, 2.0])
    assert rank.conversation_evidence(np.empty(0), np.empty(0, dtype=np.int64)).tolist() == []


def test_scores_weigh_more_if_the_nearest_row_stands_out_beyond_chance() -> None:
    by_chance = math.sqrt(2 * math.log(1000))
    assert rank.semantic_evidence(np.array([by_chance, 1.0]), 1000).tolist() == pytest.approx(
        [by_chance**rank.EMPHASIS, 1.0]
    )
    assert rank.semantic_evidence(np.array([2 * by_chance, 1.0]), 1000)[1] == pytest.approx(2**rank.SURPRISE)
    assert rank.semantic_evidence(np.array([by_chance, 1.0]), 100_000)[1] < 1.0


def test_near_rows_count_less_if_more_of_them_are_near_than_chance_explains() -> None:
    by_chance = math.sqrt(2 * math.log(1000 / rank.CROWD))
    others = np.zeros(rank.CROWD)
    few = np.concatenate([[6.0, 5.0], others])
    crowd = np.concatenate([[6.0, 5.0], others[2:] + 1.5 * by_chance, others])
    assert rank.semantic_evidence(crowd, 1000).tolist() == pytest.approx(
        rank.semantic_evidence(crowd / 1.5, 1000).tolist()
    )
    assert (rank.semantic_evidence(crowd, 1000)[:2] < rank.semantic_evidence(few, 1000)[:2] / 2).all()


def test_rows_in_no_crowd_count_as_if_there_were_no_such_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.linspace(5.0, 0.0, 40)
    found = rank.semantic_evidence(scores, 20_000).tolist()
    monkeypatch.setattr(rank, "CROWD", len(scores))
    assert rank.semantic_evidence(scores, 20_000).tolist() == found


def test_a_match_by_words_ranks_before_the_nearest_row_of_a_crowd_but_not_of_a_few() -> None:
    match = np.full((1, 30), 0.3)
    match[0, 0] = 1.0
    for near, first in ((1, 1), (20, 0)):
        scores = np.concatenate([[0.0], np.full(near, 5.0), np.zeros(29 - near)])
        given = signals(30, matches=match, weights=np.zeros(1), standard_scores=scores)
        assert int(np.argmax(evidence(given, 0.5))) == first


@pytest.mark.parametrize("searched", [0, 1, 2, 3])
def test_a_corpus_of_one_row_or_none_divides_nothing_by_zero(searched: int) -> None:
    assert np.isfinite(rank.semantic_evidence(np.array([1.0]), searched)).all()
    assert rank.semantic_evidence(np.empty(0), searched).tolist() == []
    assert rank.semantic_evidence(np.array([-1.0, -2.0]), searched).tolist() == [0.0, 0.0]


def test_a_row_gains_from_how_much_nearer_its_best_neighbour_is() -> None:
    around = np.array([[1, 3, -1], [0, 2, -1], [0, 1, 4]])  # of rows 3 and 4 nothing is known
    assert rank.neighbour_similarity(np.array([1.0, 4.0, 2.0]), around, np.ones((3, 3))).tolist() == [3.0, 0.0, 2.0]
    assert rank.neighbour_similarity(np.array([1.0]), np.empty((1, 0), dtype=np.int64), np.empty((1, 0))).tolist() == [
        0.0
    ]


SEARCHED, RARITY = 1000, 0.65


def signals(rows: int, **given: np.ndarray) -> rank.Signals:
    """Of rows in conversations of their own, with nothing around them and nothing that speaks for them."""
    nothing = {
        "matches": np.zeros((1, rows)),
        "weights": np.ones(1),
        "phrases": np.zeros(rows),
        "around": np.empty((rows, 0), dtype=np.int64),
        "standard_scores": np.zeros(rows),
        "conversations": np.arange(rows),
        "typed": np.zeros(rows),
        "named": np.zeros(rows, dtype=bool),
        "time_match": np.zeros(rows),
        "has_time": np.zeros(rows, dtype=bool),
    }
    known = {**nothing, **given}
    return rank.Signals(**{"same_role": known["around"] >= 0, **known}, searched=SEARCHED, rarity=RARITY)


def test_evidence_equals_a_sum_worked_by_hand() -> None:
    given = signals(
        2,
        matches=np.array([[2.0, 0.0], [0.0, 1.0]]),
        weights=np.array([1.0, 0.0]),
        phrases=np.array([0.5, 0.0]),
        around=np.array([[1], [0]]),
        standard_scores=np.array([1.0, 4.0]),
        conversations=np.array([0, 0]),
        typed=np.array([1.0, 0.0]),
        named=np.array([False, True]),
        has_time=np.array([False, True]),
    )
    first = 2.0 + rank.PRESENCE + rank.PHRASE * 0.5
    scale = RARITY * rank.GOOD_MATCH / ((first + 1.0) / 2)
    surprise = (4.0 / math.sqrt(2 * math.log(SEARCHED))) ** rank.SURPRISE
    near = [surprise * 1.0, surprise * 4.0**rank.EMPHASIS]
    own = [scale * first + near[0], scale * 1.0 + near[1]]
    of_both = rank.CONVERSATION * sum(own) / rank.BEST_ROWS
    by_hand = [
        own[0] + rank.NEIGHBOURS * (scale * 1.0 + near[1] - near[0]) + of_both + rank.TYPED,
        own[1] + rank.NEIGHBOURS * scale * (2.0 + rank.PRESENCE) + of_both + rank.NAMED + rank.HAS_TIME,
    ]
    assert evidence(given, 0.5).tolist() == pytest.approx(by_hand)
    by_hand[0] -= (1 - rank.OTHER_ROLE) * rank.NEIGHBOURS * (scale * 1.0 + near[1] - near[0])
    by_hand[1] -= (1 - rank.OTHER_ROLE) * rank.NEIGHBOURS * scale * (2.0 + rank.PRESENCE)
    of_other_roles = given._replace(same_role=np.zeros((2, 1), dtype=bool))
    assert evidence(of_other_roles, 0.5).tolist() == pytest.approx(by_hand)


def test_a_match_is_measured_against_the_mean_of_the_best_matches() -> None:
    alike = evidence(signals(60, matches=np.ones((1, 60))), 0.5)
    assert alike[0] == pytest.approx(RARITY * rank.GOOD_MATCH * (1 + rank.CONVERSATION / rank.BEST_ROWS))
    leading = np.ones((1, 60))
    leading[0, 0], leading[0, 50:] = 1.0 + rank.BEST_MATCHES * (1.0 + rank.PRESENCE), 0.0  # its lead doubles the mean
    first = leading[0, 0] + rank.PRESENCE
    assert evidence(signals(60, matches=leading), 0.5)[0] == pytest.approx(alike[0] * first / (2 * (1 + rank.PRESENCE)))


def test_a_lone_match_by_words_ranks_before_a_row_nearer_by_three_but_not_by_four_deviations() -> None:
    match = np.array([[1.0, 0.0]])
    for deviations, first in ((3.0, 0), (4.0, 1)):
        both = evidence(signals(2, matches=match, standard_scores=np.array([0.0, deviations])), 0.5)
        assert int(np.argmax(both)) == first


def test_the_best_match_is_worth_more_the_rarer_the_two_rarest_words_of_the_question_are() -> None:
    match = signals(2, matches=np.array([[1.0, 0.0]]), standard_scores=np.array([0.0, 3.0]))
    assert np.diff([evidence(match._replace(rarity=rarity), 0.5)[0] for rarity in (0.0, 0.3, 0.9)]).min() > 0
    assert rank.rarity([0.5, 6.0, 5.0], 1000) == pytest.approx(5.5 / math.log(1000))
    assert rank.rarity([6.0], 1000) == pytest.approx(6.0 / math.log(1000))
    assert rank.rarity([], 0) == 0.0
    assert rank.rarity([weigh_term("name", 1, 1000).weight], 1000) == pytest.approx(1, abs=0.06)


@pytest.mark.parametrize("meaning", [0.0, 0.3, 0.5, 1.0])
def test_more_of_anything_is_never_worth_less(meaning: float) -> None:
    usual = np.array([[1.0, 1.0]])
    plain = evidence(signals(2, matches=usual), meaning)[0]
    for more in (
        signals(2, matches=usual, standard_scores=np.array([1.0, 0.0])),
        signals(2, matches=usual, typed=np.array([1.0, 0.0])),
        signals(2, matches=usual, named=np.array([True, False])),
        signals(2, matches=usual, time_match=np.array([0.5, 0.0])),
        signals(2, matches=usual, has_time=np.array([True, False])),
        signals(2, matches=usual, phrases=np.array([1.0, 0.0])),
        signals(2, matches=np.array([[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]), weights=np.ones(3)),
    ):
        assert evidence(more, meaning)[0] >= plain


def test_words_alone_are_ordered_by_a_sum_worked_by_hand() -> None:
    given = signals(
        2,
        matches=np.array([[2.0, 0.0], [0.0, 1.0]]),
        weights=np.array([9.0, 9.0]),  # presence does not count here
        phrases=np.array([0.5, 0.0]),
        around=np.array([[1], [0]]),
        conversations=np.array([0, 0]),
        typed=np.array([1.0, 0.0]),
        has_time=np.array([False, True]),
    )
    best = 2.0 + rank.WORDS_ONLY_PHRASE * 0.5
    of_both = rank.WORDS_ONLY_CONVERSATION * (1.0 + 1.0 / best) / rank.BEST_ROWS
    by_hand = [
        1.0 + rank.WORDS_ONLY_NEIGHBOURS * 1.0 / best + of_both + rank.WORDS_ONLY_TYPED,
        1.0 / best + rank.WORDS_ONLY_NEIGHBOURS * 2.0 / best + of_both + rank.WORDS_ONLY_HAS_TIME,
    ]
    assert rank.word_evidence(given).tolist() == pytest.approx(by_hand)
    assert rank.word_evidence(given._replace(same_role=np.zeros((2, 1), dtype=bool))).tolist() == pytest.approx(by_hand)
    assert rank.word_evidence(signals(2, matches=np.empty((0, 2)), weights=np.empty(0))).tolist() == [0.0, 0.0]


def test_rows_without_signals_are_equal() -> None:
    assert evidence(signals(3), 0.5).tolist() == [0.0, 0.0, 0.0]
    assert evidence(signals(2, matches=np.empty((0, 2)), weights=np.empty(0)), 0.5).tolist() == [0.0, 0.0]


@given(st.floats(-1, 1), st.floats(0, 1), st.integers(1, 10**7))
def test_relevance_runs_from_0_to_1_and_more_of_anything_is_never_less(cosine: float, share: float, rows: int) -> None:
    def of(similarity: float, in_words: float, searched: int) -> float:
        return float(rank.relevance(np.array([similarity]), np.array([in_words]), searched)[0])

    plain = of(cosine, share, rows)
    assert 0 <= plain <= 1
    assert of(min(1, cosine + 0.1), share, rows) >= plain
    assert of(cosine, min(1, share + 0.1), rows) >= plain
    assert of(cosine, share, rows * 10) <= plain


def test_relevance_equals_a_curve_worked_by_hand() -> None:
    fit = 0.5 + rank.WORD_MATCH * 0.5**rank.WORD_MATCH_POWER - rank.SIZE_PENALTY * 3
    by_hand = 1 / (1 + math.exp(-rank.STEEPNESS * (fit - rank.MIDDLE)))
    assert rank.relevance(np.array([0.5]), np.array([0.5]), 1000).tolist() == pytest.approx([by_hand])
    middle = rank.MIDDLE + rank.SIZE_PENALTY * 3
    assert rank.relevance(np.array([middle]), np.zeros(1), 1000).tolist() == pytest.approx([0.5])
