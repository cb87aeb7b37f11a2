"""Measure task memory: how tasks are told apart, and how often each verdict of `check-prior-work` is right.

    PASTCHATS_SHARED=../shared python benchmarks/tasks.py similarity [--fit]
    PASTCHATS_SHARED=../shared python benchmarks/tasks.py verdicts

Labels: `tasks/pairs.tsv` (real task files, by file, id and hash alone) and
`tasks/paraphrases.tsv` (written for this purpose; a task, the same said otherwise, one that is near but another, a
description, texts that match the description alone, and one that is only mentioned in it).

`similarity` measures the published weights, on the half of the pairs that they were fitted on and on the other; `--fit` fits new
ones. A pair belongs to the half to tune on if the first bit of its hash is 0; a pair with a written description, by its task.

`verdicts` stores the written tasks beside all real ones, each in a state by its place; then the same in other words is
asked. Those that are not stored are expected to be new. Each kind of question is measured for itself: titles alone; titles of tasks
with descriptions; and what matches the description, in its words or in others. Beside each task that is stored, a question that is
near but another is asked too: a verdict that rests on the task then counts against the precision. Only the half that no weight was
fitted on is counted.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pastchats_memory import Memory
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.tasks.beads import BEADS
from pastchats_memory.formats.tasks.issue_files import ISSUE_FILES
from pastchats_memory.formats.tasks.taskmaster import TASKMASTER
from pastchats_memory.model import Task
from pastchats_memory.store import vectors
from pastchats_memory.store.tasks import Filed, task_text
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

REPOSITORY = Path(__file__).parents[1]
FOLDERS = ("beads", "taskmaster", "backlog-md")
FOLDER = Path(__file__).parent / "tasks"
LABELS = ("new", "related", "duplicate")
RIDGE, STEPS = 0.0002, 100
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


@dataclass(frozen=True)
class Known:
    """A task of a real file."""

    file: str
    id: str
    text: str
    parent: str | None
    linked: frozenset[str]
    labels: frozenset[str]
    tags: tuple[str, ...]
    comments: tuple[str, ...]

    def root(self, by_id: Mapping[tuple[str, str], Known]) -> str:
        """Return the task at the top of those that contain this one."""
        seen, at = {self.id}, self
        while at.parent and at.parent not in seen and (self.file, at.parent) in by_id:
            seen.add(at.parent)
            at = by_id[self.file, at.parent]
        return at.id


def shared_tasks() -> list[Known]:
    """Every task of the real files; ends the program where there are none."""
    root = Path(os.environ.get("PASTCHATS_SHARED", REPOSITORY.parent / "shared")) / "transcripts"
    if not root.is_dir():
        sys.exit(f"no real task files at {root}; set PASTCHATS_SHARED")
    found = []
    for folder in FOLDERS:
        for path in sorted((root / folder).iterdir()):
            source = SourceFile(path)
            for reader in (BEADS, TASKMASTER, ISSUE_FILES):
                if reader.detect(source):
                    found += [
                        _known(f"{folder}/{path.name}", task) for task in reader.read(source) if isinstance(task, Task)
                    ]
                    break
    return list({(task.file, task.id): task for task in found}.values())


def _known(file: str, task: Task) -> Known:
    return Known(
        file=file,
        id=task.native_id,
        text=task_text(task.title, task.description),
        parent=next((link.target for link in task.links if link.kind == "parent"), None),
        linked=frozenset(link.target for link in task.links),
        labels=frozenset(tag for tag in task.tags if tag not in ("bug", "feature", "chore", "epic")),
        tags=task.tags,
        comments=tuple(comment.content for comment in task.comments),
    )


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


def measure_similarity(*, is_fitting: bool) -> None:
    """Measure the weights, or new ones, on both halves."""
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


def measure_kind(memory: Memory, kind: str, rows: list[dict[str, str]]) -> None:
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


def measure_verdicts() -> None:
    """Ask all kinds of questions and print how many verdicts are right."""
    rows = [row for row in written() if not Pair("", "", "", "", half_of(row)).is_for_tuning]
    with tempfile.TemporaryDirectory() as folder, Memory.open(Path(folder) / "m.db") as memory:
        fill(memory)
        for kind in KINDS:
            measure_kind(memory, kind, rows)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    kinds = parser.add_subparsers(required=True, metavar="KIND", dest="kind")
    kinds.add_parser("similarity").add_argument("--fit", action="store_true", help="fit new weights and print them")
    kinds.add_parser("verdicts")
    arguments = parser.parse_args()
    if arguments.kind == "similarity":
        measure_similarity(is_fitting=arguments.fit)
    else:
        measure_verdicts()


if __name__ == "__main__":
    main()
