"""Run the program on a terminal."""

from __future__ import annotations

import os
import subprocess

import pytest
from program import Program

pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")


def on_a_terminal(program: Program, *arguments: object, typed: bytes = b"") -> tuple[int, str]:
    """Return the exit code and everything that is shown, with a terminal on all three streams."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 100))
    with subprocess.Popen(
        [*program.command, *map(str, arguments)],
        cwd=program.home,
        env={**program.environment, "TERM": "xterm"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        os.write(ours, typed)
        shown = bytearray()
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # Linux reports the end of a terminal as an error
                break
            if not piece:
                break
            shown += piece
    os.close(ours)
    return process.returncode, shown.decode()
