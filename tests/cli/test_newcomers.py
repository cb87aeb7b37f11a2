"""The sentence that helps a newcomer on: each error of the first ten minutes names the next step."""

from __future__ import annotations

import pytest
from program import Program, write_messages

from pastchats_memory.cli import COMMANDS, NOT_COMMANDS, OTHER_WORDS


def test_words_of_other_tools_lead_to_commands_that_exist() -> None:
    assert set(OTHER_WORDS.values()) <= set(COMMANDS)
    assert not {*OTHER_WORDS, *NOT_COMMANDS} & set(COMMANDS)


@pytest.mark.parametrize(
    ("line", "help_"),
    [
        ("init", "Did you mean 'setup'?"),
        ("Start", "Did you mean 'setup'?"),
        ("ingest", "Did you mean 'index'?"),
        ("find webhook", "Did you mean 'search'?"),
        ("serach webhook", "Did you mean 'search'?"),
        ("rm", "Did you mean 'forget'?"),
        ("version", "Write pastchats-memory --version."),
        ("upgrade", "uv tool upgrade pastchats-memory"),
        ("help", "Write pastchats-memory --help"),
        ("-v", "--version"),
        ("notes", "To index it: pastchats-memory index notes"),
        ("flaky-login-test", "pastchats-memory recall 'your task'"),
        ("search", "Write one: pastchats-memory search 'retry strategy'."),
        ("search webhook", "Run `pastchats-memory setup`"),
        ("recall webhook", "Run `pastchats-memory setup`"),
        ("recall webhook --budget 0", "0 is less than 1"),
        ("search webhook --limit 0", "0 is not a number from 1 to 1000"),
        ("--db x.db search webhook", "Options follow the command: pastchats-memory search --db ..."),
        ("index", "Name a file or folder"),
        ("index nowhere", "Check the spelling"),
        ("index notes", "There is no conversation in it. `pastchats-memory sources`"),
        ("index --all", "Name a file or folder"),
        ("install claude", "Did you mean 'claude-code'?"),
        ("install gemni", "Did you mean 'gemini'?"),
        ("restore nowhere.db", "no such file"),
        ("open 1", "Run `pastchats-memory setup`"),
        ("status", "Run `pastchats-memory setup`"),
    ],
)
def test_an_error_of_the_first_ten_minutes_names_the_next_step(program: Program, line: str, help_: str) -> None:
    (program.home / "notes").mkdir()
    run = program(*line.split())
    assert run.status in {1, 2}
    assert help_ in run.stderr
    assert "Traceback" not in run.stderr


def test_a_name_that_only_sounds_like_a_target_is_not_suggested(program: Program) -> None:
    run = program("install", "vscode")
    assert run.status == 2
    assert "Did you mean" not in run.stderr


def test_tasks_alone_lists_the_tasks(program: Program) -> None:
    assert program("task", "add", "Sweep the flue").status == 0
    assert "Sweep the flue" in program("tasks").stdout
    assert program("tasks").stdout == program("task", "list").stdout


def test_the_text_of_an_index_run_counts_as_its_json_does(program: Program) -> None:
    write_messages(program.home / "history" / "a.jsonl", ("user", "Which pan is for eggs?"))
    (program.home / "history" / "empty.jsonl").touch()
    (program.home / "history" / "other.json").write_text("plain words", encoding="utf-8")
    first = program("index", "history").stdout
    assert "1 read (1 messages), 0 unchanged, 1 empty, 1 not taken." in first
    assert "; 1 text embedded, 0 had a vector" in first
    again = program("index", "history").stdout
    assert "0 read, 3 unchanged, 0 not taken." in again
    assert program("index", "history", "--json").json["files_unchanged"] == 3
