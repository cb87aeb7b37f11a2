"""How an episode ended: what was asked for was reached, was not, was in part, or nothing shows it.

One table, ordered by strength: the first signal that finds its evidence decides. A signal is a small pure function of the
episode; what no signal is sure of is `unknown`, since a wrong answer is worse than none. Any format, any source of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pastchats_memory.outcome.answers import admitted, claimed, committed, edit_made
from pastchats_memory.outcome.checks import broke_off, check_failed, check_passed
from pastchats_memory.outcome.next_words import (
    BUT,
    accepted,
    asked_again,
    built_on,
    first_sentence,
    next_words,
    rejected,
    rejects,
    same_error,
)
from pastchats_memory.outcome.rows import Episode, Evidence, Row, Signal

__all__ = ["TABLE", "UNKNOWN", "Evidence", "Outcome", "Row", "Verdict", "outcome_of"]

Verdict = Literal["worked", "failed", "mixed", "unknown"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an episode ended."""

    verdict: Verdict
    confidence: float
    """0 for unknown; else how often the signal was right on the labelled episodes, between 0 and 1."""
    evidence: tuple[Evidence, ...] = ()
    """One piece or two."""
    signal: str = ""
    """The name of the signal that decided; empty for unknown."""


UNKNOWN = Outcome("unknown", 0.0)


def outcome_of(turns: Sequence[Row], following: str = "") -> Outcome:
    """The outcome of an episode.

    Args:
        turns: from the person's words to the last row before the person speaks again.
        following: what the person said next; empty where the transcript ends.
    """
    episode = Episode(tuple(turns), following.strip())
    for verdict, confidence, signal in TABLE:
        evidence = signal(episode)
        if evidence:
            return Outcome(verdict, confidence, evidence, signal.__name__)
    return UNKNOWN


def rejected_in_part(episode: Episode) -> tuple[Evidence, ...]:
    """Work was done and reported as done, and the person's next words find something wrong with it."""
    reached = claimed(episode) or check_passed(episode)
    return reached[:1] + next_words(episode) if reached and rejects(episode.following) else ()


def claim_stands(episode: Episode) -> tuple[Evidence, ...]:
    """Such a claim, followed by no words that cast doubt on it."""
    return () if BUT.search(first_sentence(episode.following)) else claimed(episode)


def admitted_in_part(episode: Episode) -> tuple[Evidence, ...]:
    """Something was reached and something, in the same answer, could not be."""
    reached = check_passed(episode) or claimed(episode)
    lacking = admitted(episode)
    return reached[:1] + lacking if reached and lacking else ()


TABLE: tuple[tuple[Verdict, float, Signal], ...] = (
    # What the person says next beats everything that the assistant said of itself.
    ("failed", 0.78, asked_again),
    ("failed", 0.83, same_error),
    ("mixed", 0.60, rejected_in_part),
    ("failed", 0.64, rejected),
    ("worked", 0.83, accepted),
    # What machines said: the last word counts, not the first.
    ("failed", 0.64, broke_off),
    ("mixed", 0.67, admitted_in_part),
    ("failed", 0.50, check_failed),
    ("worked", 0.87, check_passed),
    ("worked", 0.84, committed),
    # What the assistant did, and says of itself.
    ("worked", 0.67, edit_made),
    ("failed", 0.50, admitted),
    ("worked", 0.90, claim_stands),
    ("worked", 0.78, built_on),
)
"""Verdict, confidence and the signal that gives it, the strongest first.

The confidence is (right + 1) / (said + 2) of all labelled episodes, Laplace's rule of succession: a signal that was right the
four times it spoke is not certain. `benchmarks/outcome/score.py --signals` gives the numbers.
"""
