"""Measure the bytes of database a turn, part by part.

    python benchmarks/size.py [--turns N]

The database is the one that speed.py asks, as indexing left it. Pages are counted by SQLite's dbstat; unused parts of
pages count for the table they belong to.
"""

from __future__ import annotations

import argparse

import apsw
import corpus

PARTS = (
    ("texts and their fields", ("prompts",)),
    ("full text", ("prompts_fts",)),
    ("words of tool calls", ("tool_calls",)),
    ("trigrams", ("trigrams",)),
    ("vectors as JSON", ("prompt_embeddings",)),
    ("vec0", ("vec_prompts",)),
    ("blocks of the exact engine", ("vector_blocks",)),
    ("where each was seen", ("sightings", "sources")),
)
"""Each with the tables, and the tables that begin so, that belong to it."""


def part_of(table: str, parts: tuple[tuple[str, tuple[str, ...]], ...] = PARTS) -> str:
    """Return the part that a table or an index belongs to."""
    if "_by_" in table or table.startswith("sqlite_autoindex"):
        return "indexes"
    found = [name for name, tables in parts if any(table == own or table.startswith(own + "_") for own in tables)]
    return found[-1] if found else "the rest"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--turns", type=int, default=100_000)
    path = corpus.database(parser.parse_args().turns)
    connection = apsw.Connection(str(path))
    turns, length = connection.execute("SELECT count(*), avg(length(content)) FROM prompts").fetchall()[0]
    turns, characters = int(turns or 0), float(length or 0)
    sizes: dict[str, int] = {}
    for table, size in connection.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"):
        part = part_of(table)
        sizes[part] = sizes.get(part, 0) + size
    print(f"{turns:,} turns of {characters:.0f} characters on average")
    for part, size in sorted(sizes.items(), key=lambda row: -row[1]):
        print(f"{part:30}{size / turns:9.0f} bytes a turn{size / 1e6:9.1f} MB")
    print(f"{'all':30}{sum(sizes.values()) / turns:9.0f} bytes a turn{path.stat().st_size / 1e6:9.1f} MB")


if __name__ == "__main__":
    main()
