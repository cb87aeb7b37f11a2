"""Fit the weights of task similarity on half of the labelled pairs, and measure them on the other half.

    PASTCHATS_SHARED=../shared python benchmarks/tasks_calibrate.py [--fit]

Labels: `tasks/pairs.tsv` (real task files, by file, id and hash alone) and
`tasks/paraphrases.tsv` (written for this purpose; a task, the same said otherwise, and one that is near but another).
A pair belongs to the half to tune on if the first bit of its hash is 0. Without `--fit` only the published weights are
measured.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tasks_files import shared_tasks

from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.tasks.similarity import (
    DUPLICATE_SCORE,
    DUPLICATE_WEIGHTS,
    RELATED_SCORE,
    RELATED_WEIGHTS,
    combine_probabilities,
    compute_features,
)

FOLDER = Path(__file__).parent / "tasks"
LABELS = ("new", "related", "duplicate")
RIDGE, STEPS = 0.0002, 100


@dataclass(frozen=True)
class Pair:
    """Two texts of tasks and what they are to each other."""

    first: str
    second: str
    label: str
    source: str

    @property
    def is_for_tuning(self) -> bool:
        """Whether it belongs to the half that weights may be fitted on."""
        return hashlib.sha256(f"{self.first}\0{self.second}".encode()).digest()[0] < 128


def real_pairs() -> Iterator[Pair]:
    texts = {(task.file, task.id): task.text for task in shared_tasks()}
    with (FOLDER / "pairs.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            first, second = texts[row["file"], row["id"]], texts[row["other_file"], row["other_id"]]
            if not hashlib.sha256(f"{first}\0{second}".encode()).hexdigest().startswith(row["hash"]):
                sys.exit(f"{row['file']} has changed: draw the pairs again")
            yield Pair(first, second, row["label"], "real")


def written() -> list[dict[str, str]]:
    with (FOLDER / "paraphrases.tsv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def written_pairs() -> Iterator[Pair]:
    rows = written()
    for number, row in enumerate(rows):
        yield Pair(row["task"], row["same_said_otherwise"], "duplicate", "written")
        yield Pair(row["task"], row["near_but_another"], "related", "written")
        yield Pair(row["task"], rows[(number + 7) % len(rows)]["same_said_otherwise"], "new", "written")


def measured(pairs: list[Pair]) -> list[dict[str, float]]:
    titles = {text: text.partition("\n")[0] for pair in pairs for text in (pair.first, pair.second)}
    texts = sorted({*titles, *titles.values()})
    vectors = dict(zip(texts, PackagedEmbedder().embed(texts), strict=True))
    return [
        compute_features(
            float(vectors[p.first] @ vectors[p.second]),
            float(vectors[titles[p.first]] @ vectors[titles[p.second]]),
            p.first,
            p.second,
        )
        for p in pairs
    ]


def fitted(rows: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Logistic regression by Newton's method with a small ridge; the last column is the constant."""
    weights = np.zeros(rows.shape[1])
    ridge = np.r_[np.full(rows.shape[1] - 1, RIDGE * len(rows)), 1e-6]
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (targets - p) - ridge * weights
        weights = weights + np.linalg.solve((rows.T * (p * (1 - p))) @ rows + np.diag(ridge), slope)
    return weights


def report(name: str, said: np.ndarray, pairs: list[Pair]) -> None:
    true = np.array([LABELS.index(pair.label) for pair in pairs])
    print(f"{name}: {len(pairs)} pairs, right {np.mean(said == true):.3f}")
    for k, label in enumerate(LABELS):
        hit = ((said == k) & (true == k)).sum()
        print(
            f"  {label:10} precision {hit / max(1, (said == k).sum()):.3f}  "
            f"recall {hit / max(1, (true == k).sum()):.3f}  n {(true == k).sum()}"
        )


def by_cosine(cosines: np.ndarray, classes: np.ndarray, tuning: np.ndarray) -> np.ndarray:
    """Classify by the two cosine thresholds that are right most often in tuning."""
    grid = np.arange(0.1, 0.95, 0.01)
    best = max(
        ((low, high) for low in grid for high in grid if low < high),
        key=lambda at: np.mean((cosines[tuning] >= at[0]).astype(int) + (cosines[tuning] >= at[1]) == classes[tuning]),
    )
    return (cosines >= best[0]).astype(int) + (cosines >= best[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fit", action="store_true", help="fit new weights and print them")
    is_fitting = parser.parse_args().fit
    pairs = [*real_pairs(), *written_pairs()]
    found = measured(pairs)
    tuning = np.array([pair.is_for_tuning for pair in pairs])
    classes = np.array([LABELS.index(pair.label) for pair in pairs])
    models = []
    for weights, among, target in (
        (RELATED_WEIGHTS, tuning, classes > 0),
        (DUPLICATE_WEIGHTS, tuning & (classes > 0), classes == LABELS.index("duplicate")),
    ):
        rows = np.array([[row[name] for name in weights] for row in found])
        chosen = np.array(list(weights.values()))
        if is_fitting:
            chosen = fitted(rows[among], target[among].astype(float))
            print(dict(zip(weights, chosen.round(2).tolist(), strict=True)))
        models.append(1 / (1 + np.exp(-rows @ chosen)))
    related, same = models
    scores = np.array([combine_probabilities(float(a), float(b)) for a, b in zip(related, same, strict=True)])
    said = (scores >= RELATED_SCORE).astype(int) + (scores >= DUPLICATE_SCORE)
    cosine = by_cosine(np.array([row["cosine"] for row in found]), classes, tuning)
    for name, which in (("tuned on", tuning), ("not tuned on", ~tuning)):
        of = [pair for pair, is_in in zip(pairs, which, strict=True) if is_in]
        report(f"similarity, {name}", said[which], of)
        report(f"cosine alone, {name}", cosine[which], of)


if __name__ == "__main__":
    main()
