"""List the agent histories on this machine, and how much of each is indexed."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

import orjson

from pastchats_memory.fields import Count, shown_as
from pastchats_memory.files.archives import archive_of, is_archive
from pastchats_memory.files.stored_path import resolve_path
from pastchats_memory.formats.registry import History
from pastchats_memory.ingest.detect import BY_FORMAT
from pastchats_memory.ingest.discover import discover_files
from pastchats_memory.ingest.options import ALL_FILES, FileFilter
from pastchats_memory.model import LeftOut, Unreadable
from pastchats_memory.store import sources
from pastchats_memory.store.database import Database, open_existing
from pastchats_memory.text.encoding import utf8

SEVERAL = "several"
"""Program name of a place with files of several programs."""


@shown_as("SourceView")
@dataclass(frozen=True, slots=True)
class SourceReport:
    """The history of one program, or another place from which files were indexed."""

    program: Annotated[str, {"minLength": 1}, "`several` for a place with files of several programs."]
    path: Annotated[str, "A file or folder."]
    files: Annotated[Count, "Files that could be transcripts."]
    bytes: Count
    indexed: Annotated[Count, "Files that were understood and are in the memory."]
    excluded: Annotated[Count, "Files and folders that are excluded."]
    gone: Annotated[tuple[str, ...], "Files in the memory that are no longer on the disk."]


class UnreadFile(NamedTuple):
    """A file of which some lines, or all, were not understood."""

    path: str
    reason: str
    """Why nothing of it was read; empty if some of it was."""
    lines: tuple[Unreadable, ...]


def list_unread(database: Database) -> list[UnreadFile]:
    """Return the files of which some lines, or all, were not understood when they were last read."""
    return [
        UnreadFile(
            state.path,
            (state.note or "") if state.format is None else "",
            tuple(Unreadable(state.path, line, why) for line, why in orjson.loads(state.problems or "[]")),
        )
        for state in sources.unread_sources(database)
        if state.note != sources.EMPTY
    ]


def overview_at(path: Path, histories: Iterable[History], wanted: FileFilter = ALL_FILES) -> list[SourceReport]:
    """Return the overview with a database that may not exist yet."""
    with open_existing(path) as database:
        return overview(database, histories, wanted)


def overview(
    database: Database | None, histories: Iterable[History], wanted: FileFilter = ALL_FILES
) -> list[SourceReport]:
    """Return each history, then the other places from which something was indexed."""
    histories = list(histories)
    known = sources.known_sources(database) if database else {}
    indexed = {path for path, state in known.items() if state.format is not None}
    reports = []
    for history in histories:
        found, faults = discover_files([history.path] if wanted.looks_into(history.path) else [], wanted)
        found = [candidate for candidate in found if candidate.size]
        excluded = sum(isinstance(fault, LeftOut) for fault in faults)
        root = utf8(str(history.path))
        below = {path for path in indexed if _is_below(path, root)}
        size = sum(candidate.size for candidate in found)
        gone = tuple(sorted(path for path in below if not sources.is_there(path)))
        reports.append(SourceReport(history.program, root, len(found), size, len(below), excluded, gone))
    for place in _other_places(database, histories) if database else ():
        there = {path for path in place.files if sources.is_there(path)}
        size = sum(known[path].size for path in there if not is_archive(path))
        gone = tuple(sorted(place.files - there))
        reports.append(SourceReport(place.program, place.path, len(there), size, len(place.files), 0, gone))
    return reports


class IndexedPlace(NamedTuple):
    """A file or folder outside the histories that was indexed by its path."""

    program: str
    path: str
    """As it is stored."""
    files: frozenset[str]
    """Stored paths of its indexed files that belong to no history and to no other place."""


def existing_places_at(path: Path, histories: Iterable[History]) -> list[Path]:
    """Return the files and folders outside the histories that were indexed once and still exist."""
    with open_existing(path) as database:
        places = [resolve_path(place.path) for place in _other_places(database, histories)] if database else []
    return [place for place in places if os.path.lexists(place)]


def _other_places(database: Database, histories: Iterable[History]) -> Iterator[IndexedPlace]:
    """Yield folders that a user named, shortest first, and files that belong to none of them."""
    known = sources.known_sources(database)
    roots = [utf8(str(history.path)) for history in histories]
    rest = {
        path
        for path, state in known.items()
        if state.format is not None and not any(_is_below(path, root) for root in roots)
    }
    home = os.path.expanduser("~")  # noqa: PTH111 - Path.home() raises for a user without one
    for folder in sorted(sources.named_inputs(database), key=len):
        files = frozenset(path for path in rest if path != folder and _is_below(path, folder))
        if files and not is_archive(folder) and not _is_below(home, folder):  # a whole home is no place of transcripts
            yield IndexedPlace(_program_of(known[path].format for path in files), folder, files)
            rest -= files
    by_file: dict[str, set[str]] = {}
    for path in sorted(rest):
        by_file.setdefault(str(archive_of(Path(path)) or path), set()).add(path)
    for name, members in by_file.items():
        yield IndexedPlace(_program_of(known[path].format for path in members), name, frozenset(members))


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _program_of(formats: Iterable[str | None]) -> str:
    names = {BY_FORMAT[name].program or name if name in BY_FORMAT else name for name in formats if name}
    return names.pop() if len(names) == 1 else SEVERAL
