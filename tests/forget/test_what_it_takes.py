"""Forgetting one turn chooses its rows once, and imports only what it needs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from program import write_messages

from pastchats_memory import Memory

SCRIPT = """
import json, sys
from pastchats_memory import Memory
statements = []
with Memory.open(sys.argv[1]) as memory:
    memory._database.connection.exec_trace = lambda _, statement, __: statements.append(statement) or True
    forgotten = memory.forget("1").turns
print(json.dumps({"forgotten": forgotten, "modules": sorted(sys.modules), "statements": statements}))
"""
MOST_STATEMENTS = 200
"""A statement for each step of the deletion, and one for each column of names."""


@pytest.fixture(scope="module")
def forgotten(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What a fresh process did that has forgotten one turn."""
    folder = tmp_path_factory.mktemp("one")
    write_messages(folder / "said.jsonl", ("user", "Paint the tower."), ("assistant", "It is white now."))
    with Memory.open(folder / "memory.db") as memory:
        memory.index([folder])
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, folder / "memory.db"], capture_output=True, text=True, check=True
    )
    found: dict[str, list[str]] = json.loads(run.stdout)
    assert found["forgotten"] == 1
    return found


@pytest.mark.parametrize("package", ["team", "sync", "formats", "store.sync", "store.team"])
def test_forgetting_a_turn_without_a_team_imports_no_other_package(
    forgotten: dict[str, list[str]], package: str
) -> None:
    name = f"pastchats_memory.{package}"
    assert [one for one in forgotten["modules"] if one == name or one.startswith(f"{name}.")] == []


def test_the_rows_to_forget_are_chosen_once(forgotten: dict[str, list[str]]) -> None:
    statements = forgotten["statements"]
    assert sum(one.startswith("SELECT p.id FROM visible_prompts p WHERE") for one in statements) == 1
    assert 0 < len(statements) < MOST_STATEMENTS
