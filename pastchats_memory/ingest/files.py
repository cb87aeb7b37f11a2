"""Which files a run looks at: everything below the inputs that could be a transcript, newest first."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pastchats_memory.errors import InputMissing
from pastchats_memory.ingest.options import IndexOptions
from pastchats_memory.model import Unreadable, utf8
from pastchats_memory.readers.together import DATABASE_SUFFIXES, read_with, told_elsewhere

SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".md", ".markdown", ".mdx", ".txt", ".history"}) | DATABASE_SUFFIXES
SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", "site-packages"})
"""Folders that hold other people's files by the thousand and no conversation."""


EVERYTHING = IndexOptions()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A regular file to look into."""

    path: Path
    size: int
    """Of the file and of those that are read with it."""
    mtime_ns: int
    """The latest of them."""
    named: bool
    """Given by the person, not found below a folder."""

    @property
    def name(self) -> str:
        """The path as text that can be stored and printed, whatever bytes it is made of."""
        return utf8(str(self.path))


def candidates(inputs: Iterable[Path], options: IndexOptions = EVERYTHING) -> tuple[list[Candidate], list[Unreadable]]:
    """Each file once, newest first, and what could not be looked at.

    Below a folder symbolic links are not followed, so neither a loop nor a link out of it leads anywhere.

    Raises:
        InputMissing: one of the inputs does not exist.
    """
    found: dict[Path, Candidate] = {}
    unreadable: list[Unreadable] = []
    for path in inputs:
        for entry in _below(_absolute(path), options, unreadable):
            found.setdefault(entry.path, entry)
    return sorted(found.values(), key=lambda entry: (-entry.mtime_ns, entry.path)), unreadable


def _absolute(path: Path) -> Path:
    try:
        return Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
    except OSError as fault:
        raise InputMissing(f"the working directory: {fault.strerror}", "Go to a folder that exists.") from fault


def _below(root: Path, options: IndexOptions, unreadable: list[Unreadable]) -> Iterator[Candidate]:
    try:
        status = root.stat()
        alone = _candidate(root, status, named=True) if stat.S_ISREG(status.st_mode) else None
    except FileNotFoundError as fault:
        raise InputMissing(f"{root}: no such file or folder", "Check the spelling; nothing was indexed.") from fault
    except OSError as fault:
        raise InputMissing(f"{root}: {fault.strerror}", "Check its permissions; nothing was indexed.") from fault
    if alone is not None:
        yield alone
    elif not stat.S_ISDIR(status.st_mode):
        unreadable.append(Unreadable(utf8(str(root)), 0, "neither a file nor a folder"))
    else:
        found = _in_folder(str(root), unreadable)
        yield from (entry for entry in found if options.takes(entry.path.relative_to(root)))


def _in_folder(root: str, unreadable: list[Unreadable]) -> Iterator[Candidate]:
    folders = [root]
    while folders:
        folder = folders.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError as fault:
            unreadable.append(Unreadable(utf8(folder), 0, fault.strerror or "cannot be listed"))
            continue
        elsewhere = told_elsewhere(folder, [entry.name for entry in entries])
        for entry in entries:
            if entry.name in elsewhere:
                continue
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in SKIPPED_FOLDERS:
                    folders.append(entry.path)
            elif os.path.splitext(entry.name)[1].lower() in SUFFIXES and entry.is_file(follow_symlinks=False):  # noqa: PTH122 - ten times faster over thousands of files
                try:
                    yield _candidate(Path(entry.path), entry.stat(follow_symlinks=False), named=False)
                except OSError as fault:
                    unreadable.append(Unreadable(utf8(entry.path), 0, fault.strerror or "cannot be looked at"))


def _candidate(path: Path, status: os.stat_result, *, named: bool) -> Candidate:
    together = [status, *(other.stat() for other in read_with(path))]
    size = sum(each.st_size for each in together)
    return Candidate(path, size, max(each.st_mtime_ns for each in together), named)
