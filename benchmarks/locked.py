"""How long a change of model and a restore keep another writer waiting at 100,000 turns, and what of it is the processor's time.

The vectors of the other model are made up beforehand: what is measured is how they take the place of the old ones.

    python benchmarks/locked.py [DATABASE]
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import numpy as np
from corpus import database as made
from forget import ROWS, another_writer, copy_of, timed

from pastchats_memory.store import backup, vectors
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.store.vectors import reindex

NAME, VERSION, DIM = "made up", "1", 384


def gather(database: Database) -> None:
    """A vector of another model for every text, as a change of model has them when it ends."""
    random = np.random.default_rng(7)
    reindex.begin(database, NAME, VERSION)
    for texts in reindex.lacking(database, 512):
        rows = random.normal(size=(len(texts), DIM)).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        with database.transaction():
            reindex.add(database, NAME, VERSION, zip(texts, map(vectors.encode, rows), strict=True))


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else made(ROWS)
    changed: dict[str, float] = {}
    with copy_of(path) as database:
        gather(database)
        ahead: dict[str, float] = {}
        with another_writer(database.path, ahead), timed(ahead, "coded ahead"):
            reindex.code_ahead(database)
        with another_writer(database.path, changed), timed(changed, "vectors put in place"), database.transaction():
            reindex.switch(database, NAME, VERSION, DIM)
        cleared: dict[str, float] = {}
        with another_writer(database.path, cleared), timed(cleared, "what is left over deleted"):
            reindex.clear(database)
        after: dict[str, float] = {}
        with another_writer(database.path, after), timed(after, "sqlite-vec's tables made anew in steps"):
            vectors.catch_up_in_steps(database)
    restored: dict[str, float] = {}
    with copy_of(path) as database, tempfile.TemporaryDirectory(dir=path.parent) as folder:
        backup.backup(database, Path(folder) / "kept.db")
        with open_database(Path(folder) / "kept.db") as kept, another_writer(database.path, restored):
            kept.run("PRAGMA journal_mode=WAL")
            with timed(restored, "copied over"):
                backup._copy_over(kept, database)  # noqa: SLF001 - the part of a restore that nobody else can write in
    for took in (ahead, changed, cleared, after, restored):
        said = "; ".join(f"{name} {seconds:.2f} s" for name, seconds in took.items())
        print(f"load {os.getloadavg()[0]:.1f}: {said}")


if __name__ == "__main__":
    main()
