"""What it costs to forget 1 and 10,000 of 100,000 turns, by parts, and for how long it keeps another writer waiting.

Beside it: the same rows deleted and nothing more, and FTS5's `optimize` in one statement.

    python benchmarks/forget.py [DATABASE]
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from corpus import database as made

from pastchats_memory.maintenance.forget import Selector
from pastchats_memory.model import Filters
from pastchats_memory.store import deletion, vectors
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.store.deletion import Choice

ROWS = 100_000


@contextmanager
def timed(took: dict[str, float], name: str) -> Iterator[None]:
    start, work = time.perf_counter(), time.process_time()
    yield
    took[name] = time.perf_counter() - start
    took[f"{name}, of the processor"] = time.process_time() - work


@contextmanager
def another_writer(path: Path, took: dict[str, float]) -> Iterator[None]:
    """Takes the lock ten times a second and gives it back; for how long it had to wait at most."""
    waits, is_over = [0.0], threading.Event()

    def write() -> None:
        with open_database(path) as other, other.with_long_timeout():
            while not is_over.wait(0.1):
                start = time.perf_counter()
                with other.transaction():
                    waits.append(time.perf_counter() - start)

    beside = threading.Thread(target=write)
    beside.start()
    try:
        yield
    finally:
        is_over.set()
        beside.join()
    took["another writer waited at most"] = max(waits)


@contextmanager
def copy_of(path: Path) -> Iterator[Database]:
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        copy = Path(folder) / "memory.db"
        shutil.copyfile(path, copy)
        with open_database(copy) as opened:
            with opened.transaction():
                vectors.catch_up(opened)
            opened.run("PRAGMA wal_checkpoint(TRUNCATE)")
            yield opened


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else made(ROWS)
    for count in (1, 10_000):
        took: dict[str, float] = {}
        with copy_of(path) as database:
            ids = [
                id_ for (id_,) in database.run("SELECT id FROM prompts WHERE id % 10 = 3 ORDER BY id LIMIT ?", (count,))
            ]
            choice = Choice(Filters(), {"turns": ids, "tasks": [], "comments": [], "attachments": []})
            selector = Selector(tuple(map(str, ids)))
            with another_writer(database.path, took):
                with timed(took, "buried, one transaction"), database.transaction():
                    deletion.forget(database, choice, selector.remembered())
                with timed(took, "rows deleted in steps"):
                    deletion.finish(database)
                with timed(took, "indexes and log written anew"):
                    deletion.finish_scrub(database)
        with copy_of(path) as database:
            with timed(took, "beside it: delete alone"), database.transaction():
                database.run(f"DELETE FROM prompts WHERE id IN ({','.join(map(str, ids))})")
                vectors.catch_up(database)
            with timed(took, "beside it: one `optimize`"):
                database.run("INSERT INTO prompts_fts(prompts_fts) VALUES ('optimize')")
        print(
            f"{count:,} of {ROWS:,}, load {os.getloadavg()[0]:.1f}: "
            + "; ".join(f"{name} {seconds:.2f} s" for name, seconds in took.items())
        )


if __name__ == "__main__":
    main()
