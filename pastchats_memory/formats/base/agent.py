"""Sessions of agents that write a record on each line of a file, or in a list of a document."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import ClassVar

from pastchats_memory.formats.base.dialect import COMMON, Dialect
from pastchats_memory.formats.base.session import BadRecord, Row, SessionBuilder, SessionInfo, read_items
from pastchats_memory.formats.base.source import Element, Record, Records, SourceFile
from pastchats_memory.formats.base.tree import BranchTree
from pastchats_memory.formats.base.values import Json, mapping_of
from pastchats_memory.model import Unreadable

Items = Iterable[Record | Element | Unreadable]
"""The records of a file in order, and the places that cannot be read."""


class AgentSession(ABC):
    """Read one session: a subclass says what one record adds to `builder`.

    The base owns the loop, lines that are no records, checkpoints and, if `has_branches`, the first pass.

    Example:
        class Pi(AgentSession):
            record_noun = "an entry"

            def add_record(self, record, line):
                self.builder.add_prompt(text_of(record.get("text")), Position(line, record.get("time")))

        PI = Format(name="pi", read=Pi.read, …)

    """

    dialect: ClassVar[Dialect] = COMMON
    record_noun: ClassVar[str] = "a record"
    """Names a record, with its article, in reasons why a line cannot be read. If empty, any value is one without keys."""
    has_branches: ClassVar[bool] = False
    """Whether records name the record before them. Such a file is read twice: branches are known only at its end."""
    list_keys: ClassVar[tuple[str, ...] | None] = None
    """The keys down to the list of records in a document; None if a document is read as lines."""
    state_names: ClassVar[tuple[str, ...]] = ()
    """Names of the attributes that a longer file needs of this one. Their values are JSON, and `start` sets them."""

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.builder = SessionBuilder(self.session_info(), self.dialect)
        self.branches = BranchTree()
        self.start()
        if source.resumed is not None:
            self.builder.restore(source.resumed.state)
            self.branches = BranchTree(source.resumed.state)
            for name in self.state_names:
                setattr(self, name, source.resumed.state[name])

    @classmethod
    def read(cls, source: SourceFile) -> Iterator[Row]:
        """Yield turns in order, items that are no records, a checkpoint. Raises CannotResume, OSError."""
        session = cls(source)
        if cls.has_branches:
            for item in session.records():
                session.scan_record(mapping_of(item.value) if isinstance(item, Record) else {})
        records = session.records()
        yield from read_items(source, session.builder, records, session.add_item)
        if isinstance(records, Records):
            state = {name: getattr(session, name) for name in cls.state_names}
            branches = session.branches.snapshot() if cls.has_branches else {}
            yield from records.checkpoint(session.builder.snapshot() | branches | state)
        yield from session.builder.flush()

    def session_info(self) -> SessionInfo:
        """Return what is known of the session before its first record."""
        return SessionInfo(self.source.path.stem)

    def start(self) -> None:  # noqa: B027 - few sessions remember more than the builder
        """Set the attributes of the session before its first record."""

    def records(self) -> Items:
        """Return the records of the file in order."""
        if self.list_keys is None or self.source.shape == "jsonl":
            return self.source.records()
        return self.source.elements(*self.list_keys)

    def scan_record(self, record: Json) -> None:  # noqa: B027 - only formats with branches need it
        """Add a record to `branches` in the first pass, and learn what holds for all turns."""

    @abstractmethod
    def add_record(self, record: Json, line: int) -> None:
        """Add one record to `builder`. Raises BadRecord if it cannot be read."""

    def add_item(self, item: Record | Element, _position: int = 0) -> None:
        """Add the record of a line or of a list. Raises BadRecord."""
        if self.record_noun and not isinstance(item.value, dict):
            raise BadRecord(f"a {type(item.value).__name__} instead of {self.record_noun}")
        self.add_record(mapping_of(item.value), item.line)
