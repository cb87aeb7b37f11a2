"""Translate SQLite's errors: the one boundary at which apsw's exceptions become ours."""

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from pastchats_memory.errors import (
    DatabaseCorrupt,
    DatabaseLocked,
    DatabaseMissing,
    DatabaseReadOnly,
    DiskFull,
    StoreFault,
)
from pastchats_memory.store.schema import schema
from pastchats_memory.text.lazy_pattern import LazyPattern

HINT_DAMAGED = "`pastchats-memory doctor` says what can be saved; the transcripts themselves are untouched."
HINT_FULL = "Free some space and run the same command again; nothing is lost."
HINT_READ_ONLY = "Check the permissions of the file and its folder, or name another one with --db."
WRITE_REFUSALS = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT})
"""Refusals of a folder that is gone or may only be read, which explain no fault of reading."""
TRANSLATIONS: tuple[tuple[type[apsw.Error], type[StoreFault], str, str], ...] = (
    (
        apsw.BusyError,
        DatabaseLocked,
        "the database is locked by another process",
        "Another index run is probably writing; try again when it has finished.",
    ),
    (apsw.LockedError, DatabaseLocked, "the database is locked", "Try again when the other writer has finished."),
    (apsw.ReadOnlyError, DatabaseReadOnly, "the database may not be written", HINT_READ_ONLY),
    (apsw.PermissionsError, DatabaseReadOnly, "the database may not be opened", HINT_READ_ONLY),
    (apsw.FullError, DiskFull, "the disk is full", HINT_FULL),
    (
        apsw.NotADBError,
        DatabaseCorrupt,
        "the file is not a database",
        "Name another file with --db, or move this one away.",
    ),
    (apsw.CorruptError, DatabaseCorrupt, "the database is damaged", HINT_DAMAGED),
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
    (apsw.NoMemError, StoreFault, "SQLite ran out of memory", "Close other programs and run the same command again."),
)
"""Faults of the environment: apsw's class, ours, message and hint; the first match wins. Any other apsw error is a bug."""
_DAMAGE = LazyPattern(
    r"unsupported file format|vtable constructor failed|no such fts5 table|invalid fts5 file format|vec0|vector blob|vector data|sqlite-vec"
)
_MISSING_NAME = LazyPattern(r"no such (?:table|column): (?:main\.)?(?:\w+\.)?(\w+)|has no column named (\w+)")


def translate(fault: BaseException, place: str) -> StoreFault | None:
    """Return our exception for the first apsw error in the chain, or None for a bug.

    The first one counts, since a failed rollback follows the fault that made it necessary.
    """
    first = fault
    while isinstance(first.__context__, apsw.Error):
        first = first.__context__
    if (found := _find_cause(first, place)) is not None:
        return found
    if isinstance(first, apsw.IOError) and first.extendedresult == apsw.SQLITE_IOERR_SHMSIZE:  # type: ignore[attr-defined] # apsw sets it
        return DiskFull(f"{place}: the disk is full, even for what reading takes", HINT_FULL)
    for error in (first, fault):  # the first may be an SQLError that only damage explains, see below
        for foreign, ours, message, hint in TRANSLATIONS:
            if isinstance(error, foreign):
                details = "" if str(error) == "not an error" else f" ({error})"  # a copy by pages has no details
                return ours(f"{place}: {message}{details}", hint)
    if isinstance(first, apsw.SQLError) and _reports_damage(str(first)):
        return DatabaseCorrupt(f"{place}: the database is damaged ({first})", HINT_DAMAGED)
    return None


@contextmanager
def translate_errors(place: str) -> Iterator[None]:
    """Raise our exception, with the place first, instead of an apsw error inside; let all others pass."""
    try:
        yield
    except apsw.Error as fault:
        ours = translate(fault, place)
        if ours is None:
            raise
        raise ours from fault
    except UnicodeDecodeError as fault:  # SQLite stores any bytes as a text
        raise DatabaseCorrupt(f"{place}: the database is damaged ({fault.reason})", HINT_DAMAGED) from fault


def _find_cause(fault: BaseException, place: str) -> StoreFault | None:
    """Return what the file system refuses, if that explains an error of SQLite."""
    is_vague = isinstance(fault, apsw.IOError | apsw.CantOpenError) or "sqlite-vec" in str(fault)
    if not is_vague and not isinstance(fault, apsw.BusyError):
        return None
    from pastchats_memory.files.faults import explain_os_error
    from pastchats_memory.store.probe import find_refusal

    refusal = find_refusal(Path(os.path.abspath(place)))  # noqa: PTH100 - resolve() would follow links
    if refusal is None or (refusal.errno in WRITE_REFUSALS and not isinstance(fault, apsw.CantOpenError)):
        return None
    if isinstance(fault, apsw.BusyError) and refusal.errno != errno.ENOLCK:
        return None
    explained = explain_os_error(refusal, place)
    return explained if isinstance(explained, StoreFault) else None


def _reports_damage(message: str) -> bool:
    """Check whether SQLite misses a name that every database of ours has, or reports a broken header or virtual table."""
    found = _MISSING_NAME.match(message)
    if found is None:
        return _DAMAGE.search(message) is not None
    return re.search(rf"\b{found[1] or found[2]}\b", schema()) is not None
