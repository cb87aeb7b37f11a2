"""The conversations of a JSON value: lists, maps and trees of messages, under whatever keys programs keep them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pastchats_memory.readers.fields import Json, list_of, mapping_of
from pastchats_memory.readers.forks import abandoned
from pastchats_memory.readers.message import (
    CONVERSATION_ID_KEYS,
    OWN_ID_KEYS,
    TREE_KEYS,
    Message,
    Speaker,
    first_text,
    message_of,
    place_of,
    time_of,
)

CONTAINER_KEYS = (
    "chat_messages", "history", "messages", "conversations", "conversation", "chat", "chats", "turns", "dialog", "dialogue", "dialogs",
    "thread", "threads", "sessions", "session", "transcript", "exchanges", "entries", "items", "input", "data",
)  # fmt: skip
"""In this order: a tree (`history`) says more than the flat copy beside it."""
CURRENT_KEYS = ("current_leaf_message_uuid", "currentId", "current_node", "currentNode", "currentMessageId")
TITLE_KEYS = ("title", "name", "subject", "chatTitle")
DEEPEST = 8
STRONG_SHARE = 0.2
"""Of a list's objects that say a known role outright, so many make it a conversation among other records."""
WEAK_SHARE = 0.5
FEWEST_SPEECHES = 4
MOST_SPEAKERS = 12

_NAME = re.compile(r"[\w][\w .'-]{0,39}\Z")


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

    def inside(self, fields: Json) -> Context:
        """The same, with what this object says instead or besides."""
        info = mapping_of(fields.get("info")) | fields
        env = mapping_of(mapping_of(info.get("env")).get("initial"))
        trees = list_of(env.get("trees"))
        cwd, project = place_of(info | ({"cwd": mapping_of(trees[0]).get("uri")} if trees else {}) | env)
        model = info.get("model")
        return Context(
            conversation_id=first_text(info, CONVERSATION_ID_KEYS)[1]
            or first_text(info, OWN_ID_KEYS)[1]
            or self.conversation_id,
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
    """The messages of one list, map or tree, in the order of the file."""

    messages: tuple[Message, ...]
    context: Context

    @property
    def abandoned(self) -> frozenset[int]:
        """Places of the messages that hang on a fork beside the path to the current one."""
        return abandoned([(message.own_id, message.parent_id) for message in self.messages], self.context.current)


def conversations_of(value: object, context: Context | None = None, depth: int = 0) -> Iterator[Conversation]:
    """Every conversation of a JSON value, in the order of the file; nothing where the value is something else."""
    outer = context or NOWHERE
    if depth > DEEPEST:
        return
    if isinstance(value, list):
        messages = _messages_of(value)
        if messages:
            yield Conversation(messages, outer)
        else:
            separate = replace(outer, conversation_id=None)
            for item in value:
                if isinstance(item, dict | list):
                    yield from conversations_of(item, separate, depth + 1)
    elif isinstance(value, dict):
        yield from _of_object(value, outer.inside(value), depth)


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
        inner = outline
        key = next((key for key in CONTAINER_KEYS if any(_inside(inner.get(key), context))), None)
        if key is None:
            return None
        keys, outline = (*keys, key), outline[key]
    items = list_of(outline)
    messages = _messages_of(items)
    if any(message.parent_id for message in messages) or (messages and len(list(_flattened(items))) > len(items)):
        return None
    return LongList(keys, context, items, bool(messages))


def _inside(value: object, context: Context) -> Iterator[Conversation]:
    return conversations_of(value, context, 1) if isinstance(value, dict | list) else iter(())


def _of_object(fields: Json, context: Context, depth: int) -> Iterator[Conversation]:
    if pair := _prompt_and_response(fields):
        yield Conversation(pair, context)
        return
    for key in CONTAINER_KEYS:
        inner = fields.get(key)
        found = list(conversations_of(inner, context, depth + 1)) if isinstance(inner, dict | list) else []
        if found:
            yield from found
            return
    if len(messages := _messages_of(list(fields.values()))) > 1:
        yield Conversation(messages, context)
        return
    if depth <= 1:
        for key, inner in fields.items():
            if isinstance(inner, list | dict) and inner:
                yield from _under_own_name(key, inner, context, depth)


def _under_own_name(key: str, value: Json | list[object], context: Context, depth: int) -> Iterator[Conversation]:
    """A conversation under a name of the file's choosing: only where a user and an assistant, or speakers, are told."""
    inner = replace(
        context, conversation_id=key if context.conversation_id is None else f"{context.conversation_id}/{key}"
    )
    has_container = isinstance(value, list) or any(name in value for name in CONTAINER_KEYS)
    for conversation in conversations_of(value, inner, depth + 2) if has_container else ():
        roles = {message.speaker.role for message in conversation.messages if message.speaker.certainty > 0}
        if {"user", "assistant"} <= roles or all(message.speaker.key == "speaker" for message in conversation.messages):
            yield conversation


def _messages_of(items: list[object]) -> tuple[Message, ...]:
    """The messages of a list that is a conversation; none of any other list."""
    flat = list(_flattened(items))
    read = [message for fields in flat if (message := message_of(fields))]
    return tuple(read) if is_dialogue(read, len(flat)) else ()


def _flattened(items: list[object]) -> Iterator[Json]:
    """Objects with those nested in them as replies, parents first."""
    stack = [(item, "") for item in reversed(items)]
    while stack:
        item, parent = stack.pop()
        if not isinstance(item, dict):
            continue
        yield {"parentId": parent, **item} if parent else item
        own = first_text(item, OWN_ID_KEYS)[1] or ""
        for key in TREE_KEYS:
            stack.extend((reply, own) for reply in reversed(list_of(item.get(key))))


def is_dialogue(messages: list[Message], objects: int) -> bool:
    """Whether so many messages among so many objects are a conversation, and not another list that uses the same words."""
    told = [message.speaker for message in messages if message.text]
    outright = [speaker for speaker in told if speaker.certainty > 1]
    if any(speaker.role in ("user", "assistant") for speaker in outright) and len(messages) >= objects * STRONG_SHARE:
        return True
    if len(messages) < max(2, objects * WEAK_SHARE):
        return False
    roles = {speaker.role for speaker in told if speaker.certainty}
    return {"user", "assistant"} <= roles or _people_talk(told)


def _people_talk(speakers: list[Speaker]) -> bool:
    """Whether a few names take turns, as people do, and columns of a table do not."""
    words = Counter(speaker.word for speaker in speakers)
    fits = 1 < len(words) <= MOST_SPEAKERS and all(_NAME.match(word) and not word.isnumeric() for word in words)
    return fits and len(speakers) >= max(FEWEST_SPEECHES, 2 * len(words))


def _prompt_and_response(fields: Json) -> tuple[Message, ...]:
    """A row of a log that has both sides in one object (`llm logs --json`)."""
    prompt, response = fields.get("prompt"), fields.get("response")
    if not (
        isinstance(prompt, str)
        and isinstance(response, str)
        and prompt.strip()
        and isinstance(fields.get("model"), str)
    ):
        return ()
    rest = {key: value for key, value in fields.items() if key not in ("prompt", "response", "id")}
    made = (
        message_of({"role": role, "content": text} | rest) for role, text in (("user", prompt), ("assistant", response))
    )
    return tuple(message for message in made if message and message.text)
