"""Read other programs' SQLite files without writing or locking them.

A database in use has its newest rows in a `-wal` file, or half of a change in a `-journal`. Then all files are copied to a
private folder and the copy is opened. Its folder is deleted before the first row is read, so no copy can stay behind, and
on Windows after the last one. A database without such files is opened in place as immutable.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import cast
from urllib.parse import quote

import apsw

from pastchats_memory.files.regular_file import open_regular

Value = str | int | float | bytes | None
Row = tuple[Value, ...]

SIDE_SUFFIXES = ("-wal", "-journal")
"""Suffixes of files with rows that the database itself lacks."""
WAL_HEADER = 32
"""Bytes that change when a checkpoint restarts the -wal."""
ATTEMPTS = 5
PAUSE = 0.2
"""Seconds before a file is copied again that changed during the copy."""

COPY_PREFIX = "pastchats-memory-"
"""Begins the name of a copy's folder, before the number of the process."""
STEPS = 10_000
"""SQLite instructions between two checks of the limit."""
STEPS_A_BYTE = 20
"""Instructions that a query may take for each byte of the file; a row takes ten for each column."""
TIMES_ITS_SIZE = 10
"""Size of a query's rows as a multiple of the file; columns added later repeat their default."""
LONGEST_VALUE = 64 * 1024 * 1024
"""Bytes of one value; a longer one is skipped without being read."""
_TOO_LONG = 2

_ANY: Mapping[str, Value] = MappingProxyType({})


class ForeignFault(ValueError):
    """Another program's database that is damaged, or changed throughout."""


class _Endless(ForeignFault):
    """Pages in a cycle, which give a small file endless rows."""

    def __init__(self) -> None:
        super().__init__("more rows than a file of its size can hold")


def side_files(path: Path) -> list[Path]:
    """Return the files next to a database without which it is incomplete. Raises OSError."""
    return [other for suffix in SIDE_SUFFIXES if _has_bytes(other := path.with_name(path.name + suffix))]


def _has_bytes(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:  # it goes whenever the program is closed
        return False


def tables(path: Path) -> dict[str, frozenset[str]]:
    """Return the columns of each table, in lower case. Raises ForeignFault or OSError."""
    if not side_files(path):
        with _open_in_place(path) as database:
            return database.tables
    try:
        with _open_in_place(path) as database:
            found = database.tables
    except ForeignFault:
        found = {}
    if found:
        return found
    with open_foreign(path) as database:
        return database.tables


@contextmanager
def open_foreign(path: Path) -> "Iterator[ForeignDatabase]":
    """Open the database for reading, with everything that was committed to it.

    Raises OSError, and ForeignFault if the database is damaged, or changed throughout.
    """
    if not side_files(path):
        with _open_in_place(path) as database:
            yield database
        return
    folder = Path(tempfile.mkdtemp(prefix=f"{COPY_PREFIX}{os.getpid()}-"))  # with mode 0700
    try:
        connection = _connect(_copy(path, folder), "")
        shutil.rmtree(folder, ignore_errors=True)
        with _close_after(connection) as database:
            yield database
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # Windows deletes no open file


@contextmanager
def _open_in_place(path: Path) -> "Iterator[ForeignDatabase]":
    with _close_after(_connect(path, "&immutable=1")) as database:
        yield database


def _connect(path: Path, wanted: str) -> apsw.Connection:
    """Return a connection in a transaction, so that every file it needs is open."""
    writable = not wanted
    flags = apsw.SQLITE_OPEN_URI | (apsw.SQLITE_OPEN_READWRITE if writable else apsw.SQLITE_OPEN_READONLY)
    try:
        connection = apsw.Connection(
            f"file:{quote(os.fsencode(path))}?mode={'rw' if writable else 'ro'}{wanted}", flags=flags
        )
    except apsw.Error as fault:
        raise ForeignFault(str(fault)) from fault
    try:
        connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)  # nothing the file defines may call what has effects
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)  # the copy is gone then: why make it whole
        for statement in ("PRAGMA locking_mode=EXCLUSIVE", "PRAGMA temp_store=MEMORY", "BEGIN"):
            connection.execute(statement)
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except apsw.Error as fault:
        connection.close(force=True)
        raise ForeignFault(str(fault)) from fault
    return connection


@contextmanager
def _close_after(connection: apsw.Connection) -> "Iterator[ForeignDatabase]":
    try:
        yield ForeignDatabase(connection)
    except apsw.Error as fault:
        raise ForeignFault(str(fault)) from fault
    finally:
        connection.close(force=True)


def _copy(path: Path, folder: Path) -> Path:
    """Copy the database and its side files, all of one moment."""
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(PAUSE)
        before = _read_state(path)
        for source in (path, *side_files(path)):
            with open_regular(source) as file, (folder / source.name).open("xb") as copy:
                shutil.copyfileobj(file, copy)
        if _read_state(path) == before:
            return folder / path.name
        for stale in folder.iterdir():
            stale.unlink()
    raise ForeignFault("written to all the while; close the program that it belongs to and index again")


def _read_state(path: Path) -> tuple[object, ...]:
    """Return what stays the same while rows are only appended to the -wal."""
    status = path.stat()
    heads = []
    for other in side_files(path):
        with open_regular(other) as file:
            heads.append((other.name, file.read(WAL_HEADER)))
    return status.st_size, status.st_mtime_ns, *heads


class ForeignDatabase:
    """The tables and values of another program's database."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        size = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        self._size = cast("int", connection.execute(size).fetchall()[0][0])
        self._rounds = 0
        self._too_long = 0
        connection.set_progress_handler(self._is_endless, STEPS)
        self._encoding = str(connection.execute("PRAGMA encoding").fetchall()[0][0]).lower()
        self.tables = dict(self._tables())

    def _tables(self) -> Iterator[tuple[str, frozenset[str]]]:
        """Yield plain tables only, since reading a view or virtual table would run the file's code."""
        listed = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE %'"
        for name in self._names(listed):
            yield name.lower(), frozenset(map(str.lower, self._names("SELECT name FROM pragma_table_info(?)", name)))

    def _is_endless(self) -> bool:
        self._rounds += 1
        return self._rounds * STEPS > self._size * STEPS_A_BYTE + STEPS

    def _names(self, statement: str, *values: str) -> list[str]:
        rows = self._connection.execute(f"SELECT CAST(name AS BLOB) FROM ({statement})", values).fetchall()
        return [name.decode(self._encoding, "replace") for (name,) in rows if isinstance(name, bytes)]

    def rows(
        self,
        table: str,
        columns: Sequence[str],
        *,
        where: Mapping[str, Value] = _ANY,
        within: tuple[str, str, str] | None = None,
        order: Sequence[str] = (),
    ) -> Iterator[Row]:
        """Yield the named columns of a table; None for a missing column, and for a value that is too long.

        Args:
            table: may be missing, which yields no rows.
            columns: in lower case.
            where: values that columns must have; a missing column yields no rows.
            within: a column, its lowest value and its exclusive upper bound.
            order: columns; missing ones are ignored.

        Raises ForeignFault if the file is damaged, at once or further on.
        """
        known = self.tables.get(table, frozenset())
        if not known or not known.issuperset(where):
            return
        conditions = [f"{_quoted(column)} = ?" for column in where]
        values = [*where.values()]
        if within is not None:
            conditions.append(f"{_quoted(within[0])} >= ? AND {_quoted(within[0])} < ?")
            values += within[1:]
        ordered = [_quoted(column) for column in order if column in known]
        statement = f"SELECT {', '.join(_selected(column, known) for column in columns)} FROM {_quoted(table)}"
        statement += f" WHERE {' AND '.join(conditions)}" if conditions else ""
        statement += f" ORDER BY {', '.join(ordered)}" if ordered else ""
        left = TIMES_ITS_SIZE * self._size
        for row in self._run(statement, values):
            left -= len(row) + sum(len(value) for value in row[::2] if isinstance(value, bytes))
            if left < 0:
                raise _Endless
            self._too_long += row[1::2].count(_TOO_LONG)
            yield tuple(self._value(*pair) for pair in zip(row[::2], row[1::2], strict=True))

    @property
    def left_out(self) -> str:
        """A description of the values that were skipped so far; usually empty."""
        return f"{self._too_long:,} × a value of more than {LONGEST_VALUE >> 20} MiB" if self._too_long else ""

    def _run(self, statement: str, values: Sequence[Value]) -> Iterator[Row]:
        """Yield the rows of a statement, with limited steps for each row."""
        self._rounds = 0
        try:
            for row in self._connection.execute(statement, values):
                yield row
                self._rounds = 0
        except apsw.InterruptError as fault:
            raise _Endless from fault

    def _value(self, value: Value, is_text: Value) -> Value:
        """Decode text, which comes as bytes, because programs may store invalid UTF-8 as text."""
        return value.decode(self._encoding, "replace") if is_text and isinstance(value, bytes) else value


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _selected(column: str, known: frozenset[str]) -> str:
    if column not in known:
        return "NULL, 0"
    name = _quoted(column)
    kind = f"CASE WHEN octet_length({name}) > {LONGEST_VALUE} THEN {_TOO_LONG} ELSE typeof({name}) = 'text' END"
    return f"CASE {kind} WHEN {_TOO_LONG} THEN NULL WHEN 1 THEN CAST({name} AS BLOB) ELSE {name} END, {kind}"
