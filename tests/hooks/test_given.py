"""The log of what hooks gave to agents: stored from the hooks' notes, and forgotten with what it quotes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest
from jsonschema import Draft202012Validator
from program import Program, write_messages
from served import browsing, serving
from waiting import HANG_S

from pastchats_memory import Memory
from pastchats_memory.hooks.given import note_given
from pastchats_memory.store.database import open_database
from pastchats_memory.store.recalled import Given, Week, add, list_weeks, load_log
from pastchats_memory.text.recall_block import RECALL_PREAMBLE

SCHEMA = Path(__file__).parents[2] / "contracts" / "schemas" / "log.json"
BLOCK = "# Memory Recall\nAsked: > Why does the flue smoke?\nSource: a.jsonl:1 · id 1"


@pytest.fixture
def kiln(program: Program) -> Program:
    """A memory with two sessions; a hook gave the first one to the second."""
    program = program.with_variables(
        HOME=str(program.home), XDG_STATE_HOME=str(program.home / "state"), PASTCHATS_MEMORY_HOOK_SECONDS=str(HANG_S)
    )
    first = [("user", "Why does the flue smoke?"), ("assistant", "It is too short.")]
    second = [("user", "The flue smokes again, why?"), ("assistant", "It is short again.")]
    write_messages(program.home / "a.jsonl", *first, conversation="one")
    write_messages(program.home / "b.jsonl", *second, conversation="two")
    for name in ("a.jsonl", "b.jsonl"):
        assert program("index", name).status == 0
    give(program, BLOCK)
    return program


def find_state(program: Program) -> Path:
    return program.home / "state" / "pastchats-memory"


def give(program: Program, text: str, kind: str = "recall") -> None:
    answer = json.dumps({"hookSpecificOutput": {"additionalContext": text}}).encode()
    note_given(str(find_state(program)), "claude-code", kind, "two", str(program.database), answer)


def test_the_page_shows_the_commands_of_a_warning_as_code(kiln: Program) -> None:
    give(kiln, "This failed here once: `no kiln`. This worked instead: `make kiln` · a.jsonl:1 · id 1", "warn")
    with serving(kiln) as server, browsing(server) as client:
        text = client.get("/page/log").text
    assert "This worked instead: <code>make kiln</code>" in text


def test_the_log_lists_what_was_given_and_prints_the_last_as_the_agent_saw_it(kiln: Program) -> None:
    body = json.loads(kiln("log", "--json").stdout)
    Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(body)
    assert [(one["given"], one["used"]) for one in body["weeks"]] == [(1, 0)]
    (one,) = body["results"]
    assert (one["agent"], one["kind"], one["session"], one["ids"]) == ("claude-code", "recall", "two", ["1"])
    assert (one["content"], one["bytes"], one["is_used"]) == (BLOCK, len(BLOCK.encode()), False)
    assert one["prompt"] == "The flue smokes again, why?"
    assert dedent(kiln("log", "--last").stdout).strip() == BLOCK
    assert "recall · 75 bytes · id 1 · session two" in kiln("log").stdout
    assert not list(find_state(kiln).rglob("given/*.json"))


def test_the_prompt_of_a_subagent_is_not_noted(kiln: Program) -> None:
    prompt = f"Measure the flue of Mrs Arden.\n\n{RECALL_PREAMBLE}\n{BLOCK}"
    give(kiln, prompt, "brief")
    (note,) = [file.read_text(encoding="utf-8") for file in sorted(find_state(kiln).rglob("given/*.json"))][-1:]
    assert "Arden" not in note
    assert dedent(kiln("log", "--last").stdout).strip() == f"{RECALL_PREAMBLE}\n{BLOCK}"


def test_a_note_that_is_stored_twice_is_listed_once(kiln: Program) -> None:
    (note,) = find_state(kiln).rglob("given/*.json")
    text = note.read_bytes()
    assert len(kiln("log", "--json").results) == 1
    note.write_bytes(text)  # as if the process had been killed before it removed the note
    (note.parent / "torn.json").write_bytes(text[:20])
    assert len(kiln("log", "--json").results) == 1


@pytest.mark.parametrize("id_", ["1", "2", "3"], ids=["quoted", "of the quoted session", "of the session that got it"])
@pytest.mark.parametrize("is_stored", [True, False])
@pytest.mark.promise("forgetting", "A memory that a hook gave to an agent is forgotten with the text that it quotes.")
def test_a_forgotten_turn_leaves_the_log(kiln: Program, id_: str, is_stored: bool) -> None:
    if is_stored:
        assert kiln("log").status == 0
    assert kiln("forget", "--id", id_, "--yes").status == 0
    assert kiln("log", "--json").results == []
    assert not list(find_state(kiln).rglob("given/*.json"))


@pytest.mark.parametrize(
    "heading",
    [
        "## 1. Why does the old brick flue smoke, Mr Abend… · garden · worked",
        '— then the user: "is the `old brick` flue short"',
    ],
)
def test_a_memory_is_forgotten_with_a_turn_that_it_quotes_and_does_not_name(kiln: Program, heading: str) -> None:
    words = "Why does the *old brick* flue smoke, Mr Abendroth? Tell me, is the old brick\nflue short?"
    write_messages(kiln.home / "c.jsonl", ("user", words), conversation="three")
    assert kiln("index", "c.jsonl").status == 0
    give(kiln, f"# Memory Recall\n{heading}\nSource: a.jsonl:1 · id 1")
    assert len(kiln("log", "--json").results) == 2
    assert kiln("forget", "--conversation", "three", "--yes").status == 0
    assert [one["content"] for one in kiln("log", "--json").results] == [BLOCK]


@pytest.mark.parametrize("forget", [lambda memory: memory.forget("1"), Memory.purge], ids=["forget", "purge"])
def test_the_page_and_python_forget_the_notes_too(
    kiln: Program, monkeypatch: pytest.MonkeyPatch, forget: Callable[[Memory], object]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(kiln.home / "state"))
    monkeypatch.chdir(kiln.home)
    with Memory.open(kiln.database.relative_to(kiln.home)) as memory:
        forget(memory)
        assert memory.log().results == ()
    assert not list(find_state(kiln).rglob("given/*.json"))


def test_a_note_about_a_turn_that_is_gone_is_not_stored(kiln: Program) -> None:
    assert kiln("forget", "--id", "1", "--yes").status == 0
    give(kiln, BLOCK)
    assert kiln("log").status == 1


def test_an_item_that_the_agent_read_later_was_used(kiln: Program) -> None:
    turn = {
        "role": "assistant", "content": "I read it.", "conversation_id": "two", "project": "garden", "timestamp": "2099-01-01T00:00:00Z",
        "tools": ["Bash pastchats-memory show 1"],
    }  # fmt: skip
    with (kiln.home / "b.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(turn) + "\n")
    assert kiln("index", ".").status == 0
    (one,) = kiln("log", "--json").results
    assert one["is_used"]
    [status] = kiln("status", "--json").results
    assert [(one["given"], one["used"]) for one in status["given"]] == [(1, 1)]
    assert ": 1 (1 used); `pastchats-memory log` lists them" in kiln("status").stdout


def test_secrets_are_not_stored(kiln: Program) -> None:
    give(kiln, "export DB_PASSWORD=hunter2hunter2", "warn")
    assert "hunter2hunter2" not in kiln("log", "--last").stdout


def test_the_log_of_another_memory_is_apart(kiln: Program) -> None:
    other = kiln.home / "other.db"
    assert kiln("index", "a.jsonl", "--db", other).status == 0
    assert kiln("log", "--db", other).status == 1
    assert len(kiln("log", "--json").results) == 1


@pytest.mark.promise("privacy", "The log of what hooks gave shows nothing of a private project outside it.")
def test_the_log_hides_quotations_of_a_private_project(kiln: Program) -> None:
    assert kiln("log").status == 0
    with open_database(kiln.database) as database:
        assert len(load_log(database, 5).results) == 1
        assert load_log(database.hide(frozenset({"garden"})), 5).results == ()


def test_each_week_counts_what_was_given_in_it_and_what_was_used(kiln: Program) -> None:
    turn = {
        "role": "assistant", "content": "I read it.", "conversation_id": "two", "project": "garden", "timestamp": "2026-02-10T00:00:00Z",
        "tools": ["Bash pastchats-memory show 1"],
    }  # fmt: skip
    (kiln.home / "b.jsonl").write_text(json.dumps(turn) + "\n", encoding="utf-8")
    assert kiln("index", ".").status == 0
    days = {"early": "2026-02-03T09:00:00Z", "same week": "2026-02-05T09:00:00Z", "late": "2026-02-12T09:00:00Z"}
    with open_database(kiln.database) as database:
        add(database, [Given(name, day, "claude-code", "recall", "two", BLOCK) for name, day in days.items()])
        assert list_weeks(database)[-2:] == (Week("2026-W07", 1, 0), Week("2026-W06", 2, 2))
