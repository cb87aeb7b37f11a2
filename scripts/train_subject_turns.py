"""Train the estimate of `pastchats_memory/episodes/subject_turn.py`, and print its weights.

    python scripts/train_subject_turns.py

It learns from the written histories in `benchmarks/endings`. A reader labelled each of their prompts in `subjects.tsv` before anything
was measured: `same` goes on with the prompt before it, the others turn to another subject. Each episode counts twice, the second
time with the first line of its last answer alone, since answers may be short. It also prints how often the weights of all other
histories are right about each one.
"""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # sums of several threads differ in their last digits

import numpy as np
from logistic_regression import Floats, estimate, fit

from pastchats_memory.episodes.next_message import turns_to_another_thing
from pastchats_memory.episodes.subject_turn import measure_turn
from pastchats_memory.episodes.threads import BEFORE, COMPARED, LIKELY

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import endings

SHORT = 100
"""Characters of a short answer."""
PENALTY, STEPS = 1e-3, 4000


class Example(NamedTuple):
    """An episode, and whether it turns to another subject."""

    history: str
    features: Sequence[float]
    turns: bool
    is_whole: bool


def read_labels() -> dict[tuple[str, int, int], str]:
    """Return the label of each prompt by history, number of the session, and number of the prompt."""
    with (endings.HERE / "subjects.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return {(row["history"], int(row["session"]), int(row["prompt"])): row["subject"] for row in rows}


def read_exchanges(steps: Sequence[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    """Return each prompt of a session with its answers."""
    prompts = [place for place, (tag, _) in enumerate(steps) if tag == ">"]
    return [
        (
            steps[place][1],
            [text for tag, text in takewhile(lambda step: step[0] != ">", steps[place + 1 :]) if tag == "<"],
        )
        for place in prompts
    ]


def shorten(answers: Sequence[str], *, is_whole: bool) -> list[str]:
    """Return the compared part of answers, or the first line of the last one."""
    return [one[:COMPARED] for one in answers] if is_whole else [one.partition("\n")[0][:SHORT] for one in answers[-1:]]


def make_examples() -> Iterator[Example]:
    """Yield all labelled prompts that follow another one; a prompt that says that it turns needs no estimate."""
    labels = read_labels()
    for history in dict.fromkeys(history for history, _, _ in labels):
        sessions = endings.read_steps(endings.HERE / f"{history}.txt")
        for number, steps in enumerate(sessions, start=1):
            exchanges = read_exchanges(steps)
            for is_whole in (True, False):
                parts = [(request, shorten(answers, is_whole=is_whole)) for request, answers in exchanges]
                texts = ["\n".join([request[:COMPARED], *answers]) for request, answers in parts]
                for place, (request, answers) in enumerate(parts):
                    label = labels.get((history, number, place + 1))
                    if place and label and not turns_to_another_thing(request):
                        known = "\n".join(texts[max(0, place - BEFORE) : place])
                        features = measure_turn(request, "\n".join(answers), known)
                        yield Example(history, features, label != "same", is_whole)


def train(examples: Sequence[Example]) -> Floats:
    """Return the weights of both kinds, `same` first; the first of each is the constant."""
    turns = np.array([one.turns for one in examples])
    return fit(_stack(examples), np.stack([~turns, turns], axis=1).astype(float), PENALTY, STEPS)


def _stack(examples: Sequence[Example]) -> Floats:
    return np.array([[1.0, *one.features] for one in examples])


def main() -> None:
    """Train, and print the weights and how often they are right."""
    examples = list(make_examples())
    unchanged, turned = [], []
    for history in dict.fromkeys(one.history for one in examples):
        weights = train([one for one in examples if one.history != history])
        unseen = [one for one in examples if one.history == history and one.is_whole]
        found = estimate(weights, _stack(unseen))[:, 1] >= LIKELY
        unchanged += [not turns for turns, one in zip(found, unseen, strict=True) if not one.turns]
        turned += [turns for turns, one in zip(found, unseen, strict=True) if one.turns]
    print(f"of {len(turned)} turns {sum(turned)} are found, of {len(unchanged)} others {sum(unchanged)} are kept")
    same, turns = train(examples)
    print(f"constant and weights: {', '.join(f'{one:.2f}' for one in turns - same)}")


if __name__ == "__main__":
    main()
