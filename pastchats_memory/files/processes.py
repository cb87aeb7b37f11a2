"""Start other programs: editors and agents."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Sequence

from pastchats_memory.errors import MemoryFault


def join_command(command: Sequence[str], folder: str | None = None) -> str:
    """Return a command as a line for the user's shell, in a folder if one is given."""
    if os.name == "nt":
        line = subprocess.list2cmdline(command)
        return line if folder is None else f"cd /d {subprocess.list2cmdline([folder])} && {line}"
    line = shlex.join(command)
    return line if folder is None else f"cd {shlex.quote(folder)} && {line}"


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
