"""Texts a second of an fp32 model in a folder, and what batching by tokens, sorting by length and threads each bring.

    python benchmarks/embed_models.py [--rounds N] [--threads N]

The model has the shape of all-MiniLM-L6-v2 (6 layers of 384, 12 heads) and weights made up by `tests/embed/tiny_bert.py`:
how long a graph takes does not depend on them. `bare` gives one text a call to a session with all threads. The ways are
interleaved, round by round; medians are printed, as a ratio to `bare`.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "embed"))

from embed_throughput import WORDS
from tiny_bert import graph

from pastchats_memory.embed.onnx import BATCH_TOKENS, LocalEmbedder, make_batches
from pastchats_memory.embed.profiles import Profile
from pastchats_memory.embed.runtime import open_graph
from pastchats_memory.embed.tokenizer import FOLDER
from pastchats_memory.embed.windows import pad

if TYPE_CHECKING:
    from pastchats_memory.embed.windows import Ids

Batches = Iterable[Sequence[int]]


def runner(path: Path, threads: int, pool: int = 1) -> Callable[[list[Ids], Batches], None]:
    """Runs batches of rows on a session with so many threads, so many batches at a time."""
    session = open_graph(path, threads)

    def run(rows: list[Ids], some: Sequence[int]) -> None:
        ids, mask = pad([rows[place] for place in some])
        session.run(None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": ids * 0})

    def everything(rows: list[Ids], parts: Batches) -> None:
        with ThreadPoolExecutor(pool) as workers:
            list(workers.map(lambda some: run(rows, some), parts))

    return everything


def by_rows(rows: Sequence[Ids], size: int) -> Batches:
    return [range(first, min(first + size, len(rows))) for first in range(0, len(rows), size)]


def by_tokens(rows: Sequence[Ids], tokens: int) -> Batches:
    """In the order given, as many as fit when padded."""
    parts: list[list[int]] = [[]]
    for place in range(len(rows)):
        longest = max(len(rows[one]) for one in [*parts[-1], place])
        if parts[-1] and (len(parts[-1]) + 1) * longest > tokens:
            parts.append([])
        parts[-1].append(place)
    return parts


def main() -> None:
    """Measure short texts, long ones, and a mixture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = graph(layers=6, width=384, heads=12, inner=1536, words=30_522)
        (folder / "model.onnx").write_bytes(made.SerializeToString())
        (folder / "tokenizer.json").write_bytes((FOLDER / "tokenizer.json").read_bytes())
        embedder = LocalEmbedder("made up", lambda: (folder, Profile("", "model.onnx", tokens=256)), options.threads)
        one, pooled = runner(folder / "model.onnx", options.threads), runner(folder / "model.onnx", 1, options.threads)
        ways: dict[str, Callable[[list[Ids]], None]] = {
            "bare": lambda rows: one(rows, by_rows(rows, 1)),
            "in rows of 32": lambda rows: one(rows, by_rows(rows, 32)),
            "by tokens": lambda rows: one(rows, by_tokens(rows, BATCH_TOKENS)),
            "sorted": lambda rows: one(rows, make_batches([len(row) for row in rows], BATCH_TOKENS)),
            "a thread a call": lambda rows: pooled(rows, by_rows(rows, 1)),
            "both": lambda rows: pooled(rows, make_batches([len(row) for row in rows], BATCH_TOKENS)),
            "both, four times as large": lambda rows: pooled(
                rows, make_batches([len(row) for row in rows], 4 * BATCH_TOKENS)
            ),
        }
        maker = random.Random(1)  # noqa: S311 - the same texts everywhere
        mixed = [round(maker.lognormvariate(3.2, 1.2)) + 1 for _ in range(64)]
        for kind, lengths in (("short", [18] * 64), ("long", [250] * 8), ("mixed", mixed)):
            texts = [" ".join(maker.choices(WORDS, k=length)) for length in lengths]
            compare(kind, texts, embedder, ways, options.rounds)


def compare(
    kind: str,
    texts: list[str],
    embedder: LocalEmbedder,
    ways: dict[str, Callable[[list[Ids]], None]],
    rounds: int,
) -> None:
    """Print a line: texts a second of `bare`, and of every way its ratio to it."""
    rows = embedder.windows.encode(texts)
    timed: dict[str, list[float]] = {name: [] for name in (*ways, "ours, whole")}
    for turn in range(rounds + 1):
        for name, times in timed.items():
            start = time.perf_counter()
            if name in ways:
                ways[name](rows)
            else:
                list(embedder.embed(texts))
            if turn:  # the first round warms up
                times.append(time.perf_counter() - start)
    medians = {name: statistics.median(values) for name, values in timed.items()}
    shown = "  ".join(f"{name} {medians['bare'] / value:.2f}" for name, value in medians.items() if name != "bare")
    sys.stdout.write(f"{kind:6} bare {len(texts) / medians['bare']:6.1f} texts/s; × bare: {shown}\n")


if __name__ == "__main__":
    main()
