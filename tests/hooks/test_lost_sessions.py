"""Test that a session is indexed although the process that should report or index it is killed, or never ran."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
from program import Program, write_session
from waiting import HANG_S, wait_until

from pastchats_memory.hooks import spool
from pastchats_memory.hooks.state import is_any_waiting

KILL_AT_CHANGE = """
import os, signal, sys
left = [{number}]
def watch(event, arguments):
    is_change = event in ("os.mkdir", "os.rename", "os.remove", "subprocess.Popen")
    if event == "open" and isinstance(arguments[2], int):
        is_change = bool(arguments[2] & (os.O_WRONLY | os.O_RDWR))
    if is_change:
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)
sys.dont_write_bytecode = True
sys.addaudithook(watch)
"""
"""End the process by a kill just before its n-th change of the file system or its n-th new process."""


@pytest.fixture
def hooked(own_demo: Program) -> Program:
    return own_demo.with_variables(
        XDG_STATE_HOME=str(own_demo.home / "state"), PASTCHATS_MEMORY_HOOK_SECONDS=str(HANG_S)
    )


def write_history(program: Program, name: str) -> Path:
    """Write a session of Claude Code about one word into its history, and return the transcript."""
    path = program.home / ".claude" / "projects" / "garden" / f"{name}.jsonl"
    write_session(path, ("user", f"Where does the {name} stand?"), ("assistant", f"The {name} stands by the gate."))
    path.write_text(path.read_text(encoding="utf-8").replace("5f0c9a52", name), encoding="utf-8")
    return path


def run_hook(program: Program, event: str, transcript: Path | None = None) -> int:
    body = {"session_id": "s", **({"transcript_path": str(transcript)} if transcript else {})}
    return subprocess.run(
        [*program._command, "hook", "claude-code", event],  # noqa: SLF001 - a process with a body on stdin
        input=json.dumps(body).encode(), env=program.environment, cwd=program.home, capture_output=True,
        timeout=HANG_S, check=False,
    ).returncode  # fmt: skip


def is_found(program: Program, word: str) -> bool:
    return word in program("search", word, "--mode", "keyword", "--role", "assistant", "--json").stdout


def test_a_session_whose_hook_is_killed_at_any_step_is_indexed_by_the_next_hook(hooked: Program) -> None:
    killed = []
    for number in count():
        name = f"urn{number}"
        if (
            run_hook(hooked.altered(KILL_AT_CHANGE.format(number=number)), "SessionEnd", write_history(hooked, name))
            == 0
        ):
            break
        killed.append(name)
    assert len(killed) > 3
    assert run_hook(hooked, "SessionStart") == 0
    wait_until(lambda: all(is_found(hooked, name) for name in killed))


def test_a_request_outlives_a_background_process_that_is_killed_at_any_step(hooked: Program) -> None:
    state = hooked.home / "state" / "pastchats-memory"
    transcript = write_history(hooked, "urn").rename(hooked.home / "elsewhere.jsonl")
    for number in count():
        for file in spool.list_waiting(state):
            file.unlink()
        spool.add(state, spool.IndexRequest("claude-code", str(hooked.database), str(transcript)))
        code = KILL_AT_CHANGE.format(number=number) + (
            f"from pastchats_memory.hooks.background import main; main({str(state)!r})"
        )
        ended = subprocess.run([sys.executable, "-c", code], env=hooked.environment, timeout=HANG_S, check=False)
        if ended.returncode == 0:
            break
        assert is_any_waiting(str(state)) or is_found(hooked, "urn")
    assert number > 2
    assert not is_any_waiting(str(state))
    assert is_found(hooked, "urn")


def test_a_session_that_no_hook_reported_is_indexed_when_the_next_one_starts(hooked: Program) -> None:
    write_history(hooked, "urn")
    assert run_hook(hooked, "SessionStart") == 0
    wait_until(lambda: is_found(hooked, "urn"))


def test_index_all_fulfils_what_hooks_left_waiting(hooked: Program) -> None:
    write_history(hooked, "vase")
    transcript = write_history(hooked, "urn").rename(hooked.home / "elsewhere.jsonl")
    spool.add(
        hooked.home / "state" / "pastchats-memory", spool.IndexRequest("codex", str(hooked.database), str(transcript))
    )
    assert hooked("index", "--all", "--yes").status == 0
    assert is_found(hooked, "urn")
    assert is_found(hooked, "vase")


def test_a_request_that_kills_every_process_is_given_up_in_the_end(tmp_path: Path) -> None:
    spool.add(tmp_path, spool.IndexRequest("codex", None, "/nowhere/hostile.jsonl"))
    for _ in range(spool.MOST_ATTEMPTS):
        (file,) = spool.list_waiting(tmp_path)
        assert spool.begin_attempt(file) is not None
    (file,) = spool.list_waiting(tmp_path)
    assert spool.begin_attempt(file) is None
    assert not is_any_waiting(str(tmp_path))


def test_an_attempt_replaces_an_older_one_of_the_same_request(tmp_path: Path) -> None:
    request = spool.IndexRequest("codex", None, "/nowhere/chat.jsonl")
    spool.add(tmp_path, request)
    (file,) = spool.list_waiting(tmp_path)
    assert spool.begin_attempt(file) is not None
    spool.add(tmp_path, request)
    assert spool.begin_attempt(file) is not None
    assert len(spool.list_waiting(tmp_path)) == 1


def test_a_session_s_end_counts_although_its_body_is_damaged_or_the_disk_takes_no_request(hooked: Program) -> None:
    write_history(hooked, "urn")
    state = hooked.home / "state"
    state.write_text("a file where the folder should be", encoding="utf-8")
    done = subprocess.run(
        [*hooked.command, "hook", "claude-code", "SessionEnd"], input=b'{"session_id": ', env=hooked.environment,
        cwd=hooked.home, capture_output=True, timeout=HANG_S, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    wait_until(lambda: is_found(hooked, "urn"))
