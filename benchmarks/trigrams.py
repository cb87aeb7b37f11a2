"""What an index of trigrams costs: bytes and processor time a turn, by how much it keeps, and a question's time by what is in it.

    python benchmarks/trigrams.py [--turns N] [--rounds N]

The first table is of 20,000 made-up turns (`corpus.py`) put into a bare table with an index beside it; `words` is the one
that there is without it. The second asks the database that speed.py asks, in process: questions of whole words, with an
identifier that stands there, with a part of one, with a word that is nowhere.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import apsw
import corpus

from pastchats_memory import Memory
from pastchats_memory.store.database import open_database

MADE_UP = 20_000
KEPT = {
    "words": "tokenize='porter unicode61'",
    "trigrams, rows": "detail=none, columnsize=0, tokenize='trigram'",
    "trigrams, columns": "detail=column, tokenize='trigram'",
    "trigrams, places": "detail=full, tokenize='trigram'",
}
ASKED_WORDS = 9
ASKED = 25


def cost(texts: Sequence[str], options: str) -> tuple[float, float]:
    """Bytes and microseconds of processor time a text, written in transactions of 200."""
    with tempfile.TemporaryDirectory() as folder:
        connection = apsw.Connection(str(Path(folder) / "texts.db"))
        connection.execute("PRAGMA journal_mode=WAL; PRAGMA secure_delete=ON; PRAGMA synchronous=NORMAL")
        connection.execute("CREATE TABLE texts(id INTEGER PRIMARY KEY, content TEXT)")
        connection.execute(
            f"CREATE VIRTUAL TABLE kept USING fts5(content, content='texts', content_rowid='id', {options})"
        )
        took = 0.0
        for start in range(0, len(texts), 200):
            rows = list(enumerate(texts[start : start + 200], start))
            with connection:
                connection.executemany("INSERT INTO texts(id, content) VALUES (?, ?)", rows)
            before = time.process_time()
            with connection:
                connection.executemany("INSERT INTO kept(rowid, content) VALUES (?, ?)", rows)
            took += time.process_time() - before
        sizes = connection.execute("SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'kept%'").fetchall()
        connection.close()
    return sizes[0][0] / len(texts), 1e6 * took / len(texts)


def questions(path: Path) -> dict[str, list[str]]:
    """By kind, from turns all over the memory."""
    with open_database(path) as opened:
        last = opened.value("SELECT max(id) FROM prompts")
        ids = [1 + number * 7919 % last for number in range(20 * ASKED)]
        texts = [opened.value("SELECT content FROM prompts WHERE id = ?", (id_,)) for id_ in ids]
    plain = [[word for word in text.split() if word.strip(".,:?").isalpha()] for text in texts]
    whole = [" ".join(words[:ASKED_WORDS]) for words in plain if len(words) > ASKED_WORDS][:ASKED]
    identifiers = [next(word for word in text.split() if "_" in word) for text in texts if "_" in text][:ASKED]
    return {
        "whole words": whole,
        "an identifier": identifiers,
        "a part of one": [word[2:-3] for word in identifiers],
        "whole words and one that is nowhere": [f"{question} frobnicating" for question in whole],
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    texts = [said.text for conversation in corpus.conversations(MADE_UP) for said in conversation.turns]
    print("| kept | bytes a turn | µs of the processor a turn |\n|---|--:|--:|")
    for name, options in KEPT.items():
        size, took = cost(texts, options)
        print(f"| {name} | {size:.0f} | {took:.0f} |", flush=True)
    path = corpus.database(arguments.turns)
    print("\n| asked with | keyword, ms | hybrid, ms |\n|---|--:|--:|")
    with Memory.open(path) as memory:
        for kind, asked in questions(path).items():
            medians = []
            for mode in ("keyword", "hybrid"):
                took_each = []
                for question in asked * arguments.rounds:
                    before = time.process_time()
                    memory.search(question, mode=mode)
                    took_each.append(1000 * (time.process_time() - before))
                medians.append(statistics.median(took_each))
            print(f"| {kind} | {medians[0]:.1f} | {medians[1]:.1f} |", flush=True)


if __name__ == "__main__":
    main()
