"""Estimate whether a request and its answers turn to another subject. Pure, and cheap enough for a hook.

A subject goes on while its names are said again, and a short request can seldom be understood alone. The weights are a logistic
regression by `scripts/train_subject_turns.py`, which prints how often it is right about histories that it has not seen.
"""

from math import exp, log1p
from typing import NamedTuple

from pastchats_memory.episodes.next_message import reports_trouble
from pastchats_memory.text.instruction import find_instruction
from pastchats_memory.text.pasted import split_paste
from pastchats_memory.text.topics import topic_words
from pastchats_memory.text.words import WORD, stem, words

MOST_WORDS = 60
"""Words of a request that count; longer ones paste or explain."""


class TurnFeatures(NamedTuple):
    """What is measured of a request and its answers."""

    length: float
    """Logarithm of the number of the request's words."""
    novelty: float
    """Logarithm of the worth of new names for each one that was said before."""
    trouble: float
    """1 if the request says that something does not hold, else 0."""


CONSTANT, WEIGHTS = -7.5, TurnFeatures(1.12, 2.57, -0.67)


def measure_turn(request: str, answers: str, known: str) -> TurnFeatures:
    """Return the features of a request and its answers after what was said before them (`known`)."""
    typed = split_paste(find_instruction(request)).typed
    earlier = {stem(word) for word in words(known)}
    worths: dict[str, float] = {}
    for word, worth in topic_words(f"{typed}\n{answers}").items():
        worths[stem(word)] = max(worth, worths.get(stem(word), 0.0))
    new = sum(worth for word, worth in worths.items() if word not in earlier)
    novelty = log1p(new) - log1p(sum(worths.values()) - new)
    return TurnFeatures(log1p(min(MOST_WORDS, len(WORD.findall(typed)))), novelty, float(reports_trouble(request)))


def estimate_turn(request: str, answers: str, known: str) -> float:
    """Return the probability that a request and its answers turn to another subject than what was said before them."""
    features = measure_turn(request, answers, known)
    worth = CONSTANT + sum(weight * feature for weight, feature in zip(WEIGHTS, features, strict=True))
    return 1 / (1 + exp(-worth))
