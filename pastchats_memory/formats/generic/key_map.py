"""A map of keys that the user gives for JSON of unknown shape: `role=speaker,text=body,time=at`.

A map is read literally: an object or a list is a record if it has the named keys, and nothing is guessed. Keys may be
dotted (`text=message.body`), and a number is a place in a list (`role=0,text=1`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pastchats_memory.errors import UsageFault
from pastchats_memory.formats.base.source import Json, in_number_order, list_of, mapping_of
from pastchats_memory.formats.generic.containers import NO_CONTEXT, Context, Conversation, LongList, sort_oldest_first
from pastchats_memory.formats.generic.message import Message, build_message, list_pieces, merge_held, read_time
from pastchats_memory.formats.generic.roles import Speaker, role_of

FIELDS = ("role", "text", "time", "conversation")
ROLES = ("user", "assistant", "system", "tool", "note")
WORD_PREFIX = "role."
EXAMPLE = "Example: --map role=speaker,text=body,time=at, or --map user=prompt,assistant=answer."
DEEPEST = 8
MOST_NAMED = 12
"""Keys that an error message names."""


class _Missing:
    """The type of MISSING."""


MISSING = _Missing()
"""Stands for a value that a record does not have."""


@dataclass(frozen=True, slots=True)
class KeyMap:
    """The keys of one kind of record: for role and text, or for the texts of several roles."""

    role: str = ""
    text: str = ""
    time: str = ""
    conversation: str = ""
    sides: tuple[tuple[str, str], ...] = ()
    """Role and key of each text, for records with a question and its answer."""
    words: tuple[tuple[str, str], ...] = ()
    """A lower-case value of the role key, and the role that it stands for."""

    @classmethod
    def parse(cls, line: str) -> KeyMap:
        """Parse `role=speaker,text=body,role.bot=assistant`.

        Raises:
            UsageFault: the line is no valid map.
        """
        table: dict[str, str] = {}
        for item in line.split(","):
            name, equals, key = item.partition("=")
            if not equals or not name.strip() or not key.strip():
                raise UsageFault(f"--map: `{item.strip()}` is not of the form part=KEY", EXAMPLE)
            if name.strip() in table:
                raise UsageFault(f"--map names {name.strip()} twice", EXAMPLE)
            table[name.strip()] = key.strip()
        return cls.from_table(table, "--map")

    @classmethod
    def from_table(cls, table: Mapping[str, str], origin: str) -> KeyMap:
        """Build a map from its parts, as the configuration has them.

        Args:
            table: by part its key, or by `role.WORD` its role.
            origin: the flag or the key of the configuration, for messages.

        Raises:
            UsageFault: a part is unknown or missing.
        """
        words = {name.removeprefix(WORD_PREFIX): role for name, role in table.items() if name.startswith(WORD_PREFIX)}
        for name in table:
            if name not in (*FIELDS, *ROLES) and not name.startswith(WORD_PREFIX):
                from difflib import get_close_matches  # seldom needed

                near = get_close_matches(name, (*FIELDS, *ROLES), n=1)
                hint = f"Did you mean `{near[0]}`?" if near else f"Parts: {', '.join((*FIELDS, *ROLES))}, role.WORD."
                raise UsageFault(f"{origin}: unknown part `{name}`", hint)
        for word, role in words.items():
            if role not in ROLES:
                raise UsageFault(f"{origin}: role.{word} must be one of {', '.join(ROLES)}, not `{role}`", EXAMPLE)
        sides = tuple((role, table[role]) for role in table if role in ROLES)
        if sides and ("role" in table or "text" in table or words):
            raise UsageFault(
                f"{origin}: use either role and text, or {' and '.join(role for role, _ in sides)}", EXAMPLE
            )
        if not sides and "text" not in table:
            raise UsageFault(f"{origin}: no key for the text (`text`)", EXAMPLE)
        if not sides and "role" not in table:
            raise UsageFault(f"{origin}: no key for the speaker (`role`)", EXAMPLE)
        listed = tuple((word.lower(), role) for word, role in words.items())
        role, text, time, conversation = (table.get(name, "") for name in FIELDS)
        return cls(role, text, time, conversation, sides, listed)

    def to_table(self) -> dict[str, str]:
        """Return the parts, from which `from_table` builds an equal map."""
        fields = {"role": self.role, "text": self.text, **dict(self.sides), "time": self.time}
        fields |= {"conversation": self.conversation}
        words = {f"{WORD_PREFIX}{word}": role for word, role in self.words}
        return {name: key for name, key in fields.items() if key} | words

    def __str__(self) -> str:
        """Return the value of the option `--map`."""
        return ",".join(f"{name}={key}" for name, key in self.to_table().items())

    @property
    def keys(self) -> list[str]:
        """Return the keys that records must have somewhere."""
        return [key for key in (self.role, self.text, self.time, self.conversation) if key] + [
            key for _, key in self.sides
        ]

    def parse_item(self, item: object) -> tuple[Message, ...]:
        """Parse a record; nothing if the item is none."""
        if not isinstance(item, dict | list):
            return ()
        if not self.sides:
            word, value = read_word(look_up(item, self.role)), look_up(item, self.text)
            if word is None or not _is_text(item, value):
                return ()
            role = dict(self.words).get(word.lower()) or role_of(word) or word.lower()
            return (self._build(item, Speaker(role, self.role, word, 2), self.text, value),)
        values = [(role, key, look_up(item, key)) for role, key in self.sides]
        if all(value is MISSING for _, _, value in values):
            return ()
        if not all(value is MISSING or _is_text(item, value) for _, _, value in values):
            return ()
        built = (
            self._build(item, Speaker(role, key, role, 2), key, value)
            for role, key, value in values
            if value is not MISSING
        )
        return tuple(message for message in built if message.text)

    def _build(self, item: Json | list[object], speaker: Speaker, key: str, value: object) -> Message:
        rest = mapping_of(item)
        for path in self.keys:
            rest = _remove(rest, path)
        time = (self.time, read_time(look_up(item, self.time))) if self.time else None
        pieces = list_pieces(value, is_tool=speaker.role == "tool")
        message = build_message(merge_held(rest), speaker, key, pieces, time=time)
        conversation = read_word(look_up(item, self.conversation)) if self.conversation else None
        if self.sides:  # an id is the exchange's, not that of one of its sides
            message = replace(message, own_id=None)
        if conversation is None:
            return message
        return replace(message, conversation_id=conversation, conversation_key=self.conversation)

    def find_conversations(self, value: object, context: Context = NO_CONTEXT) -> list[Conversation]:
        """List the conversations of a value: the records of each list, map or group of columns."""
        return list(self._walk(value, context, 0))

    def _walk(self, value: object, context: Context, depth: int) -> Iterator[Conversation]:
        if depth > DEEPEST or not isinstance(value, dict | list):
            return
        if isinstance(value, list):
            if messages := self._parse_items(value):
                yield Conversation(sort_oldest_first(messages), context)
                return
            for item in value:
                yield from self._walk(item, replace(context, conversation_id=None), depth + 1)
            return
        context = context.enter(value)
        if self.conversation and (name := read_word(look_up(value, self.conversation))):
            context = replace(context, conversation_id=name, id_key=self.conversation)
        if messages := self.parse_item(value) or self._parse_items(self._split_columns(value)):
            yield Conversation(messages, context)
            return
        objects = {key: inner for key, inner in in_number_order(value).items() if isinstance(inner, dict)}
        records = {key: inner for key, inner in objects.items() if self.parse_item(inner)}
        if records:
            yield Conversation(sort_oldest_first(self._parse_items(list(records.values()))), context)
        found = {key: list(self._walk(inner, context, depth + 1)) for key, inner in value.items() if key not in records}
        is_named = sum(map(bool, found.values())) > 1
        for key, conversations in found.items():
            for one in conversations:
                name = f"{context.conversation_id}/{key}" if context.conversation_id else key
                is_unnamed = one.context.conversation_id == context.conversation_id
                yield (
                    replace(one, context=replace(one.context, conversation_id=name)) if is_named and is_unnamed else one
                )

    def _parse_items(self, items: Sequence[object]) -> tuple[Message, ...]:
        return tuple(message for item in items for message in self.parse_item(item) if message.text)

    def _split_columns(self, fields: Json) -> list[object]:
        """Return the rows of columns that have the same length, such as `{"role": [...], "text": [...]}`."""
        columns = {key: list_of(look_up(fields, key)) for key in self.keys}
        required = [key for _, key in self.sides] or [self.role, self.text]
        lengths = {len(columns[key]) for key in required}
        if len(lengths) != 1 or 0 in lengths:
            return []
        whole = {key: column for key, column in columns.items() if len(column) in lengths}
        return [dict(zip(whole, row, strict=True)) for row in zip(*whole.values(), strict=True)]

    def find_long_list(self, outline: object) -> LongList | None:
        """Find the list of a document that can be read item by item, or None."""
        keys: tuple[str, ...] = ()
        context = NO_CONTEXT
        while isinstance(outline, dict):
            if self.parse_item(outline) or self._split_columns(outline):
                return None
            context = context.enter(outline)
            holding = [key for key, inner in outline.items() if self.find_conversations(inner)]
            if len(holding) != 1:
                return None
            keys, outline = (*keys, holding[0]), outline[holding[0]]
        items = list_of(outline)
        return LongList(keys, context, items, any(map(self.parse_item, items)))

    def is_message_list(self, values: list[object]) -> bool:
        """Return whether values, one a line, are the messages of one conversation."""
        return not self.sides and any(map(self.parse_item, values))

    def list_missing(self, values: object) -> list[str]:
        """List the keys that no object in the values has."""
        missing = self.keys
        for item in walk_objects(values):
            missing = [key for key in missing if look_up(item, key) is MISSING]
            if not missing:
                break
        return missing


def look_up(value: object, path: str) -> object:
    """Return what stands under a dotted path, or MISSING.

    A number is a place in a list.
    """
    if isinstance(value, dict):
        if path in value:
            return value[path]
        key, _, rest = path.partition(".")
        return look_up(value[key], rest) if rest and key in value else MISSING
    if isinstance(value, list):
        place, _, rest = path.partition(".")
        if not (place.isascii() and place.isdecimal()) or int(place[:9]) >= len(value):
            return MISSING
        item = value[int(place[:9])]
        return look_up(item, rest) if rest else item
    return MISSING


def read_word(value: object) -> str | None:
    """Return a value as the word for a speaker or a conversation, or None for a list, an object and nothing."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return value.strip() or None if isinstance(value, str) else None


def walk_objects(value: object, depth: int = 0) -> Iterator[Json | list[object]]:
    """Yield every object and list of a value down to a limited depth, outer ones first."""
    if depth <= DEEPEST and isinstance(value, dict | list):
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from walk_objects(inner, depth + 1)


def list_record_keys(value: object) -> list[str]:
    """List the keys of the objects in a value, the most frequent kind of object first; for an error message."""
    keys: dict[str, None] = {}
    for item in walk_objects(value):
        if isinstance(item, dict) and not all(isinstance(inner, dict | list) for inner in item.values()):
            keys |= dict.fromkeys(item)
        if len(keys) > MOST_NAMED:
            break
    return list(keys)[:MOST_NAMED]


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
