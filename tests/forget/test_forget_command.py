"""`forget` as a person uses it: shown first, gone for good, never back by another way in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from program import Program, Run, write_messages

from pastchats_memory import Memory
from pastchats_memory.tasks.edit import Change

SECRET = "The gate code of the orchard is quince-4711"  # noqa: S105 - nobody's
ANSWER = "Noted: quince-4711 opens the orchard gate."
MESSAGES = (
    ("user", SECRET),
    ("assistant", ANSWER),
    ("user", "Is the fence painted?"),
    ("assistant", "Green, on Monday."),
)


@pytest.fixture
def garden(program: Program) -> Program:
    """Two conversations in two projects."""
    write_messages(program.home / "history" / "garden.jsonl", *MESSAGES)
    write_messages(
        program.home / "history" / "kitchen.jsonl",
        ("user", "Which pan is for eggs?"),
        ("assistant", "The iron one."),
        conversation="c2",
        project="kitchen",
    )
    assert program("index", "history").status == 0
    return program


def texts(program: Program) -> set[str]:
    """What the memory still has, by its own words."""
    found = [
        program("search", word, "--json", "--limit", 50).results for word in ("quince", "fence", "green", "pan", "iron")
    ]
    return {hit["content"] for hits in found for hit in hits}


def id_of(program: Program, text: str) -> str:
    return next(hit["id"] for hit in program("search", text, "--json").results if hit["content"] == text)


def forgotten(run: Run) -> int:
    assert (run.status, run.stderr) == (0, "")
    return sum(run.json[kind] for kind in ("turns", "tasks", "comments", "attachments"))


def test_without_a_terminal_it_is_shown_and_nothing_is_forgotten(garden: Program) -> None:
    shown = garden("forget", "--query", "quince")
    assert shown.status == 1
    assert "2 turns" in shown.stdout
    assert SECRET in shown.stdout
    assert "--yes" in shown.stderr
    assert SECRET in texts(garden)
    assert garden("forget", "--query", "quince", "--no").status == 1
    assert SECRET in texts(garden)


def test_an_id_that_is_not_there_is_named_beside_those_that_are(garden: Program) -> None:
    shown = garden("forget", "--id", id_of(garden, SECRET), "--id", "4711", "--id", "t:NONE-1")
    assert shown.status == 1
    assert "there is no 4711, t:NONE-1" in shown.stderr
    assert forgotten(garden("forget", "--id", id_of(garden, ANSWER), "--yes", "--json")) == 1


@pytest.mark.parametrize(
    ("by", "gone"),
    [
        (["--query", "quince"], {SECRET, ANSWER}),
        (["--query", "gate code"], {SECRET}),
        (["--conversation", "c2"], {"Which pan is for eggs?", "The iron one."}),
        (["--project", "kitchen"], {"Which pan is for eggs?", "The iron one."}),
        (["--source", "history/kitchen.jsonl"], {"Which pan is for eggs?", "The iron one."}),
        (["--source", "history"], {text for _, text in MESSAGES} | {"Which pan is for eggs?", "The iron one."}),
        (["--project", "garden", "--since", "2026-05-04T08:02"], {"Is the fence painted?", "Green, on Monday."}),
        (["--until", "2026-05-04T08:00:30Z", "--project", "garden"], {SECRET}),
    ],
)
def test_each_way_of_choosing_takes_what_it_names_and_no_more(garden: Program, by: list[str], gone: set[str]) -> None:
    before = texts(garden)
    assert forgotten(garden("forget", *by, "--yes", "--json")) == len(gone)
    assert texts(garden) == before - gone
    assert garden("forget", *by, "--yes").status == 1
    assert garden("doctor").status == 0


@pytest.mark.promise("forgetting", "No file brings a forgotten turn back.")
def test_a_forgotten_turn_does_not_come_back_by_any_file(garden: Program) -> None:
    forgotten(garden("forget", "--query", "quince", "--yes", "--json"))
    again = garden("index", "history", "--force", "--json").json
    assert (again["turns_added"], again["forgotten"], again["embedded"]) == (0, 2, 0)
    copy = garden.home / "elsewhere" / "copy.json"  # without ids and times, under another name
    copy.parent.mkdir()
    copy.write_text(
        json.dumps({"messages": [{"role": role, "content": text} for role, text in MESSAGES]}), encoding="utf-8"
    )
    assert garden("index", "elsewhere", "--json").json["forgotten"] == 2
    assert not {SECRET, ANSWER} & texts(garden)
    assert "Left out 2 rows" in garden("index", "elsewhere", "--force").stdout


@pytest.mark.promise("forgetting", "No export or backup brings a forgotten task, comment or attachment back.")
def test_forgotten_tasks_do_not_come_back_by_an_export_or_a_backup(tmp_path: Path) -> None:
    def kept(memory: Memory) -> list[list[Any]]:
        return [
            [body[name] for name in ("title", "comments", "attachments")]
            for body in map(json.loads, memory.tasks.export())
        ]

    path = tmp_path / "memory.db"
    with Memory.open(path) as memory:
        gate = memory.tasks.add(Change(title="Oil the gate")).key
        quince = memory.tasks.add(Change(title="Prune the quince by the wall")).key
        memory.tasks.comment(gate, "Under the quince the hinge squeaks.")
        (tmp_path / "note.txt").write_text("The quince was planted in May.\n", encoding="utf-8")
        memory.tasks.attach(gate, tmp_path / "note.txt")
        exported = list(memory.tasks.export())
        memory.export_to(tmp_path / "all.jsonl")
        memory.backup(tmp_path / "copy")
        memory.forget(f"t:{quince}", "c:1", "a:1")
        memory.tasks.import_lines(exported)
        memory.index([tmp_path / "all.jsonl"])
        assert kept(memory) == [["Oil the gate", [], []]]
    Memory.restore(tmp_path / "copy", path)
    with Memory.open(path) as memory:
        assert kept(memory) == [["Oil the gate", [], []]]


def test_a_short_answer_is_forgotten_as_the_turn_it_was_and_not_wherever_it_is_given(program: Program) -> None:
    messages = [
        ("user", "Shall I push?"),
        ("assistant", "yes"),
        ("user", "And tag it?"),
        ("assistant", "no"),
        ("user", "yes"),
    ]
    write_messages(program.home / "a.jsonl", *messages)
    program("index", "a.jsonl")
    first, last = sorted(int(hit["id"]) for hit in program("search", "yes", "--json", "--mode", "keyword").results)
    assert forgotten(program("forget", "--id", first, "--yes", "--json")) == 1
    program("index", "a.jsonl", "--force")
    assert [hit["id"] for hit in program("search", "yes", "--json", "--mode", "keyword").results] == [str(last)]
    write_messages(program.home / "b.jsonl", *messages, conversation="other")
    assert program("index", "b.jsonl", "--json").json["turns_added"] == 5


def test_undoing_brings_it_back_by_indexing_alone(garden: Program) -> None:
    forgotten(garden("forget", "--query", "quince", "--yes", "--json"))
    (listed,) = garden("forget", "--list", "--json").results
    assert (listed["turns"], listed["selector"]) == (2, {"query": None})
    assert "quince" not in garden("forget", "--list").stdout
    lifted = garden("forget", "--undo")
    assert lifted.status == 0
    assert "index" in lifted.stdout
    assert not {SECRET, ANSWER} & texts(garden)
    assert garden("index", "history", "--force", "--json").json["turns_added"] == 2
    assert {SECRET, ANSWER} <= texts(garden)
    assert garden("forget", "--list").status == 1
    assert garden("forget", "--undo", "7").status == 1


@pytest.mark.parametrize(
    "arguments", [[], ["--query", " "], ["--id", "twelve"], ["--list", "--id", "1"], ["--undo", "x"]]
)
def test_an_impossible_question_is_explained(garden: Program, arguments: list[str]) -> None:
    assert garden("forget", *arguments, "--yes").status == 2
    assert len(texts(garden)) == 6


def test_tasks_go_with_what_hangs_on_them_and_stay_away_from_an_import(program: Program) -> None:
    program("task", "add", "Change the locks of the orchard gate before winter", "--key", "LOCK")
    program("task", "add", "Paint the fence", "--key", "PAINT")
    program("task", "comment", "PAINT", "The paint is in the shed behind the orchard")
    program("task", "export", "all.jsonl")
    assert forgotten(program("forget", "--query", "orchard", "--yes", "--json")) == 2
    program("task", "import", "all.jsonl")
    left = json.dumps(program("task", "list", "--json").results) + program("task", "show", "PAINT", "--json").stdout
    assert "orchard" not in left
    assert "Paint the fence" in left
    assert program("task", "add", "Change the locks of the orchard gate before winter", "--key", "LOCK").status == 0


def test_a_task_of_a_file_stays_away(program: Program) -> None:
    todo = program.home / "todo.md"
    todo.write_text("- [ ] Oil the hinge\n- [ ] Paint the gate of the orchard in green\n", encoding="utf-8")
    program("index", "todo.md")
    (key,) = [task["id"] for task in program("task", "list", "--json").results if "hinge" in task["title"]]
    forgotten(program("forget", "--id", key, "--yes", "--json"))
    forgotten(program("forget", "--query", "orchard", "--yes", "--json"))
    assert program("index", "todo.md", "--force", "--json").json["tasks_added"] == 0
    (program.home / "copy").mkdir()
    todo.rename(program.home / "copy" / "todo.md")
    program("index", "copy", "--force")
    assert "orchard" not in program("task", "list", "--json").stdout


def test_private_projects_stay_unless_one_stands_in_them_or_names_them(program: Program) -> None:
    secret = program.home / "secret"
    (secret / ".git").mkdir(parents=True)
    (secret / "pastchats-memory.toml").write_text("private = true\n", encoding="utf-8")
    write_messages(secret / "chat.jsonl", ("user", SECRET), project="secret")
    assert program("index", "secret").status == 0
    outside = program("forget", "--query", "quince", "--yes")
    assert (outside.status, SECRET in outside.stdout) == (1, False)
    assert "1 row of private projects" in outside.stderr
    named = program("forget", "--project", "secret")
    assert (named.status, "1 turn" in named.stdout, "quince" in named.stdout) == (1, True, False)
    assert program("forget", "--project", "secret", "--yes").status == 0


def test_a_turn_that_was_not_finished_does_not_come_back_when_it_goes_on(program: Program) -> None:
    path: Path = program.home / "notes.json"
    start = "The well is dry since the third of May"
    path.write_text(json.dumps({"messages": [{"role": "user", "content": start}]}), encoding="utf-8")
    program("index", "notes.json")
    forgotten(program("forget", "--query", "well", "--yes", "--json"))
    path.write_text(
        json.dumps({"messages": [{"role": "user", "content": f"{start}, and so is the pond."}]}), encoding="utf-8"
    )
    assert program("index", "notes.json", "--json").json["turns_added"] == 0
