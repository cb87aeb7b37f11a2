"""How the windows of a long text should become one vector, measured on retrieval sets with judgements.

    PASTCHATS_BENCH=<folder of sets> python benchmarks/embed_pooling.py [SET ...]

A set is a folder of `<haystack>.jsonl` (messages with `doc_id`, `conversation_id`, perhaps `exchange_id`),
`queries.jsonl` and `qrels*.tsv`. Every window of every message is embedded once; then each recipe makes its vectors of
them, messages are ranked by plain cosine within their haystack, a unit (session, exchange) takes its best message, and
nDCG@10 is printed per level, beside the share of the windows that the recipe had to compute (its cost in indexing
time). `even` divides a text into windows of equal length instead of full ones and a rest. The last line keeps every
window as a vector of its own, the best one counting, which no single vector can do.

The tables are in README.md, the chosen recipe is one window of the first 190 and the last 64 tokens.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pastchats_memory.embed.packaged import CLS_ID, SEP_ID, WINDOW, PackagedEmbedder
from pastchats_memory.embed.tokenizer import encode

Matrix = NDArray[np.float32]
Pool = Callable[[Matrix, Matrix], Matrix]
LEVELS = {
    "turn": ("qrels.tsv", "doc_id"),
    "session": ("qrels_session.tsv", "conversation_id"),
    "exchange": ("qrels_exchange.tsv", "exchange_id"),
}
CHARACTERS = 200_000


@dataclass(frozen=True)
class Windows:
    """The windows of one message: unit vectors of shape (windows, 384) and their lengths in tokens."""

    vectors: Matrix
    lengths: Matrix


def plain(vectors: Matrix, _lengths: Matrix) -> Matrix:
    """Every window counts the same."""
    mean: Matrix = vectors.mean(0)
    return mean


def by_length(vectors: Matrix, lengths: Matrix) -> Matrix:
    """A window counts by its tokens."""
    return lengths @ vectors


def first_times(factor: float) -> Pool:
    """The first window counts `factor` times as much as all others together, those by length."""

    def pool(vectors: Matrix, lengths: Matrix) -> Matrix:
        rest = lengths[1:] / max(lengths[1:].sum(), 1)
        return np.concatenate([[factor], rest]).astype(np.float32) @ vectors

    return pool


def chosen(count: int, most: int, *, last: bool) -> list[int]:
    """Indices of the windows that a recipe with at most `most` of them looks at."""
    if count <= most:
        return list(range(count))
    return [*range(most - 1), count - 1] if last and most > 1 else list(range(most))


POOLS = (
    ("full", "mean", plain),
    ("full", "length", by_length),
    ("even", "mean", plain),
    *(("full", f"first={factor}rest", first_times(factor)) for factor in (1, 2, 3, 5, 10)),
)
ENDS = (32, 64, 127)
LIMITS = ((2, False), (2, True), (4, False), (4, True), (8, True), (999, False))
RECIPES: dict[str, tuple[str, int, bool, Pool]] = {
    "cut at one window": ("full", 1, False, plain),
    **{f"one window: start {WINDOW - end}, end {end}": (str(end), 1, False, plain) for end in ENDS},
    **{
        f"{shape} {name} <={most}{' +last' if last else ''}": (shape, most, last, pool)
        for shape, name, pool in POOLS
        for most, last in LIMITS
    },
}


def embed_windows(texts: list[str], shape: str) -> list[Windows]:
    """Embed all windows of all texts, on all cores."""
    session = PackagedEmbedder().session

    def one(text: str) -> Windows:
        ids = encode(text[:CHARACTERS]).ids
        if shape.isdecimal() and len(ids) > WINDOW:
            ids = [*ids[: WINDOW - int(shape)], *ids[-int(shape) :]]
        size = WINDOW if shape != "even" else math.ceil(max(len(ids), 1) / math.ceil(max(len(ids), 1) / WINDOW))
        parts = [ids[at : at + size] for at in range(0, len(ids), size)] or [[]]
        vectors = [session.run(None, {"ids": np.array([[CLS_ID, *part, SEP_ID]], np.int64)})[0][0] for part in parts]
        return Windows(np.stack(vectors), np.array([len(part) for part in parts], np.float32))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(one, texts))


def ndcg(ranked: list[str], relevant: set[str]) -> float:
    """nDCG@10 with binary gains, ideal cut at 10."""
    gain = sum(1 / math.log2(place + 2) for place, unit in enumerate(ranked[:10]) if unit in relevant)
    return gain / sum(1 / math.log2(place + 2) for place in range(min(10, len(relevant))))


def judgements(path: Path) -> dict[str, set[str]]:
    """Relevant units of every query."""
    relevant: dict[str, set[str]] = defaultdict(set)
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines()[1:]:
            query, unit, grade = line.split("\t")
            if int(grade) > 0:
                relevant[query].add(unit)
    return relevant


def measure(folder: Path) -> Iterator[tuple[str, float, dict[str, float]]]:
    """For each recipe its name, the share of windows it computes, and nDCG@10 per level."""
    messages = [
        (path.stem, json.loads(line))
        for path in sorted(folder.glob("*.jsonl"))
        if path.name != "queries.jsonl"
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    queries = [json.loads(line) for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    asked = np.stack(list(PackagedEmbedder().embed([query["text"] for query in queries])))
    windows = {
        shape: embed_windows([message["content"] for _, message in messages], shape)
        for shape in ("full", "even", *map(str, ENDS))
    }
    total = sum(len(item.lengths) for item in windows["full"])
    relevant = {level: judgements(folder / name) for level, (name, _) in LEVELS.items()}
    for name, (shape, most, last, pool) in RECIPES.items():
        picks = [chosen(len(item.lengths), most, last=last) for item in windows[shape]]
        rows = [pool(item.vectors[pick], item.lengths[pick]) for item, pick in zip(windows[shape], picks, strict=True)]
        matrix = np.stack(rows)
        matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
        yield name, sum(map(len, picks)) / total, score(messages, queries, asked @ matrix.T, relevant)
    best = np.stack([(asked @ item.vectors.T).max(1) for item in windows["full"]], axis=1)
    yield "a vector each, best counts", 1.0, score(messages, queries, best, relevant)


def score(
    messages: list[tuple[str, dict[str, str]]],
    queries: list[dict[str, str]],
    cosines: Matrix,
    relevant: dict[str, dict[str, set[str]]],
) -> dict[str, float]:
    """Mean nDCG@10 per level that the set has judgements for; cosines has shape (queries, messages)."""
    found: dict[str, list[float]] = defaultdict(list)
    for query, row in zip(queries, cosines, strict=True):
        until = query.get("until") or "9999"
        seen = [
            n
            for n in np.argsort(-row, kind="stable")
            if messages[n][0] == query["haystack"] and str(messages[n][1].get("timestamp") or "") <= until
        ]
        for level, (_, key) in LEVELS.items():
            if right := relevant[level].get(query["query_id"]):
                ranked = dict.fromkeys(messages[n][1][key] for n in seen)
                found[level].append(ndcg(list(ranked), right))
    return {level: sum(values) / len(values) for level, values in found.items()}


def main() -> None:
    """Print a table per set."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sets", nargs="*", type=Path)
    folders = parser.parse_args().sets or sorted(
        path.parent for path in Path(os.environ["PASTCHATS_BENCH"]).glob("*/queries.jsonl")
    )
    for folder in folders:
        start = time.perf_counter()
        for name, share, levels in measure(folder):
            shown = "  ".join(f"{level} {value:.4f}" for level, value in levels.items())
            sys.stdout.write(f"{folder.name:12} {name:28} windows {share:5.2f}  {shown}\n")
            sys.stdout.flush()
        sys.stdout.write(f"{folder.name:12} took {time.perf_counter() - start:.0f} s\n")


if __name__ == "__main__":
    main()
