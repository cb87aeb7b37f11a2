"""`index` over files that did not change says so without what reads, embeds and stores, and never overlooks a change."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from inprocess import Shell
from program import Program, write_messages

from pastchats_memory.files.project import is_opted_out

HEAVY = (
    "numpy",
    "onnxruntime",
    "pastchats_memory.embed",
    "pastchats_memory.memory",
    "pastchats_memory.formats.registry",
)

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows tells when a file was made, not when it changed"
)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A home with two transcripts, indexed twice: the second run found nothing new."""
    write_messages(tmp_path / "chats" / "a.jsonl", ("user", "Is the door open?"), ("assistant", "It is."))
    write_messages(tmp_path / "chats" / "b.jsonl", ("user", "Is the stove on?"), ("assistant", "It is not."))
    (tmp_path / "chats" / "settings.json").write_text('{"theme": "dark"}', encoding="utf-8")
    shell = Shell(tmp_path)
    for _ in range(2):
        assert shell("index", "chats", "--json").status == 0
    return shell


def is_answered_by_stamp(shell: Shell) -> bool:
    """Whether the last run was answered by the stamp of an earlier one, as its missing process says."""
    with apsw.Connection(str(shell.home / "memory.db")) as connection:
        newest = connection.execute("SELECT pid FROM runs ORDER BY id DESC LIMIT 1").fetchall()
    return newest == [(None,)]


def test_a_run_without_news_imports_neither_the_model_nor_readers(shell: Shell) -> None:
    code = "import os, sys; _exit = os._exit; "
    code += "os._exit = lambda code: (print(*sys.modules, file=sys.stderr, flush=True), _exit(code))"
    run = Program(shell.home, command=(sys.executable, "-c", f"{code}\nfrom pastchats_memory import cli; cli.main()"))(
        "index", "chats"
    )
    assert run.status == 0, run.stderr
    assert [name for name in run.stderr.split() if name.startswith(HEAVY)] == []


def test_the_answer_and_the_record_are_those_of_the_run_before(shell: Shell) -> None:
    database = shell.home / "memory.db"
    with apsw.Connection(str(database)) as connection:
        connection.execute("UPDATE runs SET stamp = NULL")
    slow, fast = shell("index", "chats", "--json").json, shell("index", "chats", "--json").json
    assert is_answered_by_stamp(shell)
    assert slow | {"duration_s": 0} == fast | {"duration_s": 0}
    with apsw.Connection(str(database)) as connection:
        (first, second) = connection.execute(
            "SELECT inputs, is_narrow, files_scanned, turns_added, turns_skipped, unreadable, model, outcome FROM runs "
            "ORDER BY id DESC LIMIT 2"
        ).fetchall()
    assert first == second


def change_a_file(home: Path) -> None:
    write_messages(home / "chats" / "a.jsonl", ("user", "Is the door shut?"), ("assistant", "It is."))


def add_a_file(home: Path) -> None:
    write_messages(home / "chats" / "c.jsonl", ("user", "Where is the key?"), ("assistant", "On the shelf."))


def remove_a_file(home: Path) -> None:
    (home / "chats" / "b.jsonl").unlink()


def opt_out(home: Path) -> None:
    (home / "chats" / ".pastchats-ignore").touch()


def opt_out_above(home: Path) -> None:
    (home / ".pastchats-ignore").touch()
    is_opted_out.cache_clear()  # a later run is another process


def configure(home: Path) -> None:
    (home / "config" / "pastchats-memory").mkdir(parents=True)
    (home / "config" / "pastchats-memory" / "pastchats-memory.toml").write_text(
        'exclude = ["b.jsonl"]', encoding="utf-8"
    )


def insert_a_turn(home: Path) -> None:
    with apsw.Connection(str(home / "memory.db")) as connection:
        connection.execute(
            "INSERT INTO prompts(source_path, source_project, turn_index, role, content, content_hash) "
            "VALUES ('x', 'x', 0, 'user', 'Who inserted this?', 'x')"
        )


def forget_a_file(home: Path) -> None:
    Shell(home)("forget", "--source", home / "chats" / "b.jsonl", "--yes")


def file_under_another_project(home: Path) -> None:
    Shell(home)("index", "chats", "--project", "other")


def make_a_project_private(home: Path) -> None:
    (home / "work").mkdir()
    with apsw.Connection(str(home / "memory.db")) as connection:
        row = (str(home / "work"), "work", 0)
        connection.execute("INSERT INTO project_folders(folder, project, is_private) VALUES (?, ?, ?)", row)
    (home / "work" / "pastchats-memory.toml").write_text("private = true\n", encoding="utf-8")


@pytest.mark.parametrize(
    "change",
    [
        change_a_file, add_a_file, remove_a_file, opt_out, opt_out_above, configure, insert_a_turn, forget_a_file,
        file_under_another_project, make_a_project_private,
    ],
    ids=lambda change: change.__name__,
)  # fmt: skip
def test_a_change_of_any_kind_is_seen(shell: Shell, change: Callable[[Path], None]) -> None:
    change(shell.home)
    shell("index", "chats")
    assert not is_answered_by_stamp(shell)


@pytest.mark.parametrize(
    "further", [["--force"], ["--project", "other"], ["--notes"], ["--include", "*.jsonl"], ["chats/a.jsonl"]]
)
def test_a_run_with_other_options_or_inputs_looks_for_itself(shell: Shell, further: list[str]) -> None:
    shell("index", "chats", *further)
    assert not is_answered_by_stamp(shell)


def test_a_run_that_leaves_something_to_do_is_not_repeated(tmp_path: Path) -> None:
    write_messages(tmp_path / "chats" / "a.jsonl", ("user", "Is the door open?"), ("assistant", "It is."))
    shell = Shell(tmp_path)
    shell("index", "chats")
    with apsw.Connection(str(tmp_path / "memory.db")) as connection:
        connection.execute("UPDATE prompt_embeddings SET model = '' WHERE prompt_id = 1")
        connection.execute("UPDATE runs SET stamp = NULL")
    shell("index", "chats")
    shell("index", "chats")
    assert is_answered_by_stamp(shell)
