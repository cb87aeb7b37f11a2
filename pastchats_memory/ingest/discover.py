"""Which files a run looks at: everything below the inputs that could be a transcript, newest first."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import BinaryIO

from pastchats_memory.errors import InputMissing
from pastchats_memory.files.archives import ARCHIVES, is_bomb
from pastchats_memory.files.project import MARKER, opted_out
from pastchats_memory.formats.base.locations import NOTE_FOLDER_DEPTH
from pastchats_memory.formats.companions import DATABASE_SUFFIXES, companions_of, has_companions, hidden_in
from pastchats_memory.formats.generic.key_map import KeyMap
from pastchats_memory.model import LeftOut, Unreadable, utf8
from pastchats_memory.redact import redact_path

TEXTS = frozenset({".json", ".jsonl", ".ndjson", ".md", ".markdown", ".mdx", ".txt", ".history"})
SUFFIXES = TEXTS | DATABASE_SUFFIXES | {".zip"}
HOLLOW = "far larger than what is in it"
BLOCK = 512
"""Bytes, in which the system counts what a file takes on the disk."""
MARKED = f"kept out by a {MARKER} in it or above it"
SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", "site-packages"})
"""Folders that hold other people's files by the thousand and no conversation."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which files below the inputs are looked at."""

    include: tuple[str, ...] = ()
    """Globs of which one must fit; any file where there are none."""
    exclude: tuple[str, ...] = ()
    """Globs of which none may fit, for files, for the folders above them, and for the project of a conversation."""
    follow: bool = False
    """Links out of the folder that was named are followed."""
    own: frozenset[str] = frozenset()
    """Files and folders that this program writes, which are read only where they are named."""

    def excludes(self, path: str) -> bool:
        """Whether the path or, where it names none, one of its parts is excluded."""
        return self.excluded_by(path) is not None

    def excluded_by(self, path: str) -> str | None:
        """The first glob that excludes the path; None for none."""
        return next((pattern for pattern in self.exclude if _fits(path, pattern)), None)

    def includes(self, path: str) -> bool:
        """Whether the file is one of those that were asked for."""
        return not self.include or any(_fits(path, pattern) for pattern in self.include)

    def takes(self, path: str) -> bool:
        """Whether the file is wanted."""
        return not self.excludes(path) and self.includes(path)

    def looks_into(self, history: Path) -> bool:
        """Whether a history that nobody named is a folder or a file that was asked for: what a person names is read without."""
        return history.is_dir() or self.includes(str(history))


ALL = Wanted()


def _fits(path: str, pattern: str) -> bool:
    """Whether a glob fits: without a slash a part of the path, else all of it or its end; `*` stands for slashes too."""
    if "/" not in pattern.rstrip("/"):
        return any(fnmatchcase(part, pattern.rstrip("/")) for part in path.split("/"))
    whole = os.path.expanduser(pattern).rstrip("/")  # noqa: PTH111 - a pattern is no path
    return any(fnmatchcase(path, form) for form in (whole, f"{whole}/*", f"*/{whole}", f"*/{whole}/*"))


def name_of(path: Path | str) -> str:
    """A path as it is stored and printed."""
    return redact_path(utf8(str(path)))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A regular file to look into."""

    where: str
    """Its path as the system has it. Most files of a run are unchanged, and a Path of each would take longer than looking at it."""
    size: int
    """Of the file and of those that are read with it."""
    mtime_ns: int
    """The latest of them."""
    named: bool
    """Given by the person, not found below a folder."""
    file_id: str = ""
    """Device and inode; a renamed file keeps them."""
    is_alone: bool = True
    """No other file is read with it."""
    unpacked: Callable[[], BinaryIO] | None = None
    """Opens a member of an archive."""
    name: str = field(init=False, compare=False)
    """The path as text that can be stored and printed, whatever bytes it is made of, and whatever token is in it."""

    def __post_init__(self) -> None:
        """Make the name once: it is asked for five times a file, and most files of a run are unchanged."""
        object.__setattr__(self, "name", name_of(self.where))

    @property
    def path(self) -> Path:
        """Where it is."""
        return Path(self.where)


def candidates(inputs: Iterable[Path], wanted: Wanted = ALL) -> tuple[list[Candidate], list[Unreadable]]:
    """Each file once, newest first, and what could not be looked at.

    Below a folder symbolic links out of it are not followed unless that is wanted, and links within it never: what they
    lead to is found where it is.

    Raises:
        InputMissing: one of the inputs does not exist.
    """
    found: dict[str, Candidate] = {}
    unreadable: list[Unreadable] = []
    for path in inputs:
        for entry in _below(_absolute(path), wanted, unreadable):
            found.setdefault(entry.where, entry)
    return sorted(found.values(), key=lambda entry: (-entry.mtime_ns, entry.where)), unreadable


def _absolute(path: Path) -> Path:
    try:
        return Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
    except OSError as fault:
        raise InputMissing(f"the working directory: {fault.strerror}", "Go to a folder that exists.") from fault


def _below(root: Path, wanted: Wanted, unreadable: list[Unreadable]) -> Iterator[Candidate]:
    try:
        status = root.stat()
        together = _together(str(root), status) if stat.S_ISREG(status.st_mode) else []
    except FileNotFoundError as fault:
        raise InputMissing(f"{root}: no such file or folder", "Check the spelling; nothing was indexed.") from fault
    except OSError as fault:
        raise InputMissing(f"{root}: {fault.strerror}", "Check its permissions; nothing was indexed.") from fault
    kept_out = _kept_out(root, wanted, is_folder=not together)
    if kept_out is not None:
        unreadable.append(kept_out)
    elif any(map(_is_hollow, together)):
        unreadable.append(Unreadable(utf8(str(root)), 0, HOLLOW))
    elif together:
        yield _candidate(str(root), together, named=True)
    elif not stat.S_ISDIR(status.st_mode):
        unreadable.append(Unreadable(utf8(str(root)), 0, "neither a file nor a folder"))
    else:
        yield from _in_folder(str(root), wanted, unreadable)


def _kept_out(root: Path, wanted: Wanted, *, is_folder: bool) -> LeftOut | None:
    """Why what was named is not looked into all the same."""
    if (pattern := wanted.excluded_by(str(root))) is not None:
        return LeftOut(utf8(str(root)), 0, _because(pattern))
    if opted_out(str(root if is_folder else root.parent)):
        return LeftOut(utf8(str(root)), 0, MARKED)
    return None


def _because(pattern: str) -> str:
    return utf8(f"excluded by `{pattern}`")


def _in_folder(root: str, wanted: Wanted, unreadable: list[Unreadable]) -> Iterator[Candidate]:
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
            unreadable.append(LeftOut(utf8(folder), 0, MARKED))
            continue
        for entry in entries:
            if entry.name in elsewhere or entry.name in SKIPPED_FOLDERS or entry.path in wanted.own:
                continue
            if (pattern := wanted.excluded_by(entry.path)) is not None:
                if entry.is_dir() or _is_likely(entry.name):
                    unreadable.append(LeftOut(utf8(entry.path), 0, _because(pattern)))
                continue
            follow = entry.is_symlink() and _leads_out(entry, root, entered, wanted, unreadable)
            if entry.is_dir(follow_symlinks=follow):
                folders.append(entry.path)
            elif _is_likely(entry.name) and wanted.includes(entry.path):
                yield from _file(entry, unreadable, follow=follow)


def _leads_out(
    entry: os.DirEntry[str], root: str, entered: set[str], wanted: Wanted, unreadable: list[Unreadable]
) -> bool:
    """Whether a link is to be followed: only out of the folder, only where that is wanted, and into a folder once."""
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


def _file(entry: os.DirEntry[str], unreadable: list[Unreadable], *, follow: bool) -> Iterator[Candidate]:
    try:
        status = entry.stat(follow_symlinks=follow)
        together = _together(entry.path, status) if stat.S_ISREG(status.st_mode) else []
        if any(map(_is_hollow, together)):
            unreadable.append(Unreadable(utf8(entry.path), 0, HOLLOW))
        elif together:
            yield _candidate(entry.path, together, named=False)
        elif not stat.S_ISLNK(status.st_mode):
            unreadable.append(Unreadable(utf8(entry.path), 0, "neither a file nor a folder"))
    except OSError as fault:
        unreadable.append(Unreadable(utf8(entry.path), 0, fault.strerror or "cannot be looked at"))


def _is_hollow(status: os.stat_result) -> bool:
    """Whether the file is a bomb of holes, which take nothing on the disk and are read as zeros."""
    return is_bomb(status.st_size, status.st_blocks * BLOCK if hasattr(status, "st_blocks") else status.st_size)


def _is_likely(name: str) -> bool:
    stem, suffix = os.path.splitext(name.lower())  # noqa: PTH122 - ten times faster over thousands of files
    return suffix in SUFFIXES or (suffix in ARCHIVES and os.path.splitext(stem)[1] in TEXTS)  # noqa: PTH122 - of a name, asked for every file of a folder


def _together(where: str, status: os.stat_result) -> list[os.stat_result]:
    """Of the file and of those that are read with it. Raises OSError."""
    return [status, *(other.stat() for other in companions_of(Path(where)))] if has_companions(where) else [status]


def _candidate(where: str, together: list[os.stat_result], *, named: bool) -> Candidate:
    file_id = f"{together[0].st_dev:x}:{together[0].st_ino:x}"
    size = sum(each.st_size for each in together)
    return Candidate(where, size, max(each.st_mtime_ns for each in together), named, file_id, len(together) == 1)


# What a run was asked for beside the paths.


@dataclass(frozen=True, slots=True)
class ReadAs:
    """The format or the map by which the user wants files to be read, instead of by detection."""

    format: str = ""
    """The name of a format, or of a map in the configuration."""
    key_map: KeyMap | None = None
    """Read JSON that has its keys by this map."""

    def to_json(self) -> str | None:
        """Return both as JSON for the record of the source, or None if files are to be detected."""
        if not self.format and self.key_map is None:
            return None
        return json.dumps({"format": self.format, "map": self.key_map.to_table() if self.key_map else {}})

    @classmethod
    def from_json(cls, text: str | None) -> ReadAs:
        """Build it from the record of a source."""
        known = json.loads(text) if text else {}
        table = known.get("map")
        return cls(known.get("format", ""), KeyMap.from_table(table, "map") if table else None)


AS_DETECTED = ReadAs()


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """What the person asked for, and what the configuration says."""

    project: str | None = None
    """For every turn, instead of what the files say."""
    force: bool = False
    """Read unchanged files too."""
    notes: bool = False
    """Take Markdown that is no dialogue wherever it lies."""
    note_folders: frozenset[str] = frozenset()
    """Names of folders, lower-cased, in which it is taken too."""
    chunk_size: int = 1500
    """Characters of a part of a note."""
    overlap: int = 2
    """Lines that two parts of a note share."""
    read_as: ReadAs = AS_DETECTED
    """By which format or map; as before for a file that was read by one."""
    maps: Mapping[str, KeyMap] = field(default_factory=dict)
    """The maps of the configuration, by name: for files of no known format that have their keys."""
    wanted: Wanted = ALL
    """Which files, and of which projects."""

    def wants_notes_at(self, path: Path) -> bool:
        """Whether Markdown that is no dialogue is taken at a place because it was asked for."""
        return self.notes or any(
            parent.name.lower() in self.note_folders for parent in list(path.parents)[:NOTE_FOLDER_DEPTH]
        )

    def maps_recipe(self) -> str:
        """Return a digest of the configured maps for the recipe of files that they may concern; "" without any."""
        if not self.maps:
            return ""
        text = "\n".join(f"{name}:{key_map}" for name, key_map in sorted(self.maps.items()))
        return f";maps={hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"

    def recipe(self) -> str:
        """What of these, beside the project, decides what is made of a file; empty where all is as usual."""
        usual = IndexOptions()
        chunks = (self.chunk_size, self.overlap)
        return "" if chunks == (usual.chunk_size, usual.overlap) else f";chunks={self.chunk_size}/{self.overlap}"
