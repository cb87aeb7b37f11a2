"""Sessions that a program keeps in an SQLite database of its own."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from pastchats_memory.files.foreign_sqlite import ForeignDatabase
from pastchats_memory.formats.base.dialect import COMMON, Dialect
from pastchats_memory.formats.base.format import TABLE_LAYOUT
from pastchats_memory.formats.base.session import Row, SessionBuilder, SessionInfo
from pastchats_memory.formats.base.source import SourceFile

Tables = Mapping[str, frozenset[str]]
"""Names of tables, with the columns that identify them."""


def has_tables(source: SourceFile, tables: Tables) -> bool:
    """Return whether a file is a database with these columns in these tables."""
    return all(source.tables.get(name, frozenset()) >= columns for name, columns in tables.items())


class SqliteSessions(ABC):
    """Read the sessions of one database: a subclass yields each with its messages.

    Example:
        class Crush(SqliteSessions):
            tables = {"sessions": frozenset({"id", "title"}), "messages": frozenset({"session_id", "parts"})}

            def sessions(self):
                for own_id, title in self.database.rows("sessions", ("id", "title"), order=("id",)):
                    builder = self.start(SessionInfo(own_id, metadata={"title": title}))
                    … add the messages …
                    yield builder

        CRUSH = Format(name="crush", detect=Crush.detect, read=Crush.read, …)

    """

    tables: ClassVar[Tables]
    dialect: ClassVar[Dialect] = COMMON

    def __init__(self, database: ForeignDatabase, path: Path) -> None:
        self.database = database
        self.path = path

    @classmethod
    def detect(cls, source: SourceFile) -> int:
        """Return the confidence of a table layout, or 0. Raises OSError."""
        return TABLE_LAYOUT if has_tables(source, cls.tables) else 0

    @classmethod
    def read(cls, source: SourceFile) -> Iterator[Row]:
        """Yield the turns and tasks of one session after the other. Raises OSError."""
        yield from source.from_database(lambda database: cls(database, source.path).rows())

    def rows(self) -> Iterator[Row]:
        """Yield the turns and tasks of one session after the other."""
        for builder in self.sessions():
            yield from builder.flush()

    def start(self, info: SessionInfo) -> SessionBuilder:
        """Return the builder of one session."""
        return SessionBuilder(info, self.dialect)

    @abstractmethod
    def sessions(self) -> Iterator[SessionBuilder]:
        """Yield each session, in order, when its last message is added."""
