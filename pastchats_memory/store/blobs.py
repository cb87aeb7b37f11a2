"""Values of a column that are read into memory which is there already, or overwritten in part."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import apsw

from pastchats_memory.store.faults import translated

if TYPE_CHECKING:
    from pastchats_memory.store.database import Database


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
