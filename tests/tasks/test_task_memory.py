"""Edit, capture, compare and question tasks in a real store with the real model."""

from __future__ import annotations

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest
from waiting import HANG_S

from pastchats_memory import Memory
from pastchats_memory.errors import InputMissing, UsageFault
from pastchats_memory.memory.requests import task_filters
from pastchats_memory.tasks.edit import Change
from pastchats_memory.text.tracker_words import priority_of, status_of, wanted_statuses
from pastchats_memory.views.task_text import render_task

TODAY = date.today()  # noqa: DTZ011 - tasks are created now, in the local zone


@pytest.fixture
def memory(tmp_path: Path):
    with Memory.open(tmp_path / "m.db") as opened:
        yield opened


def add(memory: Memory, title: str, **fields: object) -> str:
    return memory.tasks.add(Change(title=title, **fields)).key


def never(_: object) -> str:
    raise AssertionError("the user was asked")


def test_capture_creates_a_task_once_and_then_finds_it(memory: Memory) -> None:
    first = memory.tasks.capture("Fix the login bug", "shop", never)
    assert (first.outcome, first.task.key, first.task.project) == ("created", "T-1", "shop")
    again = memory.tasks.capture("fix the  login bug", "shop", lambda _: "nothing")
    assert (again.outcome, again.similar.match.score) == ("found", 1.0)
    assert len(memory.tasks.list_tasks(task_filters())) == 1


def test_capture_comments_on_a_similar_task_or_links_a_new_one(memory: Memory) -> None:
    add(memory, "Fix the login bug")
    commented = memory.tasks.capture("Users cannot sign in", "shop", lambda _: "comment")
    assert (commented.outcome, [comment.content for comment in commented.task.comments]) == (
        "commented",
        ["Users cannot sign in"],
    )
    made = memory.tasks.capture("Fix the login bug", "shop", lambda _: "create")
    assert (made.outcome, [(link.kind, link.target) for link in made.task.links]) == ("created", [("related", "T-1")])


def test_capture_takes_the_first_line_as_title(memory: Memory) -> None:
    task = memory.tasks.capture("Move the shop\n\nto the new server", "", never).task
    assert (task.title, task.description) == ("Move the shop", "Move the shop\n\nto the new server")


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        ("done", "done"),
        ("archived", "done"),
        ("doing", "in_progress"),
        ("todo", "in_progress"),
        ("stuck", "in_progress"),
        ("cancelled", "failed_before"),
        ("superseded", "superseded"),
    ],
)
def test_the_status_of_the_same_task_decides_the_verdict(memory: Memory, status: str, verdict: str) -> None:
    add(memory, "Retry failed webhook deliveries with exponential backoff", status=status)
    add(memory, "Translate the interface into German")
    work = memory.check_prior_work(
        "Webhooks that could not be delivered should be sent again, waiting longer each time"
    )
    assert (work.verdict, work.results[0].task.key) == (verdict, "T-1")
    assert "T-1" in work.reason
    assert len(work.results) <= 3


def test_work_without_a_similar_task_is_new(memory: Memory) -> None:
    assert memory.check_prior_work("Sort the leaderboard").verdict == "new"
    add(memory, "Translate the interface into German", status="done")
    work = memory.check_prior_work("Database connection pool runs out under load")
    assert (work.verdict, work.results) == ("new", ())


def test_episodic_memory_returns_resolved_tasks_with_their_comments(memory: Memory) -> None:
    solved = add(memory, "Sessions expire at random behind the proxy", status="done")
    memory.tasks.comment(solved, "The clock of the second node was off by an hour", "ada")
    add(memory, "Sessions expire at random on mobile", status="doing")
    found, warnings = memory.consult_episodic_memory("users are logged out at random, sessions expire")
    assert ([one.task.key for one in found], warnings) == ([solved], ())
    assert found[0].resolution == "The clock of the second node was off by an hour"
    assert memory.consult_episodic_memory("clock of a node is off")[0][0].task.key == solved


def test_search_finds_a_task_by_its_comments_and_attachments(memory: Memory, tmp_path: Path) -> None:
    key = add(memory, "Build fails on CI")
    memory.tasks.comment(key, "The linker runs out of memory")
    (tmp_path / "build.log").write_text("error: undefined reference to quaternion_slerp\n" * 100, encoding="utf-8")
    memory.tasks.attach(key, tmp_path / "build.log")
    by_comment = memory.search("linker memory", type="comment")[0]
    by_attachment = memory.search("quaternion_slerp", type="attachment")[0]
    assert [(hit.type, hit.task.key) for hit in (by_comment, by_attachment)] == [("comment", key), ("attachment", key)]
    assert by_comment.id.startswith("c:")
    assert by_attachment.id.startswith("a:")
    assert [hit.task.key for hit in memory.tasks.recall("quaternion_slerp", task_filters(parts=True))] == [key]
    memory.tasks.delete(by_comment.id)
    assert memory.search("linker memory", type="comment") == []


def test_a_status_filter_accepts_synonyms_and_raw_words(memory: Memory) -> None:
    for number, status in enumerate(("todo", "doing", "done", "wont_fix")):
        add(memory, f"Paint wall number {number}", status=status)
    keys = {status: {hit.task.key for hit in memory.search("paint wall", type="task", status=status)}
            for status in ("todo,in_progress", "closed", "wont_fix", "cancelled", "nonsense")}  # fmt: skip
    assert keys == {
        "todo,in_progress": {"T-1", "T-2"}, "closed": {"T-3"}, "wont_fix": {"T-4"}, "cancelled": {"T-4"}, "nonsense": set(),
    }  # fmt: skip
    assert {hit.type for hit in memory.search("paint wall")} == {"task"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"status": "hopping"}, "unknown status"),
        ({"type": "saga"}, "unknown type"),
        ({"priority": "9"}, "unknown priority"),
        ({"title": " "}, "needs a title"),
        ({"parent": "T-9"}, "there is no task T-9"),
    ],
)
def test_an_impossible_change_is_refused_with_a_reason(memory: Memory, change: dict, words: str) -> None:
    key = add(memory, "Paint the fence")
    with pytest.raises(UsageFault, match=words):
        memory.tasks.update(key, Change(**change))
    assert memory.tasks.get_task(key).title == "Paint the fence"


def test_a_task_lists_its_parts(memory: Memory) -> None:
    top, first, second = (add(memory, title) for title in ("House", "Cellar", "Roof"))
    for key in (first, second):
        memory.tasks.update(key, Change(parent=top))
    memory.tasks.update(first, Change(status="done"))
    parts = [(part.key, part.title, part.status) for part in memory.tasks.get_task(top).parts]
    assert parts == [(first, "Cellar", "completed"), (second, "Roof", "pending")]
    text = render_task(memory.tasks.get_task(top))
    assert "Parts (1 of 2 done):\n    " + first + "  [completed] Cellar\n" in text
    assert memory.tasks.get_task(second).parts == ()


def test_a_parent_or_dependency_that_closes_a_circle_is_refused(memory: Memory) -> None:
    top, middle, low = add(memory, "Top"), add(memory, "Middle"), add(memory, "Low")
    memory.tasks.update(middle, Change(parent=top))
    memory.tasks.update(low, Change(parent=middle))
    memory.tasks.depend(low, [top])
    for attempt in (lambda: memory.tasks.update(top, Change(parent=low)), lambda: memory.tasks.depend(top, [low]),
                    lambda: memory.tasks.update(top, Change(parent=top))):  # fmt: skip
        with pytest.raises(UsageFault, match="circle"):
            attempt()
    assert [memory.tasks.get_task(key).parent for key in (top, middle, low)] == [None, top, middle]
    memory.tasks.update(low, Change(parent=""))
    memory.tasks.depend(low, [top], remove=True)
    assert (memory.tasks.get_task(low).parent, memory.tasks.get_task(low).links) == (None, ())


def test_a_deleted_task_cannot_be_commented_or_compared(memory: Memory) -> None:
    key = add(memory, "Paint the fence")
    memory.tasks.delete(key)
    for attempt in (
        lambda: memory.tasks.comment(key, "Green?"),
        lambda: memory.tasks.delete("c:1"),
        lambda: memory.tasks.find_similar(key),
    ):
        with pytest.raises(UsageFault, match="there is no"):
            attempt()


def test_a_binary_attachment_is_found_by_name_and_a_missing_file_is_refused(memory: Memory, tmp_path: Path) -> None:
    key = add(memory, "Paint the fence")
    (tmp_path / "sunset-colours.png").write_bytes(b"\x89PNG\0\0\xff")
    (attached,) = memory.tasks.attach(key, tmp_path / "sunset-colours.png").attachments
    assert (attached.content, attached.size) == (None, 7)
    assert [hit.task.key for hit in memory.search("sunset colours", type="attachment")] == [key]
    with pytest.raises(InputMissing):
        memory.tasks.attach(key, tmp_path / "nowhere")
    with pytest.raises(UsageFault, match="regular file"):
        memory.tasks.attach(key, tmp_path)


def test_a_secret_in_a_task_does_not_reach_the_disk(memory: Memory) -> None:
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    task = memory.tasks.add(Change(title=f"Rotate {secret}"))
    assert secret not in task.title
    assert "redacted" in task.title


def test_every_word_of_a_large_attachment_is_found(memory: Memory, tmp_path: Path) -> None:
    key = add(memory, "Look through the log")
    lines = (f"line {number} all is well here and nothing happens at all\n" for number in range(4_000))
    (tmp_path / "app.log").write_text("".join(lines) + "xylophone\n", encoding="utf-8")
    memory.tasks.attach(key, tmp_path / "app.log")
    assert [hit.task.key for hit in memory.search("xylophone", type="attachment", mode="keyword")] == [key]


def test_a_title_cannot_send_control_characters_to_the_terminal(program) -> None:
    (program.home / "issues.jsonl").write_text(
        json.dumps({"id": "yard-1", "title": "Paint \u009b31mred", "status": "open", "issue_type": "task",
                    "created_at": "2026-01-01T10:00:00Z", "updated_at": "2026-01-01T10:00:00Z", "priority": 1}) + "\n",
        encoding="utf-8",
    )  # fmt: skip
    assert program("index", "issues.jsonl").status == 0
    for arguments in (["show", "yard-1"], ["update", "yard-1", "--status", "done"], ["delete", "yard-1", "--yes"]):
        run = program("task", *arguments)
        assert run.status == 0, run.stderr
        assert "\u009b" not in run.stdout


def test_a_question_returns_the_matching_tasks(memory: Memory) -> None:
    epic = add(memory, "Payments", type="epic")
    card = add(memory, "Pay by card", parent=epic, status="blocked", priority="1", tags=["bug"])
    bank = add(memory, "Pay by bank transfer", status="done")
    wall = add(memory, "Paint the wall", priority="4")
    memory.tasks.depend(bank, [card])

    def keys(question: str) -> set[str]:
        return {task.key for task in memory.ask(question, TODAY).tasks}

    assert keys("what is blocked?") == {card}
    assert keys("what did we finish this week?") == {bank}
    assert keys("urgent bugs") == {card}
    assert keys("tasks without an epic") == {bank, wall}
    assert keys("what depends on Pay by card?") == {bank}
    assert keys(f"what depends on {card}") == {bank}
    assert keys("what does Pay by bank transfer depend on?") == {card}
    assert keys("what is part of Payments?") == {card}
    assert wall not in keys("anything about payments?")
    assert card in keys("anything about payments?")
    assert memory.ask("how many open tasks?", TODAY).total == 3


def test_a_question_can_name_a_task_of_several_lists_by_number(memory: Memory, tmp_path: Path) -> None:
    def listed(*titles: str) -> dict[str, list[dict[str, object]]]:
        ids = range(101, 101 + len(titles))
        return {"tasks": [{"id": id_, "title": title, "status": "pending", "dependencies": [id_ - 1] * (id_ > 101)}
                          for id_, title in zip(ids, titles, strict=True)]}  # fmt: skip

    tasks = tmp_path / ".taskmaster" / "tasks" / "tasks.json"
    tasks.parent.mkdir(parents=True)
    tasks.write_text(
        json.dumps(
            {"master": listed("Draw the plan", "Lay the pipes", "Tile the bath"), "garden": listed("Dig", "Sow")}
        ),
        encoding="utf-8",
    )
    memory.index([tasks])

    def keys(question: str) -> set[str]:
        return {task.key for task in memory.ask(question, TODAY).tasks}

    assert keys("which tasks depend on 102?") == {"master/103"}
    assert keys("which tasks depend on 101?") == {"master/102", "garden/102"}
    assert keys("what does 103 depend on?") == {"master/102"}
    for name in ("3", "OPS-102"):
        assert memory.ask(f"what depends on {name}?", TODAY).warnings == (f"there is no task {name!r}",)


def test_status_and_priority_words_map_to_known_values() -> None:
    assert {status_of(word) for word in ("todo", "Open", "to-do", "BACKLOG")} == {"pending"}
    assert [status_of(word) for word in ("In Progress", "wont_fix", "closed", "hooked", "zzz")] == [
        "in_progress", "cancelled", "completed", "pending", "unknown",
    ]  # fmt: skip
    assert wanted_statuses(["done", "My State", ""]) == ("completed", "=my_state")
    assert [priority_of(value) for value in (0, "P1", "high", "medium", True, None, "x", 7)] == [
        0,
        1,
        1,
        2,
        None,
        None,
        None,
        None,
    ]


def test_concurrent_captures_of_one_text_create_one_task(program) -> None:
    program("task", "add", "Something else")
    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda _: program("capture", "Fix the login bug"), range(4)))
    assert sorted(run.status for run in runs) == [0, 1, 1, 1]
    assert [task["title"] for task in program("task", "list", "--json").results].count("Fix the login bug") == 1


def test_show_accepts_the_id_of_a_task_comment_or_attachment(program) -> None:
    program("task", "add", "Pay by card")
    program("task", "comment", "T-1", "The bank wants a form")
    (program.home / "form.txt").write_text("IBAN and name", encoding="utf-8")
    program("task", "attach", "T-1", "form.txt")
    for id_ in ("t:T-1", "c:1", "a:1"):
        run = program("show", id_)
        assert (run.status, run.stderr) == (0, "")
        assert "Pay by card" in run.stdout
        assert program("show", id_, "--json").results[0]["key"] == "T-1"
    assert "IBAN and name" in program("show", "a:1").stdout
    assert "The bank wants a form\n\n  a:1 · form.txt" in program("task", "show", "T-1").stdout
    assert [program("show", id_).status for id_ in ("t:T-9", "c:9", "a:x")] == [1, 1, 1]


def test_capture_prints_its_result_and_sets_the_exit_code(program) -> None:
    made = program("capture", "Fix the login bug")
    assert (made.status, made.stdout) == (0, "✅ Task created: T-1\n")
    found = program("capture", "Fix the login bug")
    assert (found.status, found.stdout) == (1, "⚠️ Similar task found: [T-1] Fix the login bug (Score: 1.00)\n")
    assert "--yes adds it as a comment, --no creates a task" in found.stderr
    yes = program("capture", "Fix the login bug", "--yes")
    assert (yes.status, yes.stdout.splitlines()[1]) == (0, "✅ Comment added to T-1")
    no = program("capture", "Fix the login bug", "--no")
    assert (no.status, no.stdout.splitlines()[1]) == (0, "✅ Task created: T-2")
    assert program("similar", "T-1").stdout.splitlines()[0].startswith("T-2  [1.00] Fix the login bug")


def test_capture_asks_at_a_terminal(program) -> None:
    program("capture", "Fix the login bug")
    line = f"{program.command[0]} capture 'Fix the login bug'"
    for answer, last in (("y", "Comment added to T-1"), ("\n", "Task created: T-2")):
        done = subprocess.run(
            ["script", "-qec", line, "/dev/null"], input=answer + "\n", env=program.environment, cwd=program.home,
            capture_output=True, encoding="utf-8", check=False, timeout=HANG_S,
        )  # fmt: skip
        assert "Add as comment to existing task? [y/N]" in done.stdout
        assert last in done.stdout
