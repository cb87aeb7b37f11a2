"""Copy the whole database while others use it, and put a copy back: SQLite's online backup in both directions."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import apsw

from pastchats_memory.errors import DatabaseCorrupt, DatabaseMissing, UsageFault
from pastchats_memory.fields import Count
from pastchats_memory.store import checks, deletion, tombstone_transfer
from pastchats_memory.store.atomic_file import new_file, partial_file, replace_file
from pastchats_memory.store.database import (
    BUSY_MS,
    Database,
    make_folder,
    open_database,
    refuse_foreign,
    refuse_undecodable,
    side_files,
)
from pastchats_memory.store.errors import translate_errors
from pastchats_memory.store.scrub import is_unfinished

PAGES = 4096
"""Copied at a time: 16 MB."""
HINT = "Name a file that `backup` wrote."


@dataclass(frozen=True, slots=True)
class Counts:
    """The contents of a copy."""

    turns: Count
    tasks: Count
    bytes: Count


def backup(database: Database, to: Path, *, force: bool = False) -> Counts:
    """Copy the database as it is now, whoever writes to it meanwhile, into a file for its owner alone.

    The file gets its name only once it is complete. `force` replaces a file of that name. Raises UsageFault for a name that
    is taken, is the database's own, or does not suit SQLite, and StoreFault.
    """
    refuse_undecodable(to)
    with new_file(to, database.path, force=force) as partial:
        with database.snapshot():
            counts = _count(database)
            is_deleting = is_unfinished(database)
            _copy_to_file(database, partial)
        if is_deleting:  # another process is: what it has not removed yet must not leave it
            with open_database(partial, vec0=database.vec0_loaded) as copy:
                deletion.finish(copy)
                counts = _count(copy)
        return replace(counts, bytes=partial.stat().st_size)


def restore(file: Path, path: Path, *, vec0: bool = True) -> tuple[Counts, Path | None]:
    """Replace the database at a path by the one in a file, which is only read.

    The copy is checked first, and everything that the present database has forgotten is forgotten in it. The present
    database is replaced in one transaction, so a reader sees either the one or the other.

    Returns the contents, and the new name of the present database if it was too damaged to be written over. Raises
    DatabaseMissing, DatabaseCorrupt, DatabaseNewer, DatabaseOlder or StoreFault; the database is then as it was.
    """
    if os.path.realpath(file) == os.path.realpath(path):
        raise UsageFault(f"{file} is the database itself", HINT)
    make_folder(path)
    with partial_file(path) as partial:
        _read_into(file, partial)
        with open_database(partial, vec0=vec0) as new:
            new.run("PRAGMA journal_mode=WAL")  # a copy that was made by other means may lack it
            _refuse_damaged(new, file)
            if os.path.lexists(path) and _is_sound(path):
                with open_database(path, vec0=vec0) as old:
                    tombstone_transfer.apply_tombstones(new, tombstone_transfer.load_tombstones(old))
                    _overwrite(old, new)
                return _count(new), None
            counts = _count(new)
        return counts, replace_file(partial, path)


def _count(database: Database) -> Counts:
    turns, tasks = (int(database.value(f"SELECT count(*) FROM {table}")) for table in ("prompts", "tasks"))
    return Counts(turns, tasks, database.path.stat().st_size)


def _read_into(file: Path, partial: Path) -> None:
    with _open_read_only(file) as source:
        refuse_foreign(source)
        if not source.value("PRAGMA application_id"):
            raise DatabaseCorrupt(f"{file} is empty", HINT)
        _copy_to_file(source, partial)


def _copy_to_file(source: Database, to: Path) -> None:
    """Copy all pages into an empty file, from one snapshot."""
    with translate_errors(str(to)):
        target = apsw.Connection(str(to), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            target.execute("PRAGMA synchronous=FULL").fetchall()
            with source.snapshot():
                source.run("SELECT count(*) FROM sqlite_schema")  # takes the snapshot
                with _begin_copy(source.connection, target) as copy:
                    _copy_pages(copy)
        finally:
            target.close()


def _overwrite(old: Database, new: Database) -> None:
    """Write all pages of `new` over those of `old`, in one transaction.

    Tombstones that come until nobody else can write are applied too. `old` is still read for them, so a second
    connection writes.
    """
    old.run("PRAGMA journal_mode=WAL")  # else it could not be read while it is written
    with _open_raw(old.path, str(old.path), apsw.SQLITE_OPEN_READWRITE) as target, translate_errors(str(old.path)):
        target.set_timeout(BUSY_MS)
        with _begin_copy(new.connection, target.connection) as copy:
            copy.step(0)  # takes the lock and copies nothing
            tombstone_transfer.apply_tombstones(new, tombstone_transfer.load_tombstones(old))
            _copy_pages(copy)
    old.run("PRAGMA wal_checkpoint(TRUNCATE)")


@contextmanager
def _begin_copy(source: apsw.Connection, target: apsw.Connection) -> Iterator[apsw.Backup]:
    copy = target.backup("main", source, "main")
    try:
        yield copy
        copy.finish()
    finally:
        with suppress(apsw.Error):  # a step has raised the same error
            copy.close()


def _copy_pages(copy: apsw.Backup) -> None:
    while not copy.done:
        copy.step(PAGES)


@contextmanager
def _open_read_only(file: Path) -> Iterator[Database]:
    """Open the database in a file and leave it as it is, with nothing new beside it."""
    try:
        mode = file.stat().st_mode
    except OSError as fault:
        raise DatabaseMissing(f"{file}: {fault.strerror}", HINT) from fault
    if not stat.S_ISREG(mode):
        raise DatabaseCorrupt(f"{file} is no regular file", HINT)
    options = "?mode=ro" if any(os.path.lexists(side) for side in side_files(file)) else "?immutable=1"
    with _open_raw(
        file, file.absolute().as_uri() + options, apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    ) as source:
        try:
            source.run("PRAGMA schema_version")
        except DatabaseCorrupt as fault:
            raise DatabaseCorrupt(fault.message, HINT) from fault
        yield source


@contextmanager
def _open_raw(path: Path, name: str, flags: int) -> Iterator[Database]:
    """Open a database without a look at its schema."""
    with translate_errors(str(path)):
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
    """Return whether the database can be opened, and so be written over.

    Raises DatabaseCorrupt for another program's, and DatabaseOlder or DatabaseNewer for one of another build or release.
    """
    try:
        with _open_raw(path, str(path), apsw.SQLITE_OPEN_READWRITE) as old:
            if old.value("SELECT count(*) FROM sqlite_schema"):
                refuse_foreign(old)
            return bool(old.value("PRAGMA quick_check(1)") == "ok")
    except DatabaseCorrupt as fault:
        if fault.__cause__ is None:  # ours about another program's file, not SQLite's complaint
            raise
        return False
