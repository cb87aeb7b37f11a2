"""Name the local copy of a team's memory. Hooks import this at every prompt, so it imports nothing heavy."""

from __future__ import annotations

from pathlib import Path

SUFFIX = ".team"


def copy_path(path: Path) -> Path:
    """Return the path of the copy that belongs to a memory."""
    return path.with_name(path.name + SUFFIX)
