"""Count the recall blocks that hold the decisive line of an earlier solution.

    python benchmarks/usefulness.py FOLDER [--tasks first|fresh|unseen] [--db FILE] [--bytes N] [--misses]

The folder holds the transcripts that the files in `usefulness/` name: of each task a question as a later session would ask it, and
file, line and SHA-256 (16 hex digits) of the line or the sentence that decided the earlier one. No text of any transcript is stored. The
database is made of the folder unless one is given that was.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pastchats_memory import Memory
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.registry import detect_format
from pastchats_memory.model.episodes import RecallBlock

FOLDER = Path(__file__).parent / "usefulness"
FILES = {"first": "tasks.tsv", "fresh": "fresh.tsv", "unseen": "unseen.tsv"}
"""Forty tasks with which the weights of lines were chosen, forty that were written afterwards, and forty that were written before the
room of a block was divided among its entries."""
BYTES = 1500
ENTRIES = 3
"""As a prompt's hook asks for."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True)
class Task:
    """A question, and the line of an earlier answer that would settle it."""

    question: str
    file: str
    line: int
    digest: str


def plain(text: str) -> str:
    """Without marks of quotation and emphasis, every run of blanks one blank."""
    return " ".join(re.sub(r"^>\s?|[*`]+", "", text, flags=re.MULTILINE).split())


def pieces(text: str) -> Iterator[str]:
    """Yield the lines of a text and their sentences."""
    for line in text.split("\n"):
        yield plain(line)
        yield from (plain(sentence) for sentence in _SENTENCE.split(line))


def digest(piece: str) -> str:
    return hashlib.sha256(piece.encode()).hexdigest()[:16]


def tasks(name: str = "first") -> list[Task]:
    with (FOLDER / FILES[name]).open(encoding="utf-8", newline="") as file:
        return [
            Task(row["question"], row["file"], int(row["line"]), row["digest"])
            for row in csv.DictReader(file, delimiter="\t")
        ]


def decisive_line(folder: Path, task: Task) -> str | None:
    """Return the line with the task's digest, or None if the transcript changed."""
    source = SourceFile(folder / task.file)
    reader = detect_format(source)
    for turn in reader.read(source) if reader else ():
        if getattr(turn, "line", 0) == task.line and (content := getattr(turn, "content", "")):
            for piece in pieces(content):
                if digest(piece) == task.digest:
                    return piece
    return None


def recall_block(memory: Memory, question: str, size: int = BYTES) -> RecallBlock:
    return memory.recall(question, size, limit=ENTRIES, count_tokens=lambda text: len(text.encode()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--db", type=Path)
    parser.add_argument("--tasks", choices=FILES, default="first")
    parser.add_argument("--bytes", type=int, default=BYTES, help="of a block")
    parser.add_argument("--misses", action="store_true", help="name the tasks whose line is missing")
    arguments = parser.parse_args()
    lines = {task: decisive_line(arguments.folder, task) for task in tasks(arguments.tasks)}
    known = {task: line for task, line in lines.items() if line is not None}
    if len(known) < len(lines):
        print(
            f"{len(lines) - len(known)} lines are not in the folder, or their readers give them otherwise",
            file=sys.stderr,
        )
    with (
        tempfile.TemporaryDirectory() as scratch,
        Memory.open(arguments.db or Path(scratch) / "memory.db") as memory,
    ):
        if arguments.db is None:
            memory.index([arguments.folder])
        blocks = {task: recall_block(memory, task.question, arguments.bytes) for task in known}
        report(arguments.tasks, blocks, known, names=arguments.misses)


def report(name: str, blocks: dict[Task, RecallBlock], known: dict[Task, str], *, names: bool) -> None:
    held = [task for task, block in blocks.items() if known[task] in plain(block.text)]
    found = [
        task for task, block in blocks.items()
        if any(hit.source_path.endswith(task.file) for hit in block.hits)
    ]  # fmt: skip
    size = sum(len(block.text.encode()) for block in blocks.values()) / len(blocks)
    print(
        f"{name}: {len(held)} of {len(blocks)} blocks hold the decisive line; {len(found)} cite its transcript; "
        f"{size:.0f} bytes on average, {max(len(block.text.encode()) for block in blocks.values())} at most"
    )
    for task in blocks if names else ():
        if task not in held:
            print(f"  missed{'' if task in found else ' (transcript not cited)'}: {task.question}")


if __name__ == "__main__":
    main()
