"""Which files a run looks at: everything below the inputs that could be a transcript, newest first."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pastchats_memory.errors import InputMissing
from pastchats_memory.model import Unreadable, utf8

SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".md", ".markdown", ".mdx", ".txt"})
SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", "site-packages"})
"""Folders that hold other people's files by the thousand and no conversation."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A regular file to look into."""

    path: Path
    size: int
    mtime_ns: int
    named: bool
    """Given by the person, not found below a folder."""

    @property
    def name(self) -> str:
        """The path as text that can be stored and printed, whatever bytes it is made of."""
        return utf8(str(self.path))


def candidates(inputs: Iterable[Path]) -> tuple[list[Candidate], list[Unreadable]]:
    """Each file once, newest first, and what could not be looked at.

    Below a folder symbolic links are not followed, so neither a loop nor a link out of it leads anywhere.

    Raises:
        InputMissing: one of the inputs does not exist.
    """
    found: dict[Path, Candidate] = {}
    unreadable: list[Unreadable] = []
    for path in inputs:
        for entry in _below(_absolute(path), unreadable):
            found.setdefault(entry.path, entry)
    return sorted(found.values(), key=lambda entry: (-entry.mtime_ns, entry.path)), unreadable


def _absolute(path: Path) -> Path:
    try:
        return Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
    except OSError as fault:
        raise InputMissing(f"the working directory: {fault.strerror}", "Go to a folder that exists.") from fault


def _below(root: Path, unreadable: list[Unreadable]) -> Iterator[Candidate]:
    try:
        status = root.stat()
    except FileNotFoundError as fault:
        raise InputMissing(f"{root}: no such file or folder", "Check the spelling; nothing was indexed.") from fault
    except OSError as fault:
        raise InputMissing(f"{root}: {fault.strerror}", "Check its permissions; nothing was indexed.") from fault
    if stat.S_ISREG(status.st_mode):
        yield Candidate(root, status.st_size, status.st_mtime_ns, named=True)
    elif not stat.S_ISDIR(status.st_mode):
        unreadable.append(Unreadable(utf8(str(root)), 0, "neither a file nor a folder"))
    else:
        yield from _in_folder(str(root), unreadable)


def _in_folder(root: str, unreadable: list[Unreadable]) -> Iterator[Candidate]:
    folders = [root]
    while folders:
        folder = folders.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError as fault:
            unreadable.append(Unreadable(utf8(folder), 0, fault.strerror or "cannot be listed"))
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in SKIPPED_FOLDERS:
                    folders.append(entry.path)
            elif os.path.splitext(entry.name)[1].lower() in SUFFIXES and entry.is_file(follow_symlinks=False):  # noqa: PTH122 - ten times faster over thousands of files
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError as fault:
                    unreadable.append(Unreadable(utf8(entry.path), 0, fault.strerror or "cannot be looked at"))
                    continue
                yield Candidate(Path(entry.path), status.st_size, status.st_mtime_ns, named=False)
