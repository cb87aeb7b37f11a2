"""Find the folder in which hooks keep their state, and look whether a request waits in it.

This module imports little: a hook uses it at every event.
"""

import os

from pastchats_memory.files.folders import DATABASE_VARIABLE, name_state

TYPE_CHECKING = False  # as in `hooks`
if TYPE_CHECKING:
    from pathlib import Path

WAITING = "waiting"
"""The folder of requests to index in the folder of the hooks' state."""


def find_state(database: str | None) -> "Path | None":
    """Return the folder of the hooks' state; without a home folder it lies beside a database that is named.

    The result is None if neither is known.
    """
    from pathlib import Path

    name = name_state(database)
    return Path(name) if name else None


def name_database(database: str | None) -> str | None:
    """Return the full path of the database that is named, as a request has it; None for the configured one."""
    named = database or os.environ.get(DATABASE_VARIABLE)
    if named and not named.startswith("~"):
        named = os.path.abspath(named)  # noqa: PTH100 - resolve() would follow links
    return named and encode_path(named)


def encode_path(path: str) -> str:
    """Return a path as a request names it, in UTF-8 whatever the locale is."""
    return os.fsencode(path).decode("utf-8", "surrogateescape")


def write_small(state: str, folder: str, name: str, text: str) -> None:
    """Write a small file below the folder of the hooks' state, in place of an older one. Raises OSError."""
    os.makedirs(f"{state}/{folder}", mode=0o700, exist_ok=True)  # noqa: PTH103 - pathlib is imported by few prompts
    file = os.open(f"{state}/{folder}/{name}", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    try:
        os.write(file, text.encode())
    finally:
        os.close(file)


def is_any_waiting(folder: str) -> bool:
    """Check whether a request waits, since the process that was to fulfil it was killed."""
    try:
        return any(name.endswith(".json") for name in os.listdir(os.path.join(folder, WAITING)))  # noqa: PTH118, PTH208 - pathlib is imported by few prompts
    except OSError:
        return False
