"""What SQLite says, in our words: the one boundary at which apsw's exceptions become `errors`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from pastchats_memory.errors import (
    DatabaseCorrupt,
    DatabaseLocked,
    DatabaseMissing,
    DatabaseReadOnly,
    DiskFull,
    StoreFault,
)
from pastchats_memory.store.migrations import schema

DAMAGED = "`pastchats-memory doctor` says what can be saved; the transcripts themselves are untouched."
FULL = "Free some space and run the same command again; nothing is lost."
CHUNK_BYTES = 1024 * 1024 * 4
"""More than sqlite-vec writes at once: 1,024 vectors of 768 numbers are three quarters of it."""
TABLE: tuple[tuple[type[apsw.Error], type[StoreFault], str, str], ...] = (
    (
        apsw.BusyError,
        DatabaseLocked,
        "the database is locked by another process",
        "Another index run is probably writing; try again when it has finished.",
    ),
    (apsw.LockedError, DatabaseLocked, "the database is locked", "Try again when the other writer has finished."),
    (
        apsw.ReadOnlyError,
        DatabaseReadOnly,
        "the database may not be written",
        "Check the permissions of the file and its folder, or name another one with --db.",
    ),
    (
        apsw.PermissionsError,
        DatabaseReadOnly,
        "the database may not be opened",
        "Check the permissions of the file and its folder, or name another one with --db.",
    ),
    (apsw.FullError, DiskFull, "the disk is full", FULL),
    (
        apsw.NotADBError,
        DatabaseCorrupt,
        "the file is not a database",
        "Name another file with --db, or move this one away.",
    ),
    (
        apsw.CorruptError,
        DatabaseCorrupt,
        "the database is damaged",
        DAMAGED,
    ),
    (
        apsw.CantOpenError,
        DatabaseMissing,
        "the database cannot be opened",
        "Check that the folder exists and may be entered, or name another file with --db.",
    ),
    (
        apsw.IOError,
        StoreFault,
        "reading or writing the database failed",
        "Check the disk; `pastchats-memory doctor` tells whether the database is whole.",
    ),
    (
        apsw.NoMemError,
        StoreFault,
        "SQLite ran out of memory",
        "Close other programs and run the same command again.",
    ),
)
"""Faults of the surroundings, first match wins. Any other apsw exception is a bug and travels on as it is."""


def translate(fault: BaseException, place: str) -> StoreFault | None:
    """Ours for the first apsw error in the chain: a failed rollback comes after the fault that made it necessary."""
    first = fault
    while isinstance(first.__context__, apsw.Error):
        first = first.__context__
    if isinstance(first, apsw.IOError) and first.extendedresult == apsw.SQLITE_IOERR_SHMSIZE:  # type: ignore[attr-defined] # apsw sets it
        return DiskFull(f"{place}: the disk is full, even for what reading takes", FULL)
    for told in (first, fault):  # the first may be one that only damage explains, which was then looked for
        for foreign, ours, message, hint in TABLE:
            if isinstance(told, foreign):
                details = "" if str(told) == "not an error" else f" ({told})"  # of a copy by pages
                return ours(f"{place}: {message}{details}", hint)
    if isinstance(first, apsw.SQLError) and _tells_of_damage(str(first)):
        if "sqlite-vec" in str(first) and _is_full(place):
            return DiskFull(f"{place}: the disk is full", FULL)
        return DatabaseCorrupt(f"{place}: the database is damaged ({first})", DAMAGED)
    return None


def _is_full(place: str) -> bool:
    """Whether the disk has less room than a chunk of vectors takes: sqlite-vec says of a failed write no more than that it failed."""
    from shutil import disk_usage

    try:
        return disk_usage(os.path.dirname(os.path.abspath(place))).free < CHUNK_BYTES  # noqa: PTH100, PTH120 - pathlib takes longer to import
    except OSError:
        return False


_OF_DAMAGE = re.compile(
    r"unsupported file format|vtable constructor failed|no such fts5 table|invalid fts5 file format|vec0|vector blob|vector data|sqlite-vec"
)
_OF_A_NAME = re.compile(r"no such (?:table|column): (?:main\.)?(?:\w+\.)?(\w+)|has no column named (\w+)")


def _tells_of_damage(message: str) -> bool:
    """Whether what SQLite does not find is what every database of ours has, or what it says is of a broken header or virtual table."""
    found = _OF_A_NAME.match(message)
    if found is None:
        return _OF_DAMAGE.search(message) is not None
    return re.search(rf"\b{found[1] or found[2]}\b", schema()) is not None


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Raise what `translate` makes of an apsw error inside; all else passes."""
    try:
        yield
    except apsw.Error as fault:
        ours = translate(fault, place)
        if ours is None:
            raise
        raise ours from fault
    except UnicodeDecodeError as fault:  # SQLite takes any bytes for a text
        raise DatabaseCorrupt(f"{place}: the database is damaged ({fault.reason})", DAMAGED) from fault
