"""A prompt that was typed before in the same project gets what came of it, whatever it names."""

from __future__ import annotations

import json

import pytest
from program import Program, write_messages

from pastchats_memory.hooks.answers import find_block
from pastchats_memory.hooks.event import HookEvent
from pastchats_memory.model.episodes import RecallBlock

ASKED = "status command should still work when not logged in"


@pytest.fixture
def kiln(program: Program) -> Program:
    """A memory in which the same was asked three times: twice in the project kiln and once elsewhere."""
    for name, project, day, answer in (
        ("a", "kiln", 1, "It asks for a login now."),
        ("b", "kiln", 2, "It prints what it knows without a login."),
        ("c", "oven", 3, "The oven has no status."),
    ):
        turn = {"conversation_id": name, "project": project, "timestamp": f"2026-02-0{day}T08:00:00Z"}
        messages = ({**turn, "role": "user", "content": ASKED}, {**turn, "role": "assistant", "content": answer})
        (program.home / f"{name}.jsonl").write_text(
            "".join(f"{json.dumps(one)}\n" for one in messages), encoding="utf-8"
        )
    assert program("index", ".").status == 0
    return program


def ask(program: Program, prompt: str, project: str = "kiln", session: str = "new") -> RecallBlock | None:
    event = HookEvent(prompt=prompt, cwd=f"/srv/{project}", session=session)
    return find_block(event, str(program.database))


@pytest.mark.parametrize(
    "prompt", [ASKED, f"{ASKED.capitalize()}.", f"## User Input\n\n```text\n{ASKED}\n```\n\nMake a plan."]
)
def test_the_newest_run_in_the_project_is_shown(kiln: Program, prompt: str) -> None:
    block = ask(kiln, prompt)
    assert block is not None
    assert [hit.conversation_id for hit in block.hits] == ["b"]
    assert "without a login" in block.text


def test_other_words_other_projects_and_the_session_itself_do_not_count(kiln: Program) -> None:
    assert ask(kiln, f"{ASKED} and never before") is None
    assert ask(kiln, ASKED, "pond") is None
    block = ask(kiln, ASKED, session="b")
    assert block is not None
    assert [hit.conversation_id for hit in block.hits] == ["a"]


def test_the_successor_of_a_decision_comes_before_it(kiln: Program) -> None:
    decided, later = (
        "We keep the firing curves of the kiln as PDF files.",
        "No more PDF files: the firing curves live in SQLite now.",
    )
    for name, day, text in (("d", 5, decided), ("e", 6, later)):
        turn = {"conversation_id": name, "project": "kiln", "timestamp": f"2026-02-0{day}T08:00:00Z"}
        messages = ({**turn, "role": "user", "content": text}, {**turn, "role": "assistant", "content": "Noted."})
        (kiln.home / f"{name}.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in messages), encoding="utf-8")
    assert kiln("index", ".").status == 0
    block = ask(kiln, decided)
    assert block is not None
    assert [hit.conversation_id for hit in block.hits] == ["e", "d"]
    assert "Superseded by: > 2026-02-06" in block.text


def test_a_short_prompt_without_a_topic_stays_without_an_answer(program: Program) -> None:
    file = write_messages(program.home / "a.jsonl", ("user", "fix the failing test"), ("assistant", "It passes."))
    assert program("index", file).status == 0
    assert ask(program, "fix the failing test", "garden") is None
