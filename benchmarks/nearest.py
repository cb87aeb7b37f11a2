"""The engines that name nearest neighbours, and what each asks of the processor.

    python benchmarks/nearest.py [--turns N] [--rounds N]

`vec0` is one KNN statement over all rows, for several k; `blocks` is what the exact engine proposes, NumPy over
eight-bit codes; `vec0 among` is the KNN over what it proposes; `score` reads 200 vectors, which decides after all of them;
`nearest` is the whole, with and without the extension.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

import corpus
import numpy as np
import timing

from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.model import Filters
from pastchats_memory.store import vectors
from pastchats_memory.store.database import open_database
from pastchats_memory.store.vectors import blocks, vec0

KNN = f"SELECT prompt_id, distance FROM {vec0.TABLE} WHERE embedding MATCH ? AND k = ?"
KS = (10, 132, 232, 928)
MOST = 100
"""Neighbours that a search asks for."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    path = corpus.database(options.turns)
    print(timing.machine())
    query = PackagedEmbedder().embed_query("how did we fix the failing connection to the database")
    direction, nothing = vectors.unit(query).astype(np.float32), np.empty(0, np.int64)
    with open_database(path) as with_vec0, open_database(path, vec0=False) as without:
        ids = [id_ for id_, _ in with_vec0.run(KNN, (query.tobytes(), 200))]
        proposed = blocks.propose(without, direction, MOST, nothing, None).tolist()
        print(f"{len(proposed)} proposed for the {MOST} nearest of {options.turns:,}")
        ways: dict[str, Callable[[], object]] = {
            "blocks": lambda: blocks.propose(without, direction, MOST, nothing, None),
            **{f"vec0, k = {k}": partial(with_vec0.run, KNN, (query.tobytes(), k)) for k in KS},
            "vec0 among the proposed": lambda: vec0.nearest(with_vec0, direction, MOST + vectors.MARGIN, proposed),
            "score of 200": lambda: vectors.score(with_vec0, query, ids),
            "nearest": lambda: vectors.nearest(with_vec0, query, MOST, Filters()),
            "nearest, no extension": lambda: vectors.nearest(without, query, MOST, Filters()),
            "nearest, one role": lambda: vectors.nearest(with_vec0, query, MOST, Filters(role="user")),
            "nearest, one project": lambda: vectors.nearest(with_vec0, query, MOST, Filters(project="project-3")),
        }
        timing.show(timing.interleaved(ways, options.rounds), against="blocks")


if __name__ == "__main__":
    main()
