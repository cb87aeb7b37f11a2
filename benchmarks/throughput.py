"""Measure texts a second of the packaged model, or turns a second of `Memory.index`, beside the bare libraries.

    python benchmarks/throughput.py embed [--rounds N] [--threads N]
    python benchmarks/throughput.py index [--turns N] [--rounds N] [--threads N]

The bare loop hands each text to tokenizers and onnxruntime directly, as many threads as the embedder has, each with an
equal share of the texts, and cuts the same windows beforehand: what it reaches is the machine's own speed. Rounds of
the two are interleaved; medians are printed.

`embed` makes texts of words from a fixed list, so they are the same everywhere. In each round, `index` writes the same synthetic sessions
into a fresh database, and hands their distinct texts to the bare loop. The share is what indexing leaves of the machine's own speed.
Below it: what the main thread did in the meantime.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import corpus
import numpy as np
import timing

from pastchats_memory.embed import Vector
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.embed.tokenizer import FOLDER
from pastchats_memory.memory import Memory
from pastchats_memory.store import turns as turn_rows
from pastchats_memory.store import vectors
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.store.vectors import blocks, vec0

WORDS = """the we to retry webhook after error when database index commit failed test with python function returns none
list of tokens window query search memory session user asked deploy server timeout because config branch merge release""".split()  # noqa: SIM905 - as a list it would fill a page


def bare(threads: int) -> Callable[[list[str]], int]:
    """Return a loop over texts that uses onnxruntime and tokenizers only.

    It cuts each text at one window.
    """
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
    tokenizer.enable_truncation(256)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(FOLDER / "model.onnx"), options, providers=["CPUExecutionProvider"])

    def loop(texts: list[str]) -> int:
        for text in texts:
            session.run(None, {"ids": np.array([tokenizer.encode(text).ids], np.int64)})
        return len(texts)

    def everything(texts: list[str]) -> int:
        with ThreadPoolExecutor(threads) as pool:
            return sum(pool.map(loop, [texts[n::threads] for n in range(threads)]))

    return everything


def measure_embedding(threads: int, rounds: int) -> None:
    """Measure texts of several lengths and print a line for each."""
    embedder = PackagedEmbedder(threads)
    ways: dict[str, Callable[[list[str]], int]] = {
        "bare": bare(threads),
        "ours": lambda texts: len(list(embedder.embed(texts))),
    }
    maker = random.Random(1)  # noqa: S311 - the same texts everywhere
    for kind, words, count in (("short", 18, 300), ("one window", 250, 60)):
        texts = [" ".join(maker.choices(WORDS, k=words)) for _ in range(count)]
        rates: dict[str, list[float]] = {name: [] for name in ways}
        for turn in range(rounds + 1):
            for name, way in ways.items():
                start = time.perf_counter()
                way(texts)
                if turn:  # the first round warms up
                    rates[name].append(count / (time.perf_counter() - start))
        medians = {name: statistics.median(values) for name, values in rates.items()}
        shown = "  ".join(f"{name} {value:6.1f} texts/s" for name, value in medians.items())
        print(f"{kind:12} {shown}  share {medians['ours'] / medians['bare']:.2f}")


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
        (turn_rows, "store", "rows, full text and JSON vectors"),
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


def measure_indexing(threads: int, rounds: int, turns: int) -> None:
    """Measure whole runs beside the bare loop, and print what the main thread did."""
    texts = list(
        dict.fromkeys(utterance.text for session in corpus.conversations(turns) for utterance in session.turns)
    )
    with tempfile.TemporaryDirectory() as folder:
        sessions = Path(folder)
        corpus.write_sessions(sessions, turns)
        loop = bare(threads)
        ways = {"bare": lambda: loop(texts), "index": indexing(sessions, threads)}
        took = timing.interleaved(ways, rounds)
        seconds = {name: statistics.median(timing.walls(rounds)) for name, rounds in took.items()}
        shares = [first.wall / second.wall for first, second in zip(took["bare"], took["index"], strict=True)]
        print(f"{turns} turns, {len(texts)} distinct texts, {threads} threads")
        print(f"bare   {len(texts) / seconds['bare']:6.0f} texts/s")
        print(f"index  {turns / seconds['index']:6.0f} turns/s, {len(texts) / seconds['index']:.0f} texts/s")
        print(
            f"share  {statistics.median(shares):6.2f}  of rounds {' '.join(f'{share:.2f}' for share in sorted(shares))}"
        )
        spent = phases(sessions, threads)
        print(f"\nmain thread, of {sum(spent.values()):.1f} s")
        for name, value in spent.items():
            print(f"  {name:34}{100 * value / sum(spent.values()):5.1f} %")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("measured", choices=("embed", "index"))
    parser.add_argument("--turns", type=int, default=1000)
    parser.add_argument("--rounds", type=int, help="[default: 11 of embed, 5 of index]")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    print(timing.machine())
    if options.measured == "embed":
        measure_embedding(options.threads, options.rounds or 11)
    else:
        measure_indexing(options.threads, options.rounds or 5, options.turns)


if __name__ == "__main__":
    main()
