"""What was read of the file and holds until something is written to it, whoever writes, or as long as versions say that it does."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pastchats_memory.store.database import Database

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
