"""Test the commands of a team as two people type them, each in a home of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from people import ANSWERED, ASKED, THANKS
from program import REPOSITORY, Program, write_messages


def make_person(tmp_path: Path, name: str) -> Program:
    home = tmp_path / name
    home.mkdir()
    return Program(home).with_variables(
        PASTCHATS_MEMORY_TEAM_ENDPOINT=str(tmp_path / "team.db"), PASTCHATS_MEMORY_TEAM_AUTHOR=name
    )


def answer(program: Program, *arguments: str) -> Any:
    """Return what a command of the team prints, after checking it against its schema."""
    run = program("team", *arguments, "--json")
    assert (run.status, run.stderr) == (0, "")
    schema = REPOSITORY / "contracts" / "schemas" / f"team-{arguments[0]}.json"
    Draft202012Validator(json.loads(schema.read_text(encoding="utf-8"))).validate(run.json)
    return run.json


@pytest.fixture
def ada(tmp_path: Path) -> Program:
    person = make_person(tmp_path, "ada")
    write_messages(
        person.home / "w.jsonl", ("user", ASKED), ("assistant", ANSWERED), ("user", THANKS), project="billing"
    )
    assert person("index", "w.jsonl").status == 0
    return person


def test_every_command_of_a_team_fits_its_schema(ada: Program, tmp_path: Path) -> None:
    bob = make_person(tmp_path, "bob")
    assert answer(ada, "share", "billing", "--yes")
    assert answer(ada, "push")
    assert answer(bob, "pull")
    assert answer(ada, "status")
    assert "by ada" in bob("recall", "--team", "webhook retries pile up").stdout
    assert answer(ada, "withdraw", "billing", "--yes")


def test_nothing_is_shared_without_a_yes(ada: Program) -> None:
    assert ada("team", "share", "billing").status != 0
    assert "billing" not in json.dumps(answer(ada, "status"))
