"""Plain questions and what answers them: tasks, conversations, or the nearest by meaning with a notice."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from program import Program

from pastchats_memory import Memory
from pastchats_memory.tasks.edit import Change

TALK = (
    ("user", "Which paint should the hull of the ferry get?"),
    ("assistant", "We took Hempel Olympic in oxide red, since the yard stocks it."),
    ("user", "Who orders the ropes?"),
    ("assistant", "Ines from the chandlery orders them each spring."),
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder = tmp_path_factory.mktemp("answers")
    lines = ({"conversation_id": "c", "project": "harbour", "role": role, "content": text} for role, text in TALK)
    (folder / "talk.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with Memory.open(folder / "m.db") as opened:
        opened.index([folder / "talk.jsonl"])
        for key, change, depends in (
            ("E-1", Change(title="Quay repair", type="epic", status="doing"), ()),
            ("Q-1", Change(title="Replace the bollards", parent="E-1", priority="1", tags=("iron",)), ()),
            ("Q-2", Change(title="Crane bug drops the hook", parent="E-1", priority="0", status="done"), ()),
            ("Q-3", Change(title="Open the new berth", status="stuck", project="berths"), ("Q-1",)),
            ("Q-4", Change(title="Tidy the shed", priority="5"), ()),
        ):
            opened.tasks.add(change, depends, key)
        yield opened


@pytest.mark.parametrize(
    ("question", "keys"),
    [
        ("tasks in the Quay repair epic", {"Q-1", "Q-2"}),
        ("what is left in quay repair?", {"Q-1"}),
        ("open tasks of E-1", {"Q-1"}),
        ("what's holding up the new berth?", {"Q-1"}),
        ("what would replacing the bollards unblock?", {"Q-3"}),
        ("critical bugs", {"Q-2"}),
        ("what can wait?", {"Q-4"}),
        ("is Q-2 done?", {"Q-2"}),
        ("is the replacement of the bollards finished?", {"Q-1"}),
        ("what can I start?", {"Q-1", "Q-4"}),
        ("why can't we open the new berth?", {"Q-1"}),
        ("iron tasks", {"Q-1"}),
        ("tasks that have a priority", {"Q-1", "Q-2", "Q-4"}),
        ("berths tasks", {"Q-3"}),
        ("anything with iron?", {"Q-1"}),
        ("which tasks are blocked in the zeppelin sense", {"Q-3"}),
    ],
)
def test_a_question_about_tasks_gets_its_tasks(memory: Memory, question: str, keys: set[str]) -> None:
    answer = memory.ask(question)
    assert {task.key for task in answer.tasks} == keys
    assert not answer.hits


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("which paint did we choose for the ferry?", "Hempel"),
        ("who orders ropes?", "Ines"),
        ("how many people order the ropes?", "Ines"),
    ],
)
def test_a_question_about_something_else_is_answered_from_conversations(
    memory: Memory, question: str, word: str
) -> None:
    answer = memory.ask(question)
    assert not answer.tasks
    assert any(word in hit.content for hit in answer.hits)
    assert [hit.rank for hit in answer.hits] == list(range(1, len(answer.hits) + 1))


def test_a_reading_that_finds_nothing_says_so_and_gives_the_nearest(memory: Memory) -> None:
    answer = memory.ask("have we finished the replacement of the bollards?")
    assert [task.key for task in answer.tasks] == ["Q-1"]
    assert "nothing fits the reading" in answer.warnings[0]
    ignored = memory.ask("which tasks are blocked in the zeppelin sense")
    assert any("was ignored" in warning for warning in ignored.warnings)


def test_a_question_whose_words_and_meaning_agree_on_a_weak_hit_gets_it(memory: Memory) -> None:
    answer = memory.ask("what did the yard have in stock?")
    assert any("oxide red" in hit.content for hit in answer.hits)


def test_the_days_of_a_question_find_their_conversations(own_demo: Program) -> None:
    run = own_demo("ask", "what happened on 10 March 2026 in production?", "--json")
    assert "everything is hanging" in run.stdout


def test_tasks_and_conversations_answer_together(own_demo: Program) -> None:
    own_demo("task", "add", "Stop duplicate webhook deliveries")
    run = own_demo("ask", "what makes webhook deliveries arrive twice?")
    assert run.status == 0
    assert "Stop duplicate webhook deliveries" in run.stdout
    assert "\nConversations:\n" in run.stdout
    assert "Source: " in run.stdout


def test_nothing_near_is_no_answer(memory: Memory) -> None:
    answer = memory.ask("which font did we use?")
    assert (answer.tasks, answer.hits, answer.total) == ((), (), 0)


def test_the_program_prints_what_conversations_say(own_demo: Program) -> None:
    run = own_demo("ask", "why was the login test flaky?")
    assert run.status == 0
    assert run.stdout.startswith("Reading: what conversations say\n")
    assert "Source: " in run.stdout
    results = own_demo("ask", "why was the login test flaky?", "--json").results
    assert {result["type"] for result in results} == {"prompt"}
    assert own_demo("ask", "which zeppelin did we moor?").status == 1
