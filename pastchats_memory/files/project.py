"""Find the project of a folder, for each indexed turn and for the working directory of a recall."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from pastchats_memory.files.regular_file import open_regular

MARKER = ".pastchats-ignore"
"""A file that opts its folder out: its files are not read, nor conversations held in it or below it."""
_WINDOWS = re.compile(r"[A-Za-z]:\\|\\\\|[^/]*\\[^/]*\Z")
"""Matches a path of Windows, on whatever system its transcript is read: with a drive, of the network, or relative."""
LONGEST_PATH = 4096
"""Characters of a path; a longer one is no folder, and listing its parents takes quadratic time."""
LONGEST_POINTER = 8192
"""Bytes of a `.git` file that are read; a hostile one may have holes of terabytes."""


@cache
def is_opted_out(folder: str) -> bool:
    """Check whether the folder, or one above it, has the marker."""
    here = Path(folder)
    try:
        return any((parent / MARKER).exists() for parent in _upwards(here))
    except OSError:  # another person's folder, or one that cannot be on this machine
        return False


@cache
def project_at(folder: str) -> str:
    """Return the name of the repository that a folder lies in, else its own.

    A worktree's `.git` file points into the main repository's `.git/worktrees`, whose folder gives the name.
    """
    here = Path(folder.replace("\\", "/") if _WINDOWS.match(folder) else folder)
    try:
        repository = next((name for parent in _upwards(here) if (name := _repository(parent))), None)
    except OSError:  # another person's folder, or one that cannot be on this machine
        repository = None
    return repository or here.name or "unknown"


def _upwards(folder: Path) -> tuple[Path, ...]:
    return (folder, *folder.parents) if len(str(folder)) <= LONGEST_PATH else ()


def _repository(folder: Path) -> str | None:
    marker = folder / ".git"
    if marker.is_dir():
        return folder.name
    if not marker.is_file():
        return None
    with open_regular(marker) as file:
        content = file.read(LONGEST_POINTER).decode("utf-8", errors="replace")
    pointer = Path(content.removeprefix("gitdir:").strip())
    inside = "worktrees" in pointer.parts and ".git" in pointer.parts
    return Path(*pointer.parts[: pointer.parts.index(".git")]).name if inside else folder.name
