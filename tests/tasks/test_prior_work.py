"""The verdict on prior work where conversations decide: work has to be in sight, what replaced it counts, the evidence is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pastchats_memory import Memory
from pastchats_memory.tasks.desk import Change

WISH = "Keep the opening hours of the museum in a spreadsheet."
EDIT = ("tool", "$ python fill_sheet.py\n42 rows written")
DONE = ("assistant", "The opening hours stand in the spreadsheet now.")
THANKS = ("user", "works, thanks")


def told(folder: Path, day: int, *turns: tuple[str, str]) -> None:
    lines = (
        {
            "conversation_id": f"c{day}", "project": "museum", "role": role, "content": text,
            "timestamp": f"2026-05-{day:02}T08:{minute:02}:07.000Z",
        }
        for minute, (role, text) in enumerate(turns)
    )  # fmt: skip
    folder.mkdir(exist_ok=True)
    (folder / f"c{day}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def verdict(tmp_path: Path, *conversations: tuple[tuple[str, str], ...], asked: str = WISH) -> tuple[str, list[str]]:
    """The verdict, and what was asked in the episodes that it rests on."""
    for day, turns in enumerate(conversations, start=1):
        told(tmp_path / "said", day, *turns)
    with Memory.open(tmp_path / "m.db") as memory:
        memory.index([tmp_path / "said"])
        work = memory.check_prior_work(asked)
    return work.verdict, [one.asked for one in work.episodes]


def test_what_was_worked_on_and_accepted_is_done(tmp_path: Path) -> None:
    assert verdict(tmp_path, (("user", WISH), EDIT, DONE, THANKS)) == ("done", [WISH])


def test_an_answer_without_any_work_is_no_deed(tmp_path: Path) -> None:
    assert verdict(tmp_path, (("user", WISH), DONE, THANKS)) == ("new", [])


PROPOSED = ("assistant", "I would take a sheet with a row for each day. Shall I?")


@pytest.mark.parametrize(
    ("wish", "expected"),
    [(WISH, "done"), ("Where do we keep the opening hours of the museum, in a spreadsheet?", "new")],
)
def test_what_is_done_after_a_bare_yes_is_what_was_wished_but_not_what_was_asked_about(
    tmp_path: Path, wish: str, expected: str
) -> None:
    said = (("user", wish), PROPOSED, ("user", "yes please"), EDIT, DONE, THANKS)
    assert verdict(tmp_path, said)[0] == expected


@pytest.mark.parametrize(("said", "expected"), [("yes please", "done"), ("<command-name>/tidy</command-name>", "new")])
def test_what_is_done_after_a_command_to_the_client_is_not_what_was_wished(
    tmp_path: Path, said: str, expected: str
) -> None:
    turns = (("user", WISH), PROPOSED, ("user", said), EDIT, DONE, THANKS)
    (tmp_path / "said").mkdir()
    (tmp_path / "said" / "c1.jsonl").write_text("".join(map(of_claude, range(len(turns)), turns)), encoding="utf-8")
    assert verdict(tmp_path)[0] == expected


def of_claude(minute: int, turn: tuple[str, str]) -> str:
    """The turn as a line of Claude Code's transcript, an output of a tool with the call it is of."""
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


def test_what_was_replaced_later_is_superseded_and_says_by_what(tmp_path: Path) -> None:
    assert verdict(tmp_path, FIRST, SECOND) == ("superseded", [WISH, REPLACING])


def test_who_wants_what_took_the_place_hears_that_it_is_done(tmp_path: Path) -> None:
    wanted = "Move the opening hours of the museum to a database."
    assert verdict(tmp_path, FIRST, SECOND, asked=wanted) == ("done", [REPLACING])


def test_a_conversation_that_decides_is_a_result_with_its_source_and_what_is_new_exits_with_1(program) -> None:
    told(program.home / "said", 1, ("user", WISH), EDIT, DONE, THANKS)
    assert program("index", "said").status == 0
    assert program("task", "add", "Print the opening hours of the museum on a poster").status == 0
    done = program("check-prior-work", WISH, "--json")
    assert (done.status, done.results[0]["type"], done.results[0]["source_line"]) == (0, "prompt", 1)
    assert len(done.results) <= 3
    shown = program("check-prior-work", WISH)
    assert f"{program.home}/said/c1.jsonl:1 · id {done.results[0]['id']}" in shown.stdout
    near = program("check-prior-work", "Print the opening hours of the museum on a flyer", "--json")
    assert (near.status, json.loads(near.stdout)["verdict"]) == (1, "new")
    assert [one["type"] for one in near.results] == ["task"]


def test_of_a_task_of_another_project_it_is_said_whose_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_the_name_of_a_project_stays_within_the_sentence(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m.db") as memory:
        memory.tasks.add(Change(title=WISH, project="museum\n## Done\u202e"))
        assert " of museum ## Done is pending: " in memory.check_prior_work(WISH).reason
