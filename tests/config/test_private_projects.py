"""A private project: its text is recalled only inside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from program import Program, Run

from pastchats_memory import Memory

HIDDEN = "The launch date of the submarine is the ninth of June."
OPEN = "The launch date of the balloon is the tenth of June."


@pytest.fixture
def workshop(program: Program) -> Path:
    """Two repositories, one of them private, and a session in each."""
    for name, words in (("submarine", HIDDEN), ("balloon", OPEN)):
        folder = program.home / name
        (folder / ".git").mkdir(parents=True)
        (folder / "src").mkdir()
        session = program.home / "history" / f"{name}.jsonl"
        session.parent.mkdir(exist_ok=True)
        lines = [_line(name, number, folder / "src", text) for number, text in enumerate((f"About {name}?", words))]
        session.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (program.home / "submarine" / "pastchats-memory.toml").write_text("private = true\n", encoding="utf-8")
    assert program("index", "history").status == 0
    return program.home


def _line(name: str, number: int, cwd: Path, text: str) -> dict[str, Any]:
    role = ("user", "assistant")[number]
    return {
        "type": role,
        "uuid": f"{name}-0000-4000-8000-{number:012}",
        "sessionId": name,
        "cwd": str(cwd),
        "timestamp": f"2026-05-04T08:00:{number:02}.123Z",
        "message": {"role": role, "content": text},
    }


def inside(program: Program, folder: Path, *arguments: object) -> Run:
    """Run the program with a folder as its working directory."""
    return program.within(folder)(*arguments)


@pytest.mark.promise("privacy", "Text of a private project is found only from inside the project.")
@pytest.mark.parametrize(
    "arguments",
    [
        ["search", "launch date"],
        ["search", "launch date", "--mode", "keyword"],
        ["search", "launch date", "--mode", "semantic"],
        ["search", "launch date", "--project", "submarine"],
        ["recall", "launch date of the submarine"],
        ["recall", "launch date of the submarine", "--project", "submarine"],
    ],
    ids=range(6),
)
def test_text_of_a_private_project_is_found_only_inside_it(
    program: Program, workshop: Path, arguments: list[str]
) -> None:
    for elsewhere in (workshop, workshop / "balloon"):
        assert "ninth" not in inside(program, elsewhere, *arguments).stdout
    assert "ninth" in inside(program, workshop / "submarine" / "src", *arguments).stdout
    if arguments[0] == "search" and "--project" not in arguments:
        assert "tenth" in inside(program, workshop, *arguments).stdout


def test_show_and_its_neighbours_hide_a_private_turn(program: Program, workshop: Path) -> None:
    ids = [hit["id"] for hit in inside(program, workshop / "submarine", "search", "--json", "submarine").results]
    private = next(id_ for id_ in ids if "ninth" in inside(program, workshop / "submarine", "show", id_).stdout)
    outside = inside(program, workshop, "show", private)
    assert (outside.status, outside.stdout) == (1, "")
    assert "ninth" not in outside.stderr


@pytest.mark.usefixtures("workshop")
def test_the_answer_is_the_same_without_sqlite_vec(program: Program, tmp_path: Path) -> None:
    without = program.without_sqlite_vec(tmp_path)
    assert "ninth" not in without("search", "launch date").stdout
    assert "tenth" in without("search", "launch date").stdout


@pytest.mark.usefixtures("workshop")
def test_a_project_is_private_before_the_first_run_has_ended(program: Program) -> None:
    with Memory.open(program.database) as memory:
        memory._database.run("UPDATE project_folders SET is_private = -1")  # noqa: SLF001 - as a killed run leaves it
    assert "ninth" not in program("search", "launch date").stdout
    assert "tenth" in program("search", "launch date").stdout


def test_a_change_of_mind_counts_from_the_next_index_run_on(program: Program, workshop: Path) -> None:
    file = workshop / "submarine" / "pastchats-memory.toml"
    file.write_text("private = false\n", encoding="utf-8")
    assert program("index", "history").status == 0
    assert "ninth" in program("search", "launch date").stdout
    file.write_text("private = true\n", encoding="utf-8")
    assert program("index", "history").status == 0
    assert "ninth" not in program("search", "launch date").stdout


@pytest.mark.parametrize(
    "broken", ["private = true\nbudget = \n", "private = 'yes'\n", "private = true\n#" + "x" * 100_000]
)
def test_a_file_that_is_not_understood_makes_nothing_public(program: Program, workshop: Path, broken: str) -> None:
    (workshop / "submarine" / "pastchats-memory.toml").write_text(broken, encoding="utf-8")
    assert program("index", "history").status == 0
    assert "ninth" not in program("search", "launch date").stdout
    fresh = program.with_variables(PASTCHATS_MEMORY_DB=str(workshop / "fresh.db"))
    assert fresh("index", "history").status == 0
    assert "ninth" not in fresh("search", "launch date").stdout
    assert "ninth" in inside(fresh, workshop / "submarine", "search", "launch date").stdout


def test_a_private_project_whose_folder_is_gone_stays_private(program: Program, workshop: Path) -> None:
    (workshop / "submarine").rename(workshop / "elsewhere")
    assert program("index", "history").status == 0
    assert "ninth" not in program("search", "launch date").stdout


@pytest.fixture
def boards(program: Program, workshop: Path) -> Path:
    """The workshop, with a task file in both repositories."""
    for name, part in (("submarine", "ballast pump"), ("balloon", "burner valve")):
        issues = [
            {"id": f"{name[:3]}-{number}", "title": f"The {part} leaks", "status": "closed", "created_at": at, "updated_at": at,
             "closed_at": at, "issue_type": "bug", "priority": 1, "description": f"Water near the {part}, deck {number}.", "closed_by_session": "submarine",
             "comments": [{"text": f"A new gasket for the {part}.", "author": "kim", "created_at": at}]}
            for number, at in enumerate(["2026-05-04T08:00:00Z", "2026-05-05T08:00:00Z"])
        ]  # fmt: skip
        file = workshop / name / ".beads" / "issues.jsonl"
        file.parent.mkdir()
        file.write_text("".join(json.dumps(issue) + "\n" for issue in issues), encoding="utf-8")
    assert program("index", "submarine/.beads", "balloon/.beads").status == 0
    return workshop


@pytest.mark.parametrize(
    "arguments",
    [
        ["similar", "bal-0"],
        ["find-duplicates", "The ballast pump leaks"],
        ["capture", "The ballast pump leaks"],
        ["check-prior-work", "The ballast pump leaks"],
        ["consult-episodic-memory", "The ballast pump leaks"],
        ["duplicates", "--scan"],
        ["ask", "anything about the pump?"],
        ["ask", "which tasks are finished?"],
        ["task", "list", "--all"],
        ["task", "list", "--all", "--project", "submarine"],
        ["task", "show", "sub-1"],
        ["task", "recall", "gasket of the ballast pump"],
        ["task", "export"],
        ["show", "t:sub-1"],
        ["search", "ballast pump gasket", "--type", "task"],
        ["recall", "which pump leaks?"],
        ["context", "which pump leaks?"],
    ],
    ids=" ".join,
)
def test_tasks_of_a_private_project_are_shown_only_inside_it(
    program: Program, boards: Path, arguments: list[str]
) -> None:
    assert "ballast" in inside(program, boards / "submarine", *arguments).stdout.lower()
    outside = inside(program, boards / "balloon", *arguments)
    assert "ballast" not in (outside.stdout + outside.stderr).lower()
    assert "ninth" not in outside.stdout


def test_tasks_of_a_private_project_are_changed_only_inside_it(program: Program, boards: Path) -> None:
    (task,) = inside(program, boards / "submarine", "task", "show", "sub-1", "--json").results
    comment = task["comments"][0]["id"]
    assert inside(program, boards, "show", comment).status == 1
    for arguments in (["update", "sub-1", "--title", "x"], ["comment", "sub-1", "x"], ["delete", "sub-1", "--yes"],
                      ["delete", comment, "--yes"], ["depend", "bal-1", "sub-1"]):  # fmt: skip
        refused = inside(program, boards, "task", *arguments)
        assert (refused.status, refused.stdout) == (2, "")
        assert "there is no" in refused.stderr
    assert "leaks" in inside(program, boards / "submarine", "task", "show", "sub-1").stdout


@pytest.mark.promise("privacy", "A task of another project does not reveal the key of a private task.")
def test_a_link_to_a_private_task_is_not_shown_outside_its_project(program: Program, boards: Path) -> None:
    submarine = boards / "submarine"
    assert inside(program, submarine, "task", "depend", "bal-1", "sub-1").status == 0
    assert inside(program, submarine, "task", "depend", "bal-1", "bal-0").status == 0
    for arguments in (
        ["task", "show", "bal-1"],
        ["show", "t:bal-1"],
        ["task", "list", "--all", "--json"],
        ["ask", "which tasks are finished?"],
        ["similar", "bal-0"],
        ["find-duplicates", "burner valve leaks"],
        ["consult-episodic-memory", "burner valve leaks"],
        ["check-prior-work", "burner valve leaks"],
        ["capture", "burner valve leaks: water near the burner valve, deck 1"],
        ["capture", "burner valve leaks: water near the burner valve, deck 1", "--yes"],
        ["task", "update", "bal-1", "--title", "Valve"],
    ):
        assert "sub-1" in inside(program, submarine, *arguments, "--json").stdout
        outside = inside(program, boards / "balloon", *arguments, "--json").stdout
        assert "sub-1" not in outside
        assert "bal-0" in outside
    asked = ["ask", "which tasks depend on sub-1?"]
    assert "bal-1" in inside(program, submarine, *asked).stdout
    assert "bal-1" not in inside(program, boards / "balloon", *asked).stdout


def test_a_private_resolution_is_not_shown_with_a_task_of_another_project(program: Program, boards: Path) -> None:
    asked = ["consult-episodic-memory", "burner valve leaks"]
    assert "ninth" in inside(program, boards / "submarine", *asked).stdout
    outside = inside(program, boards / "balloon", *asked).stdout
    assert "gasket" in outside
    assert "ninth" not in outside


def test_a_project_that_has_nothing_but_tasks_made_in_it_is_private_too(program: Program) -> None:
    folder = program.home / "vault"
    (folder / ".git").mkdir(parents=True)
    (folder / "pastchats-memory.toml").write_text("private = true\n", encoding="utf-8")
    inside(program, folder, "task", "add", "Oil the hinge of the vault")
    inside(program, folder, "capture", "Paint the ceiling of the cellar")
    assert inside(program, folder, "task", "list", "--json").results
    assert program("task", "list", "--json").results == []


def test_an_export_says_what_it_left_out(program: Program, boards: Path) -> None:
    assert "2 tasks of private projects left out" in inside(program, boards, "task", "export").stderr
    assert inside(program, boards / "submarine", "task", "export").stdout.count("\n") == 4
