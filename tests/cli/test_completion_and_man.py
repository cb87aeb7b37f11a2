"""What a shell and `man` are told about the program."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from program import Program

from pastchats_memory import __version__
from pastchats_memory.cli import COMMANDS


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_is_one_that_the_shell_can_read(program: Program, shell: str) -> None:
    run = program("completion", shell)
    assert (run.status, run.stderr) == (0, "")
    assert f"_PASTCHATS_MEMORY_COMPLETE={shell}_complete" in run.stdout
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=run.stdout, encoding="utf-8", check=True)


def test_a_half_written_command_is_completed_and_so_is_an_option(program: Program) -> None:
    def completed(words: str, place: int) -> str:
        return program.with_variables(
            _PASTCHATS_MEMORY_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(place)
        )().stdout

    assert "plain,recall" in completed("pastchats-memory rec", 1)
    assert "plain,--budget" in completed("pastchats-memory recall --bud", 2)


def test_the_manual_page_names_every_command_and_man_accepts_it(program: Program) -> None:
    run = program("man")
    assert (run.status, run.stderr) == (0, "")
    assert run.stdout.startswith(f'.TH PASTCHATS-MEMORY 1 "" "pastchats-memory {__version__}"')
    for command in COMMANDS:
        assert f".SS {command}\n".replace("-", "\\-") in run.stdout
    if shutil.which("groff"):
        done = subprocess.run(
            ["groff", "-man", "-ww", "-Tutf8"], input=run.stdout, encoding="utf-8", capture_output=True, check=True
        )
        assert done.stderr == ""
