"""Start other programs: editors and agents."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Sequence

from pastchats_memory.errors import MemoryFault

GIT_SECONDS = 10.0


def join_command(command: Sequence[str], folder: str | None = None) -> str:
    """Return a command as a line for the user's shell, in a folder if one is given."""
    if os.name == "nt":
        line = subprocess.list2cmdline(command)
        return line if folder is None else f"cd /d {subprocess.list2cmdline([folder])} && {line}"
    line = shlex.join(command)
    return line if folder is None else f"cd {shlex.quote(folder)} && {line}"


def ask_git(folder: str, *arguments: str) -> str | None:
    """Return what git prints about a folder; None if it fails, is missing, or takes longer than GIT_SECONDS.

    The repository's own configuration is hostile input: it may name programs to run.
    """
    command = [
        "git",
        "-C",
        folder,
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.hooksPath=",
        "-c",
        "log.showSignature=false",
    ]
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and no argument is an option of a stranger's
            [*command, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_SECONDS,
            check=False,
            env={
                **os.environ,
                "GIT_OPTIONAL_LOCKS": "0",
                "GIT_TERMINAL_PROMPT": "0",
                "GIT_NO_LAZY_FETCH": "1",
                "GIT_ALLOW_PROTOCOL": "",
            },
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if done.returncode else done.stdout.decode("utf-8", errors="surrogateescape")


def run_in_foreground(command: Sequence[str], folder: str | None = None) -> int:
    """Run a program on the user's terminal until it ends, and return its exit code.

    Raises:
        MemoryFault: there is no such program or folder, or it may not be run.
    """
    try:
        return subprocess.run(command, cwd=folder, check=False).returncode  # noqa: S603 - the user asked for it; no shell
    except OSError as fault:
        what = folder if folder is not None and not os.path.isdir(folder) else command[0]  # noqa: PTH112 - a name, not a path object
        raise MemoryFault(f"{what}: {fault.strerror}", f"The command is: {join_command(command, folder)}") from fault
