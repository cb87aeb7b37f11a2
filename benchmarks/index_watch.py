"""How long after a write `index --watch` has stored it, beside a run of the command over the same folder.

    python benchmarks/index_watch.py [--writes N]

A process of its own watches a folder of 200 files; each write is a new file of two turns, or one turn more in a file that is
there, and the clock stops when another connection finds the row.
"""

from __future__ import annotations

import argparse
import json
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import apsw
import timing

FILES = 200
PATIENCE = 60.0


def line(role: str, text: str) -> str:
    """A message a line."""
    return json.dumps({"role": role, "content": text}) + "\n"


def until_stored(database: Path, words: str) -> float:
    """Seconds until a row has the words."""
    start = time.perf_counter()
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    while not connection.execute("SELECT 1 FROM prompts WHERE content = ?", (words,)).fetchall():
        if time.perf_counter() - start > PATIENCE:
            raise SystemExit(f"{words!r} was never stored")
        time.sleep(0.01)
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--writes", type=int, default=12)
    writes = parser.parse_args().writes
    print(timing.machine())
    with tempfile.TemporaryDirectory() as place:
        folder, database = Path(place) / "chats", Path(place) / "memory.db"
        folder.mkdir()
        for number in range(FILES):
            (folder / f"{number}.jsonl").write_text(line("user", f"Question {number}?") + line("assistant", "Yes."))
        run = timing.process(timing.PROGRAM, "index", str(folder), "--db", str(database))
        run()
        command = (timing.PROGRAM, "index", "--watch", str(folder), "--db", str(database))
        watching = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        delays, plain = [], []
        try:
            time.sleep(3)
            for number in range(writes):
                words = f"What of write {number}?"
                path = folder / (f"{number}.jsonl" if number % 2 else f"new-{number}.jsonl")
                with path.open("a", encoding="utf-8") as file:
                    file.write(line("user", words))
                delays.append(until_stored(database, words))
                start = time.perf_counter()
                run()
                plain.append(time.perf_counter() - start)
        finally:
            watching.send_signal(signal.SIGINT)
            watching.wait(PATIENCE)
    delay, once = statistics.median(delays), statistics.median(plain)
    print(
        f"stored {delay:.2f} s after a write (median of {writes}, slowest {max(delays):.2f} s): "
        f"{delay / once:.1f} times a run of the command, {once:.2f} s"
    )


if __name__ == "__main__":
    main()
