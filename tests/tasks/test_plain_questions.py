"""Plain questions about a board of tasks and the demo history: the share that is answered with what was labelled.

`plain_questions.tsv` labels each question. Keys are all tasks of the answer, and none if nothing fits; `first KEY` is the
first of them, `-KEY` one that is not among them, and `turns WORDS` are words of a conversation in the answer. A bar
separates answers that are equally right.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from program import DEMO

from pastchats_memory import Memory
from pastchats_memory.tasks.ask import TaskAnswer

HERE = Path(__file__).parent
TODAY = date(2026, 4, 22)
MOST_MISSES = 4
"""Of each 60 questions."""
with (HERE / "plain_questions.tsv").open(encoding="utf-8") as file:
    QUESTIONS = [(row["question"], row["answer"]) for row in csv.DictReader(file, delimiter="\t")]
SETS = [QUESTIONS[start : start + 60] for start in range(0, len(QUESTIONS), 60)]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder = tmp_path_factory.mktemp("board")
    for board in sorted((HERE / "board").iterdir()):
        tracker = folder / board.stem / ".beads" / "issues.jsonl"
        tracker.parent.mkdir(parents=True)
        tracker.write_bytes(board.read_bytes())
    with Memory.open(folder / "m.db") as opened:
        opened.index([*(path for path in folder.iterdir() if path.is_dir()), DEMO / "history"])
        opened.index([DEMO / "exports"], project="chatgpt")
        yield opened


def fits(answer: TaskAnswer, label: str) -> bool:
    """Check whether an answer is the labelled one."""
    keys = [task.key for task in answer.tasks]
    if label.startswith("turns "):
        words = label.removeprefix("turns ").casefold()
        return any(words in hit.content.casefold() for hit in answer.hits)
    if label.startswith("first "):
        return keys[:1] == [label.removeprefix("first ")]
    if label.startswith("-"):
        return bool(keys) and {key.removeprefix("-") for key in label.split()}.isdisjoint(keys)
    return set(keys) == set(label.split())


@pytest.mark.parametrize("questions", SETS, ids=range(1, len(SETS) + 1))
def test_plain_questions_get_their_answers(memory: Memory, questions: list[tuple[str, str]]) -> None:
    assert len(questions) == 60
    misses = [
        question
        for question, labels in questions
        if not any(fits(memory.ask(question, TODAY), label) for label in labels.split("|"))
    ]
    assert len(misses) <= MOST_MISSES, misses
