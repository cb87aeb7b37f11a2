"""Ask the prompt hook forty questions in other words than the sessions that answer them, and forty about nothing that is there.

    python benchmarks/hook_paraphrases.py FOLDER [--database FILE]

FOLDER has the sessions of Claude Code whose ids begin as `hook/paraphrases.tsv` says, and others of the same projects. The
prompts were written from the sessions' own first words before any of them was asked. A prompt without an answer is about another thing,
or only steers the work.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from collections import Counter
from pathlib import Path

from pastchats_memory import Memory
from pastchats_memory.hooks import answers
from pastchats_memory.hooks.event import HookEvent

PROMPTS = Path(__file__).parent / "hook" / "paraphrases.tsv"


def main() -> None:
    """Ask all prompts, print what went wrong, and count."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--database", type=Path)
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as scratch, PROMPTS.open(encoding="utf-8", newline="") as file:
        database = arguments.database or Path(scratch) / "paraphrases.db"
        if not database.exists():
            with Memory.open(database) as memory:
                memory.index([arguments.folder])
        for row in csv.DictReader(file, delimiter="\t"):
            event = HookEvent(prompt=row["prompt"], session="new", cwd=row["folder"])
            block = answers.find_block(event, str(database))
            found = [entry.first.conversation_id or "" for entry in block.entries] if block else []
            wanted = tuple(row["answered_by"].split())
            is_right = any(one.startswith(wanted) for one in found) if wanted else not found
            result = "right" if is_right else "wrong" if found else "silent"
            counts[f"{'answered' if wanted else 'about nothing'}: {result}"] += 1
            if not is_right:
                print(f"{result}: {row['prompt']}")
    for name, count in sorted(counts.items()):
        print(f"{name}: {count}")


if __name__ == "__main__":
    main()
