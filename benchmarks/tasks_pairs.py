"""Draw the labelled pairs of tasks out of real task files: `python benchmarks/tasks_pairs.py > benchmarks/tasks/pairs.tsv`.

Nothing of the files is kept but where a pair stands: file, ids, a hash of both texts, label and why. Labels follow from
what the people who kept the lists recorded:

    duplicate   one was closed as a duplicate of the other, or superseded by it
    related     parent and child (the child is part of it), or two children of one parent that carry one label
    new         other label, other parent, no link between them, from the same file or from two projects

A child's text often repeats its parent's; a pair of `new` is drawn at random among tasks people wrote.
"""

from __future__ import annotations

import hashlib
import random
import re
import sys
from itertools import combinations
from pathlib import Path

from tasks_files import Known, shared_tasks

SEED = 20261122
PARENTS, SISTERS, OTHERS, ELSEWHERE = 110, 40, 130, 60
_DUPLICATE = re.compile(r"(?:duplicate of|superseded by|dup of|same as|covered by)\s+`?([\w.-]*\w)", re.IGNORECASE)


def pair(first: Known, second: Known, label: str, why: str) -> str:
    return "\t".join((first.file, first.id, second.id, second.file, hash_of(first, second), label, why))


def hash_of(first: Known, second: Known) -> str:
    return hashlib.sha256(f"{first.text}\0{second.text}".encode()).hexdigest()[:16]


def recorded(tasks: list[Known]) -> list[str]:
    by_id = {(task.file, task.id): task for task in tasks}
    found = []
    for task in tasks:
        for name in _DUPLICATE.findall(" ".join(task.comments)):
            other = by_id.get((task.file, name))
            if other is not None and other is not task:
                found.append(pair(task, other, "duplicate", "closed as a duplicate or superseded"))
    return found


def main() -> None:
    draw = random.Random(SEED)  # noqa: S311 - a sample that anybody can draw again
    tasks = [task for task in shared_tasks() if "machine" not in task.tags]
    lines = recorded(tasks)
    by_id = {(task.file, task.id): task for task in tasks}
    children = [task for task in tasks if (task.file, task.parent or "") in by_id]
    for child in draw.sample(children, PARENTS):
        lines.append(pair(child, by_id[child.file, child.parent or ""], "related", "parent and child"))
    sisters = [
        (a, b) for a, b in combinations(children, 2)
        if (a.file, a.parent) == (b.file, b.parent) and a.labels & b.labels
    ]  # fmt: skip
    lines += [
        pair(a, b, "related", "one parent, one label") for a, b in draw.sample(sisters, min(SISTERS, len(sisters)))
    ]
    while sum("same file" in line for line in lines) < OTHERS:
        a, b = draw.sample(tasks, 2)
        tied = {a.id, b.id} & {*a.linked, *b.linked} or a.parent == b.parent is not None or a.labels & b.labels
        if a.file == b.file and not tied and a.root(by_id) != b.root(by_id):
            lines.append(pair(a, b, "new", "same file, no link"))
    while sum("other project" in line for line in lines) < ELSEWHERE:
        a, b = draw.sample(tasks, 2)
        if a.file.partition("/")[0] + a.file != b.file.partition("/")[0] + b.file:
            lines.append(pair(a, b, "new", "other project"))
    sys.stdout.write("file\tid\tother_id\tother_file\thash\tlabel\twhy\n" + "\n".join(dict.fromkeys(lines)) + "\n")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main()
