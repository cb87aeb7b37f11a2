"""Name the local copy of a team's memory. Hooks import this at every prompt, so it imports nothing heavy."""

from pathlib import Path

SUFFIX = ".team"


def copy_path(path: Path) -> Path:
    """Return the path of the copy that belongs to a memory."""
    return path.with_name(path.name + SUFFIX)


def delete_copy(path: Path) -> None:
    """Delete the copy that belongs to a memory. Raises OSError."""
    for suffix in ("-wal", "-shm", ""):
        copy = copy_path(path)
        copy.with_name(copy.name + suffix).unlink(missing_ok=True)
