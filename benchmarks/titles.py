"""Print the titles of conversations and episodes drawn at random, for a reader who judges them good or bad.

    python benchmarks/titles.py FILE_OR_FOLDER [--number 60] [--seed 1] [--database FILE]

Each title stands above the beginning of what was said, so that a reader can tell whether people would recognise it. An equal
share is drawn from each format, since large exports would otherwise fill the list.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import defaultdict
from pathlib import Path

from pastchats_memory import Memory
from pastchats_memory.episodes.titles import name_conversation, name_episode
from pastchats_memory.store import turns
from pastchats_memory.store.database import Database, open_database

SHOWN = 160
"""Characters of a prompt below its title."""
EPISODES = 3
"""One of so many titles is an episode's, drawn among those of a conversation."""
SQL = (
    "SELECT p.source_project, p.conversation_id, json_extract(p.metadata_json, '$.format'), p.content "
    "FROM outcomes o JOIN prompts p ON p.id = o.prompt_id ORDER BY o.source_project, o.conversation_id, o.first_index"
)


def main() -> None:
    """Index, draw and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--number", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = arguments.database or Path(folder) / "titles.db"
        if not database.exists():
            with Memory.open(database) as memory:
                memory.index([arguments.path])
        with open_database(database) as opened:
            show(opened, arguments.number, random.Random(arguments.seed))  # noqa: S311 - a sample, not a secret


def show(database: Database, number: int, draw: random.Random) -> None:
    """Print the titles of a sample."""
    by_format: dict[str, dict[tuple[str, str], list[str]]] = defaultdict(lambda: defaultdict(list))
    for project, conversation_id, format_, text in database.run(SQL):
        by_format[format_][project, conversation_id].append(text)
    left = {name: draw.sample(list(of.items()), len(of)) for name, of in sorted(by_format.items())}
    chosen = [(name, *rows.pop()) for _ in range(number) for name, rows in left.items() if rows][:number]
    for place, (format_, (project, conversation_id), texts) in enumerate(chosen, start=1):
        is_episode, text = place % EPISODES == 0, draw.choice(texts)
        title = (
            name_episode(database, text, project, conversation_id)
            if is_episode
            else name_conversation(database, project, conversation_id)
        )
        first = text if is_episode else turns.of_conversation(database, conversation_id)[0].content
        print(
            f"{place:3} {format_}{', episode' if is_episode else ''}: {title}\n      {' '.join(first.split())[:SHOWN]}"
        )


if __name__ == "__main__":
    main()
