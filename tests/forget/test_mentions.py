"""`forget` finds every place that contains the words: it deletes the place or names it with the reason why it stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from program import Program, write_messages

SESSION = "5f0c9a52-1111-4c1e-9b1d-000000000007"
NAME = "Zebulon Quixworthy"


def record(second: int, role: str, content: object) -> str:
    message = {"role": role, "content": content} | ({"id": f"msg_{second:024}"} if role == "assistant" else {})
    return json.dumps(
        {
            "type": role, "uuid": f"00000000-0000-4000-8000-{second:012}", "sessionId": SESSION, "message": message,
            "timestamp": f"2026-05-04T08:15:{second:02}.250Z", "cwd": "/home/ada/garden", "isSidechain": False,
        }
    )  # fmt: skip


def call(number: int, tool: str, **arguments: object) -> list[dict[str, object]]:
    return [{"type": "tool_use", "id": f"toolu_{number}", "name": tool, "input": arguments}]


def result(number: int, text: str) -> list[dict[str, object]]:
    return [{"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": text}]


@pytest.fixture
def ledger(program: Program) -> Program:
    """A session whose prompt, command, file, result and list of tasks have a name in them."""
    lines = [
        record(0, "user", f"Please look up {NAME} in the ledger"),
        record(1, "assistant", [{"type": "text", "text": "I will look."}]),
        record(2, "assistant", call(1, "Bash", command=f"grep '{NAME}' ledger.csv")),
        record(3, "user", result(1, f"{NAME},42,Elm Street\n1 passed in 0.1s")),
        record(4, "assistant", [{"type": "text", "text": "That is done."}]),
        record(5, "user", "Now write it into the file"),
        record(6, "assistant", call(2, "Edit", file_path="/home/ada/garden/Quixworthy.md", old_string="a", new_string="b")),
        record(7, "user", result(2, "ok")),
        record(8, "assistant", call(3, "TodoWrite", todos=[{"content": f"Call {NAME} back", "status": "pending"}])),
        record(9, "user", result(3, "ok")),
        record(10, "assistant", [{"type": "text", "text": "Written, all of it."}]),
        record(11, "user", "great, thanks"),
        record(12, "assistant", [{"type": "text", "text": "You are welcome."}]),
    ]  # fmt: skip
    (program.home / "session.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert program("index", "session.jsonl").status == 0
    return program


def stored(program: Program) -> str:
    """The bytes of the database and of its side files, as a text in lower case."""
    files = program.home.glob("memory.db*")
    return "\n".join(file.read_bytes().decode("latin-1") for file in files).lower()


@pytest.mark.promise("forgetting", "`forget --query` deletes the rows whose commands, files or results have the words.")
def test_words_of_commands_and_tasks_are_forgotten_with_the_text(ledger: Program) -> None:
    assert "zebulon" in stored(ledger)
    gone = ledger("forget", "--query", NAME, "--yes", "--json").json
    assert gone["turns"] >= 2
    assert gone["tasks"] == 1
    assert "zebulon" not in stored(ledger)
    assert NAME not in ledger("recall", "look in the ledger").stdout
    ledger("index", "session.jsonl", "--force")
    assert "zebulon" not in stored(ledger)


def test_rows_with_only_some_of_the_words_are_named(ledger: Program) -> None:
    shown = ledger("forget", "--query", NAME)
    assert "quixworthy" in shown.stderr
    named = ledger("forget", "--query", NAME, "--yes", "--json").json["warnings"]
    assert len([warning for warning in named if "rows that stay" in warning and "quixworthy" in warning]) == 1
    assert ledger("forget", "--query", "Quixworthy", "--yes", "--json").json.get("warnings") is None
    assert "quixworthy" not in stored(ledger)


def test_rows_with_a_rare_word_of_a_turn_that_is_forgotten_by_its_id_are_named(ledger: Program) -> None:
    found = ledger("search", f"Please look up {NAME}", "--json", "--limit", 1).results[0]
    (rows,) = ledger("forget", "--id", found["id"], "--yes", "--json").json["warnings"]
    assert "zebulon" in rows
    assert "t:" in rows


def test_names_of_files_and_projects_stay_and_are_named(program: Program) -> None:
    path = program.home / "zebulon" / "quixworthy.jsonl"
    write_messages(path, ("user", f"Who is {NAME}?"), ("assistant", "He keeps the gate."))
    program("index", path)
    (names,) = program("forget", "--query", NAME, "--yes", "--json").json["warnings"]
    assert "sources.path: quixworthy, zebulon" in names
    assert "runs.inputs" in names


def test_rows_of_private_projects_are_counted_and_not_named(program: Program) -> None:
    secret: Path = program.home / "secret"
    (secret / ".git").mkdir(parents=True)
    (secret / "pastchats-memory.toml").write_text("private = true\n", encoding="utf-8")
    write_messages(secret / "chat.jsonl", ("user", f"{NAME} is at home"), project="secret", conversation="c2")
    write_messages(program.home / "open.jsonl", ("user", f"Who is {NAME}?"), ("assistant", "He keeps the gate."))
    program("index", "secret", "open.jsonl")
    gone = program("forget", "--query", NAME, "--yes", "--json").json
    assert (gone["turns"], gone["private"], gone.get("warnings")) == (1, 1, None)


def test_a_row_is_not_chosen_for_the_name_of_its_format_or_branch(program: Program) -> None:
    write_messages(program.home / "a.jsonl", ("user", "Where is the key?"), ("assistant", "Under the mat."))
    program("index", "a.jsonl")
    for word in ("prompt", "answer", "main", "messages"):
        assert program("forget", "--query", word, "--yes").status == 1
