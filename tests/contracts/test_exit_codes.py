"""How the program ends: 0 found or done, 1 nothing, 2 explained, 70 a bug, 130 interrupted, a closed pipe 0."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from contract_checks import unpaired_rows
from program import Program, write_messages
from self_signal import signal_after, with_checksum_vectors
from waiting import HANG_S

from pastchats_memory.cli import COMMANDS

MANY = 700
"""Turns: more than two batches of an index run."""


def test_results_in_a_pipe_end_with_0_and_an_empty_stderr(demo: Program) -> None:
    for arguments in (
        ["search", "--json", "retry strategy"],
        ["recall", "--query", "build webhook retries"],
        ["status"],
    ):
        done = demo(*arguments)
        assert (done.status, done.stderr) == (0, "")
        assert done.stdout


def test_nothing_found_ends_with_1(demo: Program) -> None:
    done = demo("search", "retry", "--project", "nowhere")
    assert (done.status, done.stdout) == (1, "")
    assert "Nothing found" in done.stderr


@pytest.mark.parametrize("arguments", [["search"], ["search", "x", "--mode", "psychic"], ["nonsense"], ["index"]])
def test_wrong_usage_ends_with_2_and_an_empty_stdout(program: Program, arguments: list[str]) -> None:
    done = program(*arguments)
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr
    assert "Traceback" not in done.stderr


def test_a_bug_ends_with_70_and_keeps_its_traceback(demo: Program) -> None:
    buggy = demo.altered("from pastchats_memory.store import checks\nchecks.counts = lambda _: 1 / 0")
    done = buggy("status")
    assert (done.status, done.stdout) == (70, "")
    assert done.stderr.startswith("Traceback (most recent call last)")
    assert "ZeroDivisionError" in done.stderr


def test_an_interrupted_index_ends_with_130_and_leaves_a_whole_memory(program: Program) -> None:
    messages = [("user" if turn % 2 == 0 else "assistant", f"Row {turn} of the hedge") for turn in range(MANY)]
    path = write_messages(program.home / "long.jsonl", *messages)
    stopped = signal_after(program, signal.SIGINT, MANY - 50)("index", path)
    assert (stopped.status, stopped.stdout) == (130, "")
    assert "run the same command to go on" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert unpaired_rows(program) == []
    interrupted = program("status", "--json").results[0]
    assert interrupted["last_run"]["outcome"] == "interrupted"
    resumed = with_checksum_vectors(program)("index", path, "--json").json
    assert 0 < interrupted["turns"] < MANY
    assert resumed["turns_added"] == MANY - interrupted["turns"]


def test_a_pipe_that_was_closed_ends_quietly_with_0(demo: Program) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*demo.command, "search", "retry", "--limit", "200", "--json"],
        stdout=writing,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        env=demo.environment,
        encoding="utf-8",
        timeout=HANG_S,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_has_examples(program: Program, command: str) -> None:
    done = program(command, "--help")
    assert (done.status, done.stderr) == (0, "")
    examples = done.stdout.partition("\n  Examples:\n")[2]
    assert any(line.startswith(f"    pastchats-memory {command}") for line in examples.splitlines())


@pytest.mark.parametrize(
    "arguments",
    [["--version"], ["search", "retry jitter", "--json"], ["show", "1000"], ["show", "x", "--json"], ["srch"]],
)
def test_the_module_runs_as_the_program_does_and_a_process_that_imports_as_one_that_forked_off(
    demo: Program, arguments: list[str]
) -> None:
    as_module = Program(demo.home, (sys.executable, "-m", "pastchats_memory"))
    assert as_module(*arguments) == demo(*arguments)
    assert as_module("--version").stdout.startswith("pastchats-memory")
