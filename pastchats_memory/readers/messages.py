"""Any JSON or JSONL that has messages to turns: chat exports, fine-tuning sets, dumps of a database of turns.

Asked after every reader of a known format. A file is left rather than guessed at: it must tell of users or assistants, or of
a few names that take turns, by its keys or by what its columns look like (`understood`).
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from itertools import islice, takewhile

from pastchats_memory.model import Turn, Unreadable
from pastchats_memory.readers.containers import (
    NOWHERE,
    Context,
    Conversation,
    conversations_of,
    long_list_in,
    messages_in,
)
from pastchats_memory.readers.fields import list_of, mapping_of
from pastchats_memory.readers.message import Message, message_of
from pastchats_memory.readers.places import Places
from pastchats_memory.readers.resume import Checkpoint
from pastchats_memory.readers.source import LARGE_DOCUMENT, SAMPLE_RECORDS, BadJson, Element, Record, Records, Source
from pastchats_memory.readers.speakers import roles_of_names
from pastchats_memory.readers.talk import is_dialogue
from pastchats_memory.readers.text import conversation_hash, shortened
from pastchats_memory.readers.times import to_the_minute
from pastchats_memory.readers.understood import amended, conversations_in, is_record

FORMAT = "messages"
VERSION = 7

MOST_KEYS = 3
"""Keys that are named for one thing; a file has seldom more than two."""

MOST_KEPT = 1 << 16
"""Characters of the first lines that are kept to go on by."""
JUDGED_RECORDS = 1000
"""Lines of JSONL in which somebody must have said something, or the rest is not looked at: most such files are logs."""
KINDS = {"assistant": "answer", "tool": "result"}


def recognise(source: Source) -> bool:
    """Whether the file has messages: one a line, one conversation a line, or anywhere that chats are kept in a document."""
    if source.shape == "jsonl":
        opening = _opening(source)
        return _is_message_a_line(opening) or any(_conversations(opening)) or bool(source.once(_taken_together))
    return source.shape == "json" and bool(source.once(_understood))


def read(source: Source) -> Iterator[Turn | Unreadable | Checkpoint]:
    """The turns in the order of the file, with the line on which the text of each begins.

    JSONL that has grown is gone on with, once it had as many lines as it is recognised by.
    """
    if source.shape != "jsonl":
        yield from _read_document(source)
        return
    if source.resumed is None and (together := source.once(_taken_together)):
        yield from _read_together(source, together)
        return
    before = source.resumed.state if source.resumed else None
    opening = _opening(source) if before is None else list_of(before.get("opening"))
    records = source.records()
    if _is_message_a_line(opening):
        yield from _read_messages(source, records, opening)
    else:
        yield from _read_conversations(records)
    if len(opening) == SAMPLE_RECORDS and len(json.dumps(opening)) <= MOST_KEPT:
        yield from records.checkpoint({"opening": opening})


def explain(source: Source) -> dict[str, str]:
    """Which keys of the file were taken for the role, the text, the time and the conversation of its messages, commonest first."""
    if source.shape == "jsonl" and (together := source.once(_taken_together)):
        found = together
    elif source.shape == "jsonl" and _is_message_a_line(opening := _opening(source)):
        found = [Conversation((message,), NOWHERE) for value in opening if (message := message_of(mapping_of(value)))]
    else:
        found = list(_conversations(_opening(source))) if source.shape == "jsonl" else source.once(_understood)
    keys: dict[str, Counter[str]] = {what: Counter() for what in ("role", "text", "time", "conversation")}
    for conversation in found:
        for message in conversation.messages:
            keys["role"][message.speaker.key or message.text_key] += 1
            keys["text"][message.text_key] += 1
            keys["time"][message.time_key] += 1
            keys["conversation"][message.conversation_key or conversation.context.id_key] += 1
    told = {
        what: [key for key, _ in counts.most_common(MOST_KEYS + 1) if key][:MOST_KEYS] for what, counts in keys.items()
    }
    return {what: ", ".join(names) for what, names in told.items() if names}


def _understood(source: Source) -> list[Conversation]:
    """The conversations of a document; of a large one, of which only the outline is known, those that its keys name."""
    if source.size > LARGE_DOCUMENT:
        return list(conversations_of(source.outline))
    return conversations_in(source.outline)


def _taken_together(source: Source) -> list[Conversation]:
    """The conversations of JSONL whose lines are understood together alone: pieces, corrections, a legend in the first line.

    None of a large file, whose lines are never all known at once, nor where each line is understood by itself.
    """
    if source.size > LARGE_DOCUMENT:
        return []
    opening = _opening(source)
    if (_is_message_a_line(opening) or any(_conversations(opening))) and not amended(opening):
        return []
    values = (item.value for item in source.records() if isinstance(item, Record))
    first = list(islice(values, JUDGED_RECORDS))
    if not (found := conversations_in(first)):
        return []
    rest = list(values)
    return conversations_in([*first, *rest]) if rest else found


def _read_together(source: Source, conversations: list[Conversation]) -> Iterator[Turn | Unreadable]:
    yield from (item for item in source.records() if isinstance(item, Unreadable))
    places = Places(source.text)
    for conversation in conversations:
        yield from _turns(conversation, places)


def _opening(source: Source) -> list[object]:
    records = (item.value for item in source.records() if isinstance(item, Record))
    return list(islice(records, SAMPLE_RECORDS))


def _is_message_a_line(values: list[object]) -> bool:
    objects = [value for value in values if isinstance(value, dict)]
    read = [message for value in objects if (message := message_of(value))]
    return is_dialogue(read, len(objects)) and not is_record(read)


def _conversations(values: Iterable[object]) -> Iterator[Conversation]:
    for value in values:
        yield from conversations_of(value)


def _read_document(source: Source) -> Iterator[Turn | Unreadable]:
    if isinstance(source.outline, BadJson):
        yield Unreadable(str(source.path), 0, f"not JSON: {source.outline.reason}")
        return
    long = long_list_in(source.outline) if source.size > LARGE_DOCUMENT else None
    if long is None:
        is_large = source.size > LARGE_DOCUMENT
        found = list(conversations_of(source.document)) if is_large else source.once(_understood)
        places, ends = Places(source.text), dict[str, str]()
        for conversation in found:
            yield from _turns(_news(conversation, ends), places)
    elif long.has_messages:
        yield from _read_messages(source, source.elements(*long.keys), long.opening, long.context)
    else:
        ends = {}
        for element in source.elements(*long.keys):
            if isinstance(element, Unreadable):
                yield element
                continue
            for conversation in conversations_of(element.value, replace(long.context, conversation_id=None)):
                yield from _turns(_news(conversation, ends), Places(element.text, element.line))


def _read_conversations(records: Records) -> Iterator[Turn | Unreadable]:
    ends: dict[str, str] = {}
    for item in records:
        if isinstance(item, Unreadable):
            yield item
            continue
        for conversation in conversations_of(item.value):
            yield from _turns(_news(conversation, ends), Places("", item.line))


def _news(conversation: Conversation, ends: dict[str, str]) -> Conversation:
    """What a logged request says beyond an earlier one, as more of the same conversation; any other conversation as it is.

    Args:
        conversation: all that the request sent and was answered.
        ends: by a digest of all that was said up to the end of each earlier request the id of its conversation; gets
            this one's.

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


def _read_messages(
    source: Source,
    items: Iterable[Record | Element | Unreadable],
    opening: list[object],
    context: Context = NOWHERE,
) -> Iterator[Turn | Unreadable]:
    """One message a line, or an item of a long list: the conversation is the one that the line names, else the one of a header line, else the file."""
    first = [message for value in opening for message in messages_in(value) if message.text]
    shared = _ids_are_conversations(first)
    renamed = roles_of_names(message.speaker for message in first)
    file_id = conversation_hash((message.speaker.role, message.text) for message in first)
    for header in takewhile(_is_header, opening):
        context = context.inside(mapping_of(header))
    for item in items:
        if isinstance(item, Unreadable):
            yield item
        elif messages := messages_in(item.value):
            for message in messages:
                if message.text:
                    line = _line(item, message)
                    yield _turn(message, context, line=line, fallback_id=file_id, shared=shared, renamed=renamed)
        elif not isinstance(item.value, dict):
            yield Unreadable(str(source.path), item.line, "not a JSON object")
        elif "role" in item.value and "content" in item.value:
            yield Unreadable(str(source.path), item.line, "role or content is neither text nor a list of parts")


def _is_header(value: object) -> bool:
    return not messages_in(value) and not {"role", "content"} <= mapping_of(value).keys()


def _line(item: Record | Element, message: Message) -> int:
    return item.line if isinstance(item, Record) else Places(item.text, item.line).line(message.first_piece)


def _turns(conversation: Conversation, places: Places) -> Iterator[Turn]:
    said = [message for message in conversation.messages if message.text]
    shared = _ids_are_conversations(said)
    renamed = roles_of_names(message.speaker for message in said)
    fallback_id = conversation_hash((message.speaker.role, message.text) for message in said)
    abandoned = conversation.abandoned
    for place, message in enumerate(conversation.messages):
        if message.text:
            branch = "abandoned" if place in abandoned else "main"
            line = places.line(message.first_piece)
            about = conversation.context
            yield _turn(
                message, about, line=line, fallback_id=fallback_id, shared=shared, renamed=renamed, branch=branch
            )


def _turn(
    message: Message,
    context: Context,
    *,
    line: int,
    fallback_id: str,
    shared: bool,
    renamed: Mapping[str, str],
    branch: str = "main",
) -> Turn:
    role = renamed.get(message.speaker.role, message.speaker.role)
    metadata = dict(message.metadata or {}) | (
        {"speaker": message.speaker.word} if role != message.speaker.role else {}
    )
    about = {"title": context.title, "model": context.model}
    return Turn(
        role=role,
        content=shortened(message.text) if role == "tool" else message.text,
        line=line,
        conversation_id=message.conversation_id
        or (message.own_id if shared else None)
        or context.conversation_id
        or fallback_id,
        timestamp=message.timestamp or to_the_minute(context.timestamp),
        cwd=message.cwd or context.cwd,
        project=message.project or context.project,
        native_id=None if shared else message.native_id,
        branch=branch,
        kind="error" if role == "tool" and metadata.get("is_error") is True else KINDS.get(role, "prompt"),
        metadata={key: value for key, value in about.items() if value} | metadata,
    )


def _ids_are_conversations(messages: list[Message]) -> bool:
    """Whether the `id` of the messages is that of their conversation: a user and an assistant have the same one."""
    roles = defaultdict(set)
    for message in messages:
        roles[message.own_id].add(message.speaker.role)
    return any(own_id is not None and {"user", "assistant"} <= said_by for own_id, said_by in roles.items())
