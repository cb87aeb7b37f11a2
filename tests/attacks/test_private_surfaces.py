"""Commands and Python show the text of a private project inside it, and nothing rests on it outside."""

from __future__ import annotations

import json
import re

import pytest
from inprocess import Shell

from pastchats_memory import Memory

WORDS = "why does the ballast pump of the submarine stall"
HIDDEN = ("bulkhead", "gasket", "purser")
"""Words of its turns, of its commands and outcomes, of its tasks."""


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A private repository with two conversations that failed and then worked and a task, and an open one beside it."""
    home = tmp_path_factory.mktemp("private")
    for name, part, thing, who in (
        ("submarine", "bulkhead", "gasket", "purser"),
        ("balloon", "burner", "rope", "pilot"),
    ):
        (home / name / ".git").mkdir(parents=True)
        for day in (4, 5):
            messages = [
                ("user", f"Why does the ballast pump of the {name} stall? The {part} is wet."),
                ("assistant", f"I put a lock around the {part}."),
                ("user", "No, still broken after a restart."),
                ("assistant", f"The pump now waits for the {part}."),
                ("tool", f"$ pytest -q tests/test_{part}.py\n8 passed in 1.2s"),
            ]
            lines = [
                {"conversation_id": f"{name}-{day}", "cwd": str(home / name), "role": role, "content": text, "timestamp": f"2026-05-{day:02}T08:{minute:02}:07Z"}
                for minute, (role, text) in enumerate(messages)
            ]  # fmt: skip
            session = home / "history" / f"{name}-{day}.jsonl"
            session.parent.mkdir(exist_ok=True)
            session.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        at = "2026-05-04T08:00:00Z"
        issue = {"id": f"{name[:3]}-1", "title": f"The ballast pump stalls: new {thing}", "status": "closed", "created_at": at, "updated_at": at, "closed_at": at, "issue_type": "bug",
                 "priority": 1, "description": f"The {thing} is torn.", "comments": [{"text": f"A new {thing}.", "author": who, "created_at": at}]}  # fmt: skip
        file = home / name / ".beads" / "issues.jsonl"
        file.parent.mkdir()
        file.write_text(json.dumps(issue) + "\n", encoding="utf-8")
    (home / "submarine" / "pastchats-memory.toml").write_text("private = true\n", encoding="utf-8")
    shell = Shell(home)
    assert shell("index", "history", "submarine/.beads", "balloon/.beads").status == 0
    with Memory.open(home / "memory.db") as memory:  # as if every signal were right often enough to be said
        memory._database.run("UPDATE outcomes SET confidence = 0.99 WHERE verdict != 'unknown'")  # noqa: SLF001 - no command writes what the test needs
    return shell


def find_private_words(text: str) -> list[str]:
    """Of the hidden words those that are in a text and were not asked for."""
    return [word for word in HIDDEN if word in text.lower()]


@pytest.mark.parametrize(
    "arguments",
    [["search", WORDS], ["recall", WORDS], ["context", WORDS], ["lessons"], ["judge", "--outcome", "failed"], ["how", "ballast pump"], ["task", "list", "--all"], ["check-prior-work", WORDS],
     ["consult-episodic-memory", WORDS], ["task", "export"], ["export"], ["forget", "--query", WORDS], ["ask", WORDS]],
    ids=lambda arguments: arguments[0],
)  # fmt: skip
def test_inside_the_project_these_commands_show_it(shell: Shell, arguments: list[str]) -> None:
    run = shell(*arguments, at=shell.home / "submarine")
    assert find_private_words(run.stdout), run


def test_episodes_of_a_private_project_are_judged_only_inside_it(shell: Shell) -> None:
    judged = ["worked", "--because", "a line that stands nowhere"]
    found = {
        shell("judge", str(id_), *judged, at=shell.home / "balloon").status
        for id_ in range(1, 21)
        if shell("show", str(id_), at=shell.home / "balloon").status == 1
    }
    assert found == {1}


@pytest.mark.promise("privacy", "`check-prior-work` bases no verdict on a private conversation outside its project.")
def test_no_verdict_rests_on_its_conversations_outside(shell: Shell) -> None:
    asked = ["check-prior-work", "Why is the bulkhead of the submarine wet?"]
    text = {folder: shell(*asked, at=shell.home / folder).stdout for folder in ("submarine", "balloon")}
    (private,) = re.findall(r"conversation about it ended [a-z ]+ \(id (\d+)\)", text["submarine"])
    assert shell("show", private, at=shell.home / "balloon").status == 1
    assert f"(id {private})" not in text["balloon"]


@pytest.mark.promise("privacy", "The Python API shows private text only inside the project.")
@pytest.mark.parametrize("folder", ["balloon", "submarine"])
def test_python_shows_it_inside_alone(shell: Shell, folder: str) -> None:
    with shell.at(shell.home / folder), Memory.open(shell.home / "memory.db") as memory:
        answers = [*memory.search(WORDS), memory.recall(WORDS), memory.lessons(None), memory.how("ballast pump", None)]
    assert bool(find_private_words(str(answers))) == (folder == "submarine")
