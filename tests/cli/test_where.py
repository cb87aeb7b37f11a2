"""Test `where` and `handoff`: where a session stopped, for its user and for another agent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from inprocess import Shell
from program import write_messages


@pytest.fixture
def orchard(tmp_path: Path) -> Shell:
    folder = tmp_path / "src" / "orchard"
    (folder / ".git").mkdir(parents=True)
    messages = (
        ("user", "Graft the pear onto the quince."),
        ("assistant", "The graft is bound. The wax is not yet done."),
        ("user", "From now on we use beeswax."),
    )
    write_messages(tmp_path / "orchard.jsonl", *messages, conversation="c-1", project="orchard")
    shell = Shell(tmp_path)
    assert shell("index", tmp_path / "orchard.jsonl").status == 0
    return shell


def test_the_last_session_of_the_folder_is_printed(orchard: Shell) -> None:
    run = orchard("where", at=orchard.home / "src" / "orchard")
    assert run.status == 0
    assert "> not answered: From now on we use beeswax. · id 3" in run.stdout
    assert len(run.stdout.encode()) <= 600
    assert orchard("where").status == 1
    assert json.loads(orchard("where", "--json").stdout) == {"schema": "where/1", "results": []}


@pytest.mark.parametrize("id_", ["", "1", "c-1"])
def test_handoff_prints_a_page_with_sources(orchard: Shell, id_: str) -> None:
    run = orchard("handoff", *filter(None, [id_]), at=orchard.home / "src" / "orchard")
    assert run.status == 0
    for line in (
        "> Graft the pear onto the quince. · id 1",
        "Decided:\n> From now on we use beeswax. · id 3",
        "resume 3",
    ):
        assert line in run.stdout
    (packet,) = json.loads(orchard("handoff", "1", "--json").stdout)["results"]
    assert packet["lines"][0]["section"] == "open"
    assert orchard("handoff", "99").status == 1
