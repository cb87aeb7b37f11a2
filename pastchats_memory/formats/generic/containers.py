"""Conversations in a JSON value: lists and maps of messages, under whatever keys programs store them.

`find_conversations` reads known keys. A list is a conversation only if its messages name a user or an assistant, or a
few people who take turns; lists with the words of a conversation that are none are left out.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pastchats_memory.formats.base.source import (
    Json,
    day_by_day,
    days_joined,
    in_number_order,
    list_of,
    mapping_of,
    parse_json,
)
from pastchats_memory.formats.base.tree import abandoned_places
from pastchats_memory.formats.generic.message import (
    Message,
    are_exchanges,
    find_place,
    find_time,
    find_value,
    is_question,
    is_short_value,
    may_be_exchange,
    parse_exchange,
    parse_item,
    parse_message,
)
from pastchats_memory.formats.generic.roles import (
    SIDES,
    Speaker,
    has_word,
    is_doubtful_key,
    may_name_speaker,
    roles_of_names,
    split_words,
    vocabulary,
)
from pastchats_memory.text.hashes import conversation_hash

COMPARISON_KEY = "prompt_convo"
"""In each of the comparisons beside a ChatGPT export: the conversation, which the export has, too."""
DEEPEST = 8
DEEPEST_ANSWER = 5


@dataclass(frozen=True, slots=True)
class Context:
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

    def enter(self, fields: Json) -> Context:
        """Return the context inside an object, whose facts win over the outer ones."""
        lists = vocabulary()
        about = next(filter(None, map(fields.get, lists.conversation_about_keys)), None)
        facts = mapping_of(about) | fields
        cwd, project = find_place(facts)
        model = facts.get("model")
        id_key, own_id = find_value(facts, lists.conversation_id_keys + lists.own_id_keys)
        return Context(
            conversation_id=own_id or self.conversation_id,
            id_key=id_key or self.id_key,
            timestamp=find_time(facts)[1] or self.timestamp,
            cwd=cwd or self.cwd,
            project=project or self.project,
            title=find_value(facts, lists.title_keys)[1] or self.title,
            model=model if isinstance(model, str) else self.model,
            current=find_value(facts, lists.current_keys)[1] or self.current,
        )


NO_CONTEXT = Context()


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages of one list or map, in the order of the file."""

    messages: tuple[Message, ...]
    context: Context
    is_logged: bool = False
    """One request of a log, which repeats the earlier messages."""

    @property
    def abandoned(self) -> frozenset[int]:
        """Return the places of the messages on branches beside the path to the current one."""
        links = [(message.own_id, message.parent_id) for message in self.messages]
        return abandoned_places(links, self.context.current)


def find_conversations(value: object, context: Context = NO_CONTEXT) -> list[Conversation]:
    """List the conversations of a JSON value, also those in strings of JSON if they have more messages."""
    plain = list(_walk(value, context))
    decoded = decode_nested_json(value)
    if decoded is value:
        return plain
    nested = list(_walk(decoded, context))
    return nested if set(_list_texts(plain)) < set(_list_texts(nested)) else plain


def find_numbered_conversation(values: Sequence[object]) -> Context:
    """Return the context of exchanges, one a line, that are the numbered steps of one conversation.

    Without such numbers every exchange may be a conversation of its own, and the context is empty.
    """
    lines = list(map(mapping_of, values))
    exchanges = [parse_exchange(line, is_exchange=True) for line in lines]
    keys = lines[0] if lines and all(exchanges) else ()
    if not any(_numbers_steps(key, [line.get(key) for line in lines]) for key in keys):
        return NO_CONTEXT
    # the first exchange alone has the same id, so that a file may grow
    return Context(conversation_id=conversation_hash((message.speaker.role, message.text) for message in exchanges[0]))


def _numbers_steps(key: str, values: Sequence[object]) -> bool:
    """Return whether a key is named after steps and its values are rising numbers."""
    numbers = [value for value in values if isinstance(value, int)]
    is_rising = all(before < after for before, after in pairwise(numbers))
    return has_word(key, vocabulary().step_words) and len(numbers) == len(values) and is_rising


def select_conversations(conversations: list[Conversation]) -> list[Conversation]:
    """Return the conversations of a whole document without lists of another kind and filled-in forms."""
    selected = [one for one in conversations if not is_other_list(one.messages)]
    exchanges = [one.messages for one in selected if are_exchanges(one.messages)]
    return [] if _is_form(exchanges) else selected


def _list_texts(conversations: list[Conversation]) -> list[tuple[str, str]]:
    """List role and text of every message of a user or an assistant that was not abandoned."""
    texts = []
    for conversation in conversations:
        roles = roles_of_names(message.speaker for message in conversation.messages)
        branches = conversation.abandoned
        for place, message in enumerate(conversation.messages):
            role = roles.get(message.speaker.role, message.speaker.role)
            if place not in branches and role in SIDES and message.text:
                texts.append((role, " ".join(message.text.split())))
    return texts


def _walk(value: object, context: Context, depth: int = 0) -> Iterator[Conversation]:
    """Yield every conversation of a value, in the order of the file."""
    if depth > DEEPEST or not _may_be_conversation(value) or (depth == 0 and is_other_document(value)):
        return
    if isinstance(value, list):
        if messages := _parse_list(value):
            yield Conversation(sort_oldest_first(messages), context)
            return
        separate = replace(context, conversation_id=None)
        for item in value:
            if isinstance(item, dict | list):
                yield from _walk(item, separate, depth + 1)
    elif messages := _parse_list(day_by_day(mapping_of(value))):
        yield Conversation(messages, context)
    else:
        fields = days_joined(mapping_of(value))
        yield from _walk_object(fields, context.enter(fields), depth)


def is_other_document(value: object) -> bool:
    """Return whether a document is known to be no conversation: a schema, a lock file, a map, a film."""
    if isinstance(value, list):
        first = mapping_of(value[0] if value else None)
        return COMPARISON_KEY in mapping_of(mapping_of(first.get("content")).get("input"))
    fields, lists = mapping_of(value), vocabulary()
    is_other = (
        any(key in fields for key in lists.other_document_keys) or fields.get("type") in lists.other_document_types
    )
    return is_other and not any(key in fields for key in ("messages", "conversations", "turns"))


def _may_be_conversation(value: object) -> bool:
    """Return quickly whether any object could name a speaker; most files have none."""
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


@dataclass(frozen=True, slots=True)
class LongList:
    """The list of a document that can be read item by item, since no item needs another one."""

    keys: tuple[str, ...]
    """The keys from the top of the document down to the list."""
    context: Context
    opening: list[object]
    """The first items."""
    has_messages: bool
    """The items are the messages of one conversation; otherwise each item holds conversations."""


def find_long_list(outline: object) -> LongList | None:
    """Find the list of messages or conversations in the outline of a document.

    There is none if a conversation is a tree or a map, or stands under a name of the file's choosing: these need the
    whole document.
    """
    keys: tuple[str, ...] = ()
    context = NO_CONTEXT
    while isinstance(outline, dict):
        fields, context = outline, context.enter(outline)
        held = (key for key in vocabulary().container_keys if isinstance(fields.get(key), dict | list))
        key = next((key for key in held if any(_walk(fields[key], context, 1))), None)
        if key is None:
            return None
        keys, outline = (*keys, key), fields[key]
    items = list_of(outline)
    messages = _parse_list(items)
    if any(message.parent_id for message in messages):
        return None
    return LongList(keys, context, items, bool(messages))


def _walk_object(fields: Json, context: Context, depth: int) -> Iterator[Conversation]:
    if logged := _find_logged_request(fields, context, depth):
        yield logged
        return
    for key in vocabulary().container_keys:
        inner = fields.get(key)
        found = list(_walk(inner, context, depth + 1)) if isinstance(inner, dict | list) else []
        if found:
            yield from _add_opening(found, fields, context)
            return
    if exchange := parse_exchange(fields):
        yield Conversation(exchange, context)
        return
    messages = _parse_list(list(in_number_order(fields).values()))
    if len(messages) > 1:
        if not (are_exchanges(messages) and _are_words(fields)):
            yield Conversation(messages, context)
        return
    yield from _add_opening(list(_walk_other_keys(fields, context, depth)), fields, context)


def _are_words(keys: Iterable[str]) -> bool:
    """Return whether the keys have no digits, as those of an interface's texts.

    Numbers, times and ids have some.
    """
    return all(key and not any(map(str.isdigit, key)) for key in keys)


def _add_opening(found: list[Conversation], fields: Json, context: Context) -> Iterator[Conversation]:
    """Yield the conversations; a single one with the message that opened it, if that stands beside the list."""
    if len(found) == 1 and (first := found[0].messages[0]).timestamp and (start := context.timestamp):
        known = {message.speaker.role for message in found[0].messages} | SIDES
        openings = vocabulary().opening_keys
        messages = (
            parse_message(value) for key, value in fields.items() if key in openings and isinstance(value, dict)
        )
        opening = next((one for one in messages if one and one.speaker.role in known and one.text), None)
        if opening and start <= first.timestamp and all(opening.text != other.text for other in found[0].messages):
            dated = opening if opening.timestamp else replace(opening, timestamp=start)
            yield replace(found[0], messages=(dated, *found[0].messages))
            return
    yield from found


def _walk_other_keys(fields: Json, context: Context, depth: int) -> Iterator[Conversation]:
    """Yield conversations under keys of the file's choosing, if they name both sides or several speakers.

    Such a key is the conversation's id if it stands beside others or has a digit; otherwise it is a wrapper's name.
    """
    unnamed = replace(context, conversation_id=None)
    found = {
        key: conversations
        for key, value in fields.items()
        if isinstance(value, list | dict)
        and value
        and not has_word(key, vocabulary().other_list_words)
        and (conversations := [one for one in _walk(value, unnamed, depth + 1) if _names_speakers(one)])
    }
    outer = context.conversation_id
    for key, conversations in found.items():
        own = key if len(found) > 1 or any(letter.isdigit() for letter in key) else None
        name = f"{outer}/{own}" if own and outer else own or outer
        for one in conversations:
            has_id = one.context.conversation_id is not None
            yield one if has_id else replace(one, context=replace(one.context, conversation_id=name))


def _names_speakers(conversation: Conversation) -> bool:
    speakers = [message.speaker for message in conversation.messages]
    known = {speaker.role for speaker in speakers if speaker.certainty > 0}
    if known.union(roles_of_names(speakers).values()) >= SIDES:
        return True
    role_key_words = vocabulary().role_key_words
    is_named = all(has_word(speaker.key, role_key_words) or speaker.key == "from" for speaker in speakers)
    return is_named and len({speaker.word for speaker in speakers}) > 1


def _find_logged_request(fields: Json, context: Context, depth: int) -> Conversation | None:
    """Find the conversation of a logged request to a model: the messages under one key, the answer under another."""
    lists = vocabulary()
    keys = [key for key in fields if key == "messages" or has_word(key, lists.request_words)]
    keys.sort(key="messages".__ne__)  # `request_tags` beside `messages` is no request
    request = next((key for key in keys if isinstance(fields[key], dict | list)), None)
    if request is None:
        return None
    responses = [value for key, value in fields.items() if key != request and has_word(key, lists.response_words)]
    answer = next((found for value in responses if (found := _find_answer(value) or _find_plain_answer(value))), ())
    sent = _find_sent(fields[request], context, depth + 1) if answer else []
    if len(sent) != 1 or sent[0].messages[-1].speaker.role == "assistant":
        return None
    return Conversation(sent[0].messages + answer, sent[0].context, is_logged=True)


def _find_sent(value: object, context: Context, depth: int) -> list[Conversation]:
    """List the conversations of a request, however deep they are wrapped."""
    if found := list(_walk(value, context, depth)):
        return found
    inner = (_find_sent(item, context, depth + 1) for item in mapping_of(value).values() if depth < DEEPEST)
    return next((found for found in inner if found), [])


def _find_answer(value: object, depth: int = 0) -> tuple[Message, ...]:
    """Return the first message of an assistant in a response, however deep it is wrapped."""
    if isinstance(value, dict):
        message = parse_message(value)
        if message and message.speaker.role == "assistant" and message.speaker.certainty > 1 and message.text:
            return (message,)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    found = (_find_answer(item, depth + 1) for item in inner) if depth < DEEPEST_ANSWER else iter(())
    return next((messages for messages in found if messages), ())


def _find_plain_answer(response: object, depth: int = 0) -> tuple[Message, ...]:
    """Return the text of a response without a role, however deep it is wrapped."""
    fields = mapping_of(response)
    text = response if depth == 0 and isinstance(response, str) else fields.get("content", fields.get("text"))
    message = parse_message({"role": "assistant", "content": text}) if isinstance(text, str | list) else None
    if message and message.text:
        return (message,)
    inner = (item for item in (*fields.values(), *list_of(response)) if isinstance(item, dict | list))
    found = (_find_plain_answer(item, depth + 1) for item in inner) if depth < DEEPEST_ANSWER else iter(())
    return next((messages for messages in found if messages), ())


def _parse_list(items: list[object]) -> tuple[Message, ...]:
    """Return the messages of a list that is a conversation, else none."""
    objects = [item for item in items if isinstance(item, dict)]
    parsed = [parse_item(fields) for fields in objects]
    if any(len(messages) > 1 for messages in parsed):
        parsed = [
            messages or parse_item(item, is_exchange=True) for item, messages in zip(objects, parsed, strict=True)
        ]
    if messages := _select_dialogue(parsed):
        return messages
    user_keys = {message.speaker.key for each in parsed for message in each if message.speaker.role == "user"}
    role_key = next(filter(is_doubtful_key, user_keys), None)
    return _select_dialogue([parse_item(fields, role_key) for fields in objects]) if role_key else ()


def _select_dialogue(parsed: list[tuple[Message, ...]]) -> tuple[Message, ...]:
    messages = [message for each in parsed for message in each]
    return tuple(messages) if is_dialogue(messages, sum(max(1, len(each)) for each in parsed)) else ()


# Is a list of messages a conversation, and in which order?

CERTAIN_SHARE = 0.9
"""If more of the roles than this are known words, a few broken lines do not make a list of something else."""
STRONG_SHARE = 0.2
"""Share of a list's objects with a certain role that makes it a conversation among other records."""
WEAK_SHARE = 0.5
EVENT_SHARE = 0.05
"""The least share of messages in a log of events, each of which names its speaker twice."""
FEWEST_NAMED = 4
"""Messages from which on two names may be a user and an assistant."""
MOST_SPEAKERS = 12
FEWEST_IN_THREAD = 3
"""Messages of a conversation that stands between others; an exchange has two."""

_NAME = re.compile(r"[\w][\w .'-]{0,39}\Z")


def sort_oldest_first(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return the messages in the order of their times if the file lists the newest first."""
    times = [message.timestamp for message in messages if message.timestamp]
    is_falling = len(times) == len(messages) > 0 and times[0] > times[-1]
    if is_falling and all(before >= after for before, after in pairwise(times)):
        return tuple(sorted(messages, key=lambda message: message.timestamp or ""))
    return messages


def is_dialogue(messages: Sequence[Message], objects: int) -> bool:
    """Return whether so many messages among so many objects are a conversation."""
    speakers = [message.speaker for message in messages if message.text]
    has_certain_side = any(speaker.certainty > 1 and speaker.role in SIDES for speaker in speakers)
    if has_certain_side and len(messages) >= objects * STRONG_SHARE:
        return True
    known = {speaker.role for speaker in speakers if speaker.certainty}
    share = EVENT_SHARE if known >= SIDES and all(speaker.is_event for speaker in speakers) else WEAK_SHARE
    if len(messages) < max(2, objects * share):
        return False
    named = roles_of_names(speakers).values() if len(speakers) >= FEWEST_NAMED else ()
    return {*known, *named} >= SIDES or _are_people(speakers)


def _are_people(speakers: list[Speaker]) -> bool:
    """Return whether a few names take turns, as people do, and columns of a table do not."""
    words = Counter(speaker.word for speaker in speakers)
    is_numbered = all("speaker" in split_words(speaker.key) for speaker in speakers)
    are_names = all(_NAME.match(word) and (is_numbered or not word.isnumeric()) for word in words)
    is_few = 1 < len(words) <= MOST_SPEAKERS
    return is_few and are_names and len(speakers) >= max(FEWEST_NAMED, 2 * len(words))


def find_thread_key(messages: Sequence[Message]) -> str:
    """Find the key whose values separate messages into conversations.

    Return "" if they are one or have ids.

    It is known by its name, or because the sides alternate within each of its values and not in the whole list.
    """
    visible = [message for message in messages if message.text and message.speaker.role not in ("system", "tool")]
    if not visible or any(message.conversation_id for message in visible):
        return ""
    facts = [message.metadata or {} for message in visible]
    role_key = visible[0].speaker.key
    common = [key for key in facts[0] if key != role_key and all(is_short_value(fact.get(key)) for fact in facts)]
    thread_words = vocabulary().thread_words
    for key in sorted(common, key=lambda key: not has_word(key, thread_words)):
        if _separates(visible, [str(fact[key]) for fact in facts], is_named=has_word(key, thread_words)):
            return key
    return ""


def _separates(messages: Sequence[Message], values: Sequence[str], *, is_named: bool) -> bool:
    roles: dict[str, list[str]] = {}
    for message, value in zip(messages, values, strict=True):
        roles.setdefault(value, []).append(message.speaker.role)
    threads = [each for each in roles.values() if len(each) > 1]
    if len(threads) <= 1 or any(len(set(each)) == 1 for each in threads) or max(map(len, threads)) < FEWEST_IN_THREAD:
        return False
    if is_named:
        return True
    changes = sum(before != after for before, after in pairwise(values))
    is_whole = _alternates([message.speaker.role for message in messages])
    are_whole = all(len(each) >= FEWEST_IN_THREAD and _alternates(each) for each in roles.values())
    return changes >= len(roles) and not is_whole and are_whole


def _alternates(roles: Sequence[str]) -> bool:
    return all(before != after for before, after in pairwise(roles))


# Lists with the words of a conversation that are none

FEWEST_LABELLED = 3
"""Items of a list in which each has a name of its own; of two messages each may name its speaker."""
MANY = 20
TURN_SHARE = 0.8
"""Share of a conversation's messages whose speaker is not the one before; by chance it would be two thirds for three."""
UNIQUE_SHARE = 0.6
"""Share of different texts in a conversation."""
ISSUE_WORDS = frozenset({"title", "number"})

_PLACEHOLDER = re.compile(r"\{\{\s?\w{1,40}\s?\}\}")


def is_other_list(messages: Sequence[Message]) -> bool:
    """Return whether messages are a list of something else, such as log lines, commits, people, prompts or forms."""
    facts = [message.metadata or {} for message in messages]
    common = set(facts[0]).intersection(*facts) - {messages[0].speaker.key}
    each = facts[::2] if are_exchanges(messages) else facts
    if any(_is_label(key, [fact[key] for fact in each]) for key in common):
        return True
    if _is_guess(messages) or _are_interface_parts(messages) or _is_list_of_roles(messages) or _is_template(messages):
        return True
    by_role = [message.speaker for message in messages if message.speaker.key == "role"]
    certain = sum(speaker.certainty > 0 for speaker in by_role)
    if {speaker.role for speaker in by_role} >= SIDES or certain > len(by_role) * CERTAIN_SHARE:
        return False
    words = {word for key in common for word in split_words(key)}
    lists = vocabulary()
    return bool(words & (lists.record_words | lists.log_words)) or words >= ISSUE_WORDS or _is_repetitive(messages)


def _is_label(key: str, values: Sequence[object]) -> bool:
    """Return whether each item has a name of its own, as things and people in a list have."""
    words = split_words(key)
    labels = {value for value in values if isinstance(value, str)}
    is_label_key = bool(words) and words[-1] in vocabulary().label_words
    return is_label_key and len(labels) == len(values) >= FEWEST_LABELLED


def _is_repetitive(messages: Sequence[Message]) -> bool:
    """Return whether half of many texts are repeated and the speakers do not take turns, as in a program's log."""
    texts = {message.text for message in messages}
    changes = sum(before.speaker.role != after.speaker.role for before, after in pairwise(messages))
    return len(messages) >= MANY and len(texts) * 2 <= len(messages) and changes < len(messages) * TURN_SHARE


def _is_guess(messages: Sequence[Message]) -> bool:
    """Return whether one of two speakers is only a name, and they neither take turns nor ask anything."""
    guessed = roles_of_names(message.speaker for message in messages)
    takes_turns = _alternates([message.speaker.role for message in messages])
    return bool(guessed) and not takes_turns and not any(is_question(message.text) for message in messages)


def _is_template(messages: Sequence[Message]) -> bool:
    """Return whether every text of the user has a placeholder: a prompt that is yet to be filled in."""
    texts = [message.text for message in messages if message.speaker.role == "user"]
    return bool(texts) and all(map(_PLACEHOLDER.search, texts))


def _are_interface_parts(messages: Sequence[Message]) -> bool:
    """Return whether the roles are those of an interface's parts, or unknown and nobody answers a question."""
    if any(message.speaker.certainty or message.speaker.key != "role" for message in messages):
        return False
    if any(message.speaker.role in vocabulary().interface_roles for message in messages):
        return True
    is_answered = any(
        is_question(before.text) and before.speaker.role != after.speaker.role for before, after in pairwise(messages)
    )
    return not is_answered or len({message.text for message in messages}) < UNIQUE_SHARE * len(messages)


def _is_list_of_roles(messages: Sequence[Message]) -> bool:
    """Return whether each message has a role of its own, most of them unknown, and nobody asks: a list of roles."""
    words = {message.speaker.word for message in messages}
    unknown = sum(not message.speaker.certainty for message in messages)
    is_list = FEWEST_LABELLED <= len(messages) == len(words) <= 2 * unknown
    return is_list and not any(message.speaker.key != "role" or is_question(message.text) for message in messages)


def _is_form(conversations: Sequence[Sequence[Message]]) -> bool:
    """Return whether several lists of exchanges ask the same questions: a form that many people filled in."""
    questions = [message.text for messages in conversations for message in messages if message.speaker.role == "user"]
    return (
        len(conversations) > 1
        and len(questions) >= 2 * len(conversations)
        and len(set(questions)) * 2 <= len(questions)
    )


# JSON in strings, and keys that are paths

BASE64_STARTS = ("eyJ", "eyA", "ewo", "W3s", "Wwo", "W1s", "WyJ")
"""Starts of an object or a list of objects in base64."""
EVENT_STARTS = ("data:", "event:", "id:")
"""Starts of a line of server-sent events."""
JSON_STARTS = ("{", "[", *BASE64_STARTS, *EVENT_STARTS)
SHORTEST_JSON = 24
DEEPEST_JSON = 24
PAIR_KEYS = ({"key", "value"}, {"name", "value"})
FEWEST_PATHS = 4
"""Keys that are paths: two of each of two records."""

_PATH = re.compile(r"(?P<list>.{1,80}?)[._/\[](?P<place>\d{1,4})\]?[._/](?P<key>\D{1,80})")


def decode_nested_json(value: object) -> object:
    """Return the value with strings of JSON replaced by what they hold, and keys that are paths by lists.

    Logs of requests and databases write such strings, traces such keys. Without any, return the very same value.
    """
    return _decode(value, 0) if _may_be_encoded(value) else value


def _may_be_encoded(value: object) -> bool:
    """Return quickly whether a string begins like JSON or keys are paths."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            if len(item) >= SHORTEST_JSON and item.lstrip().startswith(JSON_STARTS):
                return True
        elif isinstance(item, dict | list):
            if _expand_paths(item) is not item:
                return True
            stack.extend(item.values() if isinstance(item, dict) else item)
    return False


def parse_encoded_item(item: object) -> tuple[Message, ...]:
    """Parse an item of a list as `parse_item` does; if it is no message, with its strings of JSON decoded."""
    if messages := parse_item(item):
        return messages
    decoded = decode_nested_json(item)
    return () if decoded is item else parse_item(decoded)


def _decode(value: object, depth: int) -> object:
    if depth > DEEPEST_JSON:
        return value
    if isinstance(value, str):
        inner = _decode_string(value)
        return inner if inner is value else _decode(inner, depth + 1)
    if isinstance(value, dict | list):
        value = _expand_paths(value)
    if isinstance(value, list):
        items = [_decode(item, depth + 1) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if isinstance(value, dict):
        fields = {key: _decode(item, depth + 1) for key, item in value.items()}
        return fields if any(fields[key] is not item for key, item in value.items()) else value
    return value


def _expand_paths(value: Json | list[object]) -> Json | list[object]:
    """Return the object with lists in the place of keys such as `messages.0.role` and `messages[0].role`.

    A list of keys and values counts as an object.
    """
    fields = _read_pairs(value) if isinstance(value, list) else value
    found = [match for key in fields if (match := _PATH.fullmatch(key))] if len(fields) >= FEWEST_PATHS else []
    lists: dict[str, dict[int, Json]] = {}
    for match in found:
        lists.setdefault(match["list"], {}).setdefault(int(match["place"]), {})[match["key"]] = fields[match[0]]
    if not any(len(items) > 1 and all(len(item) > 1 for item in items.values()) for items in lists.values()):
        return value
    paths = {match[0] for match in found}
    expanded = {
        key: [items[place] for place in sorted(items)] if len(items) > 1 else items.popitem()[1]
        for key, items in lists.items()
    }
    return {key: inner for key, inner in fields.items() if key not in paths} | expanded


def _read_pairs(items: list[object]) -> Json:
    """Return the object of a list of keys with their values.

    Return an empty one for any other list.
    """
    pairs = [mapping_of(item) for item in items if mapping_of(item).keys() in PAIR_KEYS]
    named = {name: item["value"] for item in pairs if isinstance(name := item.get("key", item.get("name")), str)}
    return {name: _untyped(value) for name, value in named.items()} if len(named) == len(items) else {}


def _untyped(value: object) -> object:
    """Return the value of an object that names its type: `{"stringValue": "…"}`."""
    return next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 else value


def _decode_string(text: str) -> object:
    """Return the object or list in a string of JSON, base64 or server-sent events.

    Otherwise return the string.
    """
    decoded = text
    if len(text) < SHORTEST_JSON:
        return text
    if text.startswith(BASE64_STARTS):
        try:
            decoded = b64decode(text, validate=True).decode()
        except ValueError:
            return text
    if not decoded.lstrip().startswith(("{", "[")):
        return _read_events(decoded) or text
    inner = parse_json(decoded)
    return inner if isinstance(inner, dict | list) else text


def _read_events(text: str) -> list[object]:
    """Return the objects of server-sent events, one for each line of data."""
    if not text.lstrip().startswith(EVENT_STARTS):
        return []
    lines = (line.removeprefix("data:").strip() for line in text.splitlines() if line.startswith("data:"))
    return [inner for line in lines if line.startswith("{") and isinstance(inner := parse_json(line), dict)]
