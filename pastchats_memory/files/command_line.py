"""Write a command as a line for the user's shell."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence


def join_command(command: Sequence[str], folder: str | None = None) -> str:
    """Return a command as a line for the user's shell, in a folder if one is given."""
    if os.name == "nt":
        from pastchats_memory.files.processes import quote_for_windows  # brings nine modules

        line = quote_for_windows(command)
        return line if folder is None else f"cd /d {quote_for_windows([folder])} && {line}"
    line = shlex.join(command)
    return line if folder is None else f"cd {shlex.quote(folder)} && {line}"
