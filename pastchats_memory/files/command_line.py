"""Write a command as a line for the user's shell."""

import os
import shlex
from collections.abc import Sequence


def join_command(command: Sequence[str], folder: str | None = None) -> str:
    """Return a command as a line for the user's shell, in a folder if one is given."""
    if os.name == "nt":
        from subprocess import list2cmdline  # brings nine modules

        line = list2cmdline(command)
        return line if folder is None else f"cd /d {list2cmdline([folder])} && {line}"
    line = shlex.join(command)
    return line if folder is None else f"cd {shlex.quote(folder)} && {line}"
