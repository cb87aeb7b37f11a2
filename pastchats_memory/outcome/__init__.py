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

__all__ = ["RULES_VERSION", "TABLE", "UNKNOWN", "Evidence", "Outcome", "Row", "Verdict", "outcome_of"]

RULES_VERSION = 1
"""Of the table and its signals: counted up with every change that may change an outcome."""

Verdict = Literal["worked", "failed", "mixed", "unknown"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an episode ended."""

    verdict: Verdict
    confidence: float
    """0 for unknown; else how sure the signal is, from 0.5 to 1, as it seemed on the episodes that the rules were made from."""
    evidence: tuple[Evidence, ...] = ()
    """One piece or two."""


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
            return Outcome(verdict, confidence, evidence)
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
    ("failed", 0.9, asked_again),
    ("failed", 0.9, same_error),
    ("mixed", 0.5, rejected_in_part),
    ("failed", 0.8, rejected),
    ("worked", 0.95, accepted),
    # What machines said: the last word counts, not the first.
    ("failed", 0.9, broke_off),
    ("mixed", 0.6, admitted_in_part),
    ("failed", 0.9, check_failed),
    ("worked", 0.95, check_passed),
    ("worked", 0.9, committed),
    # What the assistant did, and says of itself.
    ("worked", 0.85, edit_made),
    ("failed", 0.7, admitted),
    ("worked", 0.9, claim_stands),
    ("worked", 0.8, built_on),
)
"""Verdict, confidence and the signal that gives it, the strongest first."""
