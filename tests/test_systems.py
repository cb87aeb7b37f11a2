"""Test that the suite starts on a system without the modules and calls of POSIX, and skips what it cannot run there."""

from __future__ import annotations

import os
import subprocess
import sys

from program import REPOSITORY
from systems import NAMES

WITHOUT_POSIX = f"""
import os, signal, socket, sys, time
import pytest

class Bare:
    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self):
        import filelock, mcp  # like the plugins, which are loaded by then, these have ways of their own on Windows
        sys.modules.update(dict.fromkeys(("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty")))
        for module, names in { {module.__name__: names for module, names in NAMES.items()} }.items():
            for name in names:
                if hasattr(sys.modules[module], name) and name != "getuid":  # pytest asks for it on Linux
                    delattr(sys.modules[module], name)

sys.exit(pytest.main(sys.argv[1:], plugins=[Bare()]))
"""


def run_without_posix(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a process that lacks what Windows lacks."""
    options = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--timeout-method=thread")
    command = [sys.executable, "-c", WITHOUT_POSIX, *options, *arguments]
    return subprocess.run(
        command, cwd=REPOSITORY, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )


def test_the_whole_suite_is_collected_without_posix() -> None:
    done = run_without_posix("--collect-only", "tests")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def test_a_skip_names_the_call_that_the_system_lacks() -> None:
    done = run_without_posix("-rs", "tests/files/test_regular_file.py")
    assert done.returncode == 0, done.stdout[-3000:]
    assert "this system has no mkfifo" in done.stdout
    assert set(done.stdout.partition(" ")[0]) == {"s", "."}  # one needs no pipe


def test_a_skip_names_the_program_that_the_system_lacks() -> None:
    done = run_without_posix("-rs", "tests/files/test_project.py", PATH="")
    assert done.returncode == 0, done.stdout[-3000:]
    assert "this system has no git" in done.stdout
    assert set(done.stdout.partition(" ")[0]) == {"s", "."}  # most need no repository
