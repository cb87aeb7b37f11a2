"""Open our SQLite file, and run statements in it."""

import copy
import importlib.util
import json
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, Self

import apsw

from pastchats_memory.errors import (
    DatabaseCorrupt,
    DatabaseMissing,
    DatabaseNewer,
    DatabaseOlder,
    DatabaseReadOnly,
    UsageFault,
)
from pastchats_memory.files.faults import ELSEWHERE, explain_os_error
from pastchats_memory.store.errors import translate_errors
from pastchats_memory.store.exposure import SIDE_ENDS, refuse_exposed
from pastchats_memory.store.removed import RemovedValues
from pastchats_memory.store.schema import APPLICATION_ID, EARLY_APPLICATION_ID, SCHEMA_VERSION, schema
from pastchats_memory.store.snapshot_cache import SnapshotCache
from pastchats_memory.store.visible import CREATE_VIEWS, HIDDEN_PROJECTS
from pastchats_memory.text.encoding import utf8

BUSY_MS = 5000
"""How long a statement waits for another writer, in milliseconds."""
LONG_BUSY_MS = 60_000
PAUSE = 0.12
"""Seconds between two steps of a long job: a waiting writer looks ten times a second."""
CACHE_KB = 8192
"""Of SQLite's page cache: most of what the next query reads of the full-text index."""

ROWS_OF_STATEMENT = 512
"""Rows that one statement inserts; SQLite takes 32,766 parameters."""

Values = Sequence[Any] | Mapping[str, Any]
LISTED = "(SELECT value FROM json_each(?))"
"""The values that `bind_list` encodes, in a statement."""


def bind_list(values: Iterable[object]) -> str:
    """Return values as the one value that a statement lists by LISTED."""
    return json.dumps([*values])


class Database:
    """An open database. Statements go through `run` or `rows`, writes through `transaction`; both raise our errors."""

    def __init__(self, connection: apsw.Connection, path: Path, *, vec0_loaded: bool, writable: bool) -> None:
        self.connection = connection
        self.path = path
        self.vec0_loaded = vec0_loaded
        self.writable = writable
        self.cache = SnapshotCache(connection, path)
        self.removed = RemovedValues()
        self.hidden: tuple[str, ...] = ()
        """Projects whose rows the views of `visible` leave out."""
        self._viewer = Viewer()
        connection.create_scalar_function(HIDDEN_PROJECTS, self._viewer.hidden_projects, 0, deterministic=True)

    def hide(self, projects: Iterable[str]) -> Self:
        """Return the same open database as somebody sees it from whom these projects are hidden."""
        seen = copy.copy(self)
        seen.hidden = tuple(projects)
        return seen

    def run(self, statement: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a statement."""
        self._viewer.hidden = self.hidden
        with translate_errors(str(self.path)):
            return self.connection.execute(statement, values).fetchall()

    def rows(self, statement: str, values: Values = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows one by one, for results that do not belong in memory."""
        self._viewer.hidden = self.hidden
        with translate_errors(str(self.path)):
            found = self.connection.execute(statement, values)
            while (row := next(found, None)) is not None:
                yield row
                self._viewer.hidden = self.hidden  # another viewer may have run a statement since the last row

    def run_many(self, statement: str, many: Iterator[Values] | Sequence[Values]) -> None:
        """Run a statement once for each set of values."""
        self._viewer.hidden = self.hidden
        with translate_errors(str(self.path)):
            self.connection.executemany(statement, many)

    def insert_rows(self, insertion: str, rows: Sequence[Sequence[object]], suffix: str = "") -> list[tuple[Any, ...]]:
        """Insert rows of equal length by as few statements as possible, and return what these return.

        Before each statement with triggers FTS5 writes all words of the earlier ones to the database.
        """
        returned: list[tuple[Any, ...]] = []
        for start in range(0, len(rows), ROWS_OF_STATEMENT):
            few = rows[start : start + ROWS_OF_STATEMENT]
            marks = ", ".join([f"({', '.join('?' * len(few[0]))})"] * len(few))
            returned += self.run(f"{insertion} VALUES {marks} {suffix}", [value for row in few for value in row])
        return returned

    def value(self, statement: str, values: Values = ()) -> Any:
        """Return the first column of the first row, or None if there is no row."""
        found = self.run(statement, values)
        return found[0][0] if found else None

    def number(self, statement: str, values: Values = ()) -> int:
        """Return the number in the first column of the first row."""
        return int(self.value(statement, values))

    def mapping(self, statement: str, values: Values = ()) -> dict[Any, Any]:
        """Return the second column of all rows by the first."""
        return dict(self.run(statement, values))

    def column(self, statement: str, values: Values = ()) -> list[Any]:
        """Return the first column of all rows."""
        return [row[0] for row in self.run(statement, values)]

    def define(self, name: str, function: Callable[..., Any]) -> None:
        """Let statements of this connection call a deterministic function of one value."""
        self.connection.create_scalar_function(name, function, 1, deterministic=True)

    def blobs(self, table: str, column: str, *, writable: bool = False) -> "Blobs":
        """Return direct access to the values of a column, to read them into a buffer or to overwrite parts."""
        return Blobs(self, table, column, writable=writable)

    @property
    def is_writing(self) -> bool:
        """Return whether the open transaction has written something that it may still roll back."""
        return self.connection.txn_state("main") == apsw.SQLITE_TXN_WRITE

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all that is written inside, or nothing.

        The write lock is taken at once, so that a reader's lock never has to be raised later. Raises StoreFault, and
        DatabaseNewer if a later release has changed the schema since the file was opened.
        """
        self.run("BEGIN IMMEDIATE")
        try:
            _refuse_upgraded(self)
            yield
            self.run("COMMIT")
        finally:
            # SQLite has already rolled back after some faults (disk full), and a second rollback would hide the first.
            if self.connection.in_transaction:
                self.run("ROLLBACK")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Give all statements inside one view of the file: a row that one of them found is there for the next."""
        if self.connection.in_transaction:
            yield
            return
        self.run("BEGIN")
        try:
            yield
            self.run("COMMIT")  # after a rollback SQLite reads the schema again, since a query makes tables of its own
        finally:
            if self.connection.in_transaction:
                self.run("ROLLBACK")

    @contextmanager
    def without_triggers(self) -> Iterator[None]:
        """Switch off triggers and foreign keys for a caller that writes very many rows and replaces both.

        They take as long as the rows themselves.
        """
        switches = (apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, apsw.SQLITE_DBCONFIG_ENABLE_FKEY)
        try:
            for switch in switches:
                self.connection.config(switch, 0)
            yield
        finally:
            for switch in switches:
                self.connection.config(switch, 1)

    @contextmanager
    def with_long_timeout(self) -> Iterator[None]:
        """Wait longer for locks, in a job that has begun and should finish.

        On a busy machine another writer may hold the lock for longer than a person waits.
        """
        self.set_timeout(LONG_BUSY_MS)
        try:
            yield
        finally:
            self.set_timeout(BUSY_MS)

    def set_timeout(self, milliseconds: int) -> None:
        """Set how long a statement waits for another process's lock."""
        self.connection.set_busy_timeout(milliseconds)
        # A writer that waits looks ten times a second. It may never find a gap between the transactions of another
        # that writes without end. With a queue of the operating system each has its turn.
        self.connection.setlk_timeout(milliseconds, 0)

    def close(self) -> None:
        """Close the file and drop the cache. The last process to close it folds the write-ahead log in."""
        self.cache.clear()
        with translate_errors(str(self.path)):
            self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Viewer:
    """Who runs the present step of a connection.

    SQLite evaluates a deterministic function again in each execution of a statement, so no result outlives its viewer.
    """

    hidden: tuple[str, ...] = ()

    def hidden_projects(self, *_: object) -> str:
        """Return the names of the projects that are hidden from the viewer, as JSON."""
        return json.dumps(self.hidden)  # orjson would load dataclasses in every hook


class Blobs:
    """Values of a column, row by row, without the two copies that a statement would make of each."""

    def __init__(self, database: Database, table: str, column: str, *, writable: bool) -> None:
        self._database = database
        self._table = table
        self._column = column
        self._writable = writable
        self._open: apsw.Blob | None = None

    def read(self, row: int, into: memoryview) -> None:
        """Fill a buffer from the beginning of a row's value, which is at least as long."""
        with translate_errors(str(self._database.path)):
            self._open_row(row).read_into(into)

    def write(self, row: int, start: int, content: bytes) -> None:
        """Overwrite a part of a row's value, inside the caller's transaction."""
        with translate_errors(str(self._database.path)):
            blob = self._open_row(row)
            blob.seek(start)
            blob.write(content)

    def _open_row(self, row: int) -> apsw.Blob:
        if self._open is None:
            self._open = self._database.connection.blob_open(
                "main", self._table, self._column, row, writeable=self._writable
            )
        else:
            self._open.reopen(row)
        return self._open

    def close(self) -> None:
        """Release the row that was read last."""
        if self._open is not None:
            with suppress(apsw.Error):  # reading has already raised the same error
                self._open.close()


def open_existing(path: Path) -> AbstractContextManager[Database | None]:
    """Open the database at a path; enter None if there is none yet."""
    return open_database(path) if path.exists() else nullcontext()


def open_database(path: Path, *, create: bool = False, vec0: bool = True) -> Database:
    """Open the file, create the schema if it is new, and load sqlite-vec if possible.

    Args:
        path: the database file.
        create: make the file, and its folder with mode 0700, if there is none.
        vec0: False does without sqlite-vec, as on a machine that lacks it.

    Raises DatabaseMissing, DatabaseNewer, DatabaseOlder, DatabaseCorrupt for what is no database of ours, DatabaseExposed if
    another user could replace it or a folder above it, UsageFault for a name that does not suit SQLite, and StoreFault.
    """
    refuse_undecodable(path)
    _require_file(path, create=create)
    with translate_errors(str(path)):
        connection, writable = _connect(path)
        database = Database(connection, path, vec0_loaded=vec0 and _load_vec0(connection), writable=writable)
        try:
            _prepare(database)
        except BaseException:
            connection.close()
            raise
    return database


def file_identity(path: Path) -> tuple[int, int] | None:
    """Return device and inode of a file, by which a replaced file is noticed. Return None if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def side_files(path: Path) -> list[Path]:
    """Return the paths of the write-ahead log, its index and the journal of a database."""
    return [path.with_name(path.name + end) for end in SIDE_ENDS]


def make_folder(path: Path) -> None:
    """Make the folder of a database, for its owner alone, if it is missing."""
    with _translate_os_errors(path):
        for folder in reversed((path.parent, *path.parent.parents)):  # mkdir gives a mode to the last of them alone
            if not os.path.lexists(folder):
                folder.mkdir(mode=0o700, exist_ok=True)
        path.parent.mkdir(exist_ok=True)


def _require_file(path: Path, *, create: bool) -> None:
    """Make sure that there is a regular file, before SQLite waits for a pipe or blames the disk for a device."""
    refuse_exposed(path)
    with _translate_os_errors(path):
        try:
            mode = path.stat().st_mode
        except FileNotFoundError as fault:
            if not create:
                hint = "Run `pastchats-memory setup`, or index what you name: `pastchats-memory index PATH`. --db names another."
                raise DatabaseMissing(f"{path}: there is no database yet", hint) from fault
            make_folder(path)
            os.close(os.open(path, os.O_CREAT | os.O_RDONLY, stat.S_IRUSR | stat.S_IWUSR))
        else:
            if not stat.S_ISREG(mode):
                kind = "a folder" if stat.S_ISDIR(mode) else "no regular file"
                raise DatabaseCorrupt(f"{path} is {kind}, not a database", "Name a file with --db.")


@contextmanager
def _translate_os_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        raise explain_os_error(fault, str(path)) or DatabaseMissing(f"{path}: {fault.strerror}", ELSEWHERE) from fault


def refuse_undecodable(path: Path) -> None:
    """Raise UsageFault for a file whose name is not UTF-8: SQLite accepts no other."""
    if utf8(str(path)) != str(path):
        raise UsageFault(f"{path}: the name of a database has to be UTF-8", "Name another file.")


def _connect(path: Path) -> tuple[apsw.Connection, bool]:
    """Return a connection, and whether it can write.

    In a folder that cannot be written, a database in WAL mode can be read only as `immutable`.
    """
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        return apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE), True
    if os.access(path.parent, os.W_OK) or path.with_name(path.name + "-wal").exists():
        return apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY), False
    uri = f"{path.absolute().as_uri()}?immutable=1"
    return apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI), False


def _load_vec0(connection: apsw.Connection) -> bool:
    """Load the extension and return whether it worked.

    Its package is located, not imported: it would import all of `sqlite3` for one path.
    """
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
    database.set_timeout(BUSY_MS)
    # The file is not mapped into memory: a process maps and releases the pages of one question more slowly than it reads them.
    database.run(f"PRAGMA cache_size=-{CACHE_KB}")
    database.run("PRAGMA foreign_keys=ON")
    database.run("PRAGMA secure_delete=ON")
    database.run("BEGIN")  # one view of the file: another process may be making it into a database just now
    version = database.value("PRAGMA user_version")
    refuse_foreign(database)
    database.run("COMMIT")
    if version == 0:
        _create_schema(database)
    database.run("PRAGMA synchronous=NORMAL")
    database.run(CREATE_VIEWS)


def _create_schema(database: Database) -> None:
    """Create all tables in an empty file, or none."""
    _switch_to_wal(database)
    with database.transaction():
        if database.value("PRAGMA user_version") == 0:  # else another process was quicker
            database.run(schema())
            database.run(f"PRAGMA user_version={SCHEMA_VERSION}")
            database.run(f"PRAGMA application_id={APPLICATION_ID}")


def _refuse_upgraded(database: Database) -> None:
    """Raise DatabaseNewer if a later release has changed the schema while this process was running."""
    version = database.value("PRAGMA user_version")
    if version > SCHEMA_VERSION:
        raise DatabaseNewer(
            f"{database.path} was brought to schema version {version} while this process was running, which knows {SCHEMA_VERSION}",
            "Start it again, so that it runs the release that is installed now.",
        )


def refuse_foreign(database: Database) -> None:
    """Accept only a database of the present schema, or a file without tables that can be made into one.

    Raises DatabaseNewer, DatabaseOlder, DatabaseReadOnly for an empty one, and DatabaseCorrupt for another program's.
    """
    version = database.value("PRAGMA user_version")
    application = database.value("PRAGMA application_id")
    if application == EARLY_APPLICATION_ID or (application == APPLICATION_ID and version < SCHEMA_VERSION):
        _keep_log(database)
        raise DatabaseOlder(
            f"{database.path} is of an unreleased older build (its schema version {version})",
            "This release cannot read it. Index again into another file, with --db NEW; this one is untouched.",
        )
    if application == APPLICATION_ID:
        if version > SCHEMA_VERSION:
            raise DatabaseNewer(
                f"{database.path} has schema version {version}; this release knows {SCHEMA_VERSION}",
                "Install a newer release of pastchats-memory, or name another database with --db.",
            )
    elif application or version or database.value("SELECT count(*) FROM sqlite_schema"):
        raise DatabaseCorrupt(
            f"{database.path} is another program's SQLite database",
            "Name another file with --db; this one is untouched.",
        )
    elif not database.writable:
        raise DatabaseReadOnly(f"{database.path} is empty and may not be written", "Name another file with --db.")


def _keep_log(database: Database) -> None:
    """Leave the file as it is when the connection closes: the last one would fold a crashed process's log in."""
    log, *_ = side_files(database.path)
    with suppress(OSError):
        if log.stat().st_size:
            database.connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)


def _switch_to_wal(database: Database) -> None:
    """Switch to a write-ahead log. Try again for as long as the busy timeout, which does not cover this switch."""
    deadline = time.monotonic() + BUSY_MS / 1000
    while True:
        try:
            database.connection.execute("PRAGMA journal_mode=WAL").fetchall()
        except (apsw.BusyError, apsw.LockedError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return
