"""List the agent histories on this machine, and how much of each is indexed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pastchats_memory.files.archives import is_archive
from pastchats_memory.ingest.discover import discover_files
from pastchats_memory.ingest.options import ALL_FILES, FileFilter
from pastchats_memory.model import LeftOut
from pastchats_memory.store import sources
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.text.encoding import utf8

ELSEWHERE = "elsewhere"
"""Program name of files that were indexed from other places."""


class History(Protocol):
    """A program, and where it keeps its history."""

    @property
    def program(self) -> str:
        """Name of the program."""

    @property
    def path(self) -> Path:
        """A file or folder."""


@dataclass(frozen=True, slots=True)
class SourceReport:
    """One history, and how much of it is indexed."""

    program: str
    path: str | None
    """None for all that is indexed from elsewhere."""
    files: int
    """Files that could be transcripts."""
    bytes: int
    indexed: int
    """Those of them that are indexed."""
    excluded: int
    """Excluded files and folders."""
    gone: tuple[str, ...]
    """Paths of indexed files that no longer exist."""


def overview_at(path: Path, histories: Iterable[History], wanted: FileFilter = ALL_FILES) -> list[SourceReport]:
    """Return the overview with a database that may not exist yet. Raises StoreFault."""
    if not path.exists():
        return overview(None, histories, wanted)
    with open_database(path) as database:
        return overview(database, histories, wanted)


def overview(
    database: Database | None, histories: Iterable[History], wanted: FileFilter = ALL_FILES
) -> list[SourceReport]:
    """Return each history, then what is indexed from elsewhere, if anything is.

    Raises StoreFault.
    """
    known = sources.known_sources(database) if database else {}
    indexed = {path for path, state in known.items() if state.format is not None}
    reports = []
    for history in histories:
        found, faults = discover_files([history.path] if wanted.looks_into(history.path) else [], wanted)
        excluded = sum(isinstance(fault, LeftOut) for fault in faults)
        root = utf8(str(history.path))
        below = {path for path in indexed if path == root or path.startswith(f"{root}/")}
        indexed -= below
        size = sum(candidate.size for candidate in found)
        reports.append(SourceReport(history.program, root, len(found), size, len(below), excluded, _gone(below)))
    if indexed:
        there = {path for path in indexed if sources.is_there(path)}
        size = sum(known[path].size for path in there if not is_archive(path))
        reports.append(SourceReport(ELSEWHERE, None, len(there), size, len(indexed), 0, _gone(indexed)))
    return reports


def _gone(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(path for path in paths if not sources.is_there(path)))
