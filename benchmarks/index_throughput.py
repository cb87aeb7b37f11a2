"""Measure turns a second of `Memory.index` beside the bare libraries.

    python benchmarks/index_throughput.py [--turns N] [--rounds N] [--threads N]

Every round writes the same synthetic sessions into a fresh database, and hands their distinct texts to tokenizers and
onnxruntime directly (`embed_throughput.bare`). The share is what indexing leaves of the machine's own speed. Below it:
what the main thread did in the meantime.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import cast

import corpus
import timing
from embed_throughput import bare

from pastchats_memory.embed import Vector
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.memory import Memory
from pastchats_memory.store import turns, vectors
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.store.vectors import blocks, vec0

Phases = dict[str, list[float]]


def indexing(sessions: Path, threads: int) -> Callable[[], None]:
    """Return a function that indexes a folder into a new database."""
    embedder = PackagedEmbedder(threads)
    embedder.load()

    def run() -> None:
        with tempfile.TemporaryDirectory() as folder, Memory(new_database(folder), embedder) as memory:
            memory.index([sessions])

    return run


def new_database(folder: str) -> Database:
    return open_database(Path(folder) / "memory.db", create=True)


def phases(sessions: Path, threads: int) -> dict[str, float]:
    """Seconds of the main thread by what it did in one run, in the order of first use."""
    took: dict[str, float] = defaultdict(float)
    under: list[str] = []

    def clocked(name: str, function: Callable[..., object]) -> Callable[..., object]:
        def timed(*arguments: object, **named: object) -> object:
            start = time.perf_counter()
            under.append(name)
            try:
                return function(*arguments, **named)
            finally:
                under.pop()
                spent = time.perf_counter() - start
                took[name] += spent
                if under:
                    took[under[-1]] -= spent

        return timed

    class Embedder(PackagedEmbedder):
        def embed(self, texts: Iterable[str]) -> Iterator[Vector]:
            stream = super().embed(texts)
            while (vector := cast("Vector | None", clocked("waiting for vectors", next)(stream, None))) is not None:
                yield vector

    places = (
        (vectors, "encode", "vectors to JSON"),
        (turns, "store", "rows, full text and JSON vectors"),
        (vec0, "update", "vec0"),
        (blocks, "update", "blocks of the exact engine"),
    )
    originals = [(place, attribute, getattr(place, attribute)) for place, attribute, _ in places]
    for place, attribute, name in places:
        setattr(place, attribute, clocked(name, getattr(place, attribute)))
    embedder = Embedder(threads)
    embedder.load()
    with tempfile.TemporaryDirectory() as folder, Memory(new_database(folder), embedder) as memory:
        clocked("everything else", memory.index)([sessions])
    for place, attribute, original in originals:
        setattr(place, attribute, original)
    return took


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--turns", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    print(timing.machine())
    texts = list(
        dict.fromkeys(utterance.text for session in corpus.conversations(options.turns) for utterance in session.turns)
    )
    with tempfile.TemporaryDirectory() as folder:
        sessions = Path(folder)
        corpus.write_sessions(sessions, options.turns)
        loop = bare(options.threads)
        ways = {"bare": lambda: loop(texts), "index": indexing(sessions, options.threads)}
        took = timing.interleaved(ways, options.rounds)
        seconds = {name: statistics.median(timing.walls(rounds)) for name, rounds in took.items()}
        shares = [first.wall / second.wall for first, second in zip(took["bare"], took["index"], strict=True)]
        print(f"{options.turns} turns, {len(texts)} distinct texts, {options.threads} threads")
        print(f"bare   {len(texts) / seconds['bare']:6.0f} texts/s")
        print(f"index  {options.turns / seconds['index']:6.0f} turns/s, {len(texts) / seconds['index']:.0f} texts/s")
        print(
            f"share  {statistics.median(shares):6.2f}  of rounds {' '.join(f'{share:.2f}' for share in sorted(shares))}"
        )
        spent = phases(sessions, options.threads)
        print(f"\nmain thread, of {sum(spent.values()):.1f} s")
        for name, value in spent.items():
            print(f"  {name:34}{100 * value / sum(spent.values()):5.1f} %")


if __name__ == "__main__":
    main()
