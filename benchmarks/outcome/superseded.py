"""What is said to be superseded, to be judged by reading: `python benchmarks/outcome/superseded.py DATABASE`.

The database is one that `pastchats-memory index FOLDER --db DATABASE` made. Every prompt with a time is asked for again in its own words, and
each pair that a recall then names is printed once: what was asked, where, and what took its place.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pastchats_memory import Memory

QUESTION = 400
"""Characters of a prompt that are asked again."""


def main() -> None:
    """Print every pair, and how many there are."""
    pairs: dict[tuple[str, str | None], str] = {}
    with Memory.open(Path(sys.argv[1])) as memory:
        rows = memory._database.run("SELECT content FROM prompts WHERE role = 'user' AND timestamp IS NOT NULL")  # noqa: SLF001 - the public face lists no turns
        questions = {str(content)[:QUESTION] for (content,) in rows}
        for question in sorted(questions):
            for entry in memory.recall(question).entries:
                if entry.superseded_by is not None:
                    pairs[entry.superseded_by.id, entry.asked] = (
                        f"{entry.hit.source_path}\n{entry.asked}\n  superseded by: {entry.superseded_by.asked}\n"
                    )
    print("\n".join(pairs[key] for key in sorted(pairs, key=str)))
    print(f"{len(questions)} prompts, {len(pairs)} pairs, {len({later for later, _ in pairs})} that supersede")


if __name__ == "__main__":
    main()
