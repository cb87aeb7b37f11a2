"""Refuse a database that another user could replace.

The path is followed as the system follows it, from the root, through every link. At each step another user must not be able to
put something else in its place: an entry belongs to this user or to root, and others may not write in a folder, unless its
sticky bit protects entries that are not theirs. OpenSSH checks its key files in the same way (`safe_path`).
"""

import os
import stat
import sys
from collections import deque
from pathlib import Path

from pastchats_memory.errors import DatabaseExposed

ALL_USERS = "4294967295"
"""Size of the range in `/proc/self/uid_map` where every user has their own number."""
SIDE_ENDS = ("-wal", "-shm", "-journal")
"""Ends of the names of the write-ahead log, its index and the journal of a database."""
MOST_LINKS = 40
"""Links in a path that Linux follows."""


def refuse_exposed(path: Path) -> None:
    """Raise DatabaseExposed if another user could replace the file or a part of its path.

    A part that does not exist ends the check, since it is made for this user alone.
    """
    if sys.platform == "win32":
        return  # Windows protects the home folders themselves
    trusted = _find_trusted_users()
    try:
        parts = deque((Path.cwd() / path if not path.is_absolute() else path).parts)
    except OSError:  # the working directory is gone
        return
    place, links = Path(parts.popleft()), 0
    _check_entry(path, place, place.lstat(), trusted)
    while parts:
        name = parts.popleft()
        place = place.parent if name == os.pardir else place / name
        try:
            found = place.lstat()
            target = os.readlink(place) if stat.S_ISLNK(found.st_mode) else None  # noqa: PTH115 - a string is wanted
        except OSError:
            return  # the look-up of the file reports it
        _check_entry(path, place, found, trusted)
        if target is not None and (links := links + 1) <= MOST_LINKS:
            parts.extendleft(reversed(Path(target).parts))
            place = Path(parts.popleft()) if os.path.isabs(target) else place.parent  # noqa: PTH117 - a string is at hand
    for side in (place.with_name(place.name + end) for end in SIDE_ENDS):
        if os.path.lexists(side):
            _check_entry(path, side, side.lstat(), trusted)


def _check_entry(path: Path, entry: Path, found: os.stat_result, trusted: frozenset[int]) -> None:
    """Raise DatabaseExposed unless the entry and everything in it can only be replaced by trusted users.

    A group counts as others unless it is the process's own, which on many systems has no other member.
    """
    if sys.platform == "win32":
        return
    if found.st_uid not in trusted:
        raise DatabaseExposed(
            f"{path}: {entry} belongs to another user, who may put another file in its place",
            "Run the command as that user, or name a database elsewhere with --db.",
        )
    others = found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and found.st_gid != os.getegid())
    if stat.S_ISDIR(found.st_mode) and others and not found.st_mode & stat.S_ISVTX:
        raise DatabaseExposed(
            f"{path}: others may write in {entry} and put another file in its place",
            f"Close the folder with `chmod go-w {entry}`, or name a database elsewhere with --db.",
        )


def _find_trusted_users() -> frozenset[int]:
    """Return this user and root; in a sandbox also the number that stands for users from outside, such as root."""
    if sys.platform == "win32":
        return frozenset()
    trusted = {0, os.geteuid()}
    try:
        if Path("/proc/self/uid_map").read_text(encoding="ascii").split() != ["0", "0", ALL_USERS]:
            trusted.add(int(Path("/proc/sys/kernel/overflowuid").read_text(encoding="ascii")))
    except (OSError, ValueError):
        pass
    return frozenset(trusted)
