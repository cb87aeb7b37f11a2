"""Test that a fault of the environment is named with its cause and a remedy, in every command."""

from __future__ import annotations

import errno
import json
import os
import subprocess
from io import BytesIO, TextIOWrapper
from pathlib import Path

import apsw
import pytest
from outcomes import error_of
from program import IS_BARE, Program, write_messages
from waiting import HANG_S

from pastchats_memory.cli import set_encoding
from pastchats_memory.errors import MemoryFault
from pastchats_memory.files.faults import CAUSES, explain_os_error
from pastchats_memory.store.probe import find_refusal

WRITING = (
    ["index", "history"],
    ["capture", "Pay by card", "--no"],
    ["reindex", "--embeddings"],
    ["task", "add", "Pay"],
)
NO_LOCKS = """
import os
def lockf(*_):
    raise OSError({number}, os.strerror({number}))
os.lockf = lockf
import apsw
"""


def test_every_cause_has_a_remedy() -> None:
    for number in CAUSES:
        fault = explain_os_error(OSError(number, os.strerror(number)), "/somewhere/memory.db")
        assert isinstance(fault, MemoryFault)
        assert fault.message.startswith("/somewhere/memory.db: ")
        assert fault.hint.endswith(".")
    assert explain_os_error(OSError(errno.EBADF, "a bug"), "x") is None


def test_a_file_system_that_refuses_nothing_explains_nothing(tmp_path: Path) -> None:
    assert find_refusal(tmp_path / "memory.db") is None
    assert list(tmp_path.iterdir()) == []


NO_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}
"""Python stores a compiled module cut off at the limit, and reads it ever after."""


def limited(program: Program, limit: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/bash", "-c", f'ulimit {limit}; exec "$@"', "limited", *program.command, *arguments],
        env=program.environment | NO_BYTECODE, cwd=program.home, capture_output=True, encoding="utf-8", timeout=HANG_S, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("arguments", [*WRITING, ["backup", "copy.db"]], ids=lambda arguments: arguments[0])
def test_a_limit_on_the_size_of_files_is_no_damage(own_demo: Program, arguments: list[str]) -> None:
    write_messages(own_demo.home / "history" / "a.jsonl", ("user", "Build it."), ("assistant", "Built."))
    # In blocks of 1,024 bytes: room for the index of the write-ahead log, and for no more.
    done = limited(own_demo, "-f 40", *arguments)
    assert done.returncode == 2, done.stderr
    assert "limit on the size of files" in done.stderr
    assert "ulimit -f unlimited" in done.stderr
    assert own_demo("doctor").status == 0
    assert own_demo(*arguments).status == 0


def test_doctor_names_a_limit_before_anything_fails(own_demo: Program) -> None:
    kilobytes = own_demo.database.stat().st_size // 1024 + 100
    done = limited(own_demo, f"-f {kilobytes}", "doctor", "--json")
    (place,) = (one for one in json.loads(done.stdout)["results"] if one["check"] == "place")
    assert not place["is_well"]
    assert "limit on the size of files" in place["detail"]
    assert "ulimit" in place["remedy"]


@pytest.mark.skipif(IS_BARE, reason="only POSIX tells a process its limits")
@pytest.mark.parametrize("arguments", [["index", "history"], ["search", "login"], ["recall", "login"], ["status"]])
@pytest.mark.parametrize("letter", ["v", "d"])
def test_a_limit_on_memory_is_named_before_a_library_aborts(
    own_demo: Program, arguments: list[str], letter: str
) -> None:
    done = limited(own_demo, f"-{letter} 200000", *arguments)
    assert done.returncode == 2
    assert "195 MB of memory" in done.stderr
    assert f"ulimit -{letter} unlimited" in done.stderr
    assert not done.stdout


def test_a_hook_under_a_limit_on_memory_disturbs_no_agent(own_demo: Program) -> None:
    done = limited(own_demo, "-v 200000", "hook", "claude-code")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("number", "words"), [(errno.ENOLCK, "cannot lock files"), (None, "locked by another process")]
)
def test_a_file_system_without_locks_is_recognised(own_demo: Program, number: int | None, words: str) -> None:
    program = own_demo if number is None else own_demo.altered(NO_LOCKS.format(number=number))
    with apsw.Connection(str(own_demo.database)) as other:  # which begins a transaction
        other.execute("DELETE FROM tasks WHERE id < 0")
        error = error_of(program("task", "add", "Pay by card", "--json"))
    assert words in error["message"]
    assert error["hint"]


def test_too_few_files_are_no_bug(own_demo: Program) -> None:
    for most in range(7, 14):  # with fewer the interpreter itself does not start
        done = limited(own_demo, f"-n {most}", "search", "webhook")
        assert done.returncode in (0, 2), done.stderr


@pytest.mark.parametrize("kind", ["folder", "pipe", "below a file", "too long", "loop"])
@pytest.mark.parametrize("command", [["search", "a"], ["index", "history"], ["doctor"], ["capture", "a", "--no"]])
def test_a_path_that_is_no_file_is_explained(own_demo: Program, kind: str, command: list[str]) -> None:
    write_messages(own_demo.home / "history" / "a.jsonl", ("user", "Build it."), ("assistant", "Built."))
    path = own_demo.home / ("x" * 300 if kind == "too long" else "place")
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "below a file":
        path.write_text("a file", encoding="utf-8")
        path = path / "memory.db"
    error = error_of(own_demo(*command, "--db", path, "--json"))
    assert error["hint"]
    assert error["kind"].startswith("database_")


@pytest.mark.parametrize(
    "command",
    [["task", "import"], ["index"], ["restore", "--yes"], ["backup"], ["export"]],
    ids=lambda command: command[0],
)
def test_a_pipe_into_which_nobody_writes_holds_no_command_up(own_demo: Program, command: list[str]) -> None:
    os.mkfifo(own_demo.home / "pipe")
    assert own_demo(*command, "pipe").status in (0, 1, 2)


@pytest.mark.parametrize(
    ("system", "asked", "expected"),
    [("win32", None, "utf-8"), ("win32", "cp1252", "cp1252"), ("linux", None, "cp1252")],
)
def test_a_pipe_on_windows_gets_utf_8_unless_another_encoding_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, system: str, asked: str | None, expected: str
) -> None:
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    if asked:
        monkeypatch.setenv("PYTHONIOENCODING", asked)
    stream = TextIOWrapper(BytesIO(), encoding="cp1252")
    set_encoding(stream, system)
    assert (stream.encoding, stream.errors) == (expected, "backslashreplace")


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "latin-1", "utf-16", "shift_jis", "cp437:strict", "utf-8"])
def test_json_is_json_in_any_encoding(program: Program, encoding: str) -> None:
    text = "The \U0001f525 kiln costs 7 \u20ac \u2013 na\u00efve \u6f22\u5b57"
    write_messages(program.home / "a.jsonl", ("user", text), ("assistant", "Yes."))
    assert program("index", "a.jsonl").status == 0
    coded = encoding.partition(":")[0]
    for arguments, stream in (
        (["search", "kiln", "--json"], "stdout"), (["export"], "stdout"), (["show", "9\u20ac\U0001f525", "--json"], "stderr"),
    ):  # fmt: skip
        done = subprocess.run(
            [*program.command, *arguments], env={**program.environment, "PYTHONIOENCODING": encoding},
            cwd=program.home, capture_output=True, timeout=HANG_S, check=False,
        )  # fmt: skip
        lines = [json.loads(line) for line in getattr(done, stream).decode(coded).splitlines()]
        assert lines
        if stream == "stdout":
            assert text in json.dumps(lines, ensure_ascii=False)
