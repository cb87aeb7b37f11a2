"""What deriving outcomes costs: beside an index run, and of 100,000 rows at once.

    python benchmarks/outcomes_derive.py [ROWS]

Conversations are those of `corpus.py` with a run of tests after every fourth answer. Seconds are of the processor: an index run of a
part of them with what deriving took of it, then ROWS rows that are there, derived anew as `reindex --outcomes` does.
"""

from __future__ import annotations

import itertools
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from corpus import conversations

from pastchats_memory import Memory, ingest
from pastchats_memory.episodes.derive import derive
from pastchats_memory.store.database import Database, open_database

INDEXED = 500
"""Rows of the index run."""
RUNS = ("12 passed in 0.81s", "1 failed, 11 passed in 0.92s\nFAILED tests/test_a.py::test_b - assert 1 == 2")


def rows(count: int) -> Iterator[dict[str, str]]:
    """So many messages, one conversation after the other."""
    return itertools.islice(_rows(count), count)


def _rows(turns: int) -> Iterator[dict[str, str]]:
    for conversation in conversations(turns):
        for place, said in enumerate(conversation.turns):
            about = {"conversation_id": conversation.id, "project": conversation.project}
            yield {**about, "role": said.role, "content": said.text, "timestamp": said.time.isoformat()}
            if said.role == "assistant" and place % 8 == 1:
                run = f"$ pytest -q\n{RUNS[place % 3 == 0]}"
                yield {**about, "role": "tool", "content": run, "timestamp": said.time.isoformat()}


def beside_indexing(folder: Path) -> None:
    """Print how much of an index run deriving takes."""
    (folder / "said.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows(INDEXED)), encoding="utf-8")
    spent = 0.0

    def timed(database: Database) -> None:
        nonlocal spent
        start = time.process_time()
        derive(database)
        spent += time.process_time() - start

    ingest.derive = timed  # type: ignore[attr-defined, assignment] # the name that the run looks up
    with Memory.open(folder / "indexed.db") as memory:
        start = time.process_time()
        report = memory.index([folder / "said.jsonl"])
        whole = time.process_time() - start
    print(
        f"index of {report.added:,} turns: {whole:.1f} s, of which deriving {spent:.2f} s ({spent / (whole - spent):.1%} more)"
    )


def at_once(folder: Path, count: int) -> None:
    """Print how long so many rows take."""
    with open_database(folder / "stored.db", create=True) as database:
        with database.transaction():
            database.run_many(
                "INSERT INTO prompts(source_path, source_project, conversation_id, turn_index, role, content, timestamp, "
                "content_hash, metadata_json, text_hash) VALUES ('/a', ?, ?, ?, ?, ?, ?, ?, '{}', x'00')",
                [
                    (
                        row["project"],
                        row["conversation_id"],
                        place,
                        row["role"],
                        row["content"],
                        row["timestamp"],
                        str(place),
                    )
                    for place, row in enumerate(rows(count))
                ],
            )
        for name, anew in (("derived", True), ("nothing new", False)):
            start, wall = time.process_time(), time.monotonic()
            done = derive(database, anew=anew)
            took = time.process_time() - start
            print(
                f"{count:,} rows, {name}: {done.episodes:,} episodes in {took:.2f} s ({time.monotonic() - wall:.1f} s by the clock)"
            )


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        beside_indexing(Path(scratch))
        at_once(Path(scratch), int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)


if __name__ == "__main__":
    main()
