"""Measure a run over unchanged files beside a bare walk over them.

python benchmarks/index_unchanged.py [FILES]
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pastchats_memory import Memory

RUNS = 5
A_FOLDER = 50
LINES = '{"role": "user", "content": "Question {n}?"}\n{"role": "assistant", "content": "Answer {n}."}\n'


def write(folder: Path, files: int) -> None:
    for number in range(files):
        place = folder / f"project-{number // A_FOLDER}"
        place.mkdir(exist_ok=True)
        (place / f"{number}.jsonl").write_text(LINES.replace("{n}", str(number % 100)), encoding="utf-8")


def walk(folder: str) -> int:
    """Entries looked at once each: `scandir` and `stat`, and nothing else."""
    looked_at = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            entry.stat(follow_symlinks=False)
            looked_at += walk(entry.path) if entry.is_dir(follow_symlinks=False) else 1
    return looked_at


def seconds(work: Callable[[], object]) -> float:
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=int, nargs="?", default=5_000)
    files = parser.parse_args().files
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "history"
        folder.mkdir()
        write(folder, files)
        with Memory.open(Path(place) / "memory.db") as memory:
            memory.index([folder])
            unchanged = seconds(lambda: memory.index([folder]))
            if memory.index([folder]).files_unchanged != files:
                sys.exit("not every file counted as unchanged: the numbers would mean nothing")
        bare = seconds(lambda: walk(str(folder)))
    print(f"{files} unchanged files, medians of {RUNS} runs")
    print(f"  bare scandir and stat  {bare * 1000:7.1f} ms")
    print(f"  index                  {unchanged * 1000:7.1f} ms")
    print(f"  ratio                  {unchanged / bare:7.1f}")


if __name__ == "__main__":
    main()
