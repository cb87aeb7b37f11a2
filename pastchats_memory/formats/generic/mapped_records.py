"""Read JSON of unknown shape by the map of its keys that the user gives."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pastchats_memory.formats.base.key_map import DEEPEST, MISSING, KeyMap, look_up
from pastchats_memory.formats.base.values import Json, in_number_order, list_of, mapping_of
from pastchats_memory.formats.generic.containers import (
    NO_FACTS,
    Conversation,
    ConversationFacts,
    name_by_key,
    sort_oldest_first,
)
from pastchats_memory.formats.generic.message import GenericMessage, build_message, list_pieces, merge_held, read_time
from pastchats_memory.formats.generic.roles import Speaker, role_of


@dataclass(frozen=True, slots=True)
class MappedRecords:
    """The records of a file that have the keys of a map."""

    key_map: KeyMap

    def parse_item(self, item: object) -> tuple[GenericMessage, ...]:
        """Parse a record; nothing if the item is none."""
        if not isinstance(item, dict | list):
            return ()
        if not self.key_map.sides:
            word, value = read_word(look_up(item, self.key_map.role)), look_up(item, self.key_map.text)
            if word is None or not _is_text(item, value):
                return ()
            role = dict(self.key_map.words).get(word.lower()) or role_of(word) or word.lower()
            return (self._build(item, Speaker(role, self.key_map.role, word, 2), self.key_map.text, value),)
        values = [(role, key, look_up(item, key)) for role, key in self.key_map.sides]
        if all(value is MISSING for _, _, value in values):
            return ()
        if not all(value is MISSING or _is_text(item, value) for _, _, value in values):
            return ()
        given = ((role, key, value) for role, key, value in values if value is not MISSING)
        built = (self._build(item, Speaker(role, key, role, 2), key, value) for role, key, value in given)
        return tuple(message for message in built if message.text)

    def _build(self, item: Json | list[object], speaker: Speaker, key: str, value: object) -> GenericMessage:
        rest = mapping_of(item)
        for path in self.key_map.keys:
            rest = _remove(rest, path)
        time = (self.key_map.time, read_time(look_up(item, self.key_map.time))) if self.key_map.time else None
        pieces = list_pieces(value, is_tool=speaker.role == "tool")
        message = build_message(merge_held(rest), speaker, key, pieces, time=time)
        conversation = read_word(look_up(item, self.key_map.conversation)) if self.key_map.conversation else None
        if self.key_map.sides:  # an id is the exchange's, not that of one of its sides
            message = replace(message, own_id=None)
        if conversation is None:
            return message
        return replace(message, conversation_id=conversation, conversation_key=self.key_map.conversation)

    def find_conversations(self, value: object, context: ConversationFacts = NO_FACTS) -> list[Conversation]:
        """List the conversations of a value: the records of each list, map or group of columns."""
        return list(self._walk(value, context, 0))

    def _walk(self, value: object, context: ConversationFacts, depth: int) -> Iterator[Conversation]:
        if depth > DEEPEST or not isinstance(value, dict | list):
            return
        if isinstance(value, list):
            if messages := self.parse_items(value):
                yield Conversation(sort_oldest_first(messages), context)
                return
            for item in value:
                yield from self._walk(item, replace(context, conversation_id=None), depth + 1)
            return
        context = context.enter(value)
        if self.key_map.conversation and (name := read_word(look_up(value, self.key_map.conversation))):
            context = replace(context, conversation_id=name, id_key=self.key_map.conversation)
        if messages := self.parse_item(value) or self.parse_items(self._split_columns(value)):
            yield Conversation(messages, context)
            return
        objects = {key: inner for key, inner in in_number_order(value).items() if isinstance(inner, dict)}
        records = {key: inner for key, inner in objects.items() if self.parse_item(inner)}
        if records:
            yield Conversation(sort_oldest_first(self.parse_items(list(records.values()))), context)
        unnamed = replace(context, conversation_id=None)
        rest = {key: inner for key, inner in value.items() if key not in records}
        inside = {key: list(self._walk(inner, unnamed, depth + 1)) for key, inner in rest.items()}
        yield from name_by_key(inside, context)

    def parse_items(self, items: Sequence[object]) -> tuple[GenericMessage, ...]:
        """Return the messages of the records among the items."""
        return tuple(message for item in items for message in self.parse_item(item) if message.text)

    def _split_columns(self, fields: Json) -> list[object]:
        """Return the rows of columns that have the same length, such as `{"role": [...], "text": [...]}`."""
        columns = {key: list_of(look_up(fields, key)) for key in self.key_map.keys}
        required = [key for _, key in self.key_map.sides] or [self.key_map.role, self.key_map.text]
        lengths = {len(columns[key]) for key in required}
        if len(lengths) != 1 or 0 in lengths:
            return []
        whole = {key: column for key, column in columns.items() if len(column) in lengths}
        return [dict(zip(whole, row, strict=True)) for row in zip(*whole.values(), strict=True)]

    def is_message_list(self, values: list[object]) -> bool:
        """Return whether values, one a line, are the messages of one conversation."""
        return not self.key_map.sides and any(map(self.parse_item, values))


def read_word(value: object) -> str | None:
    """Return a value as the word for a speaker or a conversation, or None for a list, an object and nothing."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return value.strip() or None if isinstance(value, str) else None


def _is_text(item: Json | list[object], value: object) -> bool:
    """Return whether a value may be a text of the record; in a list only a string or null."""
    if isinstance(item, list):
        return isinstance(value, str | None)
    return isinstance(value, str | list | dict | None)


def _remove(fields: Json, path: str) -> Json:
    """Return the object without what stands under the path; objects that become empty disappear."""
    key, _, rest = path.partition(".")
    if path in fields:
        return {name: value for name, value in fields.items() if name != path}
    if not rest or not isinstance(inner := fields.get(key), dict):
        return fields
    left = _remove(inner, rest)
    return {name: left if name == key else value for name, value in fields.items() if name != key or left}
