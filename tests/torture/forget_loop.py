"""Forget rows by chance in databases of many sizes, and look for what was removed in the bytes that are left.

    python tests/torture/forget_loop.py --forgets 2000 --seed 1

After each deletion no 16 bytes of a removed text or vector may stand in the file or beside it, unless a row that stays has
them. Ends with 1, and says which, when it is not so. Rows of which SQLite has left copies go first. Some deletions are of many
rows, and some processes end before they have finished.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1])]  # the folder of tests, as pytest has it

import numpy as np  # noqa: E402 - after the folders that they lie in
from program import write_messages  # noqa: E402 - after the folders that they lie in
from stage import LARGE, make_cheap  # noqa: E402 - after the folders that they lie in

from pastchats_memory import Memory  # noqa: E402 - after the folders that they lie in
from pastchats_memory.store import remains  # noqa: E402 - after the folders that they lie in
from pastchats_memory.store.database import Database, open_database  # noqa: E402 - after the folders that they lie in
from pastchats_memory.store.deletion import ChosenRows, delete_rows  # noqa: E402 - after the folders that they lie in

RUN = 16
"""Bytes that may not be left."""
BLOCK = RUN // 2
"""Bytes of a file's block: of RUN bytes, at least one whole block is a part."""
ROWS = "SELECT p.content, p.metadata_json, e.vector_json FROM prompts p JOIN prompt_embeddings e ON e.prompt_id = p.id"
FORGETS_OF_A_DATABASE = 60


@dataclass
class Tally:
    """What was deleted, and what was left of it."""

    deletions: Counter[str] = field(default_factory=Counter)
    left: list[str] = field(default_factory=list)


def main() -> int:
    """Run the loop, say what it found, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--forgets", type=int, default=2000)
    parser.add_argument("--turns", type=int, nargs="*", default=(30, 100, 300, 600))
    parser.add_argument("--copied", type=int, default=0, help="rows at least of which SQLite has left copies")
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    make_cheap(LARGE)
    chance, tally = random.Random(wanted.seed), Tally()  # noqa: S311 - no secret
    while (tally.deletions.total() < wanted.forgets or tally.deletions["copied"] < wanted.copied) and not tally.left:
        with tempfile.TemporaryDirectory() as folder:
            forget_by_chance(Path(folder), chance, tally, wanted)
    print(f"{dict(tally.deletions)}: {len(tally.left)} left something")
    print("\n".join(tally.left[:20]))
    return int(bool(tally.left))


def forget_by_chance(folder: Path, chance: random.Random, tally: Tally, wanted: argparse.Namespace) -> None:
    """Make a database, and forget rows of it one after another."""
    path = write_database(folder, chance, turns=chance.choice(wanted.turns))
    for _ in range(min(FORGETS_OF_A_DATABASE, wanted.forgets)):
        with open_database(path) as database:
            ids = [id_ for (id_,) in database.run("SELECT id FROM prompts")]
            if not ids:
                return
            chosen = chance.sample(ids, min(len(ids), chance.choice((1, 1, 1, 1, 1, 1, 3, 20, 100))))
            if copied := find_copied(database):
                chosen, way = [copied], "copied"
            elif len(chosen) == 1:
                way = chance.choices(("one", "killed"), (9, 1))[0]
            else:
                way = "many"
            removed = list_texts(database, chosen)
        if way == "killed":
            delete_and_die(path, chosen)
        with Memory.open(path) as memory:
            if way != "killed":
                memory.forget(*map(str, chosen))
        tally.deletions[way] += 1
        with open_database(path) as database:
            staying = list_texts(database)
        for run in find_left(path, removed, staying):
            tally.left.append(f"{path.stat().st_size:,} bytes, {way}, {len(chosen)} rows: {run!r}")
        if tally.left:
            return


def write_database(folder: Path, chance: random.Random, turns: int) -> Path:
    """Make a memory in several runs, of which each adds turns to old conversations, too."""
    path = folder / "memory.db"
    written: dict[str, list[tuple[str, str]]] = {}
    with Memory.open(path) as memory:
        for _ in range(3):
            for _ in range(turns // 3):
                messages = written.setdefault(f"c{chance.randrange(1 + turns // 20)}", [])
                messages.append((("user", "assistant")[len(messages) % 2], make_text(chance)))
            memory.index(
                [write_messages(folder / f"{name}.jsonl", *written[name], conversation=name) for name in written]
            )
    return path


def make_text(chance: random.Random) -> str:
    """Return words that no other text has."""
    words = (
        "".join(chance.choices("abcdefghiklmnoprstuvwxyz", k=chance.randrange(3, 22)))
        for _ in range(chance.choice((8, 40, 120)))
    )
    return " ".join(words)


def find_copied(database: Database) -> int | None:
    """Return a row of whose text SQLite has left a copy."""
    database.run("PRAGMA wal_checkpoint(TRUNCATE)")
    pieces = [page.unused for page in remains.read_pages(database)]
    rows = database.rows("SELECT id, content FROM prompts")
    return next((id_ for id_, content in rows if remains.find_removed(pieces, [content.encode()])), None)


def delete_and_die(path: Path, ids: list[int]) -> None:
    """Delete rows as a process does that is killed before it removes what is left of them."""
    with open_database(path) as database, database.transaction():
        delete_rows(database, ChosenRows(ids, [], [], []))


def list_texts(database: Database, ids: list[int] | None = None) -> list[bytes]:
    """Return texts and vectors of some rows, or of all."""
    listed = "" if ids is None else f" WHERE p.id IN ({','.join(map(str, ids))})"
    return [value.encode() for row in database.run(ROWS + listed) for value in row if value is not None]


def find_left(path: Path, removed: Iterable[bytes], staying: list[bytes]) -> list[bytes]:
    """Return runs of removed bytes that stand in the file or beside it, and in no row that stays."""
    runs = {
        int.from_bytes(text[at : at + BLOCK], "little"): text for text in removed for at in range(len(text) - BLOCK + 1)
    }
    sought = np.array(sorted(runs), np.uint64)
    found = []
    for file in path.parent.glob(path.name + "*"):
        content = file.read_bytes()
        blocks = np.frombuffer(content[: len(content) // BLOCK * BLOCK], np.uint64)
        for place in np.flatnonzero(np.isin(blocks, sought)).tolist():
            around = content[max(0, BLOCK * (place - 1)) : BLOCK * (place + 2)]
            text = runs[int(blocks[place])]
            pieces = (around[at : at + RUN] for at in range(len(around) - RUN + 1))
            found += [piece for piece in pieces if piece in text and not any(piece in other for other in staying)]
    return found


if __name__ == "__main__":
    raise SystemExit(main())
