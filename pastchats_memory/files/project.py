"""Find the project of a folder, for each indexed turn and for the working directory of a recall."""

import os
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pastchats_memory.files.regular_file import open_regular

MARKER = ".pastchats-ignore"
"""A file that opts its folder out: its files are not read, nor conversations held in it or below it."""
UNKNOWN = "unknown"
_WINDOWS = re.compile(r"[A-Za-z]:\\|\\\\|[^/]*\\[^/]*\Z")
"""Matches a path of Windows, on whatever system its transcript is read: with a drive, of the network, or relative."""
LONGEST_PATH = 4096
"""Characters of a path; a longer one is no folder, and listing its parents takes quadratic time."""
LONGEST_POINTER = 8192
"""Bytes of a `.git` file that are read; a hostile one may have holes of terabytes."""
HOMES = ("home", "users")
"""Names of folders above homes."""
DEEPEST_HOME = 5
"""Parts of the longest usual path of a home, such as `/mnt/c/Users/ada`; a deeper `home` or `users` is part of a project."""
SHARED = ("conductor", "vibe-kanban")
"""Folders with worktrees of all repositories; other agents have theirs in their own folder in the home."""
BY_ID, IN_REPOSITORY = (".codex", "vibe-kanban"), (".claude", ".gemini", ".qwen", ".git")
"""Agents that name the folder above a worktree by an id, and those whose worktrees always lie in the repository."""
_ID = re.compile(r"[0-9a-f]{4,40}(?:-.*)?")
_NEXT_TO = re.compile(r"(?!(?:git|my|agents?|all)\W)(.+?)(?:[.-]|_{1,2})worktrees")
"""The folder of worktrees beside a repository, such as `kiln.worktrees`."""


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

    A worktree belongs to its main repository. Git's file in it names that, else the layout of its agent.
    """
    here = Path(folder.replace("\\", "/") if _WINDOWS.match(folder) else folder)
    worktree = find_worktree(here.parts)
    try:
        found = ((parent, name) for parent in _upwards(here) if (name := _repository(parent)))
        root, repository = next(found, (Path(), ""))
    except OSError:  # another person's folder, or one that cannot be on this machine
        root, repository = Path(), ""
    if worktree is not None and len(root.parts) < worktree.depth:
        return project_at(str(Path(*worktree.main))) if len(worktree.main) > 1 else worktree.main[0]
    return repository or here.name or UNKNOWN


class Worktree(NamedTuple):
    """A folder that an agent made for a worktree, by its path."""

    main: tuple[str, ...]
    """The parts of the main repository's path, or its name alone."""
    depth: int
    """How many parts lead to the worktree."""


def find_worktree(parts: tuple[str, ...]) -> Worktree | None:
    """Return the outermost worktree in a path, by the layouts of agents; None without one.

    Layouts: `REPO/.claude/worktrees/NAME`, `REPO/.worktrees/NAME`, `REPO/.conductor/NAME`, `REPO.worktrees/NAME`,
    `~/.codex/worktrees/ID/REPO`, `~/.cursor/worktrees/REPO/NAME` and `conductor/workspaces/REPO/NAME`.
    """
    for place in range(1, len(parts) - 1):
        above, name, following = parts[place - 1].lower(), parts[place].lower(), parts[place + 1 :]
        if name in (".worktrees", ".conductor"):
            return Worktree(parts[:place], place + 2)
        if adjacent := _NEXT_TO.fullmatch(parts[place]):
            return Worktree((*parts[:place], adjacent[1]), place + 2)
        is_shared = above in SHARED and name in ("workspaces", "worktrees")
        if not is_shared and not (above.startswith(".") and name in ("worktrees", "worktree")):
            continue
        if len(following) > 1 and above in BY_ID and _ID.fullmatch(following[0]):
            return Worktree(following[1:2], place + 3)
        if is_shared or (above not in IN_REPOSITORY and is_home(parts[: place - 1])):
            return Worktree(following[:1], place + 3)
        return Worktree(parts[: place - 1], place + 2)
    return None


def is_home(parts: tuple[str, ...]) -> bool:
    """Return whether a path is a person's home."""
    if parts in (("/", "root"), Path.home().parts):
        return True
    above = [place for place, part in enumerate(parts[:-1]) if part.lower() in HOMES]
    return above[:1] == [len(parts) - 2] and len(parts) <= DEEPEST_HOME


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
    pointer = Path(os.path.normpath(folder / content.removeprefix("gitdir:").strip().replace("\\", "/")))
    if pointer.parent.name != "worktrees":
        return folder.name
    repository = pointer.parent.parent
    return repository.parent.name if repository.name in (".git", ".bare") else repository.name.removesuffix(".git")
