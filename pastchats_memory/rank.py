"""From ranked lists to one order. Pure; the contributions it returns are the computation: their sum is the score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

RRF_K = 60
"""Reciprocal rank fusion's constant (Cormack, Clarke, Büttcher 2009)."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """One row of the fused order."""

    id: int
    contributions: Mapping[str, float]
    """By list, what it adds; lists without the row are missing."""
    ranks: Mapping[str, int]
    """By list, the 1-based place in it."""

    @property
    def score(self) -> float:
        """The sum of the contributions."""
        return sum(self.contributions.values())


def reciprocal_rank(rank: int, weight: float, k: int = RRF_K) -> float:
    """Weight / (k + rank), with rank counted from 1 (Cormack, Clarke, Büttcher 2009)."""
    return weight / (k + rank)


def fuse(lists: Mapping[str, Sequence[int]], weights: Mapping[str, float]) -> list[Ranked]:
    """Weighted reciprocal rank fusion, highest score first, equal scores by id.

    Args:
        lists: ids by list name, best first.
        weights: by list name; a list of weight 0 still gives its ranks, but adds nothing and no rows of its own.
    """
    ranks: dict[int, dict[str, int]] = {}
    for name, ids in lists.items():
        for rank, id_ in enumerate(ids, start=1):
            ranks.setdefault(id_, {})[name] = rank
    fused = [
        Ranked(id_, {name: reciprocal_rank(rank, weights[name]) for name, rank in of.items() if weights[name]}, of)
        for id_, of in ranks.items()
    ]
    return sorted((row for row in fused if row.contributions), key=lambda row: (-row.score, row.id))
