"""Files that hold conversations as objects: one alone, a list of them, or one a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pastchats_memory.formats.base.session import Row
from pastchats_memory.formats.base.source import SAMPLE_RECORDS, Element, Json, Places, SourceFile, list_of, mapping_of
from pastchats_memory.model import Turn, Unreadable

IsConversation = Callable[[object], bool]


def holds(source: SourceFile, is_conversation: IsConversation, *keys: str) -> bool:
    """Whether a conversation is the document, an item of its list (below the key, where it has one), or on one of the first lines."""
    if source.shape == "jsonl":
        return any(is_conversation(record) for record in source.sample)
    if source.shape != "json":
        return False
    outline = source.outline
    listed = [item for key in keys for item in list_of(mapping_of(outline).get(key))] or list_of(outline)
    return is_conversation(outline) or any(is_conversation(item) for item in listed[:SAMPLE_RECORDS])


def conversations(
    source: SourceFile, is_conversation: IsConversation, turns: Callable[[Json, Places], Iterator[Turn]], *keys: str
) -> Iterator[Row]:
    """The turns of every conversation, one after the other however large the file; what is none is told.

    Args:
        source: the file; one with a conversation a line is gone on with when it has grown.
        is_conversation: whether a value is one.
        turns: what a conversation says; gets the lines of its strings too.
        keys: below which an object has the list of its conversations.

    """
    records = source.records()
    for item in records if source.shape == "jsonl" else _items(source, is_conversation, keys):
        if isinstance(item, Unreadable):
            yield item
        elif is_conversation(item.value):
            yield from turns(mapping_of(item.value), Places(item.text if isinstance(item, Element) else "", item.line))
        else:
            yield Unreadable(str(source.path), item.line, "no conversation")
    if source.shape == "jsonl":
        yield from records.checkpoint({})


def _items(
    source: SourceFile, is_conversation: IsConversation, keys: tuple[str, ...]
) -> Iterator[Element | Unreadable]:
    if is_conversation(source.outline):
        yield Element(1, source.document, None, source.text.encode("utf-8", errors="replace"))
    elif isinstance(source.outline, list):
        yield from source.elements()
    else:
        for key in keys:
            yield from source.elements(key)
