"""Tool calls that keep a list of what is to be done, as each agent makes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.todo_lists import TodoLists
from pastchats_memory.formats.registry import detect_format
from pastchats_memory.model import Task
from pastchats_memory.text.tracker_words import status_of


def tasks(plans: TodoLists) -> dict[str, str]:
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
        ("update_todo_list", {"todos": "Steps:\n[ ] Dig\n[x] Plant"}),
        (
            "updateTodoList",
            {"todos": [{"id": "a", "content": "Dig", "status": ""}, {"content": "Plant", "status": "completed"}]},
        ),
        ("update_todo", {"todos": "- [ ] Dig\n- [x] Plant"}),
        ("todo__todo_write", {"content": "# The bed\n- [ ] Dig\n  - [x] Plant"}),
        ("manage_todo_list", {"todoList": [{"id": 1, "title": "Dig"}, {"id": 2, "title": "Plant", "done": True}]}),
        ("functions.update_plan", {"plan": json.dumps([{"step": "Dig"}, {"step": "Plant", "completed": True}])}),
        ("execute_command", {"command": "ls", "task_progress": "- [ ] Dig\n- [x] Plant"}),
    ],
)
def test_every_agents_list_is_understood(name: str, arguments: object) -> None:
    plans = TodoLists()
    plans.add_call(name, arguments, "c", at=None, line=1)
    assert tasks(plans) == {"Dig": "pending", "Plant": "completed"}


def test_a_list_that_is_merged_keeps_what_it_does_not_name_and_knows_its_lines_by_their_ids() -> None:
    plans = TodoLists()
    first = [
        {"id": "1", "content": "Dig", "status": "in_progress"},
        {"id": "2", "content": "Plant", "status": "pending"},
    ]
    plans.add_call("todo_write", {"merge": False, "todos": first}, "c", at=None, line=1)
    changes = [{"id": "1", "status": "completed"}, {"id": "3", "content": "Water", "status": "pending"}, {"id": "9"}]
    plans.add_call("todo_write", {"merge": True, "todos": changes}, "c", at=None, line=2)
    assert tasks(plans) == {"Dig": "completed", "Plant": "pending", "Water": "pending"}


def test_tasks_with_numbers_are_made_changed_and_deleted() -> None:
    plans = TodoLists()
    for number, subject in (("1", "Dig"), ("2", "Plant"), ("3", "Water")):
        plans.add_call(
            "TaskCreate", {"subject": subject, "description": "Soon."}, "c", at=None, line=1, call_id=f"t{number}"
        )
        plans.add_result(
            f"t{number}", {"task": {"id": number}} if number != "3" else None, "Task #3 created successfully: Water"
        )
    plans.add_call("TaskUpdate", {"taskId": "1", "status": "in_progress"}, "c", at="2026-01-01T00:00:00.000Z", line=2)
    plans.add_call("TaskUpdate", {"taskId": "2", "addBlockedBy": ["1"], "owner": "ada"}, "c", at=None, line=3)
    plans.add_call("TaskUpdate", {"taskId": "3", "status": "deleted"}, "c", at=None, line=4)
    plans.add_call("TaskUpdate", {"taskId": "9", "status": "completed"}, "c", at=None, line=5)
    plans.add_result("nobody asked", {}, "")
    first, second = plans.tasks()
    assert (first.title, [state.raw for state in first.states]) == ("Dig", ["pending", "in_progress"])
    assert [link.target for link in second.links] == ["c-1"]


def create(plans: TodoLists, first: int, *subjects: str) -> None:
    for number, subject in enumerate(subjects, start=first):
        plans.add_call("TaskCreate", {"subject": subject}, "c", at=None, line=number, call_id=f"t{number}")
        plans.add_result(f"t{number}", {"task": {"id": str(number)}}, "")


def update(plans: TodoLists, number: int, status: str, **more: object) -> None:
    plans.add_call("TaskUpdate", {"taskId": str(number), "status": status, **more}, "c", at=None, line=90 + number)


@pytest.mark.parametrize("is_grown", [False, True])
def test_a_list_that_is_written_twice_is_one_list_in_its_last_state(is_grown: bool) -> None:
    plans = TodoLists()
    create(plans, 1, "Dig", "Plant", "Water")
    update(plans, 1, "in_progress")
    if is_grown:
        before, plans = plans, TodoLists()
        plans.restore(json.loads(json.dumps(before.snapshot())))
    create(plans, 4, "Dig", "Plant", "Water")
    update(plans, 4, "completed")
    update(plans, 5, "completed", addBlockedBy=["4"])
    known = {"Dig": "completed", "Plant": "completed"}
    assert tasks(plans) == known if is_grown else known | {"Water": "pending"}
    found = {task.title: task for task in plans.tasks()}
    assert [found[title].native_id for title in ("Dig", "Plant")] == ["c-1", "c-2"]
    assert [link.target for link in found["Plant"].links] == ["c-1"]


def test_the_first_of_two_lists_may_be_deleted_before_or_after_the_second() -> None:
    plans = TodoLists()
    create(plans, 1, "Dig", "Plant")
    update(plans, 1, "deleted")
    create(plans, 3, "Dig", "Plant")
    update(plans, 2, "deleted")
    update(plans, 3, "completed")
    assert tasks(plans) == {"Dig": "completed", "Plant": "pending"}


def test_prose_makes_no_task() -> None:
    plans = TodoLists()
    for name, arguments in (("TodoWrite", {}), ("TodoWrite", "not json"), ("TodoWrite", None), ("Read", {"todos": ["a"]}),
                            ("TodoWrite", {"todos": [3, "", {"status": "pending"}]}), ("TaskCreate", {"subject": ""})):  # fmt: skip
        plans.add_call(name, arguments, "c", at=None, line=1, call_id="x")
    plans.add_result("x", {"task": {"id": "1"}}, "")
    assert tasks(plans) == {}


def test_a_list_goes_on_where_the_file_had_ended() -> None:
    before, after = TodoLists(), TodoLists()
    before.add_call("TodoWrite", {"todos": ["Dig", "Plant"]}, "c", at=None, line=1)
    before.add_call("TaskCreate", {"subject": "Water"}, "c", at=None, line=1, call_id="t")
    before.add_result("t", {"task": {"id": "1"}}, "")
    after.restore(json.loads(json.dumps(before.snapshot())))
    assert tasks(after) == {}
    after.add_call("TodoWrite", {"todos": ["Dig"]}, "c", at=None, line=2)
    after.add_call("TaskUpdate", {"taskId": "1", "status": "completed"}, "c", at=None, line=3)
    assert tasks(after) == {"Plant": "dropped", "Water": "completed"}


TODOS = [{"id": "1", "content": "Dig", "status": "completed"}, {"id": "2", "content": "Plant", "status": "pending"}]
BOXES = "- [x] Dig\n- [ ] Plant"
WHEN = "2026-03-04T10:00:00.120Z"
BEGUN = 1772618400120


def block(name: str, arguments: object) -> dict[str, object]:
    return {"type": "tool_use", "id": "toolu_1", "name": name, "input": arguments}


def messages(*more: object) -> list[dict[str, object]]:
    """A question and an answer of two blocks."""
    return [
        {"role": "user", "content": [{"type": "text", "text": "Make the bed."}]},
        {"role": "assistant", "content": [{"type": "text", "text": "I plan it."}, *more]},
    ]


def chained(kind: str, number: int, **data: object) -> dict[str, object]:
    return {"type": kind, "data": data, "id": str(number), "timestamp": WHEN, "parentId": str(number - 1)}


AGENTS: dict[str, tuple[str, object]] = {
    "cursor": ("agent-transcripts/a/a.jsonl", [{"role": one["role"], "message": {"content": one["content"]}} for one in messages(block("TodoWrite", {"merge": False, "todos": TODOS}))]),
    "qwen-code": ("chats/a.jsonl", [
        {"uuid": "1", "parentUuid": None, "sessionId": "a", "timestamp": WHEN, "type": "user", "cwd": "/home/ada", "message": {"role": "user", "parts": [{"text": "Make the bed."}]}},
        {"uuid": "2", "parentUuid": "1", "sessionId": "a", "timestamp": WHEN, "type": "assistant", "cwd": "/home/ada", "message": {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "todo_write", "args": {"todos": TODOS}}}]}},
    ]),
    "copilot-cli": ("session-state/a/events.jsonl", [
        chained("session.start", 1, sessionId="a", context={"cwd": "/home/ada"}),
        chained("user.message", 2, content="Make the bed."),
        chained("tool.execution_start", 3, toolCallId="t", toolName="update_todo", arguments={"todos": BOXES}),
    ]),
    "droid": ("sessions/a.jsonl", [
        {"type": "session_start", "id": "a", "title": "Bed", "version": 2, "cwd": "/home/ada"},
        {"type": "message", "id": "1", "timestamp": WHEN, "message": messages()[0]},
        {"type": "message", "id": "2", "parentId": "1", "timestamp": WHEN, "message": {"role": "assistant", "content": [block("TodoWrite", {"todos": "1. [completed] Dig\n2. [pending] Plant"})]}},
    ]),
    "kimi": ("sessions/a.jsonl", [
        {"timestamp": 1772618400.0, "message": {"type": "TurnBegin", "payload": {"user_input": "Make the bed."}}},
        {"timestamp": 1772618401.0, "message": {"type": "ToolCall", "payload": {"id": "c", "function": {"name": "SetTodoList", "arguments": json.dumps({"todos": [{"title": "Dig", "status": "done"}, {"title": "Plant", "status": "pending"}]})}}}},
    ]),
    "grok": ("sessions/a.jsonl", [
        {"timestamp": 1772618400, "method": "session/update", "params": {"sessionId": "a", "update": {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "Make the bed."}}}},
        {"timestamp": 1772618401, "method": "session/update", "params": {"sessionId": "a", "update": {"sessionUpdate": "plan", "entries": TODOS}}},
    ]),
    "goose": ("sessions/a.jsonl", [
        {"working_dir": "/home/ada", "description": "Bed", "message_count": 2, "total_tokens": 1},
        {"role": "user", "created": 1772618400, "content": [{"type": "text", "text": "Make the bed."}]},
        {"role": "assistant", "created": 1772618401, "content": [{"type": "toolRequest", "id": "c", "toolCall": {"status": "success", "value": {"name": "todo__todo_write", "arguments": {"content": BOXES}}}}]},
    ]),
    "amp": ("T-1.json", {"v": 3, "id": "T-1", "created": BEGUN, "messages": [{**one, "messageId": number} for number, one in enumerate(messages(block("todo_write", {"todos": TODOS})))]}),
    "vscode-copilot-chat": ("chat.json", {"version": 3, "responderUsername": "GitHub Copilot", "initialLocation": "panel", "requests": [{
        "requestId": "r", "timestamp": BEGUN, "message": {"text": "Make the bed.", "parts": []}, "response": [{"value": "I plan it."}],
        "result": {"metadata": {"toolCallRounds": [{"toolCalls": [{"id": "t", "name": "manage_todo_list", "arguments": json.dumps({"operation": "write", "todoList": [
            {"id": 1, "title": "Dig", "status": "completed"}, {"id": 2, "title": "Plant", "status": "not-started"}]})}]}]}},
    }]}),
    "opencode": ("export.json", {"info": {"id": "ses_1", "directory": "/home/ada", "time": {"created": BEGUN}}, "messages": [
        {"info": {"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": BEGUN}}, "parts": [{"id": "prt_1", "type": "text", "text": "Make the bed."}]},
        {"info": {"id": "msg_2", "sessionID": "ses_1", "role": "assistant", "time": {"created": BEGUN + 1}}, "parts": [{"id": "prt_2", "type": "tool", "tool": "todowrite", "callID": "c", "state": {"status": "completed", "input": {"todos": TODOS}, "time": {"start": BEGUN}}}]},
    ]}),
    "cline": ("tasks/1/ui_messages.json", [
        {"ts": BEGUN, "type": "say", "say": "task", "text": "Make the bed."},
        {"ts": BEGUN + 1, "type": "say", "say": "task_progress", "text": "- [ ] Dig\n- [ ] Plant"},
        {"ts": BEGUN + 2, "type": "say", "say": "task_progress", "text": BOXES},
    ]),
    "cline (Roo Code)": ("tasks/2/ui_messages.json", [
        {"ts": BEGUN, "type": "say", "say": "text", "text": "Make the bed."},
        {"ts": BEGUN + 1, "type": "ask", "ask": "tool", "text": json.dumps({"tool": "updateTodoList", "todos": TODOS})},
    ]),
    "cline (what was sent)": ("tasks/3/api_conversation_history.json", [
        {"role": "user", "content": [{"type": "text", "text": "<task>\nMake the bed.\n</task>"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "I plan it.\n<update_todo_list><todos>\n[x] Dig\n[ ] Plant\n</todos></update_todo_list>"}]},
    ]),
}  # fmt: skip


@pytest.mark.parametrize("agent", AGENTS)
def test_the_list_of_a_session_becomes_tasks_of_its_conversation(agent: str, tmp_path: Path) -> None:
    name, content = AGENTS[agent]
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    by_line = path.suffix == ".jsonl" and isinstance(content, list)
    path.write_text("\n".join(map(json.dumps, content)) if by_line else json.dumps(content), encoding="utf-8")
    reader = detect_format(SourceFile(path))
    assert reader is not None
    assert agent.split(maxsplit=1)[0] == reader.name
    found = [row for row in reader.read(SourceFile(path)) if isinstance(row, Task)]
    assert {task.title: status_of(task.status_raw) for task in found} == {"Dig": "completed", "Plant": "pending"}
    assert all(task.conversation_id and task.line for task in found)
