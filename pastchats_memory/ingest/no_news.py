"""Find out that nothing has changed since a run, without what reads, embeds and stores.

The stamp of a run is a digest of the state of every file below its inputs, of its options and of this program. The answer
that is stored under it is that of the next run that finds the same.
"""

import hashlib
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pastchats_memory.config import Config, is_private, own_places
from pastchats_memory.files.project import is_opted_out
from pastchats_memory.files.stored_path import resolve_path
from pastchats_memory.ingest.options import SKIPPED_FOLDERS, FileFilter
from pastchats_memory.store import repeated_runs, sources
from pastchats_memory.store.database import open_database

ALWAYS_READ = ("force", "follow_links", "map", "format")
"""Options of a run that always reads, or reads files that no folder of its inputs lists."""
PACKAGE = Path(__file__).parent.parent
PACKAGES = ("site-packages", "dist-packages")
SIDE_ENDS = ("", "-wal", "-shm", "-journal")
"""Ends of the names of the files that belong to a file that is named itself."""


def make_stamp(config: Config, inputs: Sequence[str], project: str | None, how: Mapping[str, Any]) -> str | None:
    """Return the stamp of a run now; None if one cannot be made. `how` has the other arguments of `Memory.index`."""
    if sys.platform == "win32" or config.model or config.warnings or any(how.get(name) for name in ALWAYS_READ):
        return None
    wanted = FileFilter(exclude=(*config.exclude, *how["exclude"]), own=own_places(config.database))
    paths = [os.path.abspath(path) for path in inputs]  # noqa: PTH100 - resolve() would follow links
    lines = [sys.version, repr((config, paths, project, sorted(how.items())))]
    lines += [_look_at(place) for place in sys.path if place.endswith(PACKAGES)]
    lines += sorted(_list_below(str(PACKAGE), FileFilter()))
    for path in paths:
        lines.append(f"{path} {is_opted_out(path)}")
        lines += [_look_at(path + end) for end in SIDE_ENDS] if os.path.isfile(path) else []  # noqa: PTH113 - a string
        lines += sorted(_list_below(path, wanted))
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def _list_below(root: str, wanted: FileFilter) -> Iterator[str]:
    folders = [root]
    while folders:
        folder = folders.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError as fault:
            yield f"{folder} {fault.errno}"
            continue
        for entry in entries:
            if (
                entry.name in SKIPPED_FOLDERS
                or entry.path in wanted.own
                or (wanted.exclude and wanted.excludes(entry.path))
            ):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            else:
                yield _look_at(entry.path, entry)
                if entry.is_symlink():
                    yield _look_at(entry.path)


def _look_at(path: str, entry: os.DirEntry[str] | None = None) -> str:
    """Return the state of a file or folder, of a link the state of its target; with its entry that of the link."""
    try:
        status = entry.stat(follow_symlinks=False) if entry else os.stat(path)  # noqa: PTH116 - a string is at hand
    except OSError as fault:
        return f"{path} {fault.errno}"
    return f"{path} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"


def find_answer(path: Path, stamp: str, start: float) -> str | None:
    """Return the JSON of the answer if nothing has changed, and record the run; None if there may be news.

    Raises StoreFault if the database cannot be read or written.
    """
    if not os.path.exists(path):  # noqa: PTH110 - as open_database sees it
        return None
    with open_database(path, vec0=False) as database:
        answer = repeated_runs.find_answer(database, stamp)
        if answer is None or any(_is_changed(*one) for one in sources.privacy_of_folders(database)):
            return None
        repeated_runs.add_run(database, stamp, time.monotonic() - start)
    return answer


def _is_changed(folder: str, is_stored: bool) -> bool:
    """Return whether the file of a project says anything else about its privacy than what is stored."""
    path = str(resolve_path(folder))
    return os.path.isdir(path) and is_private(path) not in (None, is_stored)  # noqa: PTH112 - a string is at hand
