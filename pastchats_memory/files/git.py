"""Read commits of a repository that may be hostile, within a fraction of a second."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from pastchats_memory.files.processes import ask_git

LIMIT_S = 0.3
"""Seconds after which git is given up."""
MAX_COMMITS = 400
MAX_FILES = 40
CUT_OFF = "grafted"
"""What git says of a commit whose parents a shallow clone lacks."""
_PROTOCOL = re.compile(r"^(?:\w+://)?(?:[^@/]+@)?")
"""Begins the address of a repository."""
_REVERTED = re.compile(r"^This reverts commit ([0-9a-f]{7,64})\b", re.MULTILINE)


class Commit(NamedTuple):
    """A commit that changed one of the files asked for."""

    id: str
    """All digits of its hash."""
    written_at: int
    """Seconds since 1970."""
    files: frozenset[str]
    """Paths from the root of the repository."""
    reverts: str
    """Hash of the commit that it reverts; empty for none."""


def list_commits(folder: str, files: Sequence[str], since: int) -> list[Commit]:
    """Return the commits since a time in seconds that changed one of the files, the newest first.

    The files are paths from the root of the folder's repository. Nothing if git or a repository is missing or takes too long.
    """
    printed = ask_git(
        folder, "log", f"--since=@{since}", f"--max-count={MAX_COMMITS}", "--no-ext-diff", "--no-textconv", "--no-renames",
        "--decorate-refs=refs/none", "--name-only", "-z", "--format=%x00%H%x00%at%x00%D%n%B%x00", "--", *(f":(top,literal){name}" for name in files[:MAX_FILES]),
        seconds=LIMIT_S,
    )  # fmt: skip
    return list(_parse((printed or "").split("\0")))


def list_merged(folder: str, merge: str) -> frozenset[str]:
    """Return the hashes of a commit and of those that it brought, if it is a merge; empty without it."""
    printed = ask_git(folder, "rev-list", f"--max-count={MAX_COMMITS}", f"{merge}^1..{merge}", seconds=LIMIT_S)
    return frozenset((printed or "").split())


def read_committed_lines(folder: str, name: str) -> frozenset[str]:
    """Return the lines of a file in HEAD, without the blanks around them; empty without such a file.

    The name is a path from the root of the folder's repository.
    """
    printed = ask_git(folder, "cat-file", "blob", f"HEAD:{name}", seconds=LIMIT_S)
    return frozenset(map(str.strip, (printed or "").split("\n")))


@cache
def is_folder(path: str) -> bool:
    """Return whether a folder is on this machine."""
    return Path(path).is_dir()


@cache
def identify_repository(folder: str) -> frozenset[str]:
    """Return what clones and worktrees of a folder's repository share: addresses, and the first commits.

    The repository's own folder is among the addresses, since a clone of it names that. Empty without a repository.
    """
    if not is_folder(folder):
        return frozenset()
    top = ask_git(folder, "rev-parse", "--show-toplevel", seconds=LIMIT_S)
    addresses = ask_git(folder, "config", "--get-regexp", r"^remote\..*\.url$", seconds=LIMIT_S)
    roots = ask_git(folder, "rev-list", "--max-parents=0", "HEAD", seconds=LIMIT_S)
    urls = [line.partition(" ")[2] for line in (addresses or "").splitlines()]
    return frozenset(filter(None, (*map(_shorten_address, [top or "", *urls]), *(roots or "").split())))


def _shorten_address(url: str) -> str:
    """Return the address of a repository without protocol, user and ending: `github.com/ada/kiln`."""
    return _PROTOCOL.sub("", url.strip()).replace(":", "/").rstrip("/").removesuffix(".git").rstrip("/")


def _parse(parts: Sequence[str]) -> Iterator[Commit]:
    """Yield the commits of an output: an empty part, hash, time and message, then the files. No part of them is empty.

    Leave out a commit at which a shallow clone ends: all files seem to be its own.
    """
    starts = [place for place, part in enumerate(parts[:-3]) if not part and parts[place + 2].isdecimal()]
    for start, end in pairwise([*starts, len(parts)]):
        id_, when, message = parts[start + 1 : start + 4]
        if message.partition("\n")[0] == CUT_OFF:
            continue
        reverted = _REVERTED.search(message)
        files = frozenset(part.removeprefix("\n") for part in parts[start + 4 : end] if part)
        yield Commit(id_, int(when), files, reverted[1] if reverted else "")
