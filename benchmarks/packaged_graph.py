"""Whether the packaged model can start or run faster: ORT's own format, two sessions, padding to few lengths.

    python benchmarks/packaged_graph.py [--rounds N]

Each way runs in turn, round by round; medians of wall time are printed, with their ratio to what the package does: the
ONNX file, one session, one text a call, a thread for each core that calls it.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from embed_throughput import WORDS

from pastchats_memory.embed.packaged import window
from pastchats_memory.embed.runtime import be_discreet, open_graph
from pastchats_memory.embed.tokenizer import FOLDER

be_discreet()

import onnxruntime  # noqa: E402 - after what keeps it quiet

GRAPH = FOLDER / "model.onnx"
THREADS = os.cpu_count() or 1


def main() -> None:
    """Print the ways to load, then the ways to run short and long texts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=11)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        saved = {kind: _saved(Path(name) / f"model.{kind}", kind) for kind in ("onnx", "ort")}
        loads: dict[str, Callable[[], object]] = {
            "load the ONNX file": lambda: open_graph(GRAPH, 1),
            "load, optimised before": lambda: _as_it_is(saved["onnx"]),
            "load ORT's format": lambda: _as_it_is(saved["ort"]),
            "load without prepacking": lambda: _session(GRAPH, **{"session.disable_prepacking": "1"}),
        }
        _compare(loads, options.rounds)
    sessions = [open_graph(GRAPH, 1) for _ in range(THREADS)]
    both = open_graph(GRAPH, THREADS)
    maker = random.Random(1)  # noqa: S311 - the same texts everywhere
    for kind, words, count in (("short", 18, 200), ("long", 240, 40)):
        rows = [window(" ".join(maker.choices(WORDS, k=words + place % 9))) for place in range(count)]
        padded = [np.pad(row, ((0, 0), (0, -row.shape[1] % 32))) for row in rows]
        ways: dict[str, Callable[[], object]] = {
            f"{kind}: one session": lambda rows=rows: _spread(sessions[:1], rows),
            f"{kind}: a session a thread": lambda rows=rows: _spread(sessions, rows),
            f"{kind}: all threads in a call": lambda rows=rows: [both.run(None, {"ids": row}) for row in rows],
            f"{kind}: padded to 32s": lambda rows=padded: _spread(sessions[:1], rows),
        }
        _compare(ways, options.rounds)


def _spread(sessions: list[onnxruntime.InferenceSession], rows: list[np.ndarray]) -> None:
    def some(number: int) -> None:
        for row in rows[number::THREADS]:
            sessions[number % len(sessions)].run(None, {"ids": row})

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(some, range(THREADS)))


def _session(path: Path, **entries: str) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    for key, value in entries.items():
        options.add_session_config_entry(key, value)
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _as_it_is(path: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _saved(path: Path, kind: str) -> Path:
    """The graph as onnxruntime has optimised it for this machine, in one of its two formats."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.optimized_model_filepath = str(path)
    options.log_severity_level = 3
    if kind == "ort":
        options.add_session_config_entry("session.save_model_format", "ORT")
    onnxruntime.InferenceSession(str(GRAPH), options, providers=["CPUExecutionProvider"])
    return path


def _compare(ways: dict[str, Callable[[], object]], rounds: int) -> None:
    timed: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(rounds + 1):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            if turn:
                timed[name].append(1000 * (time.perf_counter() - start))
    medians = {name: statistics.median(values) for name, values in timed.items()}
    first = next(iter(medians.values()))
    for name, value in medians.items():
        sys.stdout.write(f"{name:32} {value:8.1f} ms  × {value / first:.2f}\n")


if __name__ == "__main__":
    main()
