"""From what two engines say of the same rows to one order. Pure; the contributions returned are the computation.

Textbook rank fusion throws away how sure each list is, and was worse than the better of its two lists on three of four
retrieval sets. So a third list enters the fusion, made of standardised scores: words as a share of the best match,
meaning by how far a row stands out from the searched corpus, and a little of what is said just before and after it.
`benchmarks/README.md` has the experiments that set the numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RRF_K = 10
"""Reciprocal rank fusion's constant; the original 60 is for lists of a thousand and lost .012 to 10 on these short ones."""
WORDS, MEANING, TOGETHER = "words", "meaning", "together"
WEIGHTS = {WORDS: 1.0, MEANING: 1.0, TOGETHER: 8.0}
"""Of the three lists at even balance."""
BEST_MATCH = 8.0
"""What the best match by words is worth, on the scale of `emphasised`: as much as standing out by four deviations."""
EMPHASIS = 1.5
"""Power that makes much of few rows that stand out far, and little of many that stand out somewhat."""
BESIDE = 0.15
"""Share of a neighbour's evidence that counts for a row, at no length."""
BESIDE_LENGTH = 120
"""Characters at which that share has fallen to half: a short turn says little by itself, a long one enough."""


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


def balanced(meaning: float) -> dict[str, float]:
    """The weights of the lists at a balance from 0 (words alone) to 1 (meaning alone); a half gives WEIGHTS."""
    return {
        WORDS: 2 * (1 - meaning) * WEIGHTS[WORDS],
        MEANING: 2 * meaning * WEIGHTS[MEANING],
        TOGETHER: 4 * meaning * (1 - meaning) * WEIGHTS[TOGETHER],
    }


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


def standing_out(query: Floats, rows: Floats, background: Floats) -> Floats:
    """By how many standard deviations each row is nearer to the query than the rows of the corpus usually are.

    Query and rows are centred on the background's mean, which takes out what all its texts share (Mu, Viswanath 2018,
    "All-but-the-top", its first step), and normalised again.

    Args:
        query: shape (dim,).
        rows: shape (n, dim).
        background: shape (m, dim), m > 0: a sample of the searched corpus.

    Returns:
        Shape (n,).
    """
    centre = background.mean(axis=0)
    direction = _normalised(query[None, :] - centre)[0]
    usual = _normalised(background - centre) @ direction
    spread = float(usual.std()) or 1.0
    return np.asarray((_normalised(rows - centre) @ direction - usual.mean()) / spread)


def emphasised(deviations: Floats) -> Floats:
    """sign(z) · |z| ^ EMPHASIS, the same shape."""
    return np.asarray(np.sign(deviations) * np.abs(deviations) ** EMPHASIS)


def evidence(matches: Floats, deviations: Floats, meaning: float) -> Floats:
    """Words and meaning of each row on one scale, summed.

    Args:
        matches: shape (n,), BM25 as a share of the best row's, 0 to 1.
        deviations: shape (n,), of `standing_out`.
        meaning: the balance, 0 to 1.
    """
    return 2 * (1 - meaning) * BEST_MATCH * matches + 2 * meaning * emphasised(deviations)


def with_neighbours(own: Floats, before: Floats, after: Floats, characters: Floats) -> Floats:
    """Evidence of rows, each with a share of the turns' before and after it: an answer is found by its question.

    Args:
        own: shape (n,).
        before: shape (n,), evidence of the turn before, 0 where there is none.
        after: shape (n,), of the turn after.
        characters: shape (n,), length of each row's own text.
    """
    share = BESIDE * BESIDE_LENGTH / (BESIDE_LENGTH + characters)
    return np.asarray(own + share * (before + after))


def _normalised(matrix: Floats) -> Floats:
    length = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / np.where(length > 0, length, 1.0))
