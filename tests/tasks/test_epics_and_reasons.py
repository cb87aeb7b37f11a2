"""Questions about epics, about how something was solved, and about why a task waits."""

from __future__ import annotations

import json

import pytest
from program import Program

EPICS = {
    "OPS": ("Operations and on-call", ["Rotate the backups", "Alert on full disks", "Patch the hosts"]),
    "AUTH": (
        "Login and sessions",
        ["Reset passwords by mail", "SAML for enterprise customers", "Lock after five attempts"],
    ),
    "PAY": ("Payments and refunds", ["Refund partial orders", "Customers are charged twice on retry", "Send receipts"]),
}
COMMENTS = {
    "AUTH-2": ["Work began.", "Blocked: the identity provider has not sent its certificate yet.", "See you on Monday."],
    "PAY-2": ["Fixed the double charge: each retry sends the idempotency key."],
}
STATUSES = {"OPS-3": "closed", "AUTH-2": "blocked", "PAY-2": "closed"}


def make_issue(
    key: str, title: str, status: str = "open", kind: str = "task", waits: dict[str, str] | None = None
) -> str:
    """Return an issue of Beads as a line."""
    day = "2026-05-01T08:00:00Z"
    issue = {
        "id": key, "title": title, "status": status, "issue_type": kind, "priority": 2, "created_at": day, "updated_at": day,
        "dependencies": [{"issue_id": key, "depends_on_id": of, "type": how} for of, how in (waits or {}).items()],
        "comments": [{"author": "ada", "text": text, "created_at": day} for text in COMMENTS.get(key, ())],
    }  # fmt: skip
    return json.dumps(issue) + "\n"


@pytest.fixture
def shop(program: Program) -> Program:
    """Three epics with three tasks each, one of which waits for a task outside."""
    lines = [
        make_issue("R-1", "Double charge report for support", "in_progress"),
        make_issue("C-1", "Get the certificate"),
    ]
    for epic, (title, parts) in EPICS.items():
        lines.append(make_issue(epic, title, kind="epic"))
        for number, part in enumerate(parts, start=1):
            key = f"{epic}-{number}"
            waits = {epic: "parent-child", **({"C-1": "blocks"} if key == "AUTH-2" else {})}
            lines.append(make_issue(key, part, STATUSES.get(key, "open"), waits=waits))
    folder = program.home / ".beads"
    folder.mkdir()
    (folder / "issues.jsonl").write_text("".join(lines), encoding="utf-8")
    assert program("index", ".beads/issues.jsonl").status == 0
    return program


@pytest.mark.parametrize(
    ("question", "keys"),
    [
        ("tasks in the AUTH epic", {"AUTH-1", "AUTH-2", "AUTH-3"}),
        ("open tasks in the payments epic", {"PAY-1", "PAY-3"}),
        ("which tasks of the payments epic are done?", {"PAY-2"}),
        ("what is left in operations?", {"OPS-1", "OPS-2"}),
    ],
)
def test_an_epic_is_named_by_its_key_or_by_a_word_of_its_title(shop: Program, question: str, keys: set[str]) -> None:
    assert {task["key"] for task in shop("ask", question, "--json").results} == keys


def test_the_tasks_that_are_left_in_an_epic_are_counted(shop: Program) -> None:
    assert "2 tasks" in shop("ask", "how many tasks are left in Operations?").stdout


def test_a_question_how_something_was_solved_gets_the_solved_task_and_its_resolution(shop: Program) -> None:
    run = shop("ask", "how did we fix the double charge?")
    assert "PAY-2" in run.stdout
    assert "> Fixed the double charge: each retry sends the idempotency key." in run.stdout
    assert "R-1" not in run.stdout


def test_a_question_why_a_task_is_blocked_gets_the_comment_that_says_why_and_what_blocks_it(shop: Program) -> None:
    run = shop("ask", "why is the SAML task blocked?")
    assert "AUTH-2 says:\n> Blocked: the identity provider has not sent its certificate yet." in run.stdout
    assert "Get the certificate" in run.stdout
