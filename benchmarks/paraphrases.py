"""Ask recall, or the prompt hook, in other words than the sessions that answer, and about things that are not there.

    python benchmarks/paraphrases.py recall FOLDER [--database FILE]
    python benchmarks/paraphrases.py hook FOLDER [--database FILE]

For `recall`, FOLDER has real sessions of many agents and exports of chats. `paraphrases.tsv` has 40 questions that they answer,
and 40 about other things. The rule was made with one half of each; the other half was asked once.

For `hook`, FOLDER has the sessions of Claude Code whose ids begin as `hook/paraphrases.tsv` says, and others of the same projects. The
40 prompts were written from the sessions' own first words before any of them was asked. The others are about another thing, or
only steer the work.
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

HERE = Path(__file__).parent
QUESTIONS = {"recall": HERE / "paraphrases.tsv", "hook": HERE / "hook" / "paraphrases.tsv"}


def ask_recall(memory: Memory, row: dict[str, str]) -> tuple[str, str]:
    """Return the kind of a question with its half, and whether recall is right."""
    has_answer = bool(memory.recall(row["question"]).entries)
    is_right = has_answer == bool(row["answered_by"])
    return f"{'answerable' if row['answered_by'] else 'other'}, {row['half']}", _name_result(is_right, has_answer)


def ask_hook(memory: Memory, row: dict[str, str]) -> tuple[str, str]:
    """Return the kind of a prompt, and whether the hook is right: a block has to have the session that answers."""
    block = answers.find_block(HookEvent(prompt=row["prompt"], session="new", cwd=row["folder"]), str(memory.path))
    found = [entry.first.conversation_id or "" for entry in block.entries] if block else []
    wanted = tuple(row["answered_by"].split())
    is_right = any(one.startswith(wanted) for one in found) if wanted else not found
    return "answered" if wanted else "about nothing", _name_result(is_right, bool(found))


def _name_result(is_right: bool, has_answer: bool) -> str:
    return "right" if is_right else "wrong" if has_answer else "silent"


def main() -> None:
    """Ask all questions, print what went wrong, and count."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("asked", choices=QUESTIONS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--database", type=Path)
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as scratch:
        database = arguments.database or Path(scratch) / "paraphrases.db"
        is_new = not database.exists()
        with Memory.open(database) as memory, QUESTIONS[arguments.asked].open(encoding="utf-8", newline="") as file:
            if is_new:
                memory.index([arguments.folder])
            for row in csv.DictReader(file, delimiter="\t"):
                kind, result = (ask_hook if arguments.asked == "hook" else ask_recall)(memory, row)
                counts[f"{kind}: {result}"] += 1
                if result != "right":
                    print(f"{kind}: {result}: {row.get('question') or row['prompt']}")
    for name, count in sorted(counts.items()):
        print(f"{name}: {count}")


if __name__ == "__main__":
    main()
