"""Measure how soon the newest turns of a large history are found, while the rest is indexed.

    python benchmarks/first_answer.py [--turns N] [--newest N]

A history of `corpus.py` is written as sessions of Claude Code, forty turns a file. The program indexes it in a process of its own.
This script waits until the newest turns have a row and a vector each, asks one of them by keyword and by meaning, and ends the
run. On a busy machine the processor's time of the run says more than the clock.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import corpus

from pastchats_memory import Memory
from pastchats_memory.errors import StoreFault
from pastchats_memory.store.database import open_database
from pastchats_memory.store.vectors import count

POLL_S = 0.1
TICKS = os.sysconf("SC_CLK_TCK")


def write_history(folder: Path, turns: int) -> str:
    """Write sessions with the times of their last turns, and return the longest text of the newest one."""
    for conversation in corpus.conversations(turns):
        path = corpus.write_session(conversation, folder)
        moment = conversation.turns[-1].time.timestamp()
        os.utime(path, (moment, moment))
    return max((turn.text for turn in conversation.turns), key=len)


def count_vectors(path: Path) -> int:
    """Return the number of turns that can be found; 0 before the database is there."""
    try:
        with open_database(path, create=False) as database:
            return count(database)
    except StoreFault:
        return 0


def processor_time(process: int) -> float:
    """Return the seconds of processor time that a process has used, from Linux's `/proc`."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--newest", type=int, default=500)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder, path = Path(scratch) / "history", Path(scratch) / "memory.db"
        text = write_history(folder, arguments.turns)
        command = [sys.executable, "-m", "pastchats_memory", "index", "--db", str(path), str(folder)]
        start = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            while count_vectors(path) < arguments.newest:
                time.sleep(POLL_S)
            seconds, used = time.perf_counter() - start, processor_time(run.pid)
            with Memory.open(path) as memory:
                found = {mode: memory.search(text[:200], mode=mode, limit=1) for mode in ("keyword", "semantic")}
            run.terminate()
    print(f"the newest {arguments.newest} of {arguments.turns:,} turns: {seconds:.1f} s, {used:.1f} s of the processor")
    for mode, hits in found.items():
        print(f"{mode}: {'found' if hits and hits[0].content == text else 'missing'}; {'; '.join(hits.warnings)}")


if __name__ == "__main__":
    main()
