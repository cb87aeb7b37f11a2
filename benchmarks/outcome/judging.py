"""How often who reads an episode is right: verdicts of agents that had `judge` and its skill, against the labels.

    python benchmarks/outcome/judging.py                        what `judging.tsv` has, by part
    python benchmarks/outcome/judging.py --take DATABASE...     the verdicts of memories in which transcripts of `episodes.tsv` were judged, as rows for that table

Whoever reads them has seen neither labels nor transcripts, but what `judge` and `show` print (GUIDE.md).
"""

from __future__ import annotations

import argparse
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from score import VERDICTS, labels, print_table, table

THIS = "third"
"""The skill that agents are given now; by the second, `agents11` was judged, which said less of what is mixed."""
JUDGED = """
SELECT q.source_path, s.line, o.verdict FROM outcomes o
JOIN prompts q ON q.source_project = o.source_project AND q.conversation_id = o.conversation_id
  AND q.turn_index BETWEEN o.first_index AND o.last_index AND q.role = 'user'
JOIN sightings s ON s.prompt_id = q.id
WHERE o.signal = 'judged'"""
"""Each turn of a person in a judged episode: file, line, verdict."""


def read_verdicts(database: Path) -> Iterator[tuple[str, str]]:
    """Return number and verdict of the labelled episodes judged in a memory."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        given = {(Path(path).name, line): verdict for path, line, verdict in connection.execute(JUDGED)}
    for row in table("episodes.tsv"):
        if verdict := given.get((Path(row["file"]).name, int(row["line"]))):
            yield row["number"], verdict


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--take", type=Path, nargs="+", metavar="DATABASE", default=[])
    arguments = parser.parse_args()
    for database in arguments.take:
        print("\n".join("\t".join(row) for row in read_verdicts(database)))
    if not arguments.take:
        report()


def report() -> None:
    first, second = labels("labels.tsv"), labels("labels-b.tsv")
    parts = {row["number"]: row["part"] for row in table("episodes.tsv")}
    rows = table("judging.tsv")
    judged = {row["number"]: row["verdict"] for row in rows}
    groups = {part: [number for number in judged if parts[number] == part] for part in map(parts.__getitem__, judged)}
    groups["by the skill as it is"] = [row["number"] for row in rows if row["skill"] == THIS]
    for skill in ("question", "question2"):
        groups[f"by the {skill} of `judge --auto`"] = [row["number"] for row in rows if row["skill"] == skill]
    for name, numbers in groups.items():
        print(f"\n{name}: {len(numbers)} episodes; beside the second label:", _right_of(judged, second, numbers))
        print_table(Counter((first[number], judged[number]) for number in numbers))


def _right_of(judged: dict[str, str], second: dict[str, str], numbers: list[str]) -> str:
    pairs = Counter((second[number], judged[number]) for number in numbers if number in second)
    given = {verdict: sum(pairs[other, verdict] for other in VERDICTS) for verdict in ("worked", "failed")}
    return ", ".join(f"{verdict} {pairs[verdict, verdict]} of {given[verdict]}" for verdict in given)


if __name__ == "__main__":
    main()
