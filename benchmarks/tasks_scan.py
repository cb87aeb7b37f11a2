"""How long `duplicates --scan` takes, and how much of the exact all-pairs result it finds.

    PASTCHATS_SHARED=../shared python benchmarks/tasks_scan.py [ROWS]

Tasks are real ones (title and vector) and copies of them with one word left out and their vectors turned a little, so
that there are near pairs of every degree. Exact: every pair whose titles' cosine reaches MIN_TITLE_COSINE, on 5,000 tasks.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from tasks_files import shared_tasks

from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.model import TYPES, Filters, Task
from pastchats_memory.store import vectors
from pastchats_memory.store.database import open_database
from pastchats_memory.store.sources import set_meta
from pastchats_memory.store.tasks import Filed, TaskWriter
from pastchats_memory.tasks.similarity import (
    MIN_PAIR_SCORE,
    MIN_TITLE_COSINE,
    find_duplicate_clusters,
    score_similarity,
)

FEW = 5_000


def corpus(rows: int) -> tuple[list[str], np.ndarray]:
    """Titles, each another one, and their unit vectors of shape (rows, dim)."""
    draw, noise = random.Random(7), np.random.default_rng(7)  # noqa: S311 - a sample that anybody can draw again
    real = sorted({task.text.partition("\n")[0] for task in shared_tasks() if "machine" not in task.tags})
    known = np.array(list(PackagedEmbedder().embed(real)))
    titles, places = list(real), list(range(len(real)))
    while len(titles) < rows:
        place = draw.randrange(len(real))
        words = real[place].split()
        words.insert(
            draw.randrange(len(words) + 1), f"part{len(titles)}" if draw.random() < 0.5 else draw.choice(words)
        )
        titles.append(" ".join(words))
        places.append(place)
    turned = known[places[:rows]]
    turned[len(real) :] += noise.normal(scale=0.03, size=turned[len(real) :].shape)
    return titles[:rows], turned / np.linalg.norm(turned, axis=1, keepdims=True)


def exact(titles: list[str], rows: np.ndarray) -> set[tuple[int, int]]:
    """Every pair of places that reaches MIN_PAIR_SCORE."""
    found = set()
    for start in range(0, len(rows), 500):
        cosines = rows[start : start + 500] @ rows.T
        for row, column in zip(*np.nonzero(cosines >= MIN_TITLE_COSINE), strict=True):
            one, other = start + int(row), int(column)
            cosine = float(cosines[row, column])
            if one < other and score_similarity(cosine, cosine, titles[one], titles[other]).score >= MIN_PAIR_SCORE:
                found.add((one, other))
    return found


def scanned(titles: list[str], rows: np.ndarray, folder: Path) -> tuple[set[tuple[int, int]], float, float]:
    """The pairs that a scan of a database with these tasks finds, its seconds, and those that the processors gave it."""
    encoded = {title: vectors.encode(row) for title, row in zip(titles, rows, strict=True)}
    with open_database(folder / f"{len(titles)}.db", create=True) as database:
        with database.transaction():
            set_meta(database, {"embedding_dim": str(rows.shape[1]), "model_name": "measured", "model_version": "1"})
            writer = TaskWriter(database, "measured", lambda texts: [encoded[text] for text in texts])
            for number, title in enumerate(titles):
                writer.put(Filed(Task(str(number), title, scope="s"), "p", "/s.jsonl", key=str(number)))
        start, given = time.perf_counter(), time.process_time()
        clusters = find_duplicate_clusters(database, Filters(kinds=TYPES))
        seconds, given = time.perf_counter() - start, time.process_time() - given
    return (
        {
            tuple(sorted((int(pair.first), int(pair.second))))
            for cluster in clusters
            for pair in cluster.pairs  # type: ignore[misc] # two of them
        },
        seconds,
        given,
    )


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    titles, matrix = corpus(rows)
    with tempfile.TemporaryDirectory() as folder:
        few, seconds, _ = scanned(titles[:FEW], matrix[:FEW], Path(folder))
        start = time.perf_counter()
        every = exact(titles[:FEW], matrix[:FEW])
        print(f"{FEW} tasks: {len(every)} pairs, {len(few & every) / len(every):.3f} of them found; "
              f"{seconds:.1f} s against {time.perf_counter() - start:.1f} s for all pairs")  # fmt: skip
        found, seconds, given = scanned(titles, matrix, Path(folder))
        print(f"{rows} tasks: {len(found)} pairs in {seconds:.1f} s, {given:.1f} s of the processors")


if __name__ == "__main__":
    main()
