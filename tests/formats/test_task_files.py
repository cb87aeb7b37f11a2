"""Readers of files in which people and agents keep tasks: the two that are asked last, and what no golden file shows."""

from __future__ import annotations

import csv
import json

import pytest
from golden import expected, inputs, plain, refused, rows, shared

from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.registry import detect_format
from pastchats_memory.formats.tasks.checklist import CHECKLIST
from pastchats_memory.formats.tasks.github_issues import GITHUB_ISSUES
from pastchats_memory.formats.tasks.issue_files import ISSUE_FILES
from pastchats_memory.formats.tasks.taskmaster import TASKMASTER
from pastchats_memory.model import Task

TRACKERS = ("backlog-md", "beads", "taskmaster")
ASKED_LAST = (ISSUE_FILES, CHECKLIST)
PAIRS = [(reader, path) for reader in ASKED_LAST for path in inputs(reader.name)]


@pytest.mark.parametrize(("reader", "path"), PAIRS, ids=str)
def test_a_file_of_tasks_gives_its_tasks(reader, path):
    assert [plain(row) for row in rows(reader, path)] == expected(path)
    assert detect_format(SourceFile(path)) is reader


@pytest.mark.parametrize("path", refused("claude-tasks"), ids=lambda path: path.name)
def test_comments_and_mails_are_no_tasks(path):
    assert detect_format(SourceFile(path)) is None


@pytest.mark.parametrize(
    ("text", "is_issue"),
    [
        ("---\ntitle: A\nstatus: open\n---\n", True),
        ("---\ntitle: A\nstatus: published\n---\n", False),
        ("---\ntitle: Use SQLite\nstatus: accepted\n---\n", False),
        ("---\ntitle: A\nstatus: accepted\npriority: 1\n---\n", True),
        ("---\nstatus: open\n---\nno title\n", False),
        ("---\ntitle: A\n---\n", False),
        ("# A\n\nstatus: open\n", False),
    ],
)
def test_an_issue_is_distinguished_from_an_article(tmp_path, text, is_issue):
    (tmp_path / "a.md").write_text(text, encoding="utf-8")
    assert bool(ISSUE_FILES.detect(SourceFile(tmp_path / "a.md"))) is is_issue


@pytest.mark.parametrize(
    ("folder", "status", "became"),
    [
        ("archive/tasks", "Done", "archived"),
        ("completed", "To Do", "completed"),
        ("completed", "Done", "Done"),
        ("drafts", "To Do", "draft"),
    ],
)
def test_the_folder_knows_better_than_the_word(tmp_path, folder, status, became):
    path = tmp_path / "backlog" / folder / "task-1 - A.md"
    path.parent.mkdir(parents=True)
    path.write_text(
        f"---\ntitle: A\nstatus: {status}\nlabels: []\nassignee: []\npriority: low\n---\n", encoding="utf-8"
    )
    (task,) = ISSUE_FILES.read(SourceFile(path))
    assert (task.native_id, task.status_raw, task.cwd) == ("task-1", became, str(tmp_path))


@pytest.mark.parametrize(
    ("name", "taken"), [("TODO.md", True), ("launch.md", False), ("2026-plan.md", True), ("planet.md", False)]
)
def test_a_box_makes_a_checklist_only_where_the_name_or_half_of_the_lines_say_so(tmp_path, name, taken):
    path = tmp_path / name
    path.write_text("Words.\nMore words.\nYet more.\n- [ ] one\n", encoding="utf-8")
    assert bool(CHECKLIST.detect(SourceFile(path))) is taken
    path.write_text("- [ ] one\n- [x] two\n", encoding="utf-8")
    assert CHECKLIST.detect(SourceFile(path))


def test_a_list_in_the_folder_of_a_session_of_copilot_cli_is_that_session_s(tmp_path):
    plan = tmp_path / "5f1c9a2e-session" / "plan.md"
    plan.parent.mkdir()
    plan.write_text("# Plan\n\n- [ ] Mend the gate\n- [x] Oil the hinge\n", encoding="utf-8")
    alone = rows(CHECKLIST, plan)
    plan.with_name("events.jsonl").write_text("", encoding="utf-8")
    plan.with_name("workspace.yaml").write_text("cwd: /srv/garden\n", encoding="utf-8")
    text = rows(CHECKLIST, plan)
    assert [(task.conversation_id, task.cwd) for task in text] == [("5f1c9a2e-session", "/srv/garden")] * 2
    assert {task.native_id[:9] for task in text} == {"5f1c9a2e-"}
    assert {task.conversation_id for task in alone} == {None}


def test_the_same_box_further_down_is_the_same_task(tmp_path):
    path = tmp_path / "todo.md"
    path.write_text("- [ ] one\n- [ ] two\n", encoding="utf-8")
    before = {task.title: task.native_id for task in CHECKLIST.read(SourceFile(path))}
    path.write_text("# New\n\n- [ ] three\n- [x] one\n- [ ] two\n", encoding="utf-8")
    after = {task.title: task.native_id for task in CHECKLIST.read(SourceFile(path))}
    assert before.items() <= after.items()


def test_tasks_of_one_list_that_share_an_id_are_all_kept(tmp_path):
    path = tmp_path / "tasks.json"
    subtasks = [{"id": 42, "title": title} for title in ("Define the protocol", "Write the adapter", "Document it")]
    listed = [
        {"id": 42, "title": "Speak MCP", "subtasks": subtasks},
        {"id": 42, "title": "Another", "dependencies": []},
    ]
    path.write_text(json.dumps({"master": {"tasks": listed}}), encoding="utf-8")
    tasks = list(TASKMASTER.read(SourceFile(path)))
    assert [(task.native_id, task.title) for task in tasks] == [
        ("master/42", "Speak MCP"),
        ("master/42.42", "Define the protocol"),
        ("master/42.42#2", "Write the adapter"),
        ("master/42.42#3", "Document it"),
        ("master/42#2", "Another"),
    ]


def test_a_malformed_issue_line_is_reported(tmp_path):
    issues = [{"number": number, "title": "Leak", "state": "open"} for number in range(40)]
    path = tmp_path / "issues.jsonl"
    path.write_text("\n".join(map(json.dumps, [*issues, {"exported": 40}])) + "\n", encoding="utf-8")
    *tasks, fault = rows(GITHUB_ISSUES, path)
    assert [task.title for task in tasks] == ["Leak"] * 40
    assert (fault.line, fault.reason) == (41, "not an issue")


def test_every_real_task_file_gives_the_tasks_that_were_counted_in_it():
    folder = shared("transcripts")
    with (folder / "INDEX.tsv").open(encoding="utf-8", newline="") as file:
        listed = [row for row in csv.DictReader(file, delimiter="\t") if row["file"].split("/")[0] in TRACKERS]
    assert len(listed) > 8
    for row in listed:
        path = folder / row["file"]
        reader = detect_format(SourceFile(path))
        tasks = [task for task in reader.read(SourceFile(path)) if isinstance(task, Task)] if reader else []
        keys = {(task.scope, task.native_id) for task in tasks}
        assert len(keys) == len(tasks) == counted(row), row["file"]


def counted(row):
    """Items and subitems of the list, which leaves out the files that are one task each, and those that are none."""
    if row["format"] == "backlog-md":
        return 1
    return int(row["human_prompts_or_items"] or 0) + int(row["assistant_messages_or_subitems"] or 0)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ISSUE_TEMPLATE/bug.md", "---\nname: Bug\nabout: Tell of a bug\ntitle: ''\nstatus: open\n---\n# Bug\n"),
        ("PULL_REQUEST_TEMPLATE.md", "- [ ] tests\n- [ ] docs\n"),
        ("todo.txt", "Version 9.\n\n    Known bugs:\n      it hums\n"),
        ("post.md", "---\ntitle: Kilns\nlabels: [heat]\n---\nAn article.\n"),
    ],
)
def test_templates_and_texts_named_like_tasks_are_no_tasks(tmp_path, name, text):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    assert not any(reader.detect(SourceFile(path)) for reader in (CHECKLIST, ISSUE_FILES))


@pytest.mark.parametrize(
    ("name", "is_list"),
    [
        ("plan.md", True),
        ("docs/plan.md", False),
        (".github/release-checklist.md", False),
        ("docs/todo.md", True),
        ("README.md", False),
    ],
)
def test_boxes_in_a_document_are_steps_for_its_readers(name, is_list, tmp_path):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("# Steps\n\n- [ ] Light the kiln\n- [ ] Open the door\n", encoding="utf-8")
    assert bool(CHECKLIST.detect(SourceFile(path))) is is_list
    assert CHECKLIST.detect(SourceFile(path, named=True))
