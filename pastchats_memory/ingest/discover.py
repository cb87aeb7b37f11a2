"""Discover the files that could be transcripts, newest first."""

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from pastchats_memory.errors import InputMissing
from pastchats_memory.files.archives import ARCHIVES, is_bomb
from pastchats_memory.files.project import MARKER, is_opted_out
from pastchats_memory.formats.companions import DATABASE_SUFFIXES, companions_of, has_companions, hidden_in
from pastchats_memory.ingest.options import ALL_FILES, SKIPPED_FOLDERS, FileFilter
from pastchats_memory.model import LeftOut, Unreadable
from pastchats_memory.redact import redact_path
from pastchats_memory.text.encoding import utf8

TEXTS = frozenset({".json", ".jsonl", ".ndjson", ".md", ".markdown", ".mdx", ".txt", ".history"})
SUFFIXES = TEXTS | DATABASE_SUFFIXES | {".zip"}
HOLLOW = "far larger than what is in it"
BLOCK = 512
"""Bytes of the block in which the system counts disk usage."""
OPTED_OUT_REASON = f"kept out by a {MARKER} in it or above it"


def stored_name(path: Path | str) -> str:
    """Return a path as it is stored and printed."""
    return redact_path(utf8(str(path)))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A regular file that could be a transcript."""

    where: str
    """Its path as the system has it; most files are unchanged, and a Path of each would take longer than looking at it."""
    size: int
    """Bytes of the file and its companions."""
    mtime_ns: int
    """Latest modification time of them."""
    named: bool
    """Whether the user named it; otherwise it lies below a named folder."""
    file_id: str = ""
    """Device and inode, which a renamed file keeps, and the time of its last change, which no program can set."""
    is_alone: bool = True
    """Whether it has no companion file."""
    unpacked: Callable[[], BinaryIO] | None = None
    """Opens a member of an archive."""
    name: str = field(init=False, compare=False)
    """The path as text that can be stored and printed: valid UTF-8, without secrets."""

    def __post_init__(self) -> None:
        """Make the name once, since it is used five times for each file."""
        object.__setattr__(self, "name", stored_name(self.where))

    @property
    def path(self) -> Path:
        """The path of the file."""
        return Path(self.where)


def discover_files(inputs: Iterable[Path], wanted: FileFilter = ALL_FILES) -> tuple[list[Candidate], list[Unreadable]]:
    """Return each file once, newest first, and what could not be looked at.

    Links out of a folder are followed only on request. Links within it are never followed, because their target is found
    anyway. Raises InputMissing.
    """
    found: dict[str, Candidate] = {}
    unreadable: list[Unreadable] = []
    for path in inputs:
        for entry in _find_below(_absolute(path), wanted, unreadable):
            found.setdefault(entry.where, entry)
    return sorted(found.values(), key=lambda entry: (-entry.mtime_ns, entry.where)), unreadable


def _absolute(path: Path) -> Path:
    try:
        return Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
    except OSError as fault:
        raise InputMissing(f"the working directory: {fault.strerror}", "Go to a folder that exists.") from fault


def _find_below(root: Path, wanted: FileFilter, unreadable: list[Unreadable]) -> Iterator[Candidate]:
    try:
        status = root.stat()
        is_folder = stat.S_ISDIR(status.st_mode)
        if (exclusion := _find_exclusion(root, wanted, is_folder=is_folder)) is not None:
            unreadable.append(exclusion)
        elif not is_folder:
            yield from _look_at(str(root), status, unreadable, named=True)
    except FileNotFoundError as fault:
        raise InputMissing(f"{root}: no such file or folder", "Check the spelling; nothing was indexed.") from fault
    except OSError as fault:
        raise InputMissing(f"{root}: {fault.strerror}", "Check its permissions; nothing was indexed.") from fault
    if is_folder and exclusion is None:
        yield from _walk_folder(str(root), wanted, unreadable)


def _find_exclusion(root: Path, wanted: FileFilter, *, is_folder: bool) -> LeftOut | None:
    if (pattern := wanted.excluded_by(str(root))) is not None:
        return LeftOut(utf8(str(root)), 0, _exclusion_reason(pattern))
    if is_opted_out(str(root if is_folder else root.parent)):
        return LeftOut(utf8(str(root)), 0, OPTED_OUT_REASON)
    return None


def _exclusion_reason(pattern: str) -> str:
    return utf8(f"excluded by `{pattern}`")


def _walk_folder(root: str, wanted: FileFilter, unreadable: list[Unreadable]) -> Iterator[Candidate]:
    folders = [root]
    entered = {os.path.realpath(root)}
    while folders:
        folder = folders.pop()
        try:
            entries = list(os.scandir(folder))
            elsewhere = hidden_in(folder, [entry.name for entry in entries])
        except OSError as fault:
            unreadable.append(Unreadable(utf8(folder), 0, fault.strerror or "cannot be listed"))
            continue
        if any(entry.name == MARKER for entry in entries):
            unreadable.append(LeftOut(utf8(folder), 0, OPTED_OUT_REASON))
            continue
        for entry in entries:
            if entry.name in elsewhere or entry.name in SKIPPED_FOLDERS or entry.path in wanted.own:
                continue
            if (pattern := wanted.excluded_by(entry.path)) is not None:
                if entry.is_dir() or _is_likely(entry.name):
                    unreadable.append(LeftOut(utf8(entry.path), 0, _exclusion_reason(pattern)))
                continue
            follow = entry.is_symlink() and _leads_out(entry, root, entered, wanted, unreadable)
            if entry.is_dir(follow_symlinks=follow):
                folders.append(entry.path)
            elif _is_likely(entry.name) and wanted.includes(entry.path):
                yield from _look_at_entry(entry, unreadable, follow=follow)


def _leads_out(
    entry: os.DirEntry[str], root: str, entered: set[str], wanted: FileFilter, unreadable: list[Unreadable]
) -> bool:
    """Check whether to follow a wanted link out of the folder; each folder is entered once."""
    try:
        Path(entry.path).readlink()  # since Python 3.13 realpath itself is silent of one that cannot be read
        target = os.path.realpath(entry.path)
    except OSError as fault:  # it may be seen and not be read, as those of a process that has ended
        unreadable.append(Unreadable(utf8(entry.path), 0, fault.strerror or "cannot be looked at"))
        return False
    if os.path.commonpath([target, os.path.realpath(root)]) == os.path.realpath(root) or target in entered:
        return False
    if not wanted.follow:
        if entry.is_dir() or _is_likely(entry.name):
            unreadable.append(Unreadable(utf8(entry.path), 0, "a link out of the folder; --follow-links follows it"))
        return False
    entered.add(target)
    return True


def _look_at_entry(entry: os.DirEntry[str], unreadable: list[Unreadable], *, follow: bool) -> Iterator[Candidate]:
    try:
        status = os.stat(entry.path, follow_symlinks=follow)  # noqa: PTH116 - that of an entry has no inode on Windows
        yield from _look_at(entry.path, status, unreadable, named=False)
    except OSError as fault:
        unreadable.append(Unreadable(utf8(entry.path), 0, fault.strerror or "cannot be looked at"))


def _look_at(where: str, status: os.stat_result, unreadable: list[Unreadable], *, named: bool) -> Iterator[Candidate]:
    """Yield a regular file, unless it is hollow; anything else but a link is unreadable. Raises OSError."""
    together = _stat_all(where, status) if stat.S_ISREG(status.st_mode) else []
    if any(map(_is_hollow, together)):
        unreadable.append(Unreadable(utf8(where), 0, HOLLOW))
    elif together:
        file_id = f"{status.st_dev:x}:{status.st_ino:x}:{status.st_ctime_ns:x}"
        size, mtime_ns = sum(each.st_size for each in together), max(each.st_mtime_ns for each in together)
        yield Candidate(where, size, mtime_ns, named, file_id, len(together) == 1)
    elif not stat.S_ISLNK(status.st_mode):
        unreadable.append(Unreadable(utf8(where), 0, "neither a file nor a folder"))


def _is_hollow(status: os.stat_result) -> bool:
    """Check whether a file consists of holes, where the system says how much of the disk a file takes.

    Holes take no disk space and are read as zeros.
    """
    if sys.platform == "win32":
        return False
    return is_bomb(status.st_size, status.st_blocks * BLOCK)


def _is_likely(name: str) -> bool:
    stem, suffix = os.path.splitext(name.lower())  # noqa: PTH122 - ten times faster over thousands of files
    return suffix in SUFFIXES or (suffix in ARCHIVES and os.path.splitext(stem)[1] in TEXTS)  # noqa: PTH122 - of a name, asked for every file of a folder


def _stat_all(where: str, status: os.stat_result) -> list[os.stat_result]:
    """Return the status of a file and its companions. Raises OSError."""
    return [status, *(other.stat() for other in companions_of(Path(where)))] if has_companions(where) else [status]
