"""Measure reading and storing without embedding, for each format.

    python benchmarks/index_reading.py [--megabytes N] [--append N]

In process, against a database of its own. **Every text gets the same made-up vector**, so that the numbers are of reading,
redacting and storing alone; `throughput.py index` has those with the model. Each format's file is one of its own fixtures
grown to so many bytes (`grown.py`), and its numbers are of processor time. `read` is the reader alone, `to parsing` how many
times as long it takes as a bare parse of the same bytes (JSON by orjson, rows, lines), `index` the whole run.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import corpus
import grown
import numpy as np
import timing

from pastchats_memory.embed import Vector
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.registry import detect_format
from pastchats_memory.ingest.options import IndexOptions
from pastchats_memory.ingest.report import IndexReport
from pastchats_memory.ingest.run import index
from pastchats_memory.model import Turn, Unreadable
from pastchats_memory.store.database import Database, open_database

Result = TypeVar("Result")

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
TRIED, FEWEST = 60_000, 20
"""Bytes of a file by which it is seen whether a fixture can be gone on with, and the turns that it must then have."""
SESSION = "5d0f6c1e-7a42-4c59-9b1e-0c4f2a9d7e31"
RUNS = 5


class Constant:
    """Gives every text one vector: what is measured is everything else."""

    name, version, dim = "constant", "1", 384

    def load(self) -> None:
        """There is nothing to load."""

    def embed(self, texts: Iterable[str]) -> Iterator[Vector]:
        """Yield the same unit vector for each text."""
        for _ in texts:
            yield self.embed_query("")

    def embed_query(self, text: str) -> Vector:
        """Return the same vector for any text."""
        del text
        vector: Vector = np.eye(1, self.dim, dtype=np.float32)[0]
        return vector


def run(database: Database, path: Path) -> tuple[IndexReport, float]:
    """One run over a path, and its seconds."""
    start = time.perf_counter()
    report = index(database, Constant(), [path], IndexOptions())
    return report, time.perf_counter() - start


def samples(place: Path) -> dict[str, Path]:
    """Return the largest fixture of each format that can be grown.

    Its reader must understand the grown file whole.
    """
    found: dict[str, Path] = {}
    fixtures = [
        path
        for path in FIXTURES.glob("*/*")
        if path.suffix in grown.SUFFIXES and path.parent.name not in {"fuzz", "databases"}
    ]
    for number, path in enumerate(sorted(fixtures, key=lambda path: path.stat().st_size)):
        file = grown.grown(path, place / str(number), TRIED)
        reader = detect_format(SourceFile(file))
        items = list(reader.read(SourceFile(file))) if reader else []
        turns = [item for item in items if isinstance(item, Turn)]
        counted = sum(turn.branch == "main" for turn in turns)
        if reader and counted > max(FEWEST, len(turns) / 2) and not any(isinstance(item, Unreadable) for item in items):
            found[reader.name + (" (SQLite)" if file.suffix == ".db" else "")] = path
    return dict(sorted(found.items()))


def measure(work: Callable[[], Result]) -> tuple[Result, float]:
    """Return the result of the work and the processor seconds that it took."""
    start = time.process_time()
    return work(), time.process_time() - start


def read(file: Path) -> int:
    """Count the turns that the reader alone yields."""
    source = SourceFile(file)
    reader = detect_format(source)
    return sum(isinstance(item, Turn) for item in reader.read(source)) if reader else 0


def by_format(place: Path, megabytes: float) -> None:
    """Print a line for each format."""
    print(
        f"{'format':26} {'MB':>5} {'turns':>7} {'read MB/s':>10} {'turns/s':>8} {'to parsing':>11} {'index MB/s':>11} {'turns/s':>8}"
    )
    for name, sample in samples(place).items():
        file = grown.grown(sample, place / name, int(megabytes * 1e6))
        size = file.stat().st_size / 1e6
        (_, parse), (turns, seconds) = measure(lambda: grown.parsed(file)), measure(lambda: read(file))  # noqa: B023 - called at once
        with open_database(place / f"{name}.db", create=True) as database:
            _, all_seconds = measure(lambda: run(database, file))  # noqa: B023 - called at once
        rates = f"{size / seconds:10.1f} {turns / seconds:8,.0f} {seconds / parse:11.0f} {size / all_seconds:11.1f} {turns / all_seconds:8,.0f}"
        print(f"{name:26} {size:5.1f} {turns:7,} {rates}", flush=True)


def record(number: int, kind: str, content: object) -> str:
    """Return a line of a Claude Code session."""
    message = {"role": kind, "content": content} | ({"id": f"msg_{number:024d}"} if kind == "assistant" else {})
    minutes, second = divmod(number, 60)
    body = {
        "type": kind,
        "uuid": f"00000000-0000-4000-8000-{number:012d}",
        "parentUuid": f"00000000-0000-4000-8000-{number - 1:012d}" if number > 1 else None,
        "sessionId": SESSION,
        "cwd": "/home/mira/src/courier",
        "timestamp": f"2026-03-{1 + minutes // 1440:02d}T{minutes // 60 % 24:02d}:{minutes % 60:02d}:{second:02d}.123Z",
        "message": message,
    }
    return json.dumps(body) + "\n"


def session(path: Path, megabytes: int) -> int:
    """Prompts, calls, results of 9 KB and answers, until there are so many bytes; the number of the last line."""
    writer = corpus.Writer(seed=3)
    number = 0
    with path.open("w", encoding="utf-8") as file:
        while file.tell() < megabytes * 1e6:
            use = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"file_path": f"/src/{number}.py"}}
            result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": writer.text(9000, 0.0)}
            message = (("user", writer.text(80, 0.5)), ("assistant", [use]), ("user", [result]))
            for kind, content in (*message, ("assistant", [{"type": "text", "text": writer.text(270, 0.5)}])):
                number += 1
                file.write(record(number, kind, content))
    return number


def appended(place: Path, megabytes: int) -> None:
    """Print what the first run over a large session takes, and the median of runs after one turn more."""
    path = place / "session" / "s.jsonl"
    path.parent.mkdir()
    number = session(path, megabytes)
    times = []
    with open_database(place / "session.db", create=True) as database:
        (first, seconds), used = measure(lambda: run(database, path.parent))
        for more in range(1, RUNS + 1):
            with path.open("a", encoding="utf-8") as file:
                file.write(record(number + more, "user", f"And now number {more}?"))
            report, again = run(database, path.parent)
            if report.added != 1:
                raise SystemExit(f"{report.added} turns were added, not one: the numbers would mean nothing")
            times.append(again)
    size = path.stat().st_size / 1e6
    print(
        f"\n{size:.0f} MB of Claude Code: first run {seconds:.1f} s, {used:.1f} s of the processor, "
        f"{size / used:.1f} MB/s of it, {first.added:,} turns"
    )
    print(f"one turn more: median {sorted(times)[RUNS // 2] * 1000:.0f} ms, slowest {max(times) * 1000:.0f} ms")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=3, help="of each format; 0 for none")
    parser.add_argument("--append", type=int, default=100, help="megabytes of the session that grows; 0 for none")
    parser.add_argument(
        "--store", type=Path, help="only read and store this, into a database beside it, and print nothing"
    )
    options = parser.parse_args()
    if options.store:
        with open_database(options.store.with_suffix(".stored.db"), create=True) as database:
            run(database, options.store)
        return
    print(timing.machine())
    with tempfile.TemporaryDirectory() as folder:
        if options.append:
            appended(Path(folder), options.append)
        if options.megabytes:
            by_format(Path(folder), options.megabytes)


if __name__ == "__main__":
    main()
