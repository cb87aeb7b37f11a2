"""What to take up next: tasks that can be started, the best first, each with its reason; and who waits for what."""

from __future__ import annotations

import json

import pytest
from program import Program

DAY = "2026-05-01T08:00:00Z"
TASKS = {
    "E-1": {"title": "Payments", "issue_type": "epic", "priority": 0},
    "E-2": {"title": "Put off", "issue_type": "epic", "status": "deferred"},
    "A-1": {"title": "Refunds by hand", "priority": 1},
    "A-2": {"title": "Receipts by mail", "priority": 1, "in": "E-1"},
    "A-3": {"title": "Refunds by rule", "priority": 0, "waits": "A-2", "assignee": "ada"},
    "A-4": {"title": "Parent of a part", "priority": 0},
    "A-5": {"title": "Part", "priority": 2, "in": "A-4"},
    "A-6": {"title": "Part of what was put off", "priority": 0, "in": "E-2"},
    "A-7": {"title": "In progress", "status": "in_progress", "priority": 0},
    "A-8": {"title": "Overdue", "priority": 1, "due_at": "2026-05-02T08:00:00Z"},
    "A-9": {"title": "Waits for mail", "status": "blocked", "comments": [{"text": "Blocked: no certificate yet.", "created_at": DAY}]},
    **{f"B-{number}": {"title": f"Minor thing {number}", "priority": 3} for number in range(12)},
}  # fmt: skip


def make_line(key: str, fields: dict[str, object]) -> str:
    links = [(fields.pop("in", None), "parent-child"), (fields.pop("waits", None), "blocks")]
    issue = {"id": key, "status": "open", "issue_type": "task", "created_at": DAY, "updated_at": DAY, **fields}
    issue["dependencies"] = [{"issue_id": key, "depends_on_id": to, "type": kind} for to, kind in links if to]
    return json.dumps(issue) + "\n"


@pytest.fixture
def board(program: Program) -> Program:
    folder = program.home / ".beads"
    folder.mkdir()
    lines = [make_line(key, dict(fields)) for key, fields in TASKS.items()]
    (folder / "issues.jsonl").write_text("".join(lines), encoding="utf-8")
    assert program("index", ".beads/issues.jsonl").status == 0
    return program


@pytest.mark.parametrize("question", ["what should I work on next?", "what next?", "where do I start", "next task"])
def test_at_most_ten_tasks_that_can_be_started_come_best_first_with_their_reasons(
    board: Program, question: str
) -> None:
    run = board("ask", question, "--json")
    keys = [task["key"] for task in run.results]
    assert keys[:4] == ["A-8", "A-2", "A-1", "A-5"]
    assert len(keys) == 10
    assert set(keys).isdisjoint({"E-1", "E-2", "A-3", "A-4", "A-6", "A-7", "A-9"})
    assert run.json["reasons"].keys() == {f"t:{key}" for key in keys}
    assert run.json["reasons"]["t:A-8"] == "high priority; overdue since 2026-05-02"
    assert run.json["reasons"]["t:A-2"] == "high priority; 1 task waits for it"


def test_the_reason_stands_beside_the_task(board: Program) -> None:
    assert "why" in (shown := board("ask", "what should I do first?").stdout)
    assert "1 task waits for it" in shown


def test_without_a_task_to_start_those_in_progress_answer_with_a_remark(program: Program) -> None:
    assert program("task", "add", "Mend the gate", "--status", "in_progress", "--key", "G-1").status == 0
    run = program("ask", "what next?", "--json")
    assert [task["key"] for task in run.results] == ["G-1"]
    assert run.json["warnings"] == ["nothing can be started; these are in progress"]


@pytest.mark.parametrize("question", ["who is blocked on what?", "what is waiting for what?"])
def test_a_question_who_waits_for_what_gets_both(board: Program, question: str) -> None:
    run = board("ask", question, "--json")
    assert [task["key"] for task in run.results] == ["A-3", "A-9"]
    assert run.json["reasons"] == {
        "t:A-3": "ada: waits for A-2 Receipts by mail", "t:A-9": "Blocked: no certificate yet.",
    }  # fmt: skip


def test_a_question_what_can_be_postponed_gets_what_can_wait(board: Program) -> None:
    postponed, waiting = (board("ask", f"what can {verb}?", "--json").json for verb in ("be postponed", "wait"))
    assert postponed == waiting
    assert {task["key"] for task in waiting["results"]} == {f"B-{number}" for number in range(12)}
