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
    for name, said in (("submarine", HIDDEN), ("balloon", OPEN)):
        folder = program.home / name
        (folder / ".git").mkdir(parents=True)
        (folder / "src").mkdir()
        session = program.home / "history" / f"{name}.jsonl"
        session.parent.mkdir(exist_ok=True)
        lines = [_line(name, number, folder / "src", text) for number, text in enumerate((f"About {name}?", said))]
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
    return program.altered(f"import os; os.chdir({str(folder)!r})")(*arguments)


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
def test_its_text_is_found_inside_it_alone(program: Program, workshop: Path, arguments: list[str]) -> None:
    for elsewhere in (workshop, workshop / "balloon"):
        assert "ninth" not in inside(program, elsewhere, *arguments).stdout
    assert "ninth" in inside(program, workshop / "submarine" / "src", *arguments).stdout
    if arguments[0] == "search" and "--project" not in arguments:
        assert "tenth" in inside(program, workshop, *arguments).stdout


def test_neither_show_nor_its_neighbours_give_it_away(program: Program, workshop: Path) -> None:
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
def test_it_holds_before_the_first_run_has_ended(program: Program) -> None:
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


def test_a_private_project_whose_folder_is_gone_stays_private(program: Program, workshop: Path) -> None:
    (workshop / "submarine").rename(workshop / "elsewhere")
    assert program("index", "history").status == 0
    assert "ninth" not in program("search", "launch date").stdout
