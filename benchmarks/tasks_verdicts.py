"""Measure how often each verdict of `check-prior-work` is right.

The written tasks (`tasks/paraphrases.tsv`) are stored beside all real ones, each in a state by its place; then the same in
other words is asked. Those that are not stored are expected to be new. Each kind of question is measured for itself: titles
alone; titles of tasks with descriptions; and what matches the description, in its words or in others. Beside each task that
is stored, a question that is near but another is asked too: a verdict that rests on the task then counts against the
precision. Only the half that no weight was fitted on is counted.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

from tasks_calibrate import Pair, half_of, written
from tasks_files import shared_tasks

from pastchats_memory import Memory
from pastchats_memory.model import Task
from pastchats_memory.store import vectors
from pastchats_memory.store.tasks import Filed

STATES = (
    ("done", "done"),
    ("doing", "in_progress"),
    ("abandoned", "failed_before"),
    ("superseded", "superseded"),
    ("", "new"),
)
KINDS = {
    "titles alone": ("", "same_said_otherwise", "near_but_another"),
    "titles of described tasks": ("description", "same_said_otherwise", "near_but_another"),
    "words of the description": ("description", "same_by_description", "only_mentioned"),
    "the description in other words": ("description", "description_said_otherwise", "only_mentioned"),
}
"""The columns of the description, empty for none, of the question, and of a question that is near but another."""


def fill(memory: Memory) -> None:
    """Store the real tasks as `index` does."""
    tasks = []
    for number, known in enumerate(shared_tasks()):
        title, _, description = known.text.partition("\n")
        tasks.append(
            Filed(
                Task(f"r{number}", title, scope="r", description=description.strip(), status_raw="open"), "real", "/r"
            )
        )
    store(memory, tasks)


def store(memory: Memory, tasks: list[Filed]) -> None:
    ready = memory.tasks.embed_tasks([one.task for one in tasks])
    database = memory.tasks._database  # noqa: SLF001 - a batch in one transaction, which `TaskMemory` does not offer
    with database.transaction():
        writer = memory.tasks.open_writer(ready)
        for one in tasks:
            writer.store(one)
        vectors.catch_up(database)


def measure(memory: Memory, kind: str, rows: list[dict[str, str]]) -> None:
    column, question, near = KINDS[kind]
    right: Counter[str] = Counter()
    predicted: Counter[str] = Counter()
    true: Counter[str] = Counter()
    for number, row in enumerate(rows * len(STATES)):
        raw, verdict = STATES[(number + number // len(rows)) % len(STATES)]
        if raw:
            task = Task("w", row["task"], scope="w", description=row.get(column, ""), status_raw=raw)
            store(memory, [Filed(task, "w", "/w")])
        answer = memory.check_prior_work(row[question]).verdict
        true[verdict] += 1
        predicted[answer] += 1
        right[verdict] += answer == verdict
        if raw:
            other = memory.check_prior_work(row[near])
            predicted[verdict] += other.verdict == verdict and bool(other.results) and other.results[0].task.key == "w"
            memory.tasks.delete("w")
    for verdict in true:
        precision, recall = right[verdict] / max(1, predicted[verdict]), right[verdict] / true[verdict]
        print(f"{kind:31} {verdict:14} precision {precision:.2f}  recall {recall:.2f}  n {true[verdict]}")


def main() -> None:
    rows = [row for row in written() if not Pair("", "", "", "", half_of(row)).is_for_tuning]
    with tempfile.TemporaryDirectory() as folder, Memory.open(Path(folder) / "m.db") as memory:
        fill(memory)
        for kind in KINDS:
            measure(memory, kind, rows)


if __name__ == "__main__":
    main()
