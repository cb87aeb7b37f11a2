"""Keep the token of programs in a file of the state folder, which this account alone can read."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from secrets import token_urlsafe
from typing import NamedTuple

from pastchats_memory.config import Config, state_folder
from pastchats_memory.errors import UsageFault
from pastchats_memory.files.atomic import write_atomic
from pastchats_memory.files.regular_file import open_regular

FILE = "server-token"
MAX_BYTES = 1000


class Token(NamedTuple):
    """The token that programs show."""

    read: Callable[[], str | None]
    """Returns it as it is now: each request asks, so a new one counts at once."""
    place: str
    """Where the person finds it."""


def open_token(config: Config, *, is_new: bool = False) -> Token:
    """Return the configured token, or that of a file, which is made once, on request, and if others could read it.

    Raises UsageFault if it cannot be written.
    """
    if config.server_token is not None:
        return Token(lambda: config.server_token, "your configuration")
    path = state_folder() / FILE
    try:
        if is_new or read_token(path) is None:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.unlink(missing_ok=True)  # it may be a link, or a file that others can read
            write_atomic(path, f"{token_urlsafe()}\n".encode())
    except OSError as fault:
        hint = "Set PASTCHATS_MEMORY_TOKEN, or XDG_STATE_HOME to a folder of yours."
        raise UsageFault(f"the token cannot be written to {path}: {fault.strerror}", hint) from fault
    return Token(lambda: read_token(path), str(path))


def read_token(path: Path) -> str | None:
    """Return the token in a file; None without one that is this account's alone."""
    try:
        with open_regular(path, may_be_link=False) as file:
            if os.name == "posix" and stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                return None
            return file.read(MAX_BYTES).decode("ascii", "replace").strip() or None
    except OSError:
        return None
