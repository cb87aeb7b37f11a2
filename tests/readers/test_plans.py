"""Tool calls that keep a list of what is to be done, as each agent makes them."""

from __future__ import annotations

import json

import pytest

from pastchats_memory.readers.plans import Plans


def tasks(plans: Plans) -> dict[str, str]:
    return {task.title: task.status_raw for task in plans.tasks()}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        (
            "TodoWrite",
            {"todos": [{"content": "Dig", "status": "pending"}, {"content": "Plant", "status": "completed"}]},
        ),
        (
            "update_plan",
            json.dumps(
                {
                    "explanation": "so",
                    "plan": [{"step": "Dig", "status": "pending"}, {"step": "Plant", "status": "completed"}],
                }
            ),
        ),
        (
            "write_todos",
            {"todos": [{"description": "Dig", "status": "pending"}, {"description": "Plant", "status": "completed"}]},
        ),
        (
            "todowrite",
            {
                "todos": [
                    {"id": "1", "content": "Dig", "status": "pending", "priority": "high"},
                    {"id": "2", "content": "Plant", "status": "completed"},
                ]
            },
        ),
        ("update_todo_list", {"todos": "[ ] ignored\n- [ ] Dig\n- [x] Plant"}),
        ("manage_todo_list", {"todoList": [{"id": 1, "title": "Dig"}, {"id": 2, "title": "Plant", "done": True}]}),
        ("functions.update_plan", {"plan": json.dumps([{"step": "Dig"}, {"step": "Plant", "completed": True}])}),
        ("execute_command", {"command": "ls", "task_progress": "- [ ] Dig\n- [x] Plant"}),
    ],
)
def test_every_agents_list_is_understood(name: str, arguments: object) -> None:
    plans = Plans()
    plans.call(name, arguments, "c", at=None, line=1)
    assert tasks(plans) == {"Dig": "pending", "Plant": "completed"}


def test_tasks_with_numbers_are_made_changed_and_deleted() -> None:
    plans = Plans()
    for number, subject in (("1", "Dig"), ("2", "Plant"), ("3", "Water")):
        plans.call(
            "TaskCreate", {"subject": subject, "description": "Soon."}, "c", at=None, line=1, call_id=f"t{number}"
        )
        plans.result(
            f"t{number}", {"task": {"id": number}} if number != "3" else None, "Task #3 created successfully: Water"
        )
    plans.call("TaskUpdate", {"taskId": "1", "status": "in_progress"}, "c", at="2026-01-01T00:00:00.000Z", line=2)
    plans.call("TaskUpdate", {"taskId": "2", "addBlockedBy": ["1"], "owner": "ada"}, "c", at=None, line=3)
    plans.call("TaskUpdate", {"taskId": "3", "status": "deleted"}, "c", at=None, line=4)
    plans.call("TaskUpdate", {"taskId": "9", "status": "completed"}, "c", at=None, line=5)
    plans.result("nobody asked", {}, "")
    first, second = plans.tasks()
    assert (first.title, [state.raw for state in first.states]) == ("Dig", ["pending", "in_progress"])
    assert [link.target for link in second.links] == ["c-1"]


def test_what_is_no_list_makes_no_task() -> None:
    plans = Plans()
    for name, arguments in (("TodoWrite", {}), ("TodoWrite", "not json"), ("TodoWrite", None), ("Read", {"todos": ["a"]}),
                            ("TodoWrite", {"todos": [3, "", {"status": "pending"}]}), ("TaskCreate", {"subject": ""})):  # fmt: skip
        plans.call(name, arguments, "c", at=None, line=1, call_id="x")
    plans.result("x", {"task": {"id": "1"}}, "")
    assert tasks(plans) == {}


def test_a_list_goes_on_where_the_file_had_ended() -> None:
    before, after = Plans(), Plans()
    before.call("TodoWrite", {"todos": ["Dig", "Plant"]}, "c", at=None, line=1)
    before.call("TaskCreate", {"subject": "Water"}, "c", at=None, line=1, call_id="t")
    before.result("t", {"task": {"id": "1"}}, "")
    after.go_on(json.loads(json.dumps(before.state())))
    assert tasks(after) == {}
    after.call("TodoWrite", {"todos": ["Dig"]}, "c", at=None, line=2)
    after.call("TaskUpdate", {"taskId": "1", "status": "completed"}, "c", at=None, line=3)
    assert tasks(after) == {"Plant": "dropped", "Water": "completed"}
