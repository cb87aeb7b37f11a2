"""Measure texts a second of the packaged embedder beside the bare libraries.

    python benchmarks/embed_throughput.py [--rounds N] [--threads N]

The bare loop hands each text to tokenizers and onnxruntime directly, as many threads as the embedder has, each with an
equal share of the texts, and cuts the same windows beforehand: what it reaches is the machine's own speed. Rounds of
the two are interleaved; medians are printed. Texts are made of words from a fixed list, so they are the same everywhere.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.embed.tokenizer import FOLDER

WORDS = [
    "the",
    "we",
    "to",
    "retry",
    "webhook",
    "after",
    "error",
    "when",
    "database",
    "index",
    "commit",
    "failed",
    "test",
    "with",
    "python",
    "function",
    "returns",
    "none",
    "list",
    "of",
    "tokens",
    "window",
    "query",
    "search",
    "memory",
    "session",
    "user",
    "asked",
    "deploy",
    "server",
    "timeout",
    "because",
    "config",
    "branch",
    "merge",
    "release",
]


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


def main() -> None:
    """Measure texts of several lengths and print a line for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    embedder = PackagedEmbedder(options.threads)
    ways: dict[str, Callable[[list[str]], int]] = {
        "bare": bare(options.threads),
        "ours": lambda texts: len(list(embedder.embed(texts))),
    }
    maker = random.Random(1)  # noqa: S311 - the same texts everywhere
    for kind, words, count in (("short", 18, 300), ("one window", 250, 60)):
        texts = [" ".join(maker.choices(WORDS, k=words)) for _ in range(count)]
        rates: dict[str, list[float]] = {name: [] for name in ways}
        for turn in range(options.rounds + 1):
            for name, way in ways.items():
                start = time.perf_counter()
                way(texts)
                if turn:  # the first round warms up
                    rates[name].append(count / (time.perf_counter() - start))
        medians = {name: statistics.median(values) for name, values in rates.items()}
        shown = "  ".join(f"{name} {value:6.1f} texts/s" for name, value in medians.items())
        sys.stdout.write(f"{kind:12} {shown}  share {medians['ours'] / medians['bare']:.2f}\n")


if __name__ == "__main__":
    main()
