"""Scores the rules on compact episodes: what was asked, how the last answer ended, what was done, what the person said next.

    python benchmarks/outcome/compact.py FOLDER [--sure 2] [--wrong]

The folder has the `*.jsonl` that `compact.tsv` labels, an object a line with `ask`, `end`, `did` (edit, commit, command, check_green,
check_red, error, asked_back) and `next`; no text of them is stored here (GUIDE.md). Rows are lost with the rest of an
answer, so that these episodes try what is read out of people's words, and nothing of what machines say.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from draw import HERE
from score import VERDICTS, wilson

from pastchats_memory.episodes.outcome import Outcome, Row, derive_outcome
from pastchats_memory.store.outcomes import LEAST_CONFIDENCE

FENCES = ("```", "<<<<<<<", ">>>>>>>")
"""Of an answer of which only the end is there, one of two is missing."""


def digest(ask: str, following: str) -> str:
    """Of the words of both sides of an episode."""
    return hashlib.sha256(f"{ask}\n\n{following}".encode()).hexdigest()[:16]


def rows(ask: str, end: str, did: list[str]) -> list[Row]:
    """Return the episode's rows with a tool call for each deed."""
    tools = [label for kind, label in (("edit", "Edit src/file.py"), ("command", "Bash ./run.sh")) if kind in did]
    metadata = {"tools": tools, "commits": ["abc1234"] if "commit" in did else []}
    text = "\n".join(line for line in end.split("\n") if not line.lstrip().startswith(FENCES)).strip()
    return [Row("user", "prompt", ask), *([Row("assistant", "answer", text, metadata)] if text else [])]


def told(folder: Path, least: int) -> Iterator[tuple[str, Outcome, str]]:
    """Label, outcome and next words of each episode whose labeller was as sure as that, and that no error ended."""
    with (HERE / "compact.tsv").open(encoding="utf-8", newline="") as file:
        labels = {row["digest"]: row for row in csv.DictReader(file, delimiter="\t")}
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").split("\n"):
            one = json.loads(line) if line else {}
            row = labels.get(digest(one.get("ask", ""), one.get("next", "")))
            if row and int(row["sure"]) >= least and "error" not in one["did"]:
                yield row["label"], derive_outcome(rows(one["ask"], one["end"], one["did"]), one["next"]), one["next"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sure", type=int, default=2, help="1 takes those that were a coin toss as well")
    parser.add_argument("--wrong", action="store_true", help="print what was told wrongly")
    arguments = parser.parse_args()
    signals: dict[tuple[str, str], Counter[bool]] = defaultdict(Counter)
    said: Counter[tuple[str, str]] = Counter()
    for label, given, following in told(arguments.folder, arguments.sure):
        verdict = given.verdict if given.confidence >= LEAST_CONFIDENCE else "unknown"
        said[label, verdict] += 1
        signals[given.verdict, given.signal][given.verdict == label] += 1
        if arguments.wrong and verdict in ("worked", "failed") and verdict != label:
            print(f"{label}, told {verdict} by {given.signal}: {' '.join(following.split())[:160]}")
    for (verdict, signal), right in sorted(signals.items()):
        print(f"{verdict:8}{signal or 'no signal':18}{wilson(right[True], right.total())}")
    for verdict in ("worked", "failed"):
        print(f"{verdict:8}{'':18}{wilson(said[verdict, verdict], sum(said[label, verdict] for label in VERDICTS))}")
    unknown = sum(said[label, "unknown"] for label in VERDICTS)
    print(f"told    {'':18}{wilson(said.total() - unknown, said.total())}")


if __name__ == "__main__":
    main()
