"""All tasks compared with all others, without comparing every pair."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pastchats_memory.likeness import likeness
from pastchats_memory.model import Filters, StoredTask
from pastchats_memory.store import tasks as task_rows
from pastchats_memory.store import vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.tasks import task_text

LEAST_SCORE = 0.9
"""Score from which a pair is listed, unless another is asked for: higher than for one capture, since there are many pairs."""
LEAST_COSINE = 0.72
"""Of the titles: a pair below it reaches such a score only where the texts share no word, which is not what was written twice."""
CELLS = 3
"""Cells that a task is put into, the nearest first: pairs are looked for within cells."""
NEIGHBOURS = 10
"""Nearest tasks that a task is compared with in full."""
SEED = 7
MACHINE = "machine"
"""Tag of tasks that programs wrote for each other."""

Rows = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two tasks and how alike they are."""

    first: str
    """Key of the older one."""
    second: str
    score: float
    label: str


@dataclass(frozen=True, slots=True)
class Cluster:
    """Tasks that are one, as far as their pairs tell."""

    tasks: tuple[StoredTask, ...]
    pairs: tuple[Pair, ...]
    """The most alike first."""


def duplicates(database: Database, filters: Filters, least: float = LEAST_SCORE) -> list[Cluster]:
    """Clusters of tasks that pass and are alike, the most alike first. Raises StoreFault."""
    ids = task_rows.listed(database, filters, limit=-1)
    tasks = [task for task in task_rows.plain_tasks(database, sorted(ids)) if MACHINE not in task.tags]
    if len(tasks) < 2:  # noqa: PLR2004 - a pair
        return []
    texts = task_rows.text_ids(database, [task.id for task in tasks])
    stored = task_rows.title_vectors(database, list(texts.values()))
    whole = vectors.decode([stored[texts[task.id]][0] for task in tasks]).astype(np.float32)
    titles = vectors.decode([stored[texts[task.id]][1] for task in tasks]).astype(np.float32)
    pairs = {}
    for first, second in near_pairs(titles):
        one, other = tasks[first], tasks[second]
        found = likeness(
            float(whole[first] @ whole[second]),
            float(titles[first] @ titles[second]),
            task_text(one.title, one.description),
            task_text(other.title, other.description),
        )
        if found.score >= least:
            pairs[first, second] = Pair(one.key, other.key, found.score, found.label)
    return _clusters(tasks, pairs)


def near_pairs(rows: Rows) -> Iterator[tuple[int, int]]:
    """Places of rows whose cosine is LEAST_COSINE or more, each with its NEIGHBOURS nearest, as far as cells know them.

    The rows are put into about √n cells around centres drawn from themselves, each into the CELLS nearest ones, so that
    about n^1.5 cosines are computed instead of n² where cells are of like size (rows that are all equal share theirs). Two
    rows that are near share one of their cells nearly always.

    Args:
        rows: shape (n, dim), unit vectors.
    """
    count = len(rows)
    centres = rows[np.random.default_rng(SEED).choice(count, max(1, int(count**0.5)), replace=False)]
    few = min(CELLS, len(centres))
    cells: dict[int, list[int]] = defaultdict(list)
    for start in range(0, count, 4096):
        nearest = np.argpartition(-(rows[start : start + 4096] @ centres.T), few - 1, axis=1)[:, :few]
        for place, own in enumerate(nearest.tolist(), start=start):
            for cell in own:
                cells[cell].append(place)
    best: dict[int, dict[int, float]] = defaultdict(dict)
    for members in cells.values():
        places = np.array(members)
        for start in range(0, len(places), 1024):
            _add_nearest(rows, places[start : start + 1024], places, best)
    seen: set[tuple[int, int]] = set()
    for place, others in best.items():
        for other in sorted(others, key=lambda other: (-others[other], other))[:NEIGHBOURS]:
            pair = (min(place, other), max(place, other))
            if pair not in seen:
                seen.add(pair)
                yield pair


def _add_nearest(
    rows: Rows, some: NDArray[np.int64], places: NDArray[np.int64], best: dict[int, dict[int, float]]
) -> None:
    cosines = rows[some] @ rows[places].T
    cosines[some[:, None] == places[None, :]] = -1
    few = min(NEIGHBOURS, len(places))
    columns = np.argpartition(-cosines, few - 1, axis=1)[:, :few]
    values = np.take_along_axis(cosines, columns, axis=1)
    for row, column in zip(*np.nonzero(values >= LEAST_COSINE), strict=True):
        best[int(some[row])][int(places[columns[row, column]])] = float(values[row, column])


def _clusters(tasks: Sequence[StoredTask], pairs: dict[tuple[int, int], Pair]) -> list[Cluster]:
    """Connected tasks together (union-find), each cluster with its pairs."""
    above = list(range(len(tasks)))

    def top(place: int) -> int:
        while above[place] != place:
            above[place] = above[above[place]]
            place = above[place]
        return place

    for first, second in pairs:
        above[max(top(first), top(second))] = min(top(first), top(second))
    members: dict[int, set[int]] = defaultdict(set)
    tied: dict[int, list[Pair]] = defaultdict(list)
    for (first, second), pair in pairs.items():
        members[top(first)] |= {first, second}
        tied[top(first)].append(pair)
    found = [
        Cluster(
            tuple(tasks[place] for place in sorted(members[root])),
            tuple(sorted(tied[root], key=lambda pair: (-pair.score, pair.first, pair.second))),
        )
        for root in members
    ]
    return sorted(found, key=lambda cluster: (-cluster.pairs[0].score, cluster.pairs[0].first))
