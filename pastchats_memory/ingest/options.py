"""Options of an index run: which files to read, and how."""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import lru_cache
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING

from pastchats_memory.formats.base.locations import NOTE_FOLDER_DEPTH

if TYPE_CHECKING:
    from pastchats_memory.formats.base.key_map import KeyMap

SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", "site-packages"})
"""Folders that hold thousands of other people's files and no conversation."""


@dataclass(frozen=True, slots=True)
class FileFilter:
    """Which files below the inputs to read."""

    include: tuple[str, ...] = ()
    """Globs of which a file must match one; without globs every file passes."""
    exclude: tuple[str, ...] = ()
    """Globs of which none may match a file, a folder above it, or the project of a conversation."""
    follow: bool = False
    """Whether to follow links that lead out of the named folder."""
    own: frozenset[str] = frozenset()
    """Files and folders that this program writes; they are read only if they are named."""

    def excludes(self, path: str) -> bool:
        """Check whether a path, or one of its parts, is excluded."""
        return self.excluded_by(path) is not None

    def excluded_by(self, path: str) -> str | None:
        """Return the first glob that excludes the path, or None."""
        paths = {path, os.path.realpath(path)} if self.exclude and Path(path).is_absolute() else {path}
        return next((glob for glob in self.exclude if any(_matches_glob(each, glob) for each in paths)), None)

    def includes(self, path: str) -> bool:
        """Check whether the file matches an included glob."""
        return not self.include or any(_matches_glob(path, pattern) for pattern in self.include)

    def looks_into(self, history: Path) -> bool:
        """Check whether to look into a history: a folder, or an included file."""
        return history.is_dir() or self.includes(str(history))


ALL_FILES = FileFilter()


def _matches_glob(path: str, pattern: str) -> bool:
    """Check whether a glob matches a path.

    Without a slash it matches a part, else all or the end of the path; `*` matches slashes. On Windows case does not count.
    """
    path, pattern = (each.replace(os.sep, "/") for each in (path, pattern))
    if "/" not in pattern.rstrip("/"):
        return any(fnmatch(part, pattern.rstrip("/")) for part in path.split("/"))
    whole = os.path.expanduser(pattern).rstrip("/")  # noqa: PTH111 - a pattern is no path
    forms = (whole, f"{whole}/*", f"*/{whole}", f"*/{whole}/*", *_follow_links(whole))
    return any(fnmatch(path, form) for form in forms)


@lru_cache(maxsize=256)
def _follow_links(pattern: str) -> tuple[str, ...]:
    """Return the globs of what an absolute path without wildcards leads to."""
    named = re.sub(r"\[([*?[])\]", r"\1", pattern)
    real = escape(os.path.realpath(named)).replace(os.sep, "/") if Path(named).is_absolute() else pattern
    return () if real == pattern or escape(named) != pattern else (real, f"{real}/*")


@dataclass(frozen=True, slots=True)
class ReadAs:
    """The format or map that the user named, instead of detection."""

    format: str = ""
    """The name of a format, or of a map in the configuration."""
    key_map: "KeyMap | None" = None
    """Read JSON that has its keys by this map."""

    def to_json(self) -> str | None:
        """Return both as JSON for the record of the source, or None for neither."""
        if not self.format and self.key_map is None:
            return None
        return json.dumps({"format": self.format, "map": self.key_map.to_table() if self.key_map else {}})

    @classmethod
    def from_json(cls, text: str | None) -> "ReadAs":
        """Build it from the record of a source."""
        known = json.loads(text) if text else {}
        if not (table := known.get("map")):
            return cls(known.get("format", ""))
        from pastchats_memory.formats.base.key_map import KeyMap  # most files are read by their format

        return cls(known.get("format", ""), KeyMap.from_table(table, "map"))


AS_DETECTED = ReadAs()


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """What the user and the configuration ask for."""

    project: str | None = None
    """Project of every turn, instead of the project in the files."""
    force: bool = False
    """Whether to read unchanged files too."""
    notes: bool = False
    """Whether to index Markdown that is no dialogue, wherever it is."""
    note_folders: frozenset[str] = frozenset()
    """Lower-case names of folders in which notes are always indexed."""
    chunk_size: int = 1500
    """Characters of a chunk of a note."""
    overlap: int = 2
    """Lines that two chunks of a note share."""
    read_as: ReadAs = AS_DETECTED
    """The format or map to read by; a file that was read by one is read by it again."""
    newest_bytes: int | None = None
    """Read only the newest files that fit into so many bytes together, and at least one; None reads all."""
    is_narrow: bool = False
    """Whether this run wants only some files of its inputs, by a glob, a format or a map."""
    maps: "Mapping[str, KeyMap]" = field(default_factory=dict)
    """The configured maps by name, for files of no known format that have their keys."""
    wanted: FileFilter = ALL_FILES
    """Which files and projects to read."""

    def wants_notes_at(self, path: Path) -> bool:
        """Check whether notes are indexed at a path because the user asked for them."""
        return self.notes or any(
            parent.name.lower() in self.note_folders for parent in list(path.parents)[:NOTE_FOLDER_DEPTH]
        )

    def maps_recipe(self) -> str:
        """Return a digest of the configured maps for recipes; "" without maps."""
        if not self.maps:
            return ""
        text = "\n".join(f"{name}:{key_map}" for name, key_map in sorted(self.maps.items()))
        return f";maps={hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"

    def recipe(self) -> str:
        """Return the options, except the project, that change the rows of a file; "" for the defaults."""
        usual = IndexOptions()
        chunks = (self.chunk_size, self.overlap)
        return "" if chunks == (usual.chunk_size, usual.overlap) else f";chunks={self.chunk_size}/{self.overlap}"
