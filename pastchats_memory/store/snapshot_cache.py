"""Values read from the file that hold until somebody writes to it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import apsw

from pastchats_memory.store.errors import translate_errors

Value = TypeVar("Value")

STATE = "SELECT data_version, schema_version FROM pragma_data_version CROSS JOIN pragma_schema_version"
"""The first differs after each commit of another connection, the second after each change of a definition."""


class SnapshotCache:
    """Values by name, of one connection."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self.clear()

    def clear(self) -> None:
        """Drop all values."""
        self._state: tuple[object, ...] = ()
        self._entries: dict[str, Any] = {}
        self.versioned: dict[str, Any] = {}
        """Values that outlive a change of the file. Each one holds versions, by which its reader sees whether it is current."""

    def get_or_make(self, name: str, make: Callable[[], Value]) -> Value:
        """Return the current value of a name; make it if there is none."""
        entries = self.entries()
        if name not in entries:
            entries[name] = make()
        made: Value = entries[name]
        return made

    def entries(self) -> dict[str, Any]:
        """Return the current values, to be read and added to; none outlives a change of the file.

        Without a snapshot the file may change at once, and a transaction that writes may be rolled back. In both cases
        the result is a new dictionary, which is not kept.
        """
        connection = self._connection
        if not connection.in_transaction or connection.txn_state("main") == apsw.SQLITE_TXN_WRITE:
            return {}
        with translate_errors(str(self._path)):
            found = connection.execute(STATE).fetchall()[0]
        # Statements of this connection are counted whether or not they are rolled back.
        state = (*found, connection.total_changes())
        if state != self._state:
            self._state, self._entries = state, {}
        return self._entries
