"""Find files that are read as one, of programs that keep a conversation in several. Functions raise OSError."""

import os
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

from pastchats_memory.files import foreign_sqlite
from pastchats_memory.formats.base.format import Companions
from pastchats_memory.formats.registry import all_formats

DATABASE_SUFFIXES = frozenset({".db", ".sqlite", ".sqlite3", ".vscdb"})


def has_companions(where: str) -> bool:
    """Return whether the name of a file says that others may belong to it; called for each file that is found."""
    return where.lower().endswith(tuple(DATABASE_SUFFIXES)) or where.rpartition(os.sep)[2].startswith(_prefixes())


def companions_of(path: Path) -> Iterator[Path]:
    """Yield the other files whose change is a change of this one."""
    if path.suffix.lower() in DATABASE_SUFFIXES:
        yield from foreign_sqlite.side_files(path)
        return
    for companions in (one for one in _all_companions() if path.name.startswith(one.prefixes)):
        yield from companions.read_with(path)


def state_of(path: Path) -> tuple[int, int]:
    """Return the bytes of a file and its companions, and the time of their last change in ns."""
    together = [path.stat(), *(other.stat() for other in companions_of(path))]
    return sum(each.st_size for each in together), max(each.st_mtime_ns for each in together)


def hidden_in(folder: str, names: Collection[str]) -> Collection[str]:
    """Return the names in a folder of files that are read with another file only."""
    return next((hidden for each in _all_companions() if (hidden := each.hidden_in(folder, names))), ())


@cache
def _all_companions() -> tuple[Companions, ...]:
    return tuple(format_.companions for format_ in all_formats() if format_.companions is not None)


@cache
def _prefixes() -> tuple[str, ...]:
    return tuple(prefix for companions in _all_companions() for prefix in companions.prefixes)
