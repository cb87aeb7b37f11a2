"""How an episode ended: what was asked for was reached, was not, was in part, or nothing shows it.

One table, ordered by strength: the first signal that finds its evidence decides. A signal is a small pure function of the
episode; what no signal is sure of is `unknown`, since a wrong answer is worse than none, and has what the person said next for
whoever reads it: a reader understands more of that than rules do. Any format, any source of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pastchats_memory.episodes.outcome.endings import (
    accepted,
    admitted_in_part,
    broke_off,
    built_on,
    check_failed,
    check_passed,
    command_failed,
    gave_up,
    moved_on,
    rejected,
    stands,
    task_completed,
    unanswered,
)
from pastchats_memory.episodes.outcome.episode import Episode, Evidence, Row, Signal
from pastchats_memory.episodes.outcome.feedback import half_works, still_so, undone
from pastchats_memory.episodes.outcome.said import said_next
from pastchats_memory.episodes.outcome.sent_again import advice_erred, asked_again

__all__ = ["TABLE", "Evidence", "Outcome", "Row", "Verdict", "outcome_of"]

Verdict = Literal["worked", "failed", "mixed", "unknown"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an episode ended."""

    verdict: Verdict
    confidence: float
    """0 for unknown; else how often the signal was right on the labelled episodes, between 0 and 1."""
    evidence: tuple[Evidence, ...] = ()
    """One piece or two; of unknown what the person said next, none where that is nothing."""
    signal: str = ""
    """The name of the signal that decided; empty for unknown."""


def outcome_of(turns: Sequence[Row], following: str = "", tasks: Sequence[str] = ()) -> Outcome:
    """The outcome of an episode.

    Args:
        turns: from the person's words to the last row before the person speaks again.
        following: what the person said next, all of it up to the next answer; empty where the transcript ends.
        tasks: states that tasks came to in between, as far as that is known, each task's last one; of `statuses.STATUSES`.
    """
    episode = Episode(tuple(turns), following.strip(), tuple(tasks))
    for verdict, confidence, signal in TABLE:
        evidence = signal(episode)
        if evidence:
            return Outcome(verdict, confidence, evidence, signal.__name__)
    return Outcome("unknown", 0.0, said_next(episode))


TABLE: tuple[tuple[Verdict, float, Signal], ...] = (
    ("failed", 0.94, unanswered),
    # What the person says or does next beats everything that the assistant said of itself.
    ("failed", 0.96, undone),
    ("failed", 0.88, asked_again),
    ("mixed", 0.57, half_works),
    ("failed", 0.94, still_so),
    ("failed", 0.67, advice_erred),
    ("failed", 0.96, rejected),
    ("worked", 0.97, accepted),
    # What machines said: the last word counts, not the first.
    ("failed", 0.94, broke_off),
    ("mixed", 0.70, admitted_in_part),
    ("failed", 0.97, check_failed),
    ("failed", 0.97, command_failed),
    ("failed", 0.93, gave_up),
    ("worked", 0.97, check_passed),
    ("worked", 0.88, moved_on),
    ("worked", 0.95, stands),
    ("worked", 0.85, built_on),
    # What the list of tasks says.
    ("worked", 0.75, task_completed),
)
"""Verdict, confidence and the signal that gives it, the strongest first.

The confidence is (right + 1) / (said + 2) of all labelled episodes and of those that were written for the rules, Laplace's rule of
succession: a signal that was right the four times it spoke is not certain. `benchmarks/outcome/score.py --signals` and `compact.py` give the numbers.
"""
