"""Where nothing can be found whatever is asked, that is said, and why."""

from __future__ import annotations

import pytest
from program import Program, write_messages


@pytest.fixture
def kitchen(program: Program) -> Program:
    """One conversation in a project that is not the working directory's."""
    write_messages(program.home / "history" / "pans.jsonl", ("user", "Which pan is for eggs?"), project="kitchen")
    assert program("index", "history").status == 0
    return program


def test_an_empty_memory_is_reported_with_the_way_to_fill_it(kitchen: Program) -> None:
    assert kitchen("purge", "--yes").status == 0
    for command in ("search", "recall", "context", "how"):
        found = kitchen(command, "eggs")
        assert found.status == 1
        assert "the memory is empty; `pastchats-memory index --all` fills it" in found.stderr
    assert "Vectors   none yet" in kitchen("status").stdout
    assert "the memory is empty" in kitchen("export").stderr


def test_an_unknown_project_is_reported_with_similar_names(kitchen: Program) -> None:
    found = kitchen("search", "eggs", "--project", "Kitchens", "--json")
    assert (found.status, found.json["warnings"]) == (
        1,
        ["nothing is stored of the project Kitchens; there is kitchen"],
    )
    here = kitchen("search", "eggs", "--project", ".")
    assert "nothing is stored of the project" in here.stderr
    assert "mode" not in here.stderr


def test_filters_that_exclude_every_row_are_reported(kitchen: Program) -> None:
    assert "the filters exclude every row" in kitchen("search", "eggs", "--role", "tool").stderr
    assert (
        "the filters exclude every row"
        in kitchen("recall", "eggs", "--project", "kitchen", "--outcome", "failed").stderr
    )
    assert "exclude every row" not in kitchen("search", "--mode", "keyword", "quince").stderr


def test_a_private_project_is_not_named_from_outside(kitchen: Program) -> None:
    write_messages(kitchen.home / "cellar" / "wine.jsonl", ("user", "Where is the wine?"), project="cellar")
    (kitchen.home / "cellar" / "pastchats-memory.toml").write_text("private = true\n")
    assert kitchen("index", "cellar").status == 0
    assert "; there is" not in kitchen("search", "wine", "--project", "cellars").stderr
    assert "nothing is stored of the project cellar\n" in kitchen("search", "wine", "--project", "cellar").stderr


def test_a_time_that_ends_before_it_begins_is_reported(kitchen: Program) -> None:
    found = kitchen("search", "eggs", "--since", "2026-02-01", "--until", "2026-01-01")
    assert found.status == 1
    assert "`since` names a later time than `until`" in found.stderr
