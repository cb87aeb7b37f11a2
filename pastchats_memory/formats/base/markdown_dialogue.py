"""Dialogues in Markdown or plain text: sections below lines that name who speaks."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from pastchats_memory.formats.base.dialect import COMMON, Dialect
from pastchats_memory.formats.base.hashes import conversation_hash
from pastchats_memory.formats.base.markdown import in_code
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.model import Unreadable


@dataclass(frozen=True, slots=True)
class Section:
    """The text below a line that names a speaker or a tool."""

    name: str
    """`user`, `assistant`, or the format's own name for anything else."""
    line: int
    """The 1-based line of its heading, or of its first words."""
    text: str
    time: str | None = None


AnySection = TypeVar("AnySection", bound=Section)


class MarkdownDialogue(ABC, Generic[AnySection]):
    """Read one dialogue: a subclass splits its lines into sections, and says what a section adds to `builder`.

    The base owns the lines, the loop, and the id of a conversation that has none.

    Example:
        class Chat(MarkdownDialogue[Section]):
            def sections(self):
                for place, line in enumerate(self.lines, start=1):
                    name, _, text = line.partition(": ")
                    yield Section(name, place, text)

        CHAT = Format(name="chat", read=Chat.read, …)

    """

    builder: SessionBuilder

    def __init__(self, source: SourceFile) -> None:
        self.source = source

    @classmethod
    def read(cls, source: SourceFile) -> Iterator[Row]:
        """Yield the turns in file order. Raises OSError."""
        dialogue = source.once(cls)
        dialogue.start()
        for section in dialogue.sections():
            if isinstance(section, Unreadable):
                yield section
                continue
            dialogue.add_section(section)
            yield from dialogue.builder.queue.pop_complete(0)
        yield from dialogue.builder.flush()

    def start(self) -> None:
        """Begin to read. A subclass adds what a second reading must not know of the first."""
        self.builder = SessionBuilder(self.session_info(), self.dialect())

    @staticmethod
    def dialect() -> Dialect:
        """Return the spellings of tools; by default those that several agents share."""
        return COMMON

    @cached_property
    def lines(self) -> list[str]:
        """Return the lines of the file."""
        return self.source.text.split("\n")

    @cached_property
    def code(self) -> list[bool]:
        """Return for each line whether it is in a fenced block."""
        return in_code(self.lines)

    def session_info(self) -> SessionInfo:
        """Return what holds for all turns; without an id in the file, its first words identify the conversation."""
        readable = (one for one in self.sections() if not isinstance(one, Unreadable) and one.text)
        return SessionInfo(conversation_hash((section.name, section.text) for section in readable))

    @abstractmethod
    def sections(self) -> Iterator[AnySection | Unreadable]:
        """Yield the sections in order. The first ones may be asked for twice."""

    def add_section(self, section: AnySection) -> None:
        """Add one section to `builder`: the words of a user or an assistant."""
        at = Position(section.line, section.time)
        if section.name == "user":
            self.builder.add_prompt(section.text, at)
        elif section.name == "assistant":
            self.builder.add_answer(section.text, at)
