"""What a run was asked for beside the paths."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pastchats_memory.formats.generic.key_map import KeyMap
from pastchats_memory.ingest.files import ALL, Wanted
from pastchats_memory.readers.notes import FOLDERS_UP


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
        return self.notes or any(parent.name.lower() in self.note_folders for parent in list(path.parents)[:FOLDERS_UP])

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
