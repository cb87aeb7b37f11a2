"""Train the estimate of `pastchats_memory/recall/answering.py`, and print its weights.

    python scripts/train_answering.py

It learns from the written histories in `benchmarks/endings`. For each question, each episode in the thread of the first hit is an
example; it answers the question if it holds one of the expected sentences. It also prints for how many questions the episode that
the weights of all other histories choose answers it, alone and as one of two, beside the one that matched and the last one.
"""

from __future__ import annotations

import csv
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # sums of several threads differ in their last digits

import numpy as np
from logistic_regression import Floats, fit

from pastchats_memory import Memory
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.episodes.load import load_episode
from pastchats_memory.episodes.threads import build_thread
from pastchats_memory.recall.answering import measure_answer
from pastchats_memory.recall.pipeline import CANDIDATES
from pastchats_memory.search.pipeline import search_with_terms
from pastchats_memory.search.request import Request
from pastchats_memory.store import turns
from pastchats_memory.store.database import Database, open_database

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import endings

PENALTY, STEPS = 1e-3, 20_000
HISTORIES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth",
             "thirteenth", "fourteenth")  # fmt: skip


class Question(NamedTuple):
    """The episodes of the thread that a question finds first."""

    history: str
    features: Floats
    """Of shape (episodes, features), the constant first."""
    answers: Floats
    """1 for each episode that holds an expected sentence."""
    matched: int
    """Place of the episode that matched."""

    @property
    def last(self) -> int:
        """The place of the last episode."""
        return len(self.answers) - 1


def ask(database: Database, history: str, question: str, expected: Sequence[str]) -> Question | None:
    """Return the episodes of the thread that a question finds first; None if no hit is a turn, or no episode answers it."""
    hits, terms = search_with_terms(database, PackagedEmbedder(), Request(question, limit=CANDIDATES))
    places = {int(hit.id): place for place, hit in enumerate(hits) if hit.task is None}
    if not places:
        return None
    (item,) = turns.items(database, [next(iter(places))])
    episode, ending = load_episode(database, item)
    thread = build_thread(database, episode, ending, hits, terms.weights)
    matched = next(place for place, one in enumerate(thread) if one.turns is episode)
    features = np.array([[1.0, *measure_answer(one, thread[matched], places)] for one in thread])
    texts = ["\n".join(turn.content for turn in one.turns if turn.role != "tool") for one in thread]
    answers = np.array([float(any(endings.is_held(sentence, text) for sentence in expected)) for text in texts])
    return Question(history, features, answers, matched) if answers.any() else None


def list_questions() -> Iterator[Question]:
    """Index each history, and yield its questions."""
    for history in HISTORIES:
        with tempfile.TemporaryDirectory() as scratch:
            database = Path(scratch) / "memory.db"
            with Memory.open(database) as memory:
                memory.index([endings.write_history(endings.HERE / f"{history}.txt", Path(scratch))])
            with (
                open_database(database) as opened,
                (endings.HERE / f"{history}.tsv").open(encoding="utf-8", newline="") as file,
            ):
                for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                    if found := ask(opened, history, row["question"], endings.split_expected(row["expected"])):
                        yield found


def train(questions: Sequence[Question]) -> Floats:
    """Return the constant and the weights."""
    answers = np.concatenate([one.answers for one in questions])
    other, answering = fit(
        np.concatenate([one.features for one in questions]), np.stack([1 - answers, answers], axis=1), PENALTY, STEPS
    )
    weights: Floats = answering - other
    return weights


def main() -> None:
    """Train, and print the weights and how often they are right."""
    questions = list(list_questions())
    chosen, pairs, matched, last = [], [], [], []
    for history in HISTORIES:
        weights = train([one for one in questions if one.history != history])
        for one in questions:
            if one.history == history:
                order = np.argsort(-(one.features @ weights))
                chosen.append(one.answers[order[0]])
                pairs.append(one.answers[order[:2]].any())
                matched.append(one.answers[one.matched])
                last.append(one.answers[one.last])
    counts = " ".join(f"{name} {int(sum(found))}," for name, found in (
        ("the chosen one answers", chosen), ("one of two", pairs), ("the one that matched", matched), ("the last one", last),
    ))  # fmt: skip
    print(f"{counts} of {len(questions)}")
    print(f"constant and weights: {', '.join(f'{one:.2f}' for one in train(questions))}")


if __name__ == "__main__":
    main()
