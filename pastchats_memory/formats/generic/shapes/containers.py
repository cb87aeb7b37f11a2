"""The conversations of a JSON value: lists and maps of messages, under whatever keys programs keep them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import cast

from pastchats_memory.formats.base.source import Json, day_by_day, days_joined, in_number_order, list_of, mapping_of
from pastchats_memory.formats.base.tree import abandoned_places
from pastchats_memory.formats.generic.shapes.exchanges import (
    TAKEN,
    hints_at_exchanges,
    sides_of,
)
from pastchats_memory.formats.generic.shapes.lookalikes import are_entries, are_pairs
from pastchats_memory.formats.generic.shapes.message import (
    CONVERSATION_ID_KEYS,
    OWN_ID_KEYS,
    Message,
    first_text,
    message_of,
    place_of,
    time_of,
)
from pastchats_memory.formats.generic.shapes.naming import NO_TALK, SIDES, has
from pastchats_memory.formats.generic.shapes.talk import is_dialogue, oldest_first
from pastchats_memory.formats.generic.speakers import (
    ROLE_PARTS,
    hints_at_speakers,
    is_doubtful_key,
    roles_of_names,
)

CONTAINER_KEYS = (
    "chat_messages", "history", "messages", "conversations", "conversation", "chat", "chats", "turns", "dialog", "dialogue", "dialogs",
    "thread", "threads", "sessions", "session", "transcript", "exchanges", "entries", "items", "input", "data", "visible",
)  # fmt: skip
"""In this order: a tree (`history`) says more than the flat copy beside it."""
CURRENT_KEYS = ("current_leaf_message_uuid", "currentId", "current_node", "currentNode", "currentMessageId")
ABOUT_KEYS = ("info", "conversation", "session", "thread")
"""What is said of a conversation as a whole may stand in an object beside its messages."""
TITLE_KEYS = ("title", "name", "subject", "chatTitle")
REQUESTS = frozenset({"request", "req", "input", "inputs"})
RESPONSES = frozenset({"response", "output", "outputs", "completion", "result", "res", "resp"})
OTHER_KINDS = (
    "$schema", "$defs", "definitions", "openapi", "swagger", "asyncapi", "lockfileVersion", "dependencies",
    "devDependencies", "resourceType", "film", "movie", "screenplay", "cues", "subtitles",
)  # fmt: skip
"""Keys at the top of a schema, an interface, a lock file, a package, a patient's record, a film."""
OTHER_TYPES = ("FeatureCollection", "Feature", "Topology", "object")
OPENINGS = ("source", "opening", "first_message", "initial_message", "root", "question", "post")
"""Keys of the message to which the others of a list are replies."""
COMPARISON = "prompt_convo"
"""In every item of the comparisons beside a ChatGPT export: the conversation, which the export has too."""
DEEPEST = 8
DEEPEST_ANSWER = 5


@dataclass(frozen=True, slots=True)
class Context:
    """What the objects around the messages say about all of them."""

    conversation_id: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    project: str | None = None
    title: str | None = None
    model: str | None = None
    current: str | None = None
    id_key: str = ""
    """The key under which the id was found."""

    def inside(self, fields: Json) -> Context:
        """The same, with what this object says instead or besides."""
        info = mapping_of(next(filter(None, map(fields.get, ABOUT_KEYS)), None)) | fields
        cwd, project = place_of(info)
        model = info.get("model")
        id_key, own_id = first_text(info, CONVERSATION_ID_KEYS + OWN_ID_KEYS)
        return Context(
            conversation_id=own_id or self.conversation_id,
            id_key=id_key or self.id_key,
            timestamp=time_of(info)[1] or self.timestamp,
            cwd=cwd or self.cwd,
            project=project or self.project,
            title=first_text(info, TITLE_KEYS)[1] or self.title,
            model=model if isinstance(model, str) else self.model,
            current=first_text(info, CURRENT_KEYS)[1] or self.current,
        )


NOWHERE = Context()
"""What is known where no object is around the messages."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages of one list or map, in the order of the file."""

    messages: tuple[Message, ...]
    context: Context
    is_logged: bool = False
    """One request of a log, which repeats what was said before it."""
    left: frozenset[int] = frozenset()
    """Places of messages that are known to be beside the path, whatever their ids say."""

    @property
    def abandoned(self) -> frozenset[int]:
        """Places of the messages that hang on a fork beside the path to the current one."""
        return self.left | abandoned_places(
            [(message.own_id, message.parent_id) for message in self.messages], self.context.current
        )


def conversations_of(value: object, context: Context | None = None, depth: int = 0) -> Iterator[Conversation]:
    """Every conversation of a JSON value, in the order of the file; nothing where the value is something else."""
    outer = context or NOWHERE
    if depth > DEEPEST or not _may_speak(value) or (depth == 0 and is_of_another_kind(value)):
        return
    if isinstance(value, list):
        if messages := _messages_of(value):
            yield Conversation(oldest_first(messages), outer)
        else:
            separate = replace(outer, conversation_id=None)
            for item in value:
                if isinstance(item, dict | list):
                    yield from conversations_of(item, separate, depth + 1)
    elif messages := _messages_of(day_by_day(mapping_of(value))):
        yield Conversation(messages, outer)
    else:
        fields = days_joined(mapping_of(value))
        yield from _of_object(fields, outer.inside(fields), depth)


def is_of_another_kind(value: object) -> bool:
    """Whether a document says of itself that it is something well known and no conversation: a schema, a lock file, a map."""
    if isinstance(value, list):
        first = mapping_of(value[0] if value else None)
        return COMPARISON in mapping_of(mapping_of(first.get("content")).get("input"))
    fields = mapping_of(value)
    said = any(key in fields for key in OTHER_KINDS) or fields.get("type") in OTHER_TYPES
    return said and not any(key in fields for key in ("messages", "conversations", "turns"))


def _may_speak(value: object) -> bool:
    """Whether there is anything in the value that could tell who speaks; a quick look, since most files have nothing."""
    stack = [value]
    while stack:
        at = stack.pop()
        if isinstance(at, dict):
            if hints_at_speakers(at) or hints_at_exchanges(at):
                return True
            stack.extend(inner for inner in at.values() if isinstance(inner, dict | list))
        elif isinstance(at, list):
            stack.extend(inner for inner in at if isinstance(inner, dict | list))
    return False


@dataclass(frozen=True, slots=True)
class LongList:
    """The list in a document that can be read item by item, since none of its items needs another to be understood."""

    keys: tuple[str, ...]
    """Under which it stands, from the top of the document down."""
    context: Context
    opening: list[object]
    """Its first items."""
    has_messages: bool
    """Its items are the messages of one conversation; else each is a conversation or has some."""


def long_list_in(outline: object) -> LongList | None:
    """The list of messages or conversations in a document's outline.

    None where a conversation is a tree or a map, or stands under a name of the file's choosing: these are known from the
    whole alone.
    """
    keys: tuple[str, ...] = ()
    context = NOWHERE
    while isinstance(outline, dict):
        context = context.inside(outline)
        fields = outline
        key = next((key for key in CONTAINER_KEYS if any(_inside(fields.get(key), context))), None)
        if key is None:
            return None
        keys, outline = (*keys, key), outline[key]
    items = list_of(outline)
    messages = _messages_of(items)
    if any(message.parent_id for message in messages):
        return None
    return LongList(keys, context, items, bool(messages))


def _inside(value: object, context: Context) -> Iterator[Conversation]:
    return conversations_of(value, context, 1) if isinstance(value, dict | list) else iter(())


def _of_object(fields: Json, context: Context, depth: int) -> Iterator[Conversation]:
    if asked := _asked_and_answered(fields, context, depth):
        yield asked
        return
    for key in CONTAINER_KEYS:
        inner = fields.get(key)
        found = list(conversations_of(inner, context, depth + 1)) if isinstance(inner, dict | list) else []
        if found:
            yield from _with_opening(found, fields, context)
            return
    if sides := _made(sides_of(fields)):
        yield Conversation(sides, context)
        return
    messages = _messages_of(list(in_number_order(fields).values()))
    if len(messages) > 1:
        if not (are_pairs(messages) and are_entries(fields)):
            yield Conversation(messages, context)
        return
    yield from _with_opening(list(_under_own_names(fields, context, depth)), fields, context)


def _with_opening(found: list[Conversation], fields: Json, context: Context) -> Iterator[Conversation]:
    """The conversations; of a single one also the message that opened it, where that stands beside the list of the others."""
    if len(found) == 1 and (first := found[0].messages[0]).timestamp and (began := context.timestamp):
        beside = (message_of(value) for key, value in fields.items() if key in OPENINGS and isinstance(value, dict))
        known = {message.speaker.role for message in found[0].messages} | SIDES
        opening = next(
            (message for message in beside if message and message.speaker.role in known and message.text), None
        )
        if opening and began <= first.timestamp and all(opening.text != other.text for other in found[0].messages):
            dated = opening if opening.timestamp else replace(opening, timestamp=began)
            yield replace(found[0], messages=(dated, *found[0].messages))
            return
    yield from found


def _under_own_names(fields: Json, context: Context, depth: int) -> Iterator[Conversation]:
    """Conversations under names of the file's choosing: only where a user and an assistant, or speakers, are told.

    Such a name is the conversation's id where it stands beside others, or has a number; else it is a wrapper's.
    """
    unnamed = replace(context, conversation_id=None)
    found = {
        key: told
        for key, value in fields.items()
        if isinstance(value, list | dict)
        and value
        and not has(key, NO_TALK)
        and (told := [one for one in conversations_of(value, unnamed, depth + 1) if _is_told(one)])
    }
    for key, told in found.items():
        own = key if len(found) > 1 or any(letter.isdigit() for letter in key) else None
        outer = context.conversation_id
        name = f"{outer}/{own}" if own and outer else own or outer
        for one in told:
            yield (
                one if one.context.conversation_id else replace(one, context=replace(one.context, conversation_id=name))
            )


def _is_told(conversation: Conversation) -> bool:
    speakers = [message.speaker for message in conversation.messages]
    roles = {speaker.role for speaker in speakers if speaker.certainty > 0}
    if roles.union(roles_of_names(speakers).values()) >= SIDES:
        return True
    named = all(has(speaker.key, ROLE_PARTS) or speaker.key == "from" for speaker in speakers)
    return named and len({speaker.word for speaker in speakers}) > 1


def _asked_and_answered(fields: Json, context: Context, depth: int) -> Conversation | None:
    """What a log of requests to a model has: the messages that were sent under one key, the answer under another."""
    named = [key for key in fields if key == "messages" or has(key, REQUESTS)]
    named.sort(key="messages".__ne__)  # beside it `request_tags` is no request
    asked = next((key for key in named if isinstance(fields[key], dict | list)), None)
    if asked is None:
        return None
    responses = [value for key, value in fields.items() if key != asked and has(key, RESPONSES)]
    answer = next((messages for value in responses if (messages := _answer_in(value) or _plain_answer(value))), ())
    sent = _sent_in(fields[asked], context, depth + 1) if answer else []
    if any(one.messages[-1].speaker.role == "assistant" for one in sent):
        return None
    return Conversation(sent[0].messages + answer, sent[0].context, is_logged=True) if len(sent) == 1 else None


def _sent_in(value: object, context: Context, depth: int) -> list[Conversation]:
    """The conversations of a request: with an answer beside it one of a person alone counts, however it is wrapped."""
    if found := list(conversations_of(value, context, depth)):
        return found
    inner = (_sent_in(item, context, depth + 1) for item in mapping_of(value).values() if depth < DEEPEST)
    return next((found for found in inner if found), [])


def _answer_in(value: object, depth: int = 0) -> tuple[Message, ...]:
    """The first messages of an assistant in a response, however deep they are wrapped."""
    if isinstance(value, dict):
        message = message_of(value)
        if message and message.speaker.role == "assistant" and message.speaker.certainty > 1 and message.text:
            return (message,)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    found = (_answer_in(item, depth + 1) for item in inner) if depth < DEEPEST_ANSWER else iter(())
    return next((messages for messages in found if messages), ())


def _plain_answer(response: object, depth: int = 0) -> tuple[Message, ...]:
    """The text of a response that does not say who speaks, however deep it is wrapped."""
    fields = mapping_of(response)
    said = response if depth == 0 and isinstance(response, str) else fields.get("content", fields.get("text"))
    message = message_of({"role": "assistant", "content": said}) if isinstance(said, str | list) else None
    if message and message.text:
        return (message,)
    inner = (item for item in (*fields.values(), *list_of(response)) if isinstance(item, dict | list))
    found = (_plain_answer(item, depth + 1) for item in inner) if depth < DEEPEST_ANSWER else iter(())
    return next((messages for messages in found if messages), ())


def _made(rows: Iterable[Json]) -> tuple[Message, ...]:
    """The messages of objects that were made of something else, with the keys of which they were made."""
    made = []
    for row in rows:
        role_key, text_key = cast("tuple[str, str]", row.pop(TAKEN, ("", "")))
        if (message := message_of(row)) and message.text:
            told = replace(message.speaker, key=role_key) if role_key else message.speaker
            made.append(replace(message, speaker=told, text_key=text_key or message.text_key))
    return tuple(made)


def _messages_of(items: list[object]) -> tuple[Message, ...]:
    """The messages of a list that is a conversation; none of any other list."""
    objects = [item for item in items if isinstance(item, dict)]
    each = [messages_in(fields) for fields in objects]
    if messages := _dialogue_of(each):
        return messages
    keys = {message.speaker.key for messages in each for message in messages if message.speaker.role == "user"}
    doubtful = next(filter(is_doubtful_key, keys), None)
    return _dialogue_of([messages_in(fields, doubtful) for fields in objects]) if doubtful else ()


def _dialogue_of(each: list[tuple[Message, ...]]) -> tuple[Message, ...]:
    read = [message for messages in each for message in messages]
    return tuple(read) if is_dialogue(read, sum(max(1, len(messages)) for messages in each)) else ()


def messages_in(item: object, named_by: str = "") -> tuple[Message, ...]:
    """The message that an item of a list is, or both sides of an exchange; nothing for anything else."""
    fields = mapping_of(item)
    message = message_of(fields, named_by) if fields else None
    sides = _made(sides_of(fields)) if fields and not (message and message.speaker.certainty) else ()
    return sides or ((message,) if message else ())
