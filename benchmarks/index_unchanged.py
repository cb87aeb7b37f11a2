"""Measure a run over unchanged files beside a bare walk over them: processor time of the whole command.

python benchmarks/index_unchanged.py [FILES]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pastchats_memory import Memory

RUNS = 5
A_FOLDER = 50
LINES = '{"role": "user", "content": "Question {n}?"}\n{"role": "assistant", "content": "Answer {n}."}\n'


def write(folder: Path, files: int) -> None:
    """Write so many conversations of two turns, fifty a folder."""
    for number in range(files):
        place = folder / f"project-{number // A_FOLDER}"
        place.mkdir(exist_ok=True, parents=True)
        (place / f"{number}.jsonl").write_text(LINES.replace("{n}", str(number % 100)), encoding="utf-8")


def walk(folder: str) -> None:
    """Look at each entry once: `scandir` and `stat`, and nothing else."""
    with os.scandir(folder) as entries:
        for entry in entries:
            entry.stat(follow_symlinks=False)
            if entry.is_dir(follow_symlinks=False):
                walk(entry.path)


def run(command: list[str]) -> float:
    """Return the seconds of processor that a command uses."""
    before = os.times()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", type=int, nargs="?", default=5_000)
    files = parser.parse_args().files
    with tempfile.TemporaryDirectory() as place:
        folder, database = Path(place) / "history", Path(place) / "memory.db"
        write(folder, files)
        with Memory.open(database) as memory:
            memory.index([folder])
        command = [sys.executable, "-m", "pastchats_memory", "index", str(folder), "--db", str(database)]
        looked = run(command)
        quick = min(run(command) for _ in range(RUNS))
        start = time.process_time()
        walk(str(folder))
        bare = time.process_time() - start
    print(f"{files} unchanged files, seconds of processor, the least of {RUNS} runs")
    print(f"  bare scandir and stat             {bare:7.3f}")
    print(f"  python -c pass                    {min(run([sys.executable, '-c', 'pass']) for _ in range(RUNS)):7.3f}")
    print(f"  index without a stamp             {looked:7.3f}")
    print(f"  index that finds the stamp        {quick:7.3f}")


if __name__ == "__main__":
    main()
