"""Measure how often each verdict of `check-prior-work` is right.

The written tasks (`tasks/paraphrases.tsv`) are stored beside all real ones, each in a state by its place; then what says
the same otherwise is asked, and what is near but another. Those that are not stored are expected to be new. Only the
half that no weight was fitted on is counted.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

from tasks_calibrate import Pair, written
from tasks_files import shared_tasks

from pastchats_memory import Memory
from pastchats_memory.model import Task
from pastchats_memory.store import vectors
from pastchats_memory.store.tasks import Filed

STATES = (
    ("done", "done"),
    ("doing", "in_progress"),
    ("abandoned", "failed_before"),
    ("superseded", "superseded"),
    ("", "new"),
)


def main() -> None:
    rows = [row for row in written() if not Pair(row["task"], row["same_said_otherwise"], "", "").is_for_tuning]
    asked = []
    with tempfile.TemporaryDirectory() as folder, Memory.open(Path(folder) / "m.db") as memory:
        tasks = [Filed(Task(f"r{n}", k.text.partition("\n")[0], scope="r", description=k.text.partition("\n")[2].strip(),
                            status_raw="open"), "real", "/real") for n, k in enumerate(shared_tasks())]  # fmt: skip
        for number, row in enumerate(rows * len(STATES)):
            raw, verdict = STATES[(number + number // len(rows)) % len(STATES)]
            asked.append((row, raw, verdict))
        right: Counter[str] = Counter()
        said: Counter[str] = Counter()
        true: Counter[str] = Counter()
        tasks_memory = memory.tasks
        ready = tasks_memory.embed_tasks([one.task for one in tasks] + [Task("", row["task"]) for row in rows])
        with tasks_memory._database.transaction():  # noqa: SLF001 - a benchmark fills the store as `index` does
            writer = tasks_memory.open_writer(ready)
            for one in tasks:
                writer.store(one)
            vectors.catch_up(tasks_memory._database)  # noqa: SLF001 - a batch in one transaction, which `TaskMemory` does not offer
        for row, raw, verdict in asked:
            if raw:
                with tasks_memory._database.transaction():  # noqa: SLF001 - a batch in one transaction, which `TaskMemory` does not offer
                    tasks_memory.open_writer(ready).store(
                        Filed(Task("w", row["task"], scope="w", status_raw=raw), "w", "/w")
                    )
                    vectors.catch_up(tasks_memory._database)  # noqa: SLF001 - a batch in one transaction, which `TaskMemory` does not offer
            answer = memory.check_prior_work(row["same_said_otherwise"]).verdict
            true[verdict] += 1
            said[answer] += 1
            right[verdict] += answer == verdict
            if raw:
                memory.tasks.delete("w")
    for verdict in true:
        print(
            f"{verdict:14} precision {right[verdict] / max(1, said[verdict]):.2f}  recall {right[verdict] / true[verdict]:.2f}  n {true[verdict]}"
        )


if __name__ == "__main__":
    main()
