"""Test that hooks and commands work whatever a parent process left behind."""

from __future__ import annotations

import json
import os
import select
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest
from program import Program, write_messages
from waiting import HANG_S, wait_until

from pastchats_memory.hooks.answer_queue import WAITING_PER_PROCESSOR
from pastchats_memory.hooks.limit import seconds_since_start

PROMPT = "How did we build the webhook retries with backoff?"
STATES = {
    "children are not reported": "trap '' CHLD; exec {line}",
    "alarms, pipes and interrupts are ignored": "trap '' ALRM PIPE INT TERM; exec {line}",
    "nobody may read what is written": "umask 0777; exec {line}",
    "no errors": "exec {line} 2>&-",
    "an odd encoding": "PYTHONIOENCODING=utf-16 LC_ALL=xx_YY exec {line}",
    "no temporary folder": "TMPDIR=/nonexistent exec {line}",
    "no working directory": "mkdir gone && cd gone && rmdir ../gone && exec {line}",
    "few processes and files": "ulimit -n 64; exec {line}",
}
BLOCKED = "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())\n"
NO_HOME = """
import os, pwd
os.environ.pop("HOME", None)
os.environ.pop("XDG_STATE_HOME", None)
def getpwuid(uid):
    raise KeyError(uid)
pwd.getpwuid = getpwuid
"""
"""As for a user whom the system does not know, in a container."""


@pytest.fixture
def hooked(own_demo: Program) -> Program:
    return own_demo.with_variables(PASTCHATS_MEMORY_HOOK_SECONDS=str(HANG_S))


def run_in(state: str, program: Program, *arguments: str, body: str = "") -> subprocess.CompletedProcess[bytes]:
    line = state.format(line=shlex.join([*program._command, *arguments]))  # noqa: SLF001 - as a shell starts it
    return subprocess.run(
        ["/bin/sh", "-c", line], input=body.encode(), env=program.environment, cwd=program.home, capture_output=True,
        timeout=HANG_S, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("state", STATES)
def test_a_hook_and_a_command_answer_in_whatever_state_they_are_started(hooked: Program, state: str) -> None:
    body = json.dumps({"session_id": "s", "prompt": PROMPT})
    done = run_in(STATES[state], hooked, "hook", "claude-code", "UserPromptSubmit", body=body)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "full jitter" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    asked = run_in(STATES[state], hooked, "recall", "webhook retries with backoff", "--json")
    assert asked.returncode == 0, asked.stderr
    assert json.loads(asked.stdout)["results"]


def test_signals_that_a_parent_blocked_reach_us(hooked: Program) -> None:
    body = json.dumps({"session_id": "s", "prompt": PROMPT})
    done = run_in("exec {line}", hooked.altered(BLOCKED), "hook", "claude-code", "UserPromptSubmit", body=body)
    assert b"full jitter" in done.stdout


@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&- 2>&-"])
def test_a_closed_stream_costs_no_more_than_what_goes_through_it(hooked: Program, closed: str) -> None:
    before = hooked("status", "--json").results[0]["turns"]
    done = run_in(f"exec {{line}} {closed}", hooked, "hook", "claude-code", "UserPromptSubmit", body="{}")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    stored = run_in(f"exec {{line}} {closed}", hooked, "capture", "Water the ferns", "--yes")
    assert stored.returncode == 0
    assert hooked("doctor").status == 0
    assert hooked("status", "--json").results[0]["turns"] == before
    assert "Water the ferns" in hooked("task", "list", "--json").stdout


def test_a_process_that_may_not_start_another_ends_with_0(hooked: Program) -> None:
    program = hooked.altered(
        "import os\ndef fork():\n    raise BlockingIOError(11, 'Resource temporarily unavailable')\nos.fork = fork"
    )
    done = run_in(
        "exec {line}", program, "hook", "claude-code", "UserPromptSubmit", body=json.dumps({"prompt": PROMPT})
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_without_a_home_the_hook_answers_and_indexes_as_the_command_does(hooked: Program) -> None:
    homeless = hooked.altered(NO_HOME)
    body = json.dumps({"session_id": "s", "prompt": PROMPT})
    assert run_in("exec {line}", homeless, "recall", "webhook retries with backoff").returncode == 0
    done = run_in("exec {line}", homeless, "hook", "claude-code", "UserPromptSubmit", body=body)
    assert b"full jitter" in done.stdout
    again = run_in("exec {line}", homeless, "hook", "claude-code", "UserPromptSubmit", body=body)
    assert again.stdout != done.stdout  # what a session was given is remembered beside the database
    transcript = hooked.home / "ended.jsonl"
    transcript.write_text('{"role": "user", "content": "Where does the urn stand?"}\n', encoding="utf-8")
    ended = json.dumps({"session_id": "s", "transcript_path": str(transcript)})
    assert run_in("exec {line}", homeless, "hook", "claude-code", "SessionEnd", body=ended).returncode == 0
    wait_until(lambda: "urn" in hooked("search", "urn", "--mode", "keyword", "--json").stdout)


def test_the_limit_counts_from_the_start_of_the_process(hooked: Program) -> None:
    late = hooked.altered("import time; time.sleep(1.2)").with_variables(PASTCHATS_MEMORY_HOOK_SECONDS="1")
    body = json.dumps({"session_id": "s", "prompt": PROMPT})
    done = run_in("exec {line}", late, "hook", "claude-code", "UserPromptSubmit", body=body)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not (hooked.home / ".local" / "state" / "pastchats-memory" / "sessions").exists()


def test_the_end_of_a_session_names_its_transcript_however_late_the_hook_is(hooked: Program) -> None:
    transcript = write_messages(
        hooked.home / "late.jsonl", ("user", "Where is the late anchor?"), ("assistant", "Aft.")
    )
    late = hooked.altered("import time; time.sleep(1.2)").with_variables(PASTCHATS_MEMORY_HOOK_SECONDS="1")
    body = json.dumps({"session_id": "s", "transcript_path": str(transcript)})
    assert run_in("exec {line}", late, "hook", "claude-code", "SessionEnd", body=body).returncode == 0
    wait_until(lambda: "late anchor" in hooked("search", "late anchor", "--mode", "keyword", "--json").stdout)


def test_the_age_of_a_process_is_that_of_the_system() -> None:
    code = "import time; time.sleep(0.3); from pastchats_memory.hooks.limit import seconds_since_start as s; print(s())"
    start = time.monotonic()
    age = float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
    assert age <= time.monotonic() - start + 0.02  # the system counts in hundredths
    if Path("/proc/self/stat").exists():
        assert age >= 0.3
    assert seconds_since_start() > 0


def test_some_of_many_hooks_at_once_answer_and_some_wait(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pastchats_memory.hooks.answer_queue import wait_in_queue\n"
        "print(wait_in_queue(sys.argv[1], time.monotonic() + float(sys.argv[2])), flush=True); sys.stdin.read()"
    )

    def start(patience_s: float) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", code, str(tmp_path), str(patience_s)]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")

    def read(hook: subprocess.Popen[str]) -> str:
        assert hook.stdout is not None
        return hook.stdout.readline().strip()

    processors = os.cpu_count() or 1
    first = [start(0) for _ in range(processors)]
    assert {read(hook) for hook in first} == {"True"}
    waiting = [start(HANG_S) for _ in range(processors * WAITING_PER_PROCESSOR + 2)]
    outputs = [hook.stdout for hook in waiting]
    wait_until(lambda: len(select.select(outputs, [], [], 0)[0]) == 2)
    for hook in (*first, *waiting):  # all of them before one is read: a place may come to the last that waits
        assert hook.stdin is not None
        hook.stdin.close()
    answers = [read(hook) for hook in waiting]
    for hook in (*first, *waiting):
        assert hook.stdout is not None
        hook.stdout.close()
        assert hook.wait() == 0
    assert (answers.count("True"), answers.count("False")) == (processors * WAITING_PER_PROCESSOR, 2)
