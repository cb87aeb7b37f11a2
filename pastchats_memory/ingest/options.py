"""Describe."""

from __future__ import annotations

import os
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from pastchats_memory.formats.base.locations import NOTE_FOLDER_DEPTH


@dataclass(frozen=True, slots=True)
class FileFilter:
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
        return next((pattern for pattern in self.exclude if _matches_glob(path, pattern)), None)

    def includes(self, path: str) -> bool:
        """Whether the file is one of those that were asked for."""
        return not self.include or any(_matches_glob(path, pattern) for pattern in self.include)

    def takes(self, path: str) -> bool:
        """Whether the file is wanted."""
        return not self.excludes(path) and self.includes(path)

    def looks_into(self, history: Path) -> bool:
        """Whether a history that nobody named is a folder or a file that was asked for: what a person names is read without."""
        return history.is_dir() or self.includes(str(history))


ALL_FILES = FileFilter()


def _matches_glob(path: str, pattern: str) -> bool:
    """Whether a glob fits: without a slash a part of the path, else all of it or its end; `*` stands for slashes too."""
    if "/" not in pattern.rstrip("/"):
        return any(fnmatchcase(part, pattern.rstrip("/")) for part in path.split("/"))
    whole = os.path.expanduser(pattern).rstrip("/")  # noqa: PTH111 - a pattern is no path
    return any(fnmatchcase(path, form) for form in (whole, f"{whole}/*", f"*/{whole}", f"*/{whole}/*"))


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
    wanted: FileFilter = ALL_FILES
    """Which files, and of which projects."""

    def wants_notes_at(self, path: Path) -> bool:
        """Whether Markdown that is no dialogue is taken at a place because it was asked for."""
        return self.notes or any(
            parent.name.lower() in self.note_folders for parent in list(path.parents)[:NOTE_FOLDER_DEPTH]
        )

    def recipe(self) -> str:
        """What of these, beside the project, decides what is made of a file; empty where all is as usual."""
        usual = IndexOptions()
        chunks = (self.chunk_size, self.overlap)
        return "" if chunks == (usual.chunk_size, usual.overlap) else f";chunks={self.chunk_size}/{self.overlap}"
