"""Conversations in a JSON value: lists and maps of messages, under whatever keys programs store them.

`find_conversations` reads known keys. A list is a conversation only if its messages name a user or an assistant.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pastchats_memory.formats.base.hashes import conversation_hash
from pastchats_memory.formats.base.tree import abandoned_places
from pastchats_memory.formats.base.values import Json, in_number_order, list_of, mapping_of, text_of
from pastchats_memory.formats.generic.exchange import are_exchanges, may_be_exchange, parse_exchange, parse_item
from pastchats_memory.formats.generic.message import GenericMessage, find_place, find_time, find_value, parse_message
from pastchats_memory.formats.generic.nested_json import decode_nested_json
from pastchats_memory.formats.generic.roles import SIDES, has_word, known, may_name_speaker

COMPARISON_KEY = "prompt_convo"
"""In each of the comparisons beside a ChatGPT export: the conversation, which the export has, too."""
DEEPEST = 8
DEEPEST_ANSWER = 5
LONGEST_THREAD = 128
"""Characters of a value that names a thread."""

_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)|(\d\d?)\.(\d\d?)\.(\d{4})")


@dataclass(frozen=True, slots=True)
class ConversationFacts:
    """Facts that the objects around the messages give about all of them."""

    conversation_id: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    project: str | None = None
    title: str | None = None
    model: str | None = None
    current: str | None = None
    """Id of the current message of a tree."""
    id_key: str = ""
    """The key of the conversation's id."""

    def enter(self, fields: Json) -> "ConversationFacts":
        """Return the context inside an object, whose facts win over the outer ones."""
        facts = mapping_of(next(filter(None, map(fields.get, known("conversation_about_keys"))), None)) | fields
        cwd, project = find_place(facts)
        model = facts.get("model")
        id_key, own_id = find_value(facts, (*known("conversation_id_keys"), *known("own_id_keys")))
        title, current = (find_value(facts, known(keys))[1] for keys in ("title_keys", "current_keys"))
        time, model = find_time(facts)[1] or self.timestamp, model if isinstance(model, str) else self.model
        where = (cwd or self.cwd, project or self.project, title or self.title)
        named, key = own_id or self.conversation_id, id_key or self.id_key
        return ConversationFacts(named, time, *where, model, current or self.current, key)


NO_FACTS = ConversationFacts()


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages of one list or map, in the order of the file."""

    messages: tuple[GenericMessage, ...]
    context: ConversationFacts
    is_logged: bool = False
    """One request of a log, which repeats the earlier messages."""

    @property
    def abandoned(self) -> frozenset[int]:
        """Return the places of the messages on branches beside the path to the current one."""
        links = [(message.own_id, message.parent_id) for message in self.messages]
        return abandoned_places(links, self.context.current)

    def named(self, conversation_id: str | None) -> "Conversation":
        """Return the conversation with an id."""
        return replace(self, context=replace(self.context, conversation_id=conversation_id))


def find_conversations(value: object, context: ConversationFacts = NO_FACTS) -> list[Conversation]:
    """List the conversations of a JSON value, also those in strings of JSON if they have more messages."""
    plain = list(walk(value, context))
    decoded = decode_nested_json(value)
    if decoded is value:
        return plain
    nested = list(walk(decoded, context))
    return nested if _collect_texts(plain) < _collect_texts(nested) else plain


def find_numbered_conversation(values: Sequence[object]) -> ConversationFacts:
    """Return the context of exchanges, one a line, that are the numbered steps of one conversation.

    Without such numbers every exchange may be a conversation of its own, and the context is empty.
    """
    lines = list(map(mapping_of, values))
    exchanges = [parse_exchange(line, is_exchange=True) for line in lines]
    keys = lines[0] if lines and all(exchanges) else ()
    if not any(_numbers_steps(key, [line.get(key) for line in lines]) for key in keys):
        return NO_FACTS
    # the first exchange alone has the same id, so that a file may grow
    words = ((message.speaker.role, message.text) for message in exchanges[0])
    return ConversationFacts(conversation_id=conversation_hash(words))


def _numbers_steps(key: str, values: Sequence[object]) -> bool:
    """Return whether a key is named after steps and its values are rising numbers."""
    numbers = [value for value in values if isinstance(value, int)]
    is_rising = all(before < after for before, after in pairwise(numbers))
    return has_word(key, "step_words") and len(numbers) == len(values) and is_rising


def _collect_texts(conversations: list[Conversation]) -> set[str]:
    """Collect the texts of a user and an assistant, with single blanks between words."""
    messages = [message for one in conversations for message in one.messages if message.speaker.role in SIDES]
    return {" ".join(message.text.split()) for message in messages if message.text}


def walk(value: object, context: ConversationFacts, depth: int = 0) -> Iterator[Conversation]:
    """Yield every conversation of a value, in the order of the file."""
    if depth > DEEPEST or not _may_have_messages(value) or (depth == 0 and is_other_document(value)):
        return
    if isinstance(value, list):
        if messages := parse_list(value):
            yield Conversation(sort_oldest_first(messages), context)
            return
        separate = replace(context, conversation_id=None)
        for item in value:
            yield from walk(item, separate, depth + 1)
    elif isinstance(value, dict):
        if messages := parse_list(_join_days(value)):
            yield Conversation(messages, context)
        else:
            yield from _walk_object(value, context.enter(value), depth)


def _may_have_messages(value: object) -> bool:
    """Return quickly whether an object in the value may name a speaker or be an exchange; most files have none."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            if may_name_speaker(item) or may_be_exchange(item):
                return True
            stack.extend(inner for inner in item.values() if isinstance(inner, dict | list))
        elif isinstance(item, list):
            stack.extend(inner for inner in item if isinstance(inner, dict | list))
    return False


def is_other_document(value: object) -> bool:
    """Return whether a document is known to be no conversation: a schema, a lock file, a map, a film."""
    if isinstance(value, list):
        first = mapping_of(value[0] if value else None)
        return COMPARISON_KEY in mapping_of(mapping_of(first.get("content")).get("input"))
    fields = mapping_of(value)
    is_typed = text_of(fields.get("type")) in known("other_document_types")
    has_mark = is_typed or not known("other_document_keys").isdisjoint(fields)
    return has_mark and not any(key in fields for key in ("messages", "conversations", "turns"))


def _join_days(fields: Json) -> list[object]:
    """List the items of an object whose keys are days and whose values are lists, the earliest day first."""
    days = [(day, value) for key, value in fields.items() if (day := _DAY.fullmatch(key)) and isinstance(value, list)]
    if len(days) < len(fields):
        return []
    days.sort(key=lambda day: [int(day[0][iso] or day[0][dotted]) for iso, dotted in ((1, 6), (2, 5), (3, 4))])
    return [item for _, value in days for item in value]


@dataclass(frozen=True, slots=True)
class LongList:
    """The list of a document that can be read item by item, since no item needs another one."""

    keys: tuple[str, ...]
    """The keys from the top of the document down to the list."""
    context: ConversationFacts
    opening: list[object]
    """The first items."""
    has_messages: bool
    """The items are the messages of one conversation; otherwise each item holds conversations."""


def find_long_list(
    outline: object,
    parse: Callable[[list[object]], tuple[GenericMessage, ...]],
    find: Callable[[object, ConversationFacts], Iterable[Conversation]],
) -> LongList | None:
    """Find the list in the outline of a document that alone gives the conversations of the whole.

    There is none if a conversation is a tree or a map, or if other keys say more: these need the whole document.

    `parse` returns the messages of a list that is one conversation, `find` the conversations of any value.
    """
    keys: tuple[str, ...] = ()
    context = NO_FACTS
    while isinstance(outline, dict):
        whole, context = list(find(outline, context)), context.enter(outline)
        alone = (key for key, inner in outline.items() if whole and list(find(inner, context)) == whole)
        if (key := next(alone, None)) is None:
            return None
        keys, outline = (*keys, key), outline[key]
    items = list_of(outline)
    messages = parse(items)
    if any(message.parent_id for message in messages):
        return None
    return LongList(keys, context, items, bool(messages))


def _walk_object(fields: Json, context: ConversationFacts, depth: int) -> Iterator[Conversation]:
    if logged := _find_logged_request(fields, context, depth):
        yield logged
        return
    for key in known("container_keys"):
        if found := list(walk(fields.get(key), context, depth + 1)):
            yield from _add_opening(found, fields, context)
            return
    if exchange := parse_exchange(fields):
        yield Conversation(exchange, context)
        return
    messages = parse_list(list(in_number_order(fields).values()))
    if len(messages) > 1:
        if not are_exchanges(messages) or any(letter.isdigit() for key in fields for letter in key):
            yield Conversation(messages, context)
        return  # keys without digits are those of an interface's texts
    unnamed = replace(context, conversation_id=None)
    named = {key: value for key, value in fields.items() if value and not has_word(key, "other_list_words")}
    inner = {key: list(walk(value, unnamed, depth + 1)) for key, value in named.items()}
    yield from _add_opening(list(name_by_key(inner, context)), fields, context)


def name_by_key(found: Mapping[str, Sequence[Conversation]], context: ConversationFacts) -> Iterator[Conversation]:
    """Yield the conversations below keys of the file's choosing.

    Such a key is the conversation's id if it stands beside others or has a digit; otherwise it is a wrapper's name.
    """
    outer = context.conversation_id
    is_alone = sum(map(bool, found.values())) == 1
    for key, conversations in found.items():
        own = None if is_alone and not any(map(str.isdigit, key)) else key
        for one in conversations:
            name = f"{outer}/{own}" if own and outer else own or (outer if len(conversations) == 1 else None)
            yield one if one.context.conversation_id is not None else one.named(name)


def _add_opening(found: list[Conversation], fields: Json, context: ConversationFacts) -> Iterator[Conversation]:
    """Yield the conversations; a single one with the message that opened it, if that stands beside the list."""
    if len(found) == 1 and (first := found[0].messages[0]).timestamp and (start := context.timestamp):
        openings = (parse_message(mapping_of(fields.get(key))) for key in known("opening_keys"))
        roles = SIDES.union(message.speaker.role for message in found[0].messages)
        opening = next((one for one in openings if one and one.speaker.role in roles and one.text), None)
        if opening and start <= first.timestamp and all(opening.text != other.text for other in found[0].messages):
            dated = opening if opening.timestamp else replace(opening, timestamp=start)
            yield replace(found[0], messages=(dated, *found[0].messages))
            return
    yield from found


# Logged requests to a model


def _find_logged_request(fields: Json, context: ConversationFacts, depth: int) -> Conversation | None:
    """Find the conversation of a logged request to a model: the messages under one key, the answer under another."""
    keys = [key for key in fields if key == "messages" or has_word(key, "request_words")]
    keys.sort(key="messages".__ne__)  # `request_tags` beside `messages` is no request
    request = next((key for key in keys if isinstance(fields[key], dict | list)), None)
    if request is None:
        return None
    responses = [value for key, value in fields.items() if key != request and has_word(key, "response_words")]
    answer = next(filter(None, (_find_answer(value) or _find_plain_answer(value) for value in responses)), None)
    sent = _find_sent(fields[request], context, depth + 1) if answer else []
    if answer is None or len(sent) != 1 or sent[0].messages[-1].speaker.role == "assistant":
        return None
    return Conversation((*sent[0].messages, answer), sent[0].context, is_logged=True)


def _find_sent(value: object, context: ConversationFacts, depth: int) -> list[Conversation]:
    """List the conversations of a request, however deep they are wrapped."""
    if found := list(walk(value, context, depth)):
        return found
    inner = (_find_sent(item, context, depth + 1) for item in mapping_of(value).values() if depth < DEEPEST)
    return next(filter(None, inner), [])


def _find_answer(value: object, depth: int = 0) -> GenericMessage | None:
    """Return the first message of an assistant in a response, however deep it is wrapped."""
    if isinstance(value, dict):
        message = parse_message(value)
        if message and message.speaker.role == "assistant" and message.speaker.certainty > 1 and message.text:
            return message
    inner = (*mapping_of(value).values(), *list_of(value)) if depth < DEEPEST_ANSWER else ()
    return next(filter(None, (_find_answer(item, depth + 1) for item in inner)), None)


def _find_plain_answer(response: object, depth: int = 0) -> GenericMessage | None:
    """Return the text of a response without a role, however deep it is wrapped."""
    fields = mapping_of(response)
    text = response if depth == 0 and isinstance(response, str) else fields.get("content", fields.get("text"))
    message = parse_message({"role": "assistant", "content": text}) if isinstance(text, str | list) else None
    if message and message.text:
        return message
    inner = [item for item in (*fields.values(), *list_of(response)) if isinstance(item, dict | list)]
    found = (_find_plain_answer(item, depth + 1) for item in inner) if depth < DEEPEST_ANSWER else iter(())
    return next(filter(None, found), None)


# Is a list of messages a conversation, and in which order?

STRONG_SHARE = 0.2
"""Share of a list's objects with a certain role that makes it a conversation among other records."""
WEAK_SHARE = 0.5
EVENT_SHARE = 0.05
"""The least share of messages in a log of events, each of which names its speaker twice."""
FEWEST_IN_THREAD = 3
"""Messages of a conversation that stands between others; an exchange has two."""


def parse_list(items: list[object]) -> tuple[GenericMessage, ...]:
    """Return the messages of a list that is a conversation, else none."""
    objects = [item for item in items if isinstance(item, dict)]
    parsed = [parse_item(fields) for fields in objects]
    if any(len(messages) > 1 for messages in parsed):
        parsed = [found or parse_item(item, is_exchange=True) for item, found in zip(objects, parsed, strict=True)]
    messages = tuple(message for each in parsed for message in each)
    return messages if is_dialogue(messages, sum(max(1, len(each)) for each in parsed)) else ()


def is_dialogue(messages: Sequence[GenericMessage], objects: int) -> bool:
    """Return whether so many messages among so many objects are a conversation."""
    speakers = [message.speaker for message in messages if message.text]
    has_certain_side = any(speaker.certainty > 1 and speaker.role in SIDES for speaker in speakers)
    if has_certain_side and len(messages) >= objects * STRONG_SHARE:
        return True
    roles = {speaker.role for speaker in speakers if speaker.certainty}
    share = EVENT_SHARE if roles >= SIDES and all(speaker.is_event for speaker in speakers) else WEAK_SHARE
    is_whole = len(messages) >= max(2, objects * share)
    return is_whole and ((len(roles) > 1 and not roles.isdisjoint(SIDES)) or _are_people(messages))


def _are_people(messages: Sequence[GenericMessage]) -> bool:
    """Return whether several names stand under a key that only speakers have, or under `role` and `content`."""
    names = {message.speaker.word for message in messages}
    keys = {(message.speaker.key, message.text_key) for message in messages}
    are_named = all(has_word(role, "speaker_words") or (role, text) == ("role", "content") for role, text in keys)
    return len(names) > 1 and are_named


def is_other_list(messages: Sequence[GenericMessage]) -> bool:
    """Return whether all messages have a column of other records, such as commits, exams or a program's log.

    Dated messages in which a user and an assistant certainly speak are a conversation, whatever columns they have.
    """
    certain = {message.speaker.role for message in messages if message.speaker.certainty > 1}
    if certain >= SIDES and all(message.timestamp for message in messages) and not are_exchanges(messages):
        return False
    common = set.intersection(*(set(message.metadata or ()) for message in messages)) - {messages[0].speaker.key}
    return any(has_word(key, "record_words") for key in common)


def sort_oldest_first(messages: tuple[GenericMessage, ...]) -> tuple[GenericMessage, ...]:
    """Return the messages in the order of their times if the file lists the newest first."""
    times = [message.timestamp for message in messages if message.timestamp]
    is_falling = len(times) == len(messages) > 0 and times[0] > times[-1]
    if is_falling and all(before >= after for before, after in pairwise(times)):
        return tuple(sorted(messages, key=lambda message: message.timestamp or ""))
    return messages


def find_thread_key(messages: Iterable[GenericMessage]) -> str:
    """Return the key whose values separate the messages into conversations; "" if they are one or have ids."""
    visible = [message for message in messages if message.text and message.speaker.role not in ("system", "tool")]
    if not visible or any(message.conversation_id for message in visible):
        return ""
    keys = [key for key in visible[0].metadata or () if has_word(key, "thread_words") and key != visible[0].speaker.key]
    return next((key for key in keys if _separates(key, visible)), "")


def _separates(key: str, messages: Sequence[GenericMessage]) -> bool:
    roles: dict[str, list[str]] = {}
    for message in messages:
        value = (message.metadata or {}).get(key)
        if not isinstance(value, str | int) or len(str(value)) > LONGEST_THREAD:
            return False
        roles.setdefault(str(value), []).append(message.speaker.role)
    threads = [each for each in roles.values() if len(each) > 1]
    have_both_sides = all(len(set(each)) > 1 for each in threads)
    return len(threads) > 1 and have_both_sides and max(map(len, threads)) >= FEWEST_IN_THREAD
