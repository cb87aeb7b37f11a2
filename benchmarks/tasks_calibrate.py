"""Fit the weights of task similarity on half of the labelled pairs, and measure them on the other half.

    PASTCHATS_SHARED=../shared python benchmarks/tasks_calibrate.py [--fit]

Labels: `tasks/pairs.tsv` (real task files, by file, id and hash alone) and
`tasks/paraphrases.tsv` (written for this purpose; a task, the same said otherwise, one that is near but another, a
description, texts that match the description alone, and one that is only mentioned in it).
A pair belongs to the half to tune on if the first bit of its hash is 0; a pair with a written description, by its task. Without `--fit` only the published weights are
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
from pastchats_memory.store.tasks import task_text
from pastchats_memory.tasks.similarity import (
    DESCRIBED_PROBABILITY,
    DESCRIBED_WEIGHTS,
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
    half: str = ""
    """What decides the half; the pair itself if empty."""

    @property
    def is_for_tuning(self) -> bool:
        """Return whether the pair belongs to the half for fitting."""
        return hashlib.sha256((self.half or f"{self.first}\0{self.second}").encode()).digest()[0] < 128


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
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def half_of(row: dict[str, str]) -> str:
    """Return what decides the half of all pairs with the row's description."""
    return f"{row['task']}\0{row['same_said_otherwise']}"


def written_pairs() -> Iterator[Pair]:
    rows = written()
    for number, row in enumerate(rows):
        yield Pair(row["task"], row["same_said_otherwise"], "duplicate", "titles")
        yield Pair(row["task"], row["near_but_another"], "related", "titles")
        yield Pair(row["task"], rows[(number + 7) % len(rows)]["same_said_otherwise"], "new", "titles")


def described_pairs() -> Iterator[Pair]:
    """Yield each written task with its description, also a long one, and texts that match the one, the other or both."""
    rows = written()
    for number, row in enumerate(rows):
        other = rows[(number + 7) % len(rows)]
        texts = (
            (row["same_said_otherwise"], "duplicate", "title of a described task"),
            (row["near_but_another"], "related", "title of a described task"),
            (other["same_said_otherwise"], "new", "title of a described task"),
            (row["same_by_description"], "duplicate", "description alone"),
            (row["description_said_otherwise"], "duplicate", "description alone"),
            (row["description"], "duplicate", "description alone"),
            (row["only_mentioned"], "new", "description alone"),
            (other["description_said_otherwise"], "new", "description alone"),
            (f"{row['same_said_otherwise']}: {row['same_by_description']}", "duplicate", "title and description"),
            (f"{row['task']}, {row['description_said_otherwise']}", "duplicate", "title and description"),
            (f"{row['near_but_another']}: {row['only_mentioned']}", "related", "title and description"),
            (f"{row['near_but_another']}: {other['same_by_description']}", "related", "title and description"),
        )
        for description in (row["description"], row["description"] + PADDING[number % len(PADDING)]):
            for text, label, source in texts:
                yield Pair(text, task_text(row["task"], description), label, source, half_of(row))


PADDING = (
    (
        "\n\nAcceptance criteria:\n- tests cover the change\n- the changelog has a line\n- the documentation is updated where "
        "users notice\n- no new warnings in the log\n\nNotes: discussed in the planning on Monday; ask the platform team if "
        "something is unclear. Estimated at three points."
    ),
    (
        "\n\nSteps:\n1. Reproduce it on staging with the seed data.\n2. Write a failing test.\n3. Fix it and ask two people for "
        "a review.\n\nOut of scope: a larger redesign, which has a ticket of its own. Please keep the public interface as it is."
    ),
    (
        "\n\n## Context\nThis came up in the last retrospective. It was estimated as medium, and the support team waits for it. "
        "There is no deadline, but it should be in the next minor release.\n\n## Done when\nThe behaviour is verified by QA on "
        "staging and in production."
    ),
)
"""What trackers' descriptions have besides the matter itself."""


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


def mistakable_pairs() -> Iterator[Pair]:
    """Yield each written text with the real tasks nearest to it, of which it is none.

    The third model is fitted on those of its half as well, since a memory has many tasks to be mistaken for.
    """
    real = [task.text for task in shared_tasks()]
    texts = {row[name]: half_of(row) for row in written() for name in QUESTIONS}
    embedder = PackagedEmbedder()
    rows, titles = (np.array(list(embedder.embed(of))) for of in (real, [text.partition("\n")[0] for text in real]))
    for (text, half), vector in zip(texts.items(), embedder.embed(list(texts)), strict=True):
        for place in np.argsort(-(rows @ vector) - 0.3 * (titles @ vector))[:MISTAKABLE]:
            yield Pair(text, real[place], "new", "mistakable", half)


QUESTIONS = (
    "same_said_otherwise",
    "near_but_another",
    "same_by_description",
    "description_said_otherwise",
    "only_mentioned",
)
MISTAKABLE = 12
"""Real tasks that are compared with each text."""


def fitted(rows: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Logistic regression by Newton's method with a small ridge; the last column is the constant."""
    weights = np.zeros(rows.shape[1])
    ridge = np.r_[np.full(rows.shape[1] - 1, RIDGE * len(rows)), 1e-6]
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (targets - p) - ridge * weights
        weights = weights + np.linalg.solve((rows.T * (p * (1 - p))) @ rows + np.diag(ridge), slope)
    return weights


def report(name: str, predicted: np.ndarray, pairs: list[Pair]) -> None:
    true = np.array([LABELS.index(pair.label) for pair in pairs])
    print(f"{name}: {len(pairs)} pairs, right {np.mean(predicted == true):.3f}")
    for k, label in enumerate(LABELS):
        hit = ((predicted == k) & (true == k)).sum()
        print(
            f"  {label:10} precision {hit / max(1, (predicted == k).sum()):.3f}  "
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
    pairs = [*real_pairs(), *written_pairs(), *described_pairs(), *mistakable_pairs()]
    found = measured(pairs)
    tuning = np.array([pair.is_for_tuning for pair in pairs])
    classes = np.array([LABELS.index(pair.label) for pair in pairs])
    is_old = np.array([pair.source in ("real", "titles") for pair in pairs])
    is_lone = np.array([row["lone"] > 0 for row in found])
    models = []
    for weights, among, target in (
        (RELATED_WEIGHTS, tuning & is_old, classes > 0),
        (DUPLICATE_WEIGHTS, tuning & is_old & (classes > 0), classes == LABELS.index("duplicate")),
        (DESCRIBED_WEIGHTS, tuning & is_lone, classes == LABELS.index("duplicate")),
    ):
        rows = np.array([[row[name] for name in weights] for row in found])
        chosen = np.array(list(weights.values()))
        if is_fitting:
            chosen = fitted(rows[among], target[among].astype(float))
            print(dict(zip(weights, chosen.round(2).tolist(), strict=True)))
        models.append(1 / (1 + np.exp(-rows @ chosen)))
    scores = np.array(
        [
            max(
                combine_probabilities(related, same),
                combine_probabilities(max(related, described), described, DESCRIBED_PROBABILITY) if lone else 0.0,
            )
            for related, same, described, lone in zip(*(model.tolist() for model in models), is_lone, strict=True)
        ]
    )
    predicted = (scores >= RELATED_SCORE).astype(int) + (scores >= DUPLICATE_SCORE)
    cosine = by_cosine(np.array([row["cosine"] for row in found]), classes, tuning & is_old)
    sources = np.array([pair.source for pair in pairs])
    for name, which in (("tuned on", tuning), ("not tuned on", ~tuning)):
        for among, part in (
            ("titles, and real tasks", is_old),
            *((one, sources == one) for one in sorted({*sources[~is_old]})),
        ):
            of = [pair for pair, is_in in zip(pairs, which & part, strict=True) if is_in]
            report(f"similarity, {among}, {name}", predicted[which & part], of)
            report(f"cosine alone, {among}, {name}", cosine[which & part], of)


if __name__ == "__main__":
    main()
