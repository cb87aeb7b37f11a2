"""Sessions of agents that write a record on each line of a file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from pastchats_memory.formats.base.dialect import COMMON, Dialect
from pastchats_memory.formats.base.session import Row, SessionBuilder, SessionInfo, read_items
from pastchats_memory.formats.base.source import Element, Json, Record, SourceFile, mapping_of
from pastchats_memory.formats.base.tree import BranchTree


class JsonlAgent(ABC):
    """Read one session: a subclass says what one record adds to `builder`.

    The base owns the loop, lines that are no records, checkpoints and, if `has_branches`, the first pass.

    Example:
        class Pi(JsonlAgent):
            record_noun = "an entry"

            def add_record(self, record, line):
                self.builder.add_prompt(text_of(record.get("text")), Position(line, record.get("time")))

        PI = Format(name="pi", read=Pi.read, …)

    """

    dialect: ClassVar[Dialect] = COMMON
    record_noun: ClassVar[str] = "a record"
    """Names a record, with its article, in reasons why a line cannot be read."""
    has_branches: ClassVar[bool] = False
    """Whether records name the record before them. Such a file is read twice: branches are known only at its end."""

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.builder = SessionBuilder(self.session_info(), self.dialect)
        self.branches = BranchTree()
        if source.resumed is not None:
            self.builder.restore(source.resumed.state)
            self.branches = BranchTree(source.resumed.state)
            self.restore(source.resumed.state)

    @classmethod
    def read(cls, source: SourceFile) -> Iterator[Row]:
        """Yield the turns in file order, lines that are no records, and a checkpoint.

        Raises:
            CannotResume: appended records change earlier turns.
            OSError: the file cannot be read.
        """
        session = cls(source)
        if cls.has_branches:
            for item in source.records():
                session.scan_record(mapping_of(item.value) if isinstance(item, Record) else {})
        records = source.records()
        yield from read_items(source, session.builder, records, session.add_item)
        branches = session.branches.snapshot() if cls.has_branches else {}
        yield from records.checkpoint(session.builder.snapshot() | branches | session.snapshot())
        yield from session.builder.flush()

    def session_info(self) -> SessionInfo:
        """Return what is known of the session before its first record."""
        return SessionInfo(self.source.path.stem)

    def scan_record(self, record: Json) -> None:  # noqa: B027 - only formats with branches need it
        """Add a record to `branches` in the first pass, and learn what holds for all turns."""

    @abstractmethod
    def add_record(self, record: Json, line: int) -> str | None:
        """Add one record to `builder`. Return why it is unreadable, or None."""

    def snapshot(self) -> Json:
        """Return what else a longer file needs of this one, as JSON."""
        return {}

    def restore(self, snapshot: Json) -> None:  # noqa: B027 - few formats remember more than the builder
        """Restore what `snapshot` returned for the shorter file."""

    def add_item(self, item: Record | Element) -> str | None:
        """Add the record of a line or of a list. Return why it is unreadable, or None."""
        record = item.value
        if not isinstance(record, dict):
            return f"a {type(record).__name__} instead of {self.record_noun}"
        return self.add_record(record, item.line)
