"""How likely an episode answers a question follows from its hits, its place, its length and the user's words."""

from __future__ import annotations

import pytest

from pastchats_memory.episodes.threads import ThreadEpisode
from pastchats_memory.model import Item
from pastchats_memory.recall.answering import estimate_answer
from pastchats_memory.store.outcomes import Ending

PLACES = {1: 1, 11: 0, 21: 1, 31: 1}


def make_episode(first: int, answer: str, *, next_message: str = "") -> ThreadEpisode:
    """Return an episode whose turns have two ids in a row."""
    request, answered = (
        Item(first + number, "1.jsonl", "garden", "one", first + number, role, text, "2026-03-02T08:00:00Z", {}, ())
        for number, (role, text) in enumerate((("user", "Why does the pump stop?"), ("assistant", answer)))
    )  # fmt: skip
    return ThreadEpisode(request, Ending(first, first + 1, "unknown", 0.0, ""), (request, answered), next_message)


OWN = make_episode(10, "The float is stuck in the pump.")
LATER = make_episode(20, "The float is free in the pump.")


def estimate(one: ThreadEpisode) -> float:
    return estimate_answer(one, OWN, PLACES)


@pytest.mark.parametrize(
    "less",
    [
        pytest.param(make_episode(0, LATER.answers[0]), id="earlier"),
        pytest.param(make_episode(40, LATER.answers[0]), id="no hit"),
        pytest.param(make_episode(30, "Free."), id="shorter"),
        pytest.param(LATER._replace(next_message="no, it still stops"), id="rejected"),
    ],
)
def test_a_later_episode_with_a_good_hit_and_a_long_answer_that_nobody_rejected_answers_most_likely(
    less: ThreadEpisode,
) -> None:
    assert 0 < estimate(less) < estimate(LATER) < 1
