"""What a run was asked for beside the paths."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pastchats_memory.ingest.files import ALL, Wanted
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
    wanted: Wanted = ALL
    """Which files, and of which projects."""

    def wants_notes_at(self, path: Path) -> bool:
        """Whether Markdown that is no dialogue is taken at a place because it was asked for."""
        return self.notes or any(parent.name.lower() in self.note_folders for parent in list(path.parents)[:FOLDERS_UP])

    def recipe(self) -> str:
        """What of these, beside the project, decides what is made of a file; empty where all is as usual."""
        usual = IndexOptions()
        chunks = (self.chunk_size, self.overlap)
        return "" if chunks == (usual.chunk_size, usual.overlap) else f";chunks={self.chunk_size}/{self.overlap}"
