"""What a run was asked for beside the paths."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePath

from pastchats_memory.readers.notes import FOLDERS_UP


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
    include: tuple[str, ...] = ()
    """Patterns of what is looked at below a folder; none: everything."""
    exclude: tuple[str, ...] = ()
    """Patterns of what is not."""

    def takes(self, below: PurePath) -> bool:
        """Whether a file below a folder is looked at, by its path from there."""
        included = not self.include or any(_matches(below, pattern) for pattern in self.include)
        return included and not any(_matches(below, pattern) for pattern in self.exclude)

    def wants_notes_at(self, path: Path) -> bool:
        """Whether Markdown that is no dialogue is taken at a place because it was asked for."""
        return self.notes or any(parent.name.lower() in self.note_folders for parent in list(path.parents)[:FOLDERS_UP])

    def recipe(self) -> str:
        """What of these, beside the project, decides what is made of a file; empty where all is as usual."""
        usual = IndexOptions()
        chunks = (self.chunk_size, self.overlap)
        return "" if chunks == (usual.chunk_size, usual.overlap) else f";chunks={self.chunk_size}/{self.overlap}"


def _matches(below: PurePath, pattern: str) -> bool:
    """A pattern with a slash fits the path or its end, one without fits any name in it."""
    if "/" in pattern:
        return fnmatchcase(str(below), pattern) or fnmatchcase(str(below), f"*/{pattern}")
    return any(fnmatchcase(name, pattern) for name in below.parts)
