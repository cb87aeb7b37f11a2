"""Could recall tell an answer from its nearest relation, if it looked at more than cosine and words?

    PASTCHATS_BENCH=<folder of sets> python benchmarks/recall_features.py [SET_FOLDER ...] [--databases DIR]

Each judged question is asked of its own haystack, and of what is left of it without every conversation that holds anything
relevant (`recall_floor.py` calls the two *present* and *removed*). Shown is by feature how often the first is above the
second (area under the curve) and which share of *present* is above the floor that 5 % of *removed* reach. Then a logistic
regression over all features is fitted on three sets and applied to the fourth, with its own floor of 5 % and with that of
the three. The size of the memory is no feature: a haystack without the answer is smaller, which no real memory tells.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from judged import Bools, Floats, Rows, Set, asked_for, logistic, until
from recall_floor import FEWEST_ROWS, embedded

from pastchats_memory.model import Filters
from pastchats_memory.store import fulltext, vectors
from pastchats_memory.text.words import FUNCTION_WORDS, words

INJECTED = 0.05
TOP = 10
PENALTY = 1.0
"""Of the squares of the weights, so that features that say the same share one."""
FEATURES = (
    "cosine",
    "cosine, first minus second",
    "cosine, first minus tenth",
    "deviations",
    "deviations beyond chance",
    "deviations, five best",
    "share of words, best row",
    "share of words, nearest row",
    "share of words, ten nearest",
    "share of words, first minus fifth",
    "words known at all",
    "two rarest words known",
    "BM25, best row",
    "cosine of the best by words",
    "agreement of the two lists",
    "words of the question",
)


class Asked(Rows):
    """All rows of a set's database with what the features are made of."""

    def features(self, question: str, among: Bools) -> list[float]:
        """FEATURES of a question asked of these rows."""
        searched = np.flatnonzero(among)
        rows = self.unit_vectors[searched]
        asked = vectors.unit(embedded(question))
        cosines = rows @ asked
        centre = rows.mean(axis=0)
        usual = (rows - centre) @ (asked - centre)
        usual /= np.linalg.norm(rows - centre, axis=1) * np.linalg.norm(asked - centre)
        deviations = np.sort((usual - usual.mean()) / usual.std())[::-1]
        share, strength, weights = self._words(question, among)
        near, first = np.argsort(-cosines)[:TOP], np.sort(cosines)[::-1]
        by_words, most = np.argsort(-strength)[:TOP], np.sort(share)[::-1]
        rarest = [is_known for _, is_known in sorted(weights, reverse=True)[:2]]
        total = sum(weight for weight, _ in weights) or 1.0
        return [
            first[0],
            first[0] - first[1],
            first[0] - first[TOP - 1],
            deviations[0],
            deviations[0] / math.sqrt(2 * math.log(len(searched))),
            deviations[:5].mean(),
            share.max(),
            share[near[0]],
            share[near].max(),
            most[0] - most[4],
            sum(weight for weight, is_known in weights if is_known) / total,
            float(np.mean(rarest)) if rarest else 0.0,
            strength.max() / total,
            cosines[by_words[0]],
            len(set(near.tolist()) & set(by_words.tolist())) / TOP,
            math.log1p(len(weights)),
        ]

    def _words(self, question: str, among: Bools) -> tuple[Floats, Floats, list[tuple[float, bool]]]:
        """By row the share of the question's weight and its BM25; by word its weight among these rows and whether it is there."""
        share, strength, weights = np.zeros(len(self.ids)), np.zeros(len(self.ids)), []
        asked = [word for word in words(question) if word not in FUNCTION_WORDS]
        for found in fulltext.postings(self.database, asked, Filters()).values():
            at = np.searchsorted(self.ids, found.ids)
            inside = among[at]
            there, n = int(inside.sum()), int(among.sum())
            weight = math.log(1 + (n - there + 0.5) / (there + 0.5))
            share[at[inside]] += weight
            strength[at[inside]] += found.at(found.ids, fulltext.sizes(self.database, found.ids))[inside]
            weights.append((weight, there > 0))
        return share[among] / (sum(weight for weight, _ in weights) or 1.0), strength[among], weights


def asked_twice(of: Set, databases: Path) -> tuple[Floats, Floats]:
    """Features, shape (questions × 2, FEATURES), and 1 for present, 0 for removed."""
    memory = Asked(of.indexed(databases))
    rows: list[list[float]] = []
    for asked, relevant in memory.judged(of):
        among = memory.of(asked["haystack"], until(asked))
        left = among & ~np.isin(memory.conversations, memory.conversations[among & relevant])
        if left.sum() >= FEWEST_ROWS and (among & relevant).any():
            rows += [memory.features(asked["text"], among), memory.features(asked["text"], left)]
    return np.array(rows), np.tile([1.0, 0.0], len(rows) // 2)


def above(scores: Floats, present: Floats) -> float:
    """How often a present one is above a removed one: the area under the curve (Mann–Whitney)."""
    ranks = np.argsort(np.argsort(scores)) + 1
    ones = present.sum()
    return float((ranks[present == 1].sum() - ones * (ones + 1) / 2) / (ones * (len(present) - ones)))


def spoken(scores: Floats, present: Floats, floor: float | None = None) -> tuple[float, float]:
    """Share of present and of removed above a floor, by default the one that INJECTED of removed reach."""
    least = np.quantile(scores[present == 0], 1 - INJECTED) if floor is None else floor
    return float((scores[present == 1] > least).mean()), float((scores[present == 0] > least).mean())


def show_left_out(data: Mapping[str, tuple[Floats, Floats]]) -> None:
    """A regression over three sets on the fourth."""
    print(
        "\n| left out | area | present at 5 % of removed | at the others' floor: present | removed |\n|---|--:|--:|--:|--:|"
    )
    for left_out, (rows, present) in data.items():
        others = [pair for name, pair in data.items() if name != left_out]
        known = np.concatenate([pair[0] for pair in others])
        truth = np.concatenate([pair[1] for pair in others])
        weight = np.concatenate([np.full(len(pair[1]), 300 / len(pair[1])) for pair in others])
        mean, spread = known.mean(axis=0), known.std(axis=0) + 1e-9
        at = logistic((known - mean) / spread, truth, weight, PENALTY)
        scores, before = (at[0] + (x - mean) / spread @ at[1:] for x in (rows, known))
        own, there = spoken(scores, present), spoken(scores, present, np.quantile(before[truth == 0], 1 - INJECTED))
        print(
            f"| {left_out} | {above(scores, present):.2f} | {own[0]:.2f} | {there[0]:.2f} | {there[1]:.2f} |",
            flush=True,
        )


def show(data: Mapping[str, tuple[Floats, Floats]]) -> None:
    """Each feature by itself: area, and present at 5 % of removed."""
    print(f"\n| feature | {' | '.join(data)} |\n|---|{'--:|' * len(data)}")
    for column, feature in enumerate(FEATURES):
        cells = [
            f"{above(rows[:, column], present):.2f} / {spoken(rows[:, column], present)[0]:.2f}"
            for rows, present in data.values()
        ]
        print(f"| {feature} | {' | '.join(cells)} |")


def measured(found: Sequence[Set], databases: Path) -> None:
    """Print both tables."""
    data = {one.name: asked_twice(one, databases) for one in found}
    if data:
        show(data)
    if len(data) > 1:
        show_left_out(data)


def main() -> None:
    """Measure and print."""
    with asked_for(__doc__ or "") as (found, folder, _):
        measured(found, folder)


if __name__ == "__main__":
    main()
