"""A small memory of a garden: a tracker with tasks in every column, and a test that failed twice before it was fixed."""

from __future__ import annotations

import json
from pathlib import Path

from program import write_messages

ISSUES = (
    {"id": "gdn-1", "title": "Prune the roses before the frost", "status": "open", "priority": 0, "issue_type": "task",
     "description": "All of them, **also** the climbing ones.\n\n- north bed\n- south bed", "labels": ["garden", "autumn"]},
    {"id": "gdn-2", "title": "The pump of the pond is loud", "status": "in_progress", "priority": 1, "issue_type": "bug",
     "description": "It hums from dusk on.", "comments": [{"text": "The impeller is new.", "author": "kim", "created_at": "2026-05-05T08:00:00Z"}]},
    {"id": "gdn-3", "title": "Wait for the seeds", "status": "blocked", "priority": 3, "issue_type": "task", "description": "",
     "dependencies": [{"issue_id": "gdn-3", "depends_on_id": "gdn-2", "type": "blocks"}]},
    {"id": "gdn-4", "title": "Mend the gate", "status": "closed", "priority": 2, "issue_type": "task", "description": "The hinge is rusty.",
     "closed_at": "2026-05-06T08:00:00Z"},
    {"id": "gdn-5", "title": "A greenhouse", "status": "open", "priority": 4, "issue_type": "epic", "description": ""},
    {"id": "gdn-5.1", "title": "Choose the glass", "status": "closed", "priority": 2, "issue_type": "task", "description": "",
     "dependencies": [{"issue_id": "gdn-5.1", "depends_on_id": "gdn-5", "type": "parent-child"}], "closed_at": "2026-05-07T08:00:00Z"},
)  # fmt: skip


def write_tracker(home: Path) -> Path:
    """Write the tracker, and return its folder."""
    folder = home / "garden" / ".beads"
    folder.mkdir(parents=True)
    at = {"created_at": "2026-05-04T08:00:00Z", "updated_at": "2026-05-04T09:00:00Z"}
    lines = [json.dumps({**at, **issue}) + "\n" for issue in ISSUES]
    (folder / "issues.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder


LESSON = [
    ("user", "The login test fails with a timeout. Fix it."),
    ("assistant", "I raised the timeout to 5 seconds."),
    ("user", "No, the login test still fails with the same error."),
    ("assistant", "I now wait for the page."),
    ("user", "It is still broken: the login test fails."),
    ("assistant", "The clock was mocked after the import. Fixed.\n\n`pytest` says: 12 passed in 0.8s"),
    ("user", "It works now, thanks!"),
]  # fmt: skip


def write_lesson(home: Path) -> Path:
    """Write the conversation of the test that failed twice, and return its path."""
    return write_messages(home / "login.jsonl", *LESSON)
