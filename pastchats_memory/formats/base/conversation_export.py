"""Chat exports: files that hold conversations as JSON objects, one alone, in a list, or one a line."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pastchats_memory.formats.base.dialect import COMMON, Dialect
from pastchats_memory.formats.base.format import CERTAIN, Format
from pastchats_memory.formats.base.hashes import conversation_hash
from pastchats_memory.formats.base.session import Position, Row, SessionBuilder, SessionInfo
from pastchats_memory.formats.base.source import SAMPLE_RECORDS, Element, Places, SourceFile
from pastchats_memory.formats.base.tree import abandoned_places
from pastchats_memory.formats.base.values import Json, list_of, mapping_of
from pastchats_memory.model import Turn, Unreadable


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    fields: Json
    """The message as it stands in the file."""
    role: str
    """`user`, `assistant` or `system`; any other role goes to `ConversationExport.add_other`."""
    text: str
    first_text: str | None = None
    """A text of the message as it stands in the file, which tells its line; None means `text`."""
    id: str = ""
    parent: str | None = None
    """The id of the message before it, or None."""
    time: object = None
    model: str = ""
    images: int = 0
    branch: str = ""
    """`main` or `abandoned` if the format knows it; empty if the parents decide."""


class ConversationFile(ABC):
    """A kind of file that holds conversations as objects."""

    list_keys: tuple[str, ...] = ()
    """Keys under which an object at the top has its list of conversations."""

    @abstractmethod
    def is_conversation(self, value: object) -> bool:
        """Return whether a value is surely a conversation of this format."""

    def may_be_conversation(self, value: object) -> bool:
        """Return whether a value in such a file is a conversation, if only an empty one."""
        return self.is_conversation(value)

    @abstractmethod
    def read_conversation(self, conversation: Json, text: str, line: int, source: SourceFile) -> Iterator[Turn]:
        """Yield the turns of one conversation that begins at a 1-based line.

        Its JSON text tells the lines of its strings; it is empty if the conversation stands on one line.
        """

    def detect(self, source: SourceFile) -> int:
        """Return 90 if a conversation is the document, an item of its list, or one of the first lines, else 0."""
        if source.shape == "jsonl":
            return CERTAIN if any(map(self.is_conversation, source.sample)) else 0
        if source.shape != "json":
            return 0
        outline = source.outline
        listed = [item for key in self.list_keys for item in list_of(mapping_of(outline).get(key))] or list_of(outline)
        is_found = self.is_conversation(outline) or any(map(self.is_conversation, listed[:SAMPLE_RECORDS]))
        return CERTAIN if is_found else 0

    def read(self, source: SourceFile) -> Iterator[Row]:
        """Yield the turns of each conversation in file order, and an Unreadable for any other value.

        A document is parsed one conversation at a time, whatever its size. JSONL that has grown is read from its checkpoint.
        """
        records = source.records()
        for item in records if source.shape == "jsonl" else self.elements(source):
            if isinstance(item, Unreadable):
                yield item
            elif self.may_be_conversation(item.value):
                text = item.text if isinstance(item, Element) else ""
                yield from self.read_conversation(mapping_of(item.value), text, item.line, source)
            else:
                yield Unreadable(str(source.path), item.line, "no conversation")
        if source.shape == "jsonl":
            yield from records.checkpoint({})

    def elements(self, source: SourceFile) -> Iterator[Element | Unreadable]:
        """Yield the conversations of a JSON document one by one; a single conversation is the only one."""
        if self.may_be_conversation(source.outline):
            yield Element(1, source.document, None, source.text.encode("utf-8", errors="replace"))
        elif isinstance(source.outline, list):
            yield from source.elements()
        else:
            for key in self.list_keys:
                yield from source.elements(key)

    def as_format(self, name: str, version: int, **more: Any) -> Format:
        """Return the format whose files this reads, with further fields of a Format."""
        return Format(name, version, self.detect, self.read, **more)


class ConversationExport(ConversationFile):
    """A chat export whose conversations are lists of messages, perhaps with branches.

    A format says which messages there are and what a conversation is called; the base resolves branches and builds turns.
    """

    @staticmethod
    def dialect() -> Dialect:
        """Return the spellings of tools; by default those that several agents share."""
        return COMMON

    @abstractmethod
    def messages(self, conversation: Json) -> Sequence[Message]:
        """Return the messages in order."""

    @abstractmethod
    def describe(self, conversation: Json, source: SourceFile) -> SessionInfo:
        """Return the id of a conversation, its title, and its time."""

    def current_message(self, _conversation: Json, _messages: Sequence[Message]) -> str | None:
        """Return the id of the message that ends the main branch; None means the last one."""
        return None

    def read_conversation(self, conversation: Json, text: str, line: int, source: SourceFile) -> Iterator[Turn]:
        """Yield the turns of one conversation; messages on other branches are abandoned."""
        places = Places(text, line)
        messages = self.messages(conversation)
        builder = SessionBuilder(self.describe(conversation, source), self.dialect())
        links = [(message.id or None, message.parent) for message in messages]
        abandoned = abandoned_places(links, self.current_message(conversation, messages))
        for place, message in enumerate(messages):
            branch = message.branch or ("abandoned" if place in abandoned else "main")
            first = message.text if message.first_text is None else message.first_text
            self.add_message(builder, message, Position(places.line(first), message.time, message.id, branch))
        yield from builder.queue.flush()

    def add_message(self, builder: SessionBuilder, message: Message, at: Position) -> None:
        """Add a message to the conversation: of an assistant's, the tool calls before the words."""
        match message.role:
            case "user":
                self.add_prompt(builder, message, at)
            case "assistant":
                self.add_tools(builder, message, replace(at, native_id=""))
                self.add_answer(builder, message, at)
            case "system":
                builder.add_turn("system", "prompt", message.text, at)
            case _:
                self.add_other(builder, message, at)

    def add_prompt(self, builder: SessionBuilder, message: Message, at: Position) -> None:
        """Add the words of a user."""
        builder.add_prompt(message.text, at, message.images)

    def add_answer(self, builder: SessionBuilder, message: Message, at: Position) -> None:
        """Add the words of an assistant."""
        builder.add_answer(message.text, at, message.model)

    def add_tools(self, builder: SessionBuilder, message: Message, at: Position) -> None:
        """Add the tool calls and results in a message of an assistant. `at` has no id, since the message has it."""

    def add_other(self, builder: SessionBuilder, message: Message, at: Position) -> None:
        """Add a message of any other role."""


def id_or_hash(conversation: Json, words: Iterable[tuple[str, str]]) -> str:
    """Return the id of a conversation as text, else a hash of its words, which are pairs of role and text."""
    own_id = conversation.get("id")
    return str(own_id) if isinstance(own_id, int | str) and own_id != "" else conversation_hash(words)


def first_filled(texts: Sequence[str]) -> str:
    """Return the first text with a visible character, or ""."""
    return next((text for text in texts if text.strip()), "")
