"""The two engines that propose nearest neighbours, and what each asks of the processor.

    python benchmarks/nearest.py [--turns N] [--rounds N]

`vec0` is one KNN statement, for several k; `exact` is the other engine's proposal, NumPy over eight-bit blocks; `score`
reads 200 vectors from JSON, which decides after either.
"""

from __future__ import annotations

import argparse

import corpus
import timing

from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.model import Filters
from pastchats_memory.store import vectors
from pastchats_memory.store.database import open_database

KNN = f"SELECT prompt_id, distance FROM {vectors.VEC0_TABLE} WHERE embedding MATCH ? AND k = ?"
KS = (10, 132, 232, 928)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    path = corpus.database(options.turns)
    print(timing.machine())
    query = PackagedEmbedder().embed_query("how did we fix the failing connection to the database")
    with open_database(path) as with_vec0, open_database(path, vec0=False) as without:
        ids = [id_ for id_, _ in with_vec0.run(KNN, (query.tobytes(), 200))]
        ways = {f"vec0, k = {k}": lambda k=k: with_vec0.run(KNN, (query.tobytes(), k)) for k in KS}
        ways |= {
            "exact, 200 nearest": lambda: vectors._by_blocks(without, query, 200, Filters(), set()),  # noqa: SLF001 - the engine alone
            "score of 200": lambda: vectors.score(with_vec0, query, ids),
        }
        timing.show(timing.interleaved(ways, options.rounds), against="vec0, k = 10")


if __name__ == "__main__":
    main()
