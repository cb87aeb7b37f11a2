"""Count the right and the wrong warnings before commands and edits of `warned/pairs.tsv`.

    python benchmarks/warned_pairs.py [--misses]

A row has a history and what is about to run in the same project, `PROJECT`. Steps of a history are divided by ` || `:

    > words           the user
    $ call => output  a command that succeeded
    ! call => output  a command that failed, or that the user refused with a reason (`REFUSED reason`)
    ~ path            a change of a file
    ~! path => error  a change that failed or was refused
    --                the next session

`warn` says whether a warning would be right. The way in which commands are compared was chosen with the set `tune`. `report` was written
afterwards. Two of its 25 rows without a warning then got one, and 12 of its 15 others; a rule against the two was added.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import orjson

from pastchats_memory import Memory
from pastchats_memory.episodes.known_failures import PlannedCommand, PlannedEdit, find_before
from pastchats_memory.store.database import Database, open_database

PAIRS = Path(__file__).parent / "warned" / "pairs.tsv"
REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string "
    "was NOT written to the file). To tell you how to proceed, the user said:\n"
)
Row = dict[str, str]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--misses", action="store_true", help="print the rows that are wrong")
    arguments = parser.parse_args()
    with PAIRS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    counts: Counter[tuple[str, str, bool]] = Counter()
    with tempfile.TemporaryDirectory() as scratch:
        folder, path = Path(scratch) / "transcripts", Path(scratch) / "memory.db"
        for number, row in enumerate(rows):
            write_sessions(folder, number, row["history"])
        with Memory.open(path) as memory:
            memory.index([folder])
        with open_database(path, vec0=False) as database:
            for number, row in enumerate(rows):
                is_warned = find_warning(database, number, row["now"])
                counts[row["set"], row["warn"], is_warned] += 1
                if arguments.misses and is_warned != (row["warn"] == "yes"):
                    print("wrong" if is_warned else "missed", row["why"], row["now"], sep="\t")
    print("| set | right warnings | wrong warnings |\n|---|--:|--:|")
    for name in dict.fromkeys(row["set"] for row in rows):
        right, wrong = (
            f"{counts[name, warn, True]} of {counts[name, warn, True] + counts[name, warn, False]}"
            for warn in ("yes", "no")
        )
        print(f"| {name} | {right} | {wrong} |")


def find_warning(database: Database, number: int, now: str) -> bool:
    """Return whether something that is about to run gets a warning."""
    project = name_project(number)
    text = now.replace("PROJECT", project)
    action = PlannedEdit(text[2:], project) if text.startswith("~ ") else PlannedCommand(text, project)
    return find_before(database, project, action, lambda _: False) is not None


def name_project(number: int) -> str:
    """Return the name of a row's project."""
    return f"project{number:03d}"


def write_sessions(folder: Path, number: int, history: str) -> None:
    """Write the sessions of a row as transcripts of Claude Code."""
    name = name_project(number)
    for place, session in enumerate(history.replace("PROJECT", name).split(" || -- || ")):
        records: list[dict[str, Any]] = []
        for step in session.split(" || "):
            records += list_records(step, f"{name}-{place}-{len(records)}", f"/home/u/{name}")
        for line, record in enumerate(records):
            time = f"2026-{place + 1:02d}-{number % 28 + 1:02d}T{number // 28:02d}:{line:02d}:00.000Z"
            record |= {"sessionId": f"{name}-{place}", "cwd": f"/home/u/{name}", "timestamp": time}
            record |= {"uuid": f"{name}-{place}-{line}", "version": "2.0.14"}
        path = folder / f"{name}-{place}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"\n".join(map(orjson.dumps, records)))


def list_records(step: str, id_: str, cwd: str) -> list[dict[str, Any]]:
    """Return the records of a step: the user's words, or a call with its result."""
    mark, _, rest = step.partition(" ")
    if mark == ">":
        return [{"type": "user", "message": {"role": "user", "content": rest}}]
    subject, _, output = rest.partition(" => ")
    text = output.replace("REFUSED ", REFUSED) or "done"
    tool, inputs = "Bash", {"command": subject}
    if mark.startswith("~"):
        tool, inputs = "Edit", {"file_path": subject if subject.startswith("/") else f"{cwd}/{subject}"}
    is_error = mark in ("!", "~!")
    if mark == "!" and not output.startswith(("REFUSED ", "Exit code")):
        text = f"Exit code 1\n{text}"
    call = {"type": "tool_use", "id": id_, "name": tool, "input": inputs}
    result = {"type": "tool_result", "tool_use_id": id_, "content": text, "is_error": is_error}
    return [
        {"type": "assistant", "message": {"role": "assistant", "id": f"m-{id_}", "content": [call]}},
        {"type": "user", "message": {"role": "user", "content": [result]}},
    ]


if __name__ == "__main__":
    main()
