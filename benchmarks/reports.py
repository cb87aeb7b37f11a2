"""Read files as public reports describe them, and compare with what was expected before they were read.

    python benchmarks/reports.py [ROUND]

Each line of `reports.jsonl` names a report, its files in a home folder, and the rows that they should give: role and words, the
project, and what no row may hold. Most reports have no file: the files were written for this repository after their words.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pastchats_memory import Memory

CASES = Path(__file__).with_suffix(".jsonl")
ROWS = "SELECT role, content, source_project, timestamp, metadata_json FROM prompts"


def main() -> int:
    """Print each report that is read otherwise than expected, and how many are read as expected."""
    cases = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    cases = [case for case in cases if str(case["round"]) in sys.argv[1:] or not sys.argv[1:]]
    wrong = {case["report"]: faults for case in cases if (faults := find_faults(case))}
    for report, faults in wrong.items():
        print(f"{report}: {', '.join(faults)}")
    print(f"{len(cases) - len(wrong)} of {len(cases)} are read as expected")
    return 0


def find_faults(case: Mapping[str, Any]) -> list[str]:
    """Return what is otherwise than expected in the rows of a report's files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in case["files"].items():
            path = Path(folder, "files", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_as_text(name, content), encoding="utf-8")
        with Memory.open(Path(folder, "memory.db")) as memory:
            report = memory.index([Path(folder, "files")])
        database = sqlite3.connect(Path(folder, "memory.db"))
        rows = database.execute(ROWS).fetchall()
        database.close()
    wanted = [(role, words) for role, words in case["rows"]]
    found = [
        (role, next((words for other, words in wanted if other == role and words in text), text))
        for role, text, *_ in rows
    ]
    faults = ["rows"] if sorted(found) != sorted(wanted) else []
    faults += [f"project {row[2]}" for row in rows[:1] if case["project"] not in (None, row[2])]
    faults += [f"holds {words}" for words in case.get("never", ()) if any(words in row[1] for row in rows)]
    faults += [f"lacks {words}" for words in case.get("has", ()) if all(words not in str(row) for row in rows)]
    for words in case.get("abandoned", ()):
        faults += [
            f"{words} stands" for row in rows if words in row[1] and json.loads(row[4]).get("branch") != "abandoned"
        ]
    if "title" in case and all(json.loads(row[4]).get("title") != case["title"] for row in rows):
        faults.append("title")
    if "time" in case and not any((row[3] or "").startswith(case["time"]) for row in rows[:1]):
        faults.append(f"time {[row[3] for row in rows[:1]]}")
    unread = [file for file in report.files if file.format is None and file.reason != "empty"]
    if case.get("clean") and (report.unreadable or unread):
        faults.append("a file or line that is not read")
    return faults + ([f"{report.tasks} tasks"] if report.tasks != case.get("tasks", report.tasks) else [])


def _as_text(name: str, content: object) -> str:
    """Return the content of a file: text, a document, or for `.jsonl` a record a line."""
    if isinstance(content, list) and name.endswith(".jsonl"):
        return "".join(f"{json.dumps(record)}\n" for record in content)
    return content if isinstance(content, str) else json.dumps(content)


if __name__ == "__main__":
    sys.exit(main())
