"""Conversations about the irrigation of a garden: a workaround and its rejection, a refuted fix, decisions that others replace."""

from __future__ import annotations

import json
from pathlib import Path

Turns = tuple[tuple[str, str], ...]

TIMEOUTS: Turns = (
    ("user", "The valve controller gets timeouts from the database every night. Please fix it."),
    ("assistant", "I raised the connection pool in pool.toml from 5 to 20, so the controller no longer waits for a connection."),
    ("tool", "$ pytest -q tests/test_pool.py\n12 passed in 0.8s"),
    ("assistant", "The pool has 20 connections now, and 12 tests pass."),
    ("user", "Thanks, looks good."),
    ("assistant", "You are welcome."),
)  # fmt: skip
WARNING: Turns = (
    ("user", "At its start moistread prints `DeprecationWarning: pkg_resources is deprecated`. Get rid of it."),
    ("assistant", "I added a filter to daemon.py, which hides the DeprecationWarning of moistread."),
    ("user", "That only hides the warning, it does not solve it."),
    ("assistant", "You are right. The old version of moistread imports pkg_resources to read its own version."),
    ("user", "Is there a release that does without?"),
    ("assistant", "Yes, moistread 2.4 reads its version by importlib.metadata, and nothing else changed in it."),
    ("user", "Take that one then."),
    ("assistant", "I pinned moistread to 2.4 in requirements.txt and removed the filter from daemon.py. It starts without a DeprecationWarning."),
    ("user", "Yes, the warning is gone, thanks!"),
    ("assistant", "Good."),
    ("user", "Now paint the dashboard green."),
    ("assistant", "The dashboard is green."),
)  # fmt: skip
REFUTATION: Turns = (
    ("user", "So the bigger pool from March did not cure the timeouts: the valve controller hung again last night. Find the real cause."),
    ("assistant", "The nightly backup locks the table of valves for 40 seconds. I let the backup read a snapshot, so the controller never waits for it."),
    ("user", "A week without a timeout, well done."),
    ("assistant", "Good to hear."),
)  # fmt: skip
REVIEW: Turns = (
    ("user", "Review the module that reads the weather report, please."),
    ("assistant", "The module is clear. Two findings: the report is parsed twice, and a missing file is not noticed at night."),
    ("user", "Parse it once, then."),
    ("assistant", "It is parsed once now."),
)  # fmt: skip
HISTORY = {
    "timeouts": ("2026-03-02", TIMEOUTS),
    "warning": ("2026-03-10", WARNING),
    "refutation": ("2026-04-06", REFUTATION),
    "review": ("2026-04-20", REVIEW),
}


def write_history(folder: Path, *names: str) -> Path:
    """Write the conversations with these names, or all of them, and return their folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or HISTORY:
        day, turns = HISTORY[name]
        lines = (
            {
                "conversation_id": name, "project": "irrigation", "role": role, "content": text,
                "timestamp": f"{day}T08:{minute:02}:07.000Z",
            }
            for minute, (role, text) in enumerate(turns)
        )  # fmt: skip
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder
