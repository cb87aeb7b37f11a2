"""JSON and JSONL of unknown shape: read by known keys for role and text, or by a map that the user gives.

Chat exports, fine-tuning sets and dumps of a database of turns are such files. A file without a known key for role or
text is left; `suggest_map` then proposes a map.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import takewhile

from pastchats_memory.formats.base.checkpoint import Checkpoint
from pastchats_memory.formats.base.format import Format
from pastchats_memory.formats.base.hashes import conversation_hash
from pastchats_memory.formats.base.key_map import FIELDS, KeyMap
from pastchats_memory.formats.base.source import (
    LARGE_DOCUMENT,
    SAMPLE_RECORDS,
    Element,
    Places,
    Record,
    Records,
    SourceFile,
)
from pastchats_memory.formats.base.values import BadJson, list_of, mapping_of
from pastchats_memory.formats.generic import containers
from pastchats_memory.formats.generic.containers import NO_FACTS, Conversation, ConversationFacts, LongList
from pastchats_memory.formats.generic.exchange import are_exchanges, parse_item
from pastchats_memory.formats.generic.mapped_records import MappedRecords
from pastchats_memory.formats.generic.message import GenericMessage, parse_message
from pastchats_memory.formats.generic.nested_json import decode_nested_json
from pastchats_memory.formats.generic.roles import SIDES
from pastchats_memory.model import Turn, Unreadable
from pastchats_memory.text.timestamps import to_the_minute
from pastchats_memory.text.truncate import truncate_middle

MAPPED, KNOWN_KEYS = 60, 50
"""Confidences: the records have the keys of the user's map, or known keys."""
MOST_KEYS = 3
"""Keys that are listed for one purpose."""
LONGEST_OPENING = 1 << 16
"""Characters of JSON of the opening in a checkpoint."""
KIND_OF_ROLE = {"assistant": "answer", "tool": "result"}


@dataclass(frozen=True)
class GenericReader:
    """The reader of messages under known keys, or under the keys of a map."""

    mapped: MappedRecords | None = None
    """The records by the keys of a map."""

    def detect(self, source: SourceFile) -> int:
        """Return the confidence, 0 to 100, that the file has messages. Raises NotText, OSError."""
        if source.shape not in ("json", "jsonl") or not source.once(self._find_in_opening):
            return 0
        return MAPPED if self.mapped else KNOWN_KEYS

    def read(self, source: SourceFile) -> Iterator[Turn | Unreadable | Checkpoint]:
        """Read the turns in the order of the file, each with the line on which its text begins.

        JSONL that has grown is read from where the last run stopped, if its opening was complete then. Raises OSError.
        """
        state = source.resumed.state if source.resumed else {}
        if self.mapped is None and (table := mapping_of(state.get("map"))):
            key_map = KeyMap.from_table({key: str(value) for key, value in table.items()}, "map")
            yield from replace(self, mapped=MappedRecords(key_map)).read(source)
        elif source.shape == "jsonl":
            yield from self._read_lines(source)
        else:
            yield from self._read_document(source)

    def explain(self, source: SourceFile) -> dict[str, str]:
        """Return the keys of the file for role, text, time and conversation, the most frequent first."""
        keys: dict[str, Counter[str]] = {name: Counter() for name in FIELDS}
        for conversation in source.once(self._find_in_opening):
            thread_key = self._find_thread_key(conversation.messages)
            for message in conversation.messages:
                keys["role"][message.speaker.key or message.text_key] += 1
                keys["text"][message.text_key] += 1
                keys["time"][message.time_key] += 1
                keys["conversation"][message.conversation_key or thread_key or conversation.context.id_key] += 1
        listed = {name: [key for key, _ in counts.most_common(MOST_KEYS + 1) if key] for name, counts in keys.items()}
        return {name: ", ".join(found[:MOST_KEYS]) for name, found in listed.items() if found}

    def suggest_map(self, source: SourceFile) -> str | None:
        """Return the `--map` by which the file is read, else one that fits it, or None. Raises NotText, OSError."""
        if source.shape not in ("json", "jsonl"):
            return None
        key_map = self.mapped.key_map if self.mapped else self._describe(source)
        return str(key_map) if key_map else None

    def _describe(self, source: SourceFile) -> KeyMap | None:
        from pastchats_memory.formats.generic.suggestion import suggest_map  # only a dry run asks

        read = source.once(self._find_in_opening)
        messages = [message for one in read for message in one.messages]
        described = None
        if messages and (are_exchanges(messages) or not messages[0].speaker.key):
            keys = {message.speaker.role: message.text_key for message in reversed(messages)}
            described = KeyMap(sides=tuple((role, keys[role]) for role in ("user", "assistant") if role in keys))
        elif messages:
            found = self.explain(source)
            role, text, time, conversation = (found.get(name, "").split(", ")[0] for name in FIELDS)
            described = KeyMap(role, text, time, conversation)
        elif containers.is_other_document(source.example):
            return None
        return suggest_map(source.example, described, read)

    # Messages by known keys, or by the map

    def _parse_item(self, item: object) -> tuple[GenericMessage, ...]:
        if self.mapped:
            return self.mapped.parse_item(item)
        return parse_item(item) or parse_item(decode_nested_json(item))

    def _find_conversations(self, value: object, context: ConversationFacts = NO_FACTS) -> list[Conversation]:
        find = self.mapped.find_conversations if self.mapped else containers.find_conversations
        return find(value, context)

    def _find_long_list(self, outline: object) -> LongList | None:
        if self.mapped:
            return containers.find_long_list(outline, self.mapped.parse_items, self.mapped.find_conversations)
        return containers.find_long_list(outline, containers.parse_list, containers.walk)

    def _find_thread_key(self, messages: Iterable[GenericMessage]) -> str:
        return "" if self.mapped else containers.find_thread_key(messages)

    def _is_message_list(self, values: list[object]) -> bool:
        if self.mapped:
            return self.mapped.is_message_list(values)
        objects = [value for value in values if isinstance(value, dict)]
        parsed = (parse_message(value) or parse_message(mapping_of(decode_nested_json(value))) for value in objects)
        messages = list(filter(None, parsed))
        return containers.is_dialogue(messages, len(objects)) and not containers.is_other_list(messages)

    def _find_in_opening(self, source: SourceFile) -> list[Conversation]:
        """List the conversations of a document or of the first lines; of a large document those of its outline."""
        if source.shape != "jsonl":
            listed = self._find_conversations(source.outline)
            return listed if self.mapped else [one for one in listed if not containers.is_other_list(one.messages)]
        opening = source.first_values
        if self._is_message_list(opening):
            return [Conversation(found, NO_FACTS) for value in opening if (found := self._parse_item(value))]
        return [one for value in opening for one in self._find_conversations(value)]

    # Files to turns

    def _read_lines(self, source: SourceFile) -> Iterator[Turn | Unreadable | Checkpoint]:
        state = source.resumed.state if source.resumed else None
        opening = source.first_values if state is None else list_of(state.get("opening"))
        records = source.records()
        context = NO_FACTS
        if self._is_message_list(opening):
            for header in takewhile(self._is_header, opening):
                context = context.enter(mapping_of(header))
            yield from self._read_messages(source, records, opening, context)
        else:
            context = context if self.mapped else containers.find_numbered_conversation(opening)
            yield from self._read_conversations(records, context)
        if len(opening) == SAMPLE_RECORDS and len(json.dumps(opening)) <= LONGEST_OPENING:
            table = self.mapped.key_map.to_table() if self.mapped else {}
            yield from records.checkpoint({"opening": opening, "map": table})

    def _read_document(self, source: SourceFile) -> Iterator[Turn | Unreadable]:
        if isinstance(source.outline, BadJson):
            yield Unreadable(str(source.path), 0, f"not JSON: {source.outline.reason}")
        elif source.size <= LARGE_DOCUMENT:
            yield from self._read_whole(source, source.once(self._find_in_opening))
        elif (long := self._find_long_list(source.outline)) is None:
            yield from self._read_whole(source, self._find_conversations(source.document))
        elif long.has_messages:
            yield from self._read_messages(source, source.elements(*long.keys), long.opening, long.context)
        else:
            context = replace(long.context, conversation_id=None)
            yield from self._read_conversations(source.elements(*long.keys), context)

    def _read_whole(self, source: SourceFile, found: list[Conversation]) -> Iterator[Turn]:
        places, ends = Places(source.text), dict[str, str]()
        for conversation in found:
            yield from self._build_turns(_drop_repeated(conversation, ends), places)

    def _read_conversations(
        self, items: Records | Iterable[Element | Unreadable], context: ConversationFacts
    ) -> Iterator[Turn | Unreadable]:
        ends: dict[str, str] = {}
        for item in items:
            if isinstance(item, Unreadable):
                yield item
                continue
            places = Places(item.text if isinstance(item, Element) else "", item.line)
            for conversation in self._find_conversations(item.value, context):
                yield from self._build_turns(_drop_repeated(conversation, ends), places)

    def _read_messages(
        self,
        source: SourceFile,
        items: Iterable[Record | Element | Unreadable],
        opening: list[object],
        context: ConversationFacts,
    ) -> Iterator[Turn | Unreadable]:
        first = [message for value in opening for message in self._parse_item(value)]
        folders = {message.cwd for message in first} - {None}
        if len(folders) == 1 == len({message.conversation_id for message in first}):  # it stands once, for all
            context = replace(context, cwd=context.cwd or folders.pop())
        facts = self._compare([message for message in first if message.text])
        for item in items:
            if isinstance(item, Unreadable):
                yield item
            elif messages := self._parse_item(item.value):
                places = Places(item.text if isinstance(item, Element) else "", item.line)
                for message in messages:
                    if message.text:
                        yield _build_turn(message, context, facts, line=places.line(message.first_piece))
            elif not isinstance(item.value, dict):
                yield Unreadable(str(source.path), item.line, "not a JSON object")
            elif "role" in item.value and "content" in item.value:
                yield Unreadable(str(source.path), item.line, "role or content is neither text nor a list of parts")

    def _is_header(self, value: object) -> bool:
        return not self._parse_item(value) and not {"role", "content"} <= mapping_of(value).keys()

    def _build_turns(self, conversation: Conversation, places: Places) -> Iterator[Turn]:
        facts = self._compare([message for message in conversation.messages if message.text])
        abandoned = conversation.abandoned
        for place, message in enumerate(conversation.messages):
            if message.text:
                branch = "abandoned" if place in abandoned else "main"
                line = places.line(message.first_piece)
                yield _build_turn(message, conversation.context, facts, line=line, branch=branch)

    def _compare(self, messages: list[GenericMessage]) -> "ListFacts":
        first_words = conversation_hash((message.speaker.role, message.text) for message in messages)
        are_ids = self.mapped is None and _are_conversation_ids(messages)
        return ListFacts(first_words, are_ids, self._find_thread_key(messages))


def mapped_format(key_map: KeyMap | None) -> Format:
    """Return the format of files whose records have the keys of a map; without a map, of files with known keys."""
    reader = GenericReader(MappedRecords(key_map) if key_map else None)
    return Format(
        name="messages",
        version=24,
        detect=reader.detect,
        read=reader.read,
        program="Augment",
        is_specific=False,
        explain=reader.explain,
        suggest_map=reader.suggest_map,
        with_map=mapped_format,
    )


MESSAGES = mapped_format(None)


@dataclass(frozen=True, slots=True)
class ListFacts:
    """Facts that only the messages of a list together show."""

    fallback_id: str
    """A digest of the first messages."""
    ids_are_conversations: bool
    thread_key: str
    """The key that separates several conversations; "" for one."""

    def conversation_of(self, message: GenericMessage, outer: str | None) -> str:
        """Return the id of a message's conversation that names none itself. `outer` is the id around the list."""
        if self.ids_are_conversations and message.own_id:
            return message.own_id
        thread = (message.metadata or {}).get(self.thread_key) if self.thread_key else None
        return (outer or self.fallback_id) + (f"/{thread}" if thread is not None else "")


def _drop_repeated(conversation: Conversation, ends: dict[str, str]) -> Conversation:
    """Return a logged request without the messages of an earlier one, as part of the same conversation.

    Any other conversation is returned unchanged. `ends` has the conversation's id by a digest of all messages of each
    earlier request; this request is added.
    """
    if not conversation.is_logged:
        return conversation
    digest, digests = sha256(), []
    for message in conversation.messages:
        digest.update(f"{message.speaker.role}\0{message.text}\0".encode("utf-8", "surrogatepass"))
        digests.append(digest.hexdigest()[:16])
    known = next((place for place in range(len(digests), 0, -1) if digests[place - 1] in ends), 0)
    pairs = ((message.speaker.role, message.text) for message in conversation.messages)
    name = ends[digests[known - 1]] if known else conversation.context.conversation_id or conversation_hash(pairs)
    ends[digests[-1]] = name
    context = replace(conversation.context, conversation_id=name)
    return replace(conversation, messages=conversation.messages[known:], context=context)


def _build_turn(
    message: GenericMessage, context: ConversationFacts, facts: ListFacts, *, line: int, branch: str = "main"
) -> Turn:
    role, metadata = message.speaker.role, dict(message.metadata or {})
    about = {"title": context.title, "model": context.model}
    conversation = message.conversation_id or facts.conversation_of(message, context.conversation_id)
    time, cwd = message.timestamp or to_the_minute(context.timestamp), message.cwd or context.cwd
    project, own_id = message.project or context.project, None if facts.ids_are_conversations else message.native_id
    failed = role == "tool" and metadata.get("is_error") is True
    kind, text = "error" if failed else KIND_OF_ROLE.get(role, "prompt"), message.text
    content = truncate_middle(text) if role == "tool" else text
    metadata = {key: value for key, value in about.items() if value} | metadata
    return Turn(role, content, line, None, conversation, time, cwd, project, own_id, branch, kind, metadata)


def _are_conversation_ids(messages: list[GenericMessage]) -> bool:
    """Return whether the ids of messages are their conversation's: a user and an assistant have the same one."""
    roles = defaultdict(set)
    for message in messages:
        roles[message.own_id].add(message.speaker.role)
    return any(own_id is not None and found >= SIDES for own_id, found in roles.items())
