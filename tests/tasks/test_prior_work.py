"""Verdicts on prior work that rest on conversations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pastchats_memory import Memory
from pastchats_memory.tasks.edit import Change
from pastchats_memory.views.task_text import render_prior_work

WISH = "Keep the opening hours of the museum in a spreadsheet."
EDIT = ("tool", "$ python fill_sheet.py\n42 rows written")
DONE = ("assistant", "The opening hours stand in the spreadsheet now.")
THANKS = ("user", "works, thanks")


def write_conversation(folder: Path, day: int, *turns: tuple[str, str]) -> None:
    lines = (
        {
            "conversation_id": f"c{day}", "project": "museum", "role": role, "content": text,
            "timestamp": f"2026-05-{day:02}T08:{minute:02}:07.000Z",
        }
        for minute, (role, text) in enumerate(turns)
    )  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"c{day}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def verdict(tmp_path: Path, *conversations: tuple[tuple[str, str], ...], query: str = WISH) -> tuple[str, list[str]]:
    """Return the verdict and the requests of the episodes that it rests on."""
    for day, turns in enumerate(conversations, start=1):
        write_conversation(tmp_path / "history", day, *turns)
    with Memory.open(tmp_path / "m.db") as memory:
        memory.index([tmp_path / "history"])
        work = memory.check_prior_work(query)
    return work.verdict, [one.asked for one in work.episodes]


def test_accepted_work_is_done(tmp_path: Path) -> None:
    assert verdict(tmp_path, (("user", WISH), EDIT, DONE, THANKS)) == ("done", [WISH])


def test_an_answer_without_work_was_asked_before(tmp_path: Path) -> None:
    assert verdict(tmp_path, (("user", WISH), DONE, THANKS)) == ("asked_before", [WISH])


def test_a_conversation_with_unknown_outcome_was_asked_before(program) -> None:
    write_conversation(program.home / "history", 1, ("user", WISH), EDIT, DONE)
    assert program("index", "history").status == 0
    run = program("check-prior-work", WISH)
    assert run.status == 0
    assert run.stdout.startswith("Asked before: A conversation asked for it, outcome unknown: id 1.")


HARBOUR = (
    ("user", "The 3 GB CSV of the harbour ends in a MemoryError when I import it. Why?"),
    ("assistant", "pandas keeps all of it in one frame."),
    ("user", "low_memory=True is out of memory, too."),
    ("assistant", "Then read it in chunks."),
)


@pytest.mark.parametrize(
    ("query", "is_known"),
    [
        ("make the harbour import use less memory", True),
        ("import the CSV of the harbour", True),
        ("export the harbour as CSV", False),
        ("memory", False),
        ("document the harbour import", False),
    ],
)
def test_a_wish_whose_words_the_requests_of_a_conversation_have_was_asked_before(
    tmp_path: Path, query: str, *, is_known: bool
) -> None:
    assert verdict(tmp_path, HARBOUR, query=query)[0] == ("asked_before" if is_known else "new")


def test_a_request_that_was_stopped_before_any_answer_was_asked_before(tmp_path: Path) -> None:
    assert verdict(tmp_path, (("user", WISH),))[0] == "asked_before"


@pytest.mark.parametrize(
    "reply",
    ["No, the hours are still wrong in the sheet.", "That did not fix it.", "the hours are back in the old file"],
)
def test_a_success_that_the_next_prompt_rejects_is_not_done(tmp_path: Path, reply: str) -> None:
    turns = (("user", WISH), EDIT, DONE, ("user", reply), ("assistant", "I see."))
    assert verdict(tmp_path, turns)[0] in {"failed_before", "asked_before"}


def test_a_success_that_a_later_conversation_refutes_is_not_done(tmp_path: Path) -> None:
    later = "So the spreadsheet did not cure the mess with the opening hours of the museum. Ideas?"
    first = (("user", WISH), EDIT, DONE, THANKS, ("assistant", "Good."))
    assert verdict(tmp_path, first, (("user", later), ("assistant", "None yet."))) == ("failed_before", [WISH, later])


def test_a_later_success_after_a_refutation_is_done(tmp_path: Path) -> None:
    later = ("user", "The spreadsheet did not cure the mess with the opening hours of the museum.")
    first, last = (("user", WISH), EDIT, DONE, THANKS), (("user", WISH), EDIT, DONE, THANKS)
    assert verdict(tmp_path, first, (later, ("assistant", "Hm.")), last)[0] == "done"


def test_a_success_counts_although_its_thread_goes_on_without_an_outcome(tmp_path: Path) -> None:
    failed = (("user", WISH), EDIT, DONE, ("user", "No, the spreadsheet is empty. Undo it."), ("assistant", "Undone."))
    again = f"Second attempt. {WISH}"
    solved = (("user", again), EDIT, DONE, THANKS, ("assistant", "Good."), ("user", "Write the hours down."), DONE)
    assert verdict(tmp_path, failed, solved)[0] == "done"


PROPOSED = ("assistant", "I would take a sheet with a row for each day. Shall I?")


@pytest.mark.parametrize(
    ("wish", "expected"),
    [(WISH, "done"), ("Where do we keep the opening hours of the museum, in a spreadsheet?", "asked_before")],
)
def test_work_after_a_bare_yes_counts_for_a_request_but_not_for_a_question(
    tmp_path: Path, wish: str, expected: str
) -> None:
    turns = (("user", wish), PROPOSED, ("user", "yes please"), EDIT, DONE, THANKS)
    assert verdict(tmp_path, turns)[0] == expected


@pytest.mark.parametrize(
    ("reply", "expected"), [("yes please", "done"), ("<command-name>/tidy</command-name>", "asked_before")]
)
def test_work_after_a_client_command_does_not_count(tmp_path: Path, reply: str, expected: str) -> None:
    turns = (("user", WISH), PROPOSED, ("user", reply), EDIT, DONE, THANKS)
    (tmp_path / "history").mkdir()
    (tmp_path / "history" / "c1.jsonl").write_text(
        "".join(map(format_claude_lines, range(len(turns)), turns)), encoding="utf-8"
    )
    assert verdict(tmp_path)[0] == expected


def format_claude_lines(minute: int, turn: tuple[str, str]) -> str:
    """Return the turn as lines of a Claude Code transcript.

    A tool result comes with its call.
    """
    role, text = turn
    shared = {"sessionId": "c1", "cwd": "/home/me/museum", "timestamp": f"2026-05-01T08:{minute:02}:07.000Z"}
    if role != "tool":
        row = {"type": role, "uuid": f"u{minute}", "message": {"role": role, "content": text}}
        return json.dumps({**shared, **row}) + "\n"
    command, _, printed = text.removeprefix("$ ").partition("\n")
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": command}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": printed}
    rows = (
        {"type": "assistant", "uuid": f"c{minute}", "message": {"role": "assistant", "content": [call]}},
        {"type": "user", "uuid": f"r{minute}", "message": {"role": "user", "content": [result]}},
    )
    return "".join(json.dumps({**shared, **row}) + "\n" for row in rows)


REPLACING = "Move the opening hours of the museum to a database instead of the spreadsheet."
FIRST = (("user", WISH), EDIT, ("assistant", "The opening hours are kept in a spreadsheet."), THANKS)
SECOND = (("user", REPLACING), EDIT, ("assistant", "They stand in a database now."), THANKS)


def test_a_replaced_decision_is_superseded_with_its_replacement(tmp_path: Path) -> None:
    assert verdict(tmp_path, FIRST, SECOND) == ("superseded", [WISH, REPLACING])


def test_a_query_for_the_replacement_is_done(tmp_path: Path) -> None:
    wanted = "Move the opening hours of the museum to a database."
    assert verdict(tmp_path, FIRST, SECOND, query=wanted) == ("done", [REPLACING])


def test_a_deciding_conversation_is_a_result_and_new_work_exits_with_1(program) -> None:
    write_conversation(program.home / "history", 1, ("user", WISH), EDIT, DONE, THANKS)
    assert program("index", "history").status == 0
    assert program("task", "add", "Print the opening hours of the museum on a poster").status == 0
    done = program("check-prior-work", WISH, "--json")
    assert (done.status, done.results[0]["type"], done.results[0]["source_line"]) == (0, "prompt", 1)
    assert len(done.results) <= 3
    shown = program("check-prior-work", WISH)
    assert f"{program.home}/history/c1.jsonl:1 · id {done.results[0]['id']}" in shown.stdout
    near = program("check-prior-work", "Print the opening hours of the museum on a flyer", "--json")
    assert (near.status, json.loads(near.stdout)["verdict"]) == (1, "new")
    assert [one["type"] for one in near.results] == ["task"]


def test_the_reason_names_the_project_of_a_task_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("museum", "garden"):
        (tmp_path / name / ".git").mkdir(parents=True)
    with Memory.open(tmp_path / "m.db") as memory:
        monkeypatch.chdir(tmp_path / "museum")
        memory.tasks.add(Change(title=WISH, project="museum"))
        at_home = memory.check_prior_work(WISH).reason
        monkeypatch.chdir(tmp_path / "garden")
        elsewhere = memory.check_prior_work(WISH).reason
    assert " of museum is pending" in elsewhere
    assert at_home == elsewhere.replace(" of museum", "")


def test_a_project_name_cannot_break_the_reason_into_lines(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m.db") as memory:
        memory.tasks.add(Change(title=WISH, project="museum\n## Done\u202e"))
        assert " of museum ## Done is pending: " in memory.check_prior_work(WISH).reason


def test_work_that_a_later_request_finished_is_done_if_its_answer_names_it(tmp_path: Path) -> None:
    wish = "Why do the opening hours of the museum vanish from the spreadsheet?"
    finished = ("assistant", "Fixed: the opening hours of the museum no longer vanish from the spreadsheet.")
    cause = ("assistant", "The import overwrites them.")
    turns = (("user", wish), EDIT, cause, ("user", "What is the clean way?"), EDIT, finished, THANKS)
    query = "opening hours of the museum vanish from the spreadsheet"
    assert verdict(tmp_path / "named", turns, query=query) == ("done", ["What is the clean way?"])
    other = (*turns[:5], ("assistant", "Now it uses a queue."), THANKS)
    assert verdict(tmp_path / "unnamed", other, query=query)[0] == "asked_before"


@pytest.mark.parametrize(
    ("status", "label"),
    [("open", "Not started"), ("in_progress", "In progress"), ("blocked", "Stuck"), ("deferred", "Put off")],
)
def test_the_verdict_on_an_unfinished_task_says_whether_somebody_works_on_it(
    tmp_path: Path, status: str, label: str
) -> None:
    issue = {"id": "kiln-1", "title": "Add a damper to the flue", "status": status, "priority": 1, "issue_type": "task"}
    times = {"created_at": "2026-09-01T10:00:00Z", "updated_at": "2026-09-02T10:00:00Z"}
    path = tmp_path / "kiln" / ".beads" / "issues.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(issue | times) + "\n", encoding="utf-8")
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([path])
        work = memory.check_prior_work("Add a damper to the flue")
    assert render_prior_work(work).startswith(f"{label}: t:kiln-1 of kiln is ")
