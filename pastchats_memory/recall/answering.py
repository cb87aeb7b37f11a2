"""Estimate which episodes of a thread answer a question. Pure.

A thread often goes on after its answer. The weights are a logistic regression by `scripts/train_answering.py`, which prints how often
they are right about histories that they have not seen.
"""

from collections.abc import Mapping
from math import exp, log1p
from typing import NamedTuple

from pastchats_memory.episodes.next_message import reports_trouble
from pastchats_memory.episodes.threads import ThreadEpisode
from pastchats_memory.model.episodes import FAILURES


class AnswerFeatures(NamedTuple):
    """What is measured of an episode."""

    place: float
    """Logarithm of the place of its best turn among the hits of the question, 0 for the first."""
    is_later: float
    """1 if it comes after the episode that matched, else 0."""
    length: float
    """Logarithm of the characters of its texts."""
    is_rejected: float
    """1 if the user said that it is not what was wanted, else 0."""


UNFOUND = 100
"""Place of an episode without a hit."""
CONSTANT, WEIGHTS = -2.91, AnswerFeatures(-1.02, 2.12, 0.43, -0.99)


def is_rejected(one: ThreadEpisode) -> bool:
    """Return whether the user said that an attempt is not what was wanted."""
    return one.ending.outcome in FAILURES or (one.ending.outcome != "worked" and reports_trouble(one.next_message))


def measure_answer(one: ThreadEpisode, own: ThreadEpisode, places: Mapping[int, int]) -> AnswerFeatures:
    """Return the features of an episode in the thread of the one that matched (`own`), by the places of the hits' turns."""
    place = min((places.get(turn.id, UNFOUND) for turn in one.turns), default=UNFOUND)
    return AnswerFeatures(log1p(place), float(one.place > own.place), log1p(len(one.text)), float(is_rejected(one)))


def estimate_answer(one: ThreadEpisode, own: ThreadEpisode, places: Mapping[int, int]) -> float:
    """Return the probability that an episode answers the question."""
    features = measure_answer(one, own, places)
    return 1 / (1 + exp(-CONSTANT - sum(weight * feature for weight, feature in zip(WEIGHTS, features, strict=True))))
