"""Measure how often recall is silent on questions in other words, and how often it answers about other things.

    python benchmarks/recall_paraphrases.py FOLDER [--database FILE]

FOLDER has real sessions of many agents and exports of chats. `paraphrases.tsv` has 40 questions that they answer, in other
words than theirs, and 40 about other things. The rule was made with one half of each; the other half was asked once.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from collections import Counter
from pathlib import Path

from pastchats_memory import Memory

QUESTIONS = Path(__file__).with_name("paraphrases.tsv")


def main() -> None:
    """Ask all questions, and print the wrong ones and the counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--database", type=Path)
    arguments = parser.parse_args()
    answered: Counter[tuple[str, str]] = Counter()
    total: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        database = arguments.database or Path(folder) / "paraphrases.db"
        is_new = not database.exists()
        with Memory.open(database) as memory, QUESTIONS.open(encoding="utf-8", newline="") as file:
            if is_new:
                memory.index([arguments.path])
            for row in csv.DictReader(file, delimiter="\t"):
                kind = "answerable" if row["answered_by"] else "other"
                has_answer = bool(memory.recall(row["question"]).entries)
                answered[kind, row["half"]] += has_answer
                total[kind, row["half"]] += 1
                if has_answer != (kind == "answerable"):
                    print(f"{kind}, {row['half']}: {'answered' if has_answer else 'silent'}: {row['question']}")
    for key, number in total.items():
        print(f"{' '.join(key):16} answered {answered[key]} of {number}")


if __name__ == "__main__":
    main()
