"""The one place where our SQLite file is opened, and the one way in which statements reach it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    pass
import errno
import importlib.util
import stat
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pastchats_memory.errors import (
    DatabaseExposed,
    DatabaseNewer,
    UsageFault,
)
from pastchats_memory.model import utf8
from pastchats_memory.store.migrations import SCHEMA_VERSION, migration

# What SQLite says, in our words: the one boundary at which apsw's exceptions become `errors`.

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


# Values of a column that are read into memory which is there already, or overwritten in part.


class Blobs:
    """Values of a column, row by row, without the two copies that a statement would make of each."""

    def __init__(self, database: Database, table: str, column: str, *, writable: bool) -> None:
        self._database = database
        self._table = table
        self._column = column
        self._writable = writable
        self._open: apsw.Blob | None = None

    def read(self, row: int, into: memoryview) -> None:
        """Fill a buffer from the beginning of a row's value, which is at least as long. Raises StoreFault."""
        with translated(str(self._database.path)):
            self._of(row).read_into(into)

    def write(self, row: int, start: int, content: bytes) -> None:
        """Overwrite a part of a row's value, inside the caller's transaction. Raises StoreFault."""
        with translated(str(self._database.path)):
            blob = self._of(row)
            blob.seek(start)
            blob.write(content)

    def _of(self, row: int) -> apsw.Blob:
        if self._open is None:
            self._open = self._database.connection.blob_open(
                "main", self._table, self._column, row, writeable=self._writable
            )
        else:
            self._open.reopen(row)
        return self._open

    def close(self) -> None:
        """Let go of the row that was read last."""
        if self._open is not None:
            with suppress(apsw.Error):  # which is what reading it has said already
                self._open.close()


# What was read of the file and holds until something is written to it, whoever writes, or as long as versions say that it does.

Value = TypeVar("Value")

STATE = "SELECT data_version, schema_version FROM pragma_data_version CROSS JOIN pragma_schema_version"
"""The first differs with each commit of another connection, the second with each definition."""


class Kept:
    """Values by name, of one connection."""

    def __init__(self, database: Database) -> None:
        self._database: Database = weakref.proxy(database)  # in a cycle megabytes would wait for the garbage collector
        self._state: tuple[int, ...] = ()
        self._values: dict[str, Any] = {}
        self.versioned: dict[str, Any] = {}
        """What outlives a change, beside versions that were read before it, by which whoever takes it sees whether it holds."""

    def once(self, name: str, make: Callable[[], Value]) -> Value:
        """The value of a name, made where there is none that holds. Raises StoreFault, and whatever `make` raises."""
        values = self.values()
        if name not in values:
            values[name] = make()
        made: Value = values[name]
        return made

    def values(self) -> dict[str, Any]:
        """Those that hold in this snapshot, to be added to; none of them outlives a change of the file, however small.

        Without a snapshot the file may change at once, and what a transaction has written may be taken back: what is
        added then is not kept. Raises StoreFault.
        """
        database = self._database
        if not database.connection.in_transaction or database.is_writing:
            return {}
        # Statements of our own are counted whether or not they are taken back.
        state = (*database.run(STATE)[0], database.connection.total_changes())
        if state != self._state:
            self._state, self._values = state, {}
        return self._values


APPLICATION_ID = 0x70636D31
"""Marks a file as ours in its header (`pcm1`), so that another program's database is never filled with our tables."""

BUSY_MS = 5000
PATIENT_MS = 60_000
PAUSE = 0.12
"""Seconds after which a step follows a step: a writer that waits looks ten times a second."""
MMAP_BYTES = 1 << 40
"""All of the file: pages of vec0 and of the vector blocks are then read without being copied first."""
CACHE_KB = 8192
"""Of what is read page by page: most of what the next question reads of the words' index, too."""

Values = Sequence[Any] | Mapping[str, Any]


class Database:
    """An open database. Statements go through `run` or `rows`, writes through `transaction`; both speak our errors."""

    def __init__(self, connection: apsw.Connection, path: Path, *, vec0_loaded: bool, writable: bool) -> None:
        self.connection = connection
        self.path = path
        self.vec0_loaded = vec0_loaded
        self.writable = writable
        self.kept = Kept(self)

    def run(self, statement: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """All rows of a statement. Raises StoreFault."""
        with translated(str(self.path)):
            return self.connection.execute(statement, values).fetchall()

    def rows(self, statement: str, values: Values = ()) -> Iterator[tuple[Any, ...]]:
        """The rows one after the other, for results that do not belong in memory. Raises StoreFault."""
        with translated(str(self.path)):
            yield from self.connection.execute(statement, values)

    def run_many(self, statement: str, many: Iterator[Values] | Sequence[Values]) -> None:
        """A statement once for each set of values. Raises StoreFault."""
        with translated(str(self.path)):
            self.connection.executemany(statement, many)

    def value(self, statement: str, values: Values = ()) -> Any:
        """The first column of the first row, or None without one. Raises StoreFault."""
        found = self.run(statement, values)
        return found[0][0] if found else None

    def define(self, name: str, function: Callable[..., Any]) -> None:
        """Let statements of this connection call a function of one value that always answers it alike."""
        self.connection.create_scalar_function(name, function, 1, deterministic=True)

    def blobs(self, table: str, column: str, *, writable: bool = False) -> Blobs:
        """A way to read the column's values into memory that the caller has, or to overwrite parts of them."""
        return Blobs(self, table, column, writable=writable)

    @property
    def is_writing(self) -> bool:
        """Whether a transaction has written something that it may still take back."""
        return self.connection.txn_state("main") == apsw.SQLITE_TXN_WRITE

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, with the write lock taken at once so that a reader's lock never has to be raised later.

        Raises:
            DatabaseNewer: a later release has changed the schema since the file was opened; nothing is written.
            StoreFault: it cannot be written, or not now.
        """
        self.run("BEGIN IMMEDIATE")
        try:
            _refuse_overtaken(self)
            yield
            self.run("COMMIT")
        finally:
            # SQLite has already rolled back after some faults (disk full), and a second rollback would hide the first.
            if self.connection.in_transaction:
                self.run("ROLLBACK")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """One view of the file for several statements, so that what one of them found is there for the next."""
        if self.connection.in_transaction:
            yield
            return
        self.run("BEGIN")
        try:
            yield
            self.run("COMMIT")  # after a rollback SQLite reads the schema again: a question makes tables of its own
        finally:
            if self.connection.in_transaction:
                self.run("ROLLBACK")

    def unmap(self) -> None:
        """Read pages one by one from now on: to map few of them anew after each commit takes longer."""
        self.run("PRAGMA mmap_size=0")
        self.run(f"PRAGMA cache_size=-{CACHE_KB}")

    @contextmanager
    def unmapped(self) -> Iterator[None]:
        """For writing much: pages come through a small cache, where mapped the process would grow as the file does."""
        self.run("PRAGMA mmap_size=0")
        try:
            yield
        finally:
            self.run(f"PRAGMA mmap_size={MMAP_BYTES}")

    @contextmanager
    def unattended(self) -> Iterator[None]:
        """Without triggers and foreign keys, for who writes very many rows and sees to both: they take as long as the rows themselves."""
        switches = (apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, apsw.SQLITE_DBCONFIG_ENABLE_FKEY)
        try:
            for switch in switches:
                self.connection.config(switch, 0)
            yield
        finally:
            for switch in switches:
                self.connection.config(switch, 1)

    @contextmanager
    def patient(self) -> Iterator[None]:
        """For what has begun and is to be ended: on a busy machine another writer may hold the lock for longer than a person waits."""
        self.wait(PATIENT_MS)
        try:
            yield
        finally:
            self.wait(BUSY_MS)

    def wait(self, milliseconds: int) -> None:
        """Wait for so long where another process has the lock."""
        self.connection.set_busy_timeout(milliseconds)
        # Writers that wait for one that writes without end look ten times a second, and may never find it between two
        # transactions; where the system keeps a queue, each has its turn.
        self.connection.setlk_timeout(milliseconds, 0)

    def close(self) -> None:
        """Give the file back, and what is kept of it; the last one out folds the write-ahead log in."""
        self.kept = Kept(self)
        with translated(str(self.path)):
            self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_database(path: Path, *, create: bool = False, vec0: bool = True) -> Database:
    """Open the file, bring its schema up to date, and load sqlite-vec if it can be loaded.

    Args:
        path: the database file.
        create: make the file, and its folder with mode 0700, where there is none.
        vec0: False leaves sqlite-vec alone, as on a machine that lacks it.

    Raises:
        DatabaseMissing: there is no file and `create` is False.
        DatabaseNewer: a later release has written it.
        DatabaseCorrupt: it is no database, or not one of ours.
        DatabaseExposed: others may write in its folder, and no sticky bit keeps them from replacing it.
        UsageFault: its name is none that SQLite takes.
        StoreFault: any other fault of the surroundings.
    """
    refuse_unspelled(path)
    _find_file(path, create=create)
    with translated(str(path)):
        connection, writable = _connect(path)
        database = Database(connection, path, vec0_loaded=vec0 and _load_vec0(connection), writable=writable)
        try:
            _prepare(database)
        except BaseException:
            connection.close()
            raise
    return database


def file_identity(path: Path) -> tuple[int, int] | None:
    """Device and inode of a file, which tell whether another one has taken its place; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def side_files(path: Path) -> list[Path]:
    """Where SQLite keeps what belongs to a database beside it."""
    return [path.with_name(path.name + end) for end in ("-wal", "-shm", "-journal")]


def make_folder(path: Path) -> None:
    """The folder of a database, for its owner alone where it is missing. Raises StoreFault."""
    with _explained(path):
        for folder in reversed((path.parent, *path.parent.parents)):  # mkdir gives a mode to the last of them alone
            if not os.path.lexists(folder):
                folder.mkdir(mode=0o700, exist_ok=True)
        path.parent.mkdir(exist_ok=True)


def _find_file(path: Path, *, create: bool) -> None:
    """Make sure that there is a regular file, before SQLite waits for a pipe or blames the disk for a device."""
    for folder in {path.parent, Path(os.path.realpath(path)).parent}:  # a link may lead out of a safe folder
        _refuse_exposed(path, folder)
    try:
        mode = path.stat().st_mode
    except FileNotFoundError as fault:
        if not create:
            hint = "Make one with `pastchats-memory index PATH`, or `index --all` for all histories here; --db names another."
            raise DatabaseMissing(f"{path}: there is no database yet", hint) from fault
        _make_file(path)
    except OSError as fault:
        raise DatabaseMissing(f"{path}: {fault.strerror}", "Name another place with --db.") from fault
    else:
        if not stat.S_ISREG(mode):
            kind = "a folder" if stat.S_ISDIR(mode) else "no regular file"
            raise DatabaseCorrupt(f"{path} is {kind}, not a database", "Name a file with --db.")


def _refuse_exposed(path: Path, folder: Path) -> None:
    """Others who may write in the folder could put a file of theirs, or a link, in the place of ours or of its log.

    A group counts as others unless it is the process's own, which on many systems has no other member.
    """
    try:
        found = folder.stat()
    except OSError:
        return  # said when the file is looked for
    others = found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and found.st_gid != os.getegid())
    if others and not found.st_mode & stat.S_ISVTX:
        raise DatabaseExposed(
            f"{path}: others may write in {folder} and put another file in its place",
            f"Close the folder with `chmod go-w {folder}`, or name a database elsewhere with --db.",
        )


def _make_file(path: Path) -> None:
    make_folder(path)
    with _explained(path):
        os.close(os.open(path, os.O_CREAT | os.O_RDONLY, stat.S_IRUSR | stat.S_IWUSR))


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        if fault.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(f"{path}: {fault.strerror}", "Free some space, or name another place with --db.") from fault
        ours = DatabaseReadOnly if fault.errno in (errno.EACCES, errno.EPERM, errno.EROFS) else DatabaseMissing
        raise ours(f"{path}: {fault.strerror}", "Name a place that may be written with --db.") from fault


def refuse_unspelled(path: Path) -> None:
    """Raises UsageFault for a file whose name is no UTF-8: SQLite takes no other."""
    if utf8(str(path)) != str(path):
        raise UsageFault(f"{path}: the name of a database has to be UTF-8", "Name another file.")


def _connect(path: Path) -> tuple[apsw.Connection, bool]:
    """A connection and whether it can write. In a folder that cannot be written WAL needs `immutable` to be read."""
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        return apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE), True
    if os.access(path.parent, os.W_OK) or path.with_name(path.name + "-wal").exists():
        return apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY), False
    uri = f"{path.absolute().as_uri()}?immutable=1"
    return apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI), False


def _load_vec0(connection: apsw.Connection) -> bool:
    """Whether the extension is in. Its package is found, not imported: it would import all of `sqlite3` for one path."""
    package = importlib.util.find_spec("sqlite_vec")
    if package is None or package.origin is None:
        return False
    connection.enable_load_extension(True)
    try:
        connection.load_extension(str(Path(package.origin).with_name("vec0")))
    except apsw.ExtensionLoadingError:
        return False
    finally:
        connection.enable_load_extension(False)
    return True


def _prepare(database: Database) -> None:
    database.wait(BUSY_MS)
    database.run(f"PRAGMA mmap_size={MMAP_BYTES}")
    database.run("PRAGMA foreign_keys=ON")
    database.run("PRAGMA secure_delete=ON")
    database.run("BEGIN")  # one view of the file: another process may be making it into a database just now
    version = database.value("PRAGMA user_version")
    refuse_foreign(database)
    database.run("COMMIT")
    if version < SCHEMA_VERSION:
        _bring_up_to_date(database)
    database.run("PRAGMA synchronous=NORMAL")


def _bring_up_to_date(database: Database) -> None:
    """Make the schema in a new file, run in an older one what it has not run yet; all of it or nothing."""
    _switch_to_wal(database)
    with database.transaction():
        version = database.value("PRAGMA user_version")  # another process may have been quicker
        if version == 0:
            database.run(schema())
        for number in range(version or SCHEMA_VERSION, SCHEMA_VERSION):
            database.run(migration(number))
        database.run(f"PRAGMA user_version={SCHEMA_VERSION}")
        database.run(f"PRAGMA application_id={APPLICATION_ID}")


def _refuse_overtaken(database: Database) -> None:
    """A process that runs on while its package is upgraded knows less of the schema than what others write by it."""
    version = database.value("PRAGMA user_version")
    if version > SCHEMA_VERSION:
        raise DatabaseNewer(
            f"{database.path} was brought to schema version {version} while this process was running, which knows {SCHEMA_VERSION}",
            "Start it again, so that it runs the release that is installed now.",
        )


def refuse_foreign(database: Database) -> None:
    """Let only a database of ours pass, or a file without any tables that can be made into one.

    Raises:
        DatabaseNewer: a later release has written it.
        DatabaseReadOnly: it has to be changed first, and may not be.
        DatabaseCorrupt: it is another program's.
    """
    version = database.value("PRAGMA user_version")
    application = database.value("PRAGMA application_id")
    if application == APPLICATION_ID:
        if version > SCHEMA_VERSION:
            raise DatabaseNewer(
                f"{database.path} has schema version {version}; this release knows {SCHEMA_VERSION}",
                "Upgrade with `pip install --upgrade pastchats-memory`, or name another database with --db.",
            )
        if version < SCHEMA_VERSION and not database.writable:
            raise DatabaseReadOnly(
                f"{database.path} is of an older release and may not be written, so it cannot be brought up to date",
                "Make it writable once, or copy it and name the copy with --db.",
            )
    elif application or version or database.value("SELECT count(*) FROM sqlite_schema"):
        raise DatabaseCorrupt(
            f"{database.path} is another program's SQLite database",
            "Name another file with --db; this one is untouched.",
        )
    elif not database.writable:
        raise DatabaseReadOnly(f"{database.path} is empty and may not be written", "Name another file with --db.")


def _switch_to_wal(database: Database) -> None:
    """The busy timeout does not cover this switch, so it is tried again for as long."""
    give_up = time.monotonic() + BUSY_MS / 1000
    while True:
        try:
            database.connection.execute("PRAGMA journal_mode=WAL").fetchall()
        except (apsw.BusyError, apsw.LockedError):
            if time.monotonic() > give_up:
                raise
            time.sleep(0.02)
        else:
            return
