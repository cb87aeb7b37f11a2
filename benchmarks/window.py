"""Compare windows of the packaged model: how well search finds what people judged relevant, and what a text costs.

    PASTCHATS_BENCH=<folder of sets> python benchmarks/window.py [SET_FOLDER ...] [--databases DIR]

A window is given by the tokens that it takes from the start and from the end of a longer text. For each set and level the
nDCG@10 of hybrid search is printed, as its difference to the first window, with the 95 % interval of a paired bootstrap.
Decision 0045 quotes the result.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from judged import METRICS, Set, parse_arguments
from quality import Plain, Scores, instead, interval, searched

from pastchats_memory import Memory
from pastchats_memory.embed import packaged
from pastchats_memory.embed.packaged import FAMILY, PackagedEmbedder
from pastchats_memory.search import hits

WINDOWS = ((190, 64), (126, 64), (142, 48), (94, 64), (118, 40), (126, 32), (62, 64), (94, 32))
"""Tokens from the start and from the end."""
NDCG = METRICS.index("nDCG@10")


@contextmanager
def window_of(first: int, last: int) -> Iterator[None]:
    """Let the packaged model see so many tokens of a text."""
    version = f"{FAMILY}{first}-{last}"
    with instead(packaged, WINDOW=first + last, WINDOW_TAIL=last), instead(PackagedEmbedder, version=version):
        yield


def measure(of: Set, databases: Path) -> tuple[Scores, float]:
    """Score hybrid search with the present window, and return the milliseconds of the processor that a row took."""
    databases.mkdir(exist_ok=True)
    start = time.process_time()
    path = of.indexed(databases)
    spent = time.process_time() - start
    units = Plain(path).units()
    scores = Scores(of, units)
    with Memory.open(path) as memory, instead(hits, excerpt=lambda text, *_: text):
        scores.add("hybrid", searched(memory, "hybrid"))
    return scores, 1000 * spent / len(units)


def main() -> None:
    """Measure and print."""
    with parse_arguments(__doc__ or "") as (found, folder, _):
        for one in found:
            usual: Scores | None = None
            for first, last in WINDOWS:
                with window_of(first, last):
                    scores, milliseconds = measure(one, folder / f"{first}-{last}")
                usual = usual or scores
                for level, rows in scores.rows.items():
                    gains = rows["hybrid"][:, NDCG]
                    differences = gains - usual.rows[level]["hybrid"][:, NDCG]
                    low, high = interval(differences)
                    print(
                        f"{one.name} {level}, {first} and {last} tokens: nDCG@10 {gains.mean():.4f}, "
                        f"{differences.mean():+.4f} [{low:+.4f}, {high:+.4f}], {milliseconds:.1f} ms a row",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
