"""The whole file, copied while others read and write it, and put back: SQLite's online backup in both directions."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import apsw

from pastchats_memory.errors import DatabaseCorrupt, DatabaseMissing, UsageFault
from pastchats_memory.store import checks, deletion
from pastchats_memory.store.atomic_file import beside, put_in_place, taking
from pastchats_memory.store.database import (
    APPLICATION_ID,
    BUSY_MS,
    Database,
    make_folder,
    open_database,
    refuse_foreign,
    refuse_unspelled,
    side_files,
    translated,
)

PAGES = 4096
"""Copied at a time: 16 MB."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What a copy holds."""

    turns: int
    tasks: int
    bytes: int


def backup(database: Database, to: Path, *, force: bool = False) -> Counts:
    """Copy the database as it is at this moment, whoever writes to it meanwhile, into a file for its owner alone.

    The file has its name only once it is whole.

    Raises:
        UsageFault: there is such a file, it is the database itself, or its name is none that SQLite takes.
        StoreFault: it cannot be read, or the copy cannot be written.
    """
    refuse_unspelled(to)
    with taking(to, database.path, force=force) as partial:
        with database.snapshot():
            counts = _counts(database)
            _copy(database, partial)
        return replace(counts, bytes=partial.stat().st_size)


def restore(file: Path, path: Path, *, vec0: bool = True) -> tuple[Counts, Path | None]:
    """Put the database in a file, which is only read, in the place of the one at a path.

    The copy is checked and brought up to date first, and what the database there has forgotten is forgotten in it. A
    database that is there becomes it in one transaction: it stands until the new one is whole, and who reads it sees
    either the one or the other. One that is too damaged for that is put aside, and where it then lies is returned.

    Raises:
        DatabaseMissing, DatabaseCorrupt, DatabaseNewer: nothing can be restored from the file; the database is as it was.
        StoreFault: the database cannot be written; it is as it was.
    """
    if os.path.realpath(file) == os.path.realpath(path):
        raise UsageFault(f"{file} is the database itself", "Name a file that `backup` wrote.")
    make_folder(path)
    with beside(path) as partial:
        with _only_read(file) as source:
            refuse_foreign(source)
            if source.value("PRAGMA application_id") != APPLICATION_ID:
                raise DatabaseCorrupt(f"{file} is empty", "Name a file that `backup` wrote.")
            _copy(source, partial)
        with open_database(partial, vec0=vec0) as new:
            new.run("PRAGMA journal_mode=WAL")  # which a copy that was made by other means may not have
            _refuse_damaged(new, file)
            if os.path.lexists(path) and _is_sound(path):
                with open_database(path, vec0=vec0) as old:
                    deletion.rebury(new, deletion.graves(old))
                    _copy_over(new, old)
                return _counts(new), None
            counts = _counts(new)
        return counts, put_in_place(partial, path)


def _counts(database: Database) -> Counts:
    turns, tasks = (int(database.value(f"SELECT count(*) FROM {table}")) for table in ("prompts", "tasks"))
    return Counts(turns, tasks, database.path.stat().st_size)


def _copy(source: Database, to: Path) -> None:
    """All of it into an empty file, from one snapshot. Raises StoreFault."""
    with translated(str(to)):
        target = apsw.Connection(str(to), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            target.execute("PRAGMA synchronous=FULL").fetchall()
            with source.snapshot():
                source.run("SELECT count(*) FROM sqlite_schema")  # which takes the snapshot
                with _copying(source.connection, target) as copying:
                    _pages(copying)
        finally:
            target.close()


def _copy_over(new: Database, old: Database) -> None:
    """All of it in the place of what the other has, in one transaction. Raises StoreFault.

    What was forgotten there up to the moment from which nobody else can write is forgotten in it. The other is still read
    for that, so another connection is written to.
    """
    old.run("PRAGMA journal_mode=WAL")  # or it could not be read while it is written
    with _raw(old.path, str(old.path), apsw.SQLITE_OPEN_READWRITE) as target, translated(str(old.path)):
        target.wait(BUSY_MS)
        with _copying(new.connection, target.connection) as copying:
            copying.step(0)  # which takes the lock and copies nothing
            deletion.rebury(new, deletion.graves(old))
            _pages(copying)
    old.run("PRAGMA wal_checkpoint(TRUNCATE)")


@contextmanager
def _copying(source: apsw.Connection, target: apsw.Connection) -> Iterator[apsw.Backup]:
    copying = target.backup("main", source, "main")
    try:
        yield copying
        copying.finish()
    finally:
        with suppress(apsw.Error):  # which is what a step has said already
            copying.close()


def _pages(copying: apsw.Backup) -> None:
    while not copying.done:
        copying.step(PAGES)


@contextmanager
def _only_read(file: Path) -> Iterator[Database]:
    """The database in a file that is left as it is, with nothing beside it. Raises StoreFault."""
    try:
        mode = file.stat().st_mode
    except OSError as fault:
        raise DatabaseMissing(f"{file}: {fault.strerror}", "Name a file that `backup` wrote.") from fault
    if not stat.S_ISREG(mode):
        raise DatabaseCorrupt(f"{file} is no regular file", "Name a file that `backup` wrote.")
    alone = "?immutable=1" if not any(os.path.lexists(side) for side in side_files(file)) else "?mode=ro"
    with _raw(file, file.absolute().as_uri() + alone, apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI) as source:
        try:
            source.run("PRAGMA schema_version")
        except DatabaseCorrupt as fault:
            raise DatabaseCorrupt(fault.message, "Name a file that `backup` wrote.") from fault
        yield source


@contextmanager
def _raw(path: Path, name: str, flags: int) -> Iterator[Database]:
    """A database that is neither looked at nor brought up to date. Raises StoreFault."""
    with translated(str(path)):
        connection = apsw.Connection(name, flags=flags)
    opened = Database(connection, path, vec0_loaded=False, writable=True)
    try:
        yield opened
    finally:
        opened.close()


def _refuse_damaged(new: Database, file: Path) -> None:
    found = checks.damage(new)
    if not found and (missing := checks.without_embedding(new)):
        found = [f"{missing} turns without their vectors"]
    if found:
        hint = "Restore another backup; the database is as it was."
        raise DatabaseCorrupt(f"{file} is damaged: {'; '.join(found[:3])}", hint)


def _is_sound(path: Path) -> bool:
    """Whether the database can be written over; not where it is too damaged to be opened. Raises StoreFault for another's."""
    try:
        with _raw(path, str(path), apsw.SQLITE_OPEN_READWRITE) as old:
            if old.value("SELECT count(*) FROM sqlite_schema"):
                refuse_foreign(old)
            return bool(old.value("PRAGMA quick_check(1)") == "ok")
    except DatabaseCorrupt as fault:
        if fault.__cause__ is None:  # another program's, not SQLite's complaint
            raise
        return False
