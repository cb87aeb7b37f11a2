"""Ask how things ended, and count the blocks of recall and of the prompt hook that say it.

    python benchmarks/endings.py NAME|QUESTIONS.tsv [FOLDER] [--blocks]

`endings/NAME.txt` is a history of sessions that was written for the purpose, `endings/NAME.tsv` its questions: the project's
folder, the sentences that say how it ended (with `||` between them), and what would mislead. A question with the sentence
`(silence)` is about something else. A FOLDER has transcripts instead of the history. A block holds a sentence if it has
three quarters of its words in a row of its own. That counts what is there, not what it comes first beside: `--blocks` prints all
blocks for a reader, whose judgements stand in `endings/NAME.labels.tsv`.

The history has a session after each line `=== name | agent | folder | branch | start`, and a step a line:

    > words      the person           < words      the assistant       $ command    a command        | text     more of the line above
    E file       an edit, -- and ++   W file       a new file          R file       a look at it     !| text    the output of a failure
    N words      the person refuses   X            the person stops    L text       an error of the client
    @ time       later (`+14` minutes, or a time)
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from pastchats_memory import Memory
from pastchats_memory.hooks import answers
from pastchats_memory.hooks.event import HookEvent

HERE = Path(__file__).parent / "endings"
SILENCE = "(silence)"
ENOUGH = 0.75
"""Share of a sentence's words that a block holds one after the other."""
BUDGET = 1500
WORD = re.compile(r"\w+")
STEP = re.compile(r"(===|!\||\+\+|--|[><$|EWRNXL@])(?: |\Z)(.*)", re.DOTALL)
REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


def read_steps(file: Path) -> Iterator[list[tuple[str, str]]]:
    """Yield the steps of each session, the first of which is its heading."""
    steps: list[tuple[str, str]] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        found = STEP.match(line)
        if found is None:
            if steps and line:
                steps[-1] = (steps[-1][0], f"{steps[-1][1]}\n{line}")
        elif found[1] == "===":
            if steps:
                yield steps
            steps = [("===", found[2])]
        elif found[1] in ("|", "!|", "++", "--") and steps[-1][0] in (found[1], *("<>" if found[1] == "|" else "")):
            steps[-1] = (steps[-1][0], f"{steps[-1][1]}\n{found[2]}")
        else:
            steps.append((found[1], found[2]))
    if steps:
        yield steps


class Session:
    """A session of Claude Code, a record a line."""

    def __init__(self, number: int, heading: str) -> None:
        self.name, _, self.folder, self.branch, start = (part.strip() for part in heading.split("|"))
        self.id = f"{number:08d}-0000-4000-8000-000000000000"
        self.time = datetime.fromisoformat(start)
        self.records: list[dict[str, object]] = []

    def add(self, kind: str, content: object, **more: object) -> None:
        """Add a record, half a minute after the one before it."""
        self.time += timedelta(seconds=30)
        number = len(self.records)
        self.records.append(
            {
                "type": kind,
                "uuid": f"{self.id}-{number}",
                "parentUuid": f"{self.id}-{number - 1}" if number else None,
                "sessionId": self.id,
                "cwd": self.folder,
                "gitBranch": self.branch,
                "version": "2.1.62",
                "isSidechain": False,
                "timestamp": f"{self.time.isoformat(timespec='milliseconds')}Z",
                "message": {"id": f"{self.id}-{number}", "role": kind, "model": "claude-opus-4-6", "content": content},
            }
            | more
        )

    def use(self, tag: str, subject: str, parts: dict[str, str]) -> None:
        """Add the call of a tool and its result."""
        path = subject if subject.startswith("/") else f"{self.folder}/{subject}"
        name, given, done = {
            "$": ("Bash", {"command": subject}, parts.get("|", "")),
            "R": ("Read", {"file_path": path}, parts.get("|", "")),
            "W": (
                "Write",
                {"file_path": path, "content": parts.get("++", "")},
                f"File created successfully at: {path}",
            ),
            "E": (
                "Edit",
                {"file_path": path, "old_string": parts.get("--", ""), "new_string": parts.get("++", "")},
                f"The file {path} has been updated successfully.",
            ),
        }[tag]
        failure = f"Exit code 1\n{parts['!|']}" if "!|" in parts else None
        if "N" in parts:
            failure = f"{REFUSED} To tell you how to proceed, the user said:\n{parts['N']}"
        call = f"toolu_{self.id}_{len(self.records)}"
        self.add("assistant", [{"type": "tool_use", "id": call, "name": name, "input": given}])
        result = {"type": "tool_result", "tool_use_id": call, "content": failure or done, "is_error": bool(failure)}
        self.add("user", [result])

    def write(self, steps: list[tuple[str, str]], home: Path) -> None:
        """Write the file of the session."""
        place = 0
        while place < len(steps):
            tag, text = steps[place]
            place += 1
            parts = {}
            while tag in "$EWR" and place < len(steps) and steps[place][0] in ("|", "!|", "++", "--", "N"):
                parts[steps[place][0]] = steps[place][1]
                place += 1
            match tag:
                case ">":
                    self.add("user", text)
                case "<":
                    self.add("assistant", [{"type": "text", "text": text}])
                case "X":
                    self.add("user", [{"type": "text", "text": "[Request interrupted by user]"}])
                case "L":
                    self.add("assistant", [{"type": "text", "text": text}], isApiErrorMessage=True)
                case "@":
                    minutes = timedelta(minutes=int(text)) if text.startswith("+") else None
                    self.time = self.time + minutes if minutes else datetime.fromisoformat(text)
                case _:
                    self.use(tag, text, parts)
        file = home / ".claude" / "projects" / re.sub(r"[^a-zA-Z0-9]", "-", self.folder) / f"{self.id}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in self.records), encoding="utf-8")


def write_history(file: Path, home: Path) -> Path:
    """Write all sessions of a history. Return their folder."""
    for number, (heading, *steps) in enumerate(read_steps(file), start=1):
        Session(number, heading[1]).write(steps, home)
    return home / ".claude" / "projects"


def is_held(sentence: str, block: str) -> bool:
    """Return whether a block has most of a sentence in one piece."""
    wanted, found = WORD.findall(sentence.lower()), " ".join(WORD.findall(block.lower()))
    least = max(1, round(ENOUGH * len(wanted)))
    return any(" ".join(wanted[start : start + least]) in found for start in range(len(wanted) - least + 1))


def split_expected(expected: str) -> list[str]:
    """Return the sentences that say how it ended, none for a question about something else."""
    return [] if expected == SILENCE else [sentence.strip() for sentence in expected.split("||")]


def judge(expected: str, block: str) -> str:
    """Name what a block has of the expected sentences."""
    if not block:
        return "silent"
    held = [is_held(sentence, block) for sentence in split_expected(expected)]
    if not held:
        return "answered"
    return "all" if all(held) else "some" if any(held) else "none"


def main() -> None:
    """Index, ask, count and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("questions")
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--blocks", action="store_true")
    arguments = parser.parse_args()
    named = HERE / f"{arguments.questions}.tsv"
    questions = named if named.exists() else Path(arguments.questions)
    counts: Counter[tuple[str, str, str]] = Counter()
    with tempfile.TemporaryDirectory() as scratch, questions.open(encoding="utf-8", newline="") as file:
        os.environ["HOME"] = scratch  # paths are short below it, as they are for a user
        folder = arguments.folder or write_history(named.with_suffix(".txt"), Path(scratch))
        database = Path(scratch) / "memory.db"
        with Memory.open(database) as memory:
            memory.index([folder])
            for number, row in enumerate(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE), start=1):
                found = memory.recall(row["question"], BUDGET, current_project=Path(row["project"]).name)
                given = answers.find_block(HookEvent(prompt=row["question"], cwd=row["project"]), str(database))
                blocks = {
                    "recall": found.text if found.entries else "",
                    "hook": given.text if given and given.entries else "",
                }
                kind = "other" if row["expected"] == SILENCE else "known"
                judged = {name: judge(row["expected"], text) for name, text in blocks.items()}
                counts.update((kind, name, held) for name, held in judged.items())
                print(f"{number}. {row['question']}: " + ", ".join(f"{name} {held}" for name, held in judged.items()))
                if arguments.blocks:
                    print(f"   expected: {row['expected']}\n   misleading: {row['misleading_if']}")
                    for name, text in blocks.items():
                        print(f"   --- {name}\n" + "".join(f"   {line}\n" for line in text.splitlines()))
    for (kind, name, held), number in sorted(counts.items()):
        print(f"{kind:6} {name:7} {held:9} {number}")


if __name__ == "__main__":
    main()
