"""Any JSON or JSONL that has messages to turns: chat exports, fine-tuning sets, dumps of a database of turns.

Asked after every reader of a known format. A file is left rather than guessed at: it must tell of users or assistants, or of
a few names that take turns, by its keys or by what its columns look like (`understood`).
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice, takewhile

from pastchats_memory.formats.base.checkpoint import CannotResume, Checkpoint
from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.locations import below_home
from pastchats_memory.formats.base.source import (
    LARGE_DOCUMENT,
    SAMPLE_RECORDS,
    BadJson,
    Element,
    Places,
    Record,
    Records,
    SourceFile,
    list_of,
    mapping_of,
)
from pastchats_memory.formats.generic.shapes.containers import (
    NOWHERE,
    Context,
    Conversation,
    long_list_in,
    messages_in,
)
from pastchats_memory.formats.generic.shapes.lookalikes import is_of_others
from pastchats_memory.formats.generic.shapes.message import Message, message_of
from pastchats_memory.formats.generic.shapes.naming import CHANGES, SIDES, words_of
from pastchats_memory.formats.generic.shapes.talk import is_dialogue, parting_key
from pastchats_memory.formats.generic.shapes.understood import amended, conversations_in, told_in
from pastchats_memory.formats.generic.shapes.windows import Nest, longest_within, windows
from pastchats_memory.formats.generic.speakers import roles_of_names
from pastchats_memory.model import Turn, Unreadable
from pastchats_memory.text.clean import conversation_hash, shortened
from pastchats_memory.text.dates import to_the_minute

FORMAT = "messages"
VERSION = 16

MOST_KEYS = 3
"""Keys that are named for one thing; a file has seldom more than two."""

MOST_KEPT = 1 << 16
"""Characters of the first lines that are kept to go on by."""
WINDOW = LARGE_DOCUMENT
"""Characters of JSON that are understood together, of a file that is larger."""
JUDGED_RECORDS = 1000
"""Lines of JSONL in which somebody must have said something, or the rest is not looked at: most such files are logs."""
KINDS = {"assistant": "answer", "tool": "result"}


def recognise(source: SourceFile) -> bool:
    """Whether the file has messages: one a line, one conversation a line, or anywhere that chats are kept in a document."""
    if source.shape == "jsonl":
        opening = _opening(source)
        return _is_message_a_line(opening) or any(_conversations(opening)) or bool(source.once(_taken_together))
    return source.shape == "json" and bool(source.once(_understood))


def read(source: SourceFile) -> Iterator[Turn | Unreadable | Checkpoint]:
    """The turns in the order of the file, with the line on which the text of each begins.

    JSONL that has grown is gone on with, once it had as many lines as it is recognised by, unless what was added amends them.
    """
    if source.shape != "jsonl":
        yield from _read_document(source)
        return
    if source.resumed is None and (together := source.once(_taken_together)):
        yield from _read_together(source, source.records, lambda values: values, together)
        return
    before = source.resumed.state if source.resumed else None
    opening = _opening(source) if before is None else list_of(before.get("opening"))
    told = set(map(str, list_of(mapping_of(before).get("signs"))))
    signs = source.once(_all_signs)
    if before is not None and not signs <= told:
        message = "what was added may amend what was said before"
        raise CannotResume(message)
    records = source.records()
    if _is_message_a_line(opening):
        yield from _read_messages(source, records, opening)
    else:
        yield from _read_conversations(records)
    if len(opening) == SAMPLE_RECORDS and len(json.dumps(opening)) <= MOST_KEPT:
        yield from records.checkpoint({"opening": opening, "signs": sorted(signs | told)})


def explain(source: SourceFile) -> dict[str, str]:
    """Which keys of the file were taken for the role, the text, the time and the conversation of its messages, commonest first."""
    if source.shape == "jsonl" and (together := source.once(_taken_together)):
        found = together
    elif source.shape == "jsonl" and _is_message_a_line(opening := _opening(source)):
        found = [Conversation((message,), NOWHERE) for value in opening if (message := message_of(mapping_of(value)))]
    else:
        found = list(_conversations(_opening(source))) if source.shape == "jsonl" else source.once(_understood)
    keys: dict[str, Counter[str]] = {what: Counter() for what in ("role", "text", "time", "conversation")}
    for conversation in found:
        parting = parting_key(conversation.messages)
        for message in conversation.messages:
            keys["role"][message.speaker.key or message.text_key] += 1
            keys["text"][message.text_key] += 1
            keys["time"][message.time_key] += 1
            keys["conversation"][message.conversation_key or parting or conversation.context.id_key] += 1
    told = {
        what: [key for key, _ in counts.most_common(MOST_KEYS + 1) if key][:MOST_KEYS] for what, counts in keys.items()
    }
    return {what: ", ".join(names) for what, names in told.items() if names}


def _understood(source: SourceFile) -> list[Conversation]:
    """The conversations of a document; of a large one those of its outline."""
    return conversations_in(source.outline)


def _taken_together(source: SourceFile) -> list[Conversation]:
    """The conversations of JSONL whose lines are understood together alone: pieces, corrections, a legend in the first line.

    Of a large file those of its beginning. None where each line is understood by itself and none amends another.
    """
    opening = _opening(source)
    is_whole = source.size <= LARGE_DOCUMENT
    if _are_understood(opening) and not amended(opening):
        is_amended = not source.once(_all_signs) <= _signs(opening) and amended(list(_values(source)))
        return conversations_in(list(_values(source))) if is_amended else []
    found = conversations_in(list(islice(_values(source), JUDGED_RECORDS)))
    return conversations_in(list(_values(source))) if found and is_whole else found


def _values(source: SourceFile) -> Iterator[object]:
    return (item.value for item in source.records() if isinstance(item, Record))


def _all_signs(source: SourceFile) -> set[str]:
    """Those of all lines that are read; of a large file, whose lines are never all known at once, none."""
    return _signs(_values(source)) if source.size <= LARGE_DOCUMENT else set()


def _signs(values: Iterable[object]) -> set[str]:
    """The words for adding to what was said, correcting it or taking it back, in keys and in values of a word."""
    told = (word for value in values for pair in mapping_of(value).items() for word in pair if isinstance(word, str))
    return {part for word in told if " " not in word for part in words_of(word) if part in CHANGES}


def _read_together(
    source: SourceFile,
    items: Callable[[], Iterable[Record | Element | Unreadable]],
    nested: Nest,
    known: list[Conversation],
) -> Iterator[Turn | Unreadable]:
    """The turns of lines or items that are understood together, those of a large file window by window.

    Args:
        source: the file.
        items: all of them, each time it is called.
        nested: from a window's values to the document with them alone.
        known: what is said in all of them; of a large file it is not asked.

    """
    yield from (item for item in items() if isinstance(item, Unreadable))
    name: str | None = None
    ends: dict[str, str] = {}
    readable = (item for item in items() if not isinstance(item, Unreadable))
    for window in windows(readable, WINDOW):
        found = conversations_in(nested(window.values)) if source.size > LARGE_DOCUMENT else known
        for conversation in found:
            told = _news(conversation, ends)
            if len(found) == 1:  # what goes on in the next window is the same conversation
                said = ((message.speaker.role, message.text) for message in told.messages if message.text)
                name = told.context.conversation_id or name or conversation_hash(said)
                told = replace(told, context=replace(told.context, conversation_id=name))
            yield from _turns(told, window.places)


def _opening(source: SourceFile) -> list[object]:
    records = (item.value for item in source.records() if isinstance(item, Record))
    return list(islice(records, SAMPLE_RECORDS))


def _is_message_a_line(values: list[object]) -> bool:
    objects = [value for value in values if isinstance(value, dict)]
    read = [message for value in objects if (message := message_of(value))]
    return is_dialogue(read, len(objects)) and not is_of_others(read)


def _are_understood(values: list[object]) -> bool:
    """Whether each value is understood by itself, and who speaks is known of both sides, or of neither by any other way."""
    if any(_conversations(values)):
        return True
    if not _is_message_a_line(values):
        return False
    speakers = [message.speaker for value in values if (message := message_of(mapping_of(value)))]
    roles = {speaker.role for speaker in speakers if speaker.certainty} | set(roles_of_names(speakers).values())
    return roles & SIDES != set() or not conversations_in(values)


def _conversations(values: Iterable[object]) -> Iterator[Conversation]:
    for value in values:
        yield from told_in(value)


def _read_document(source: SourceFile) -> Iterator[Turn | Unreadable]:
    if isinstance(source.outline, BadJson):
        yield Unreadable(str(source.path), 0, f"not JSON: {source.outline.reason}")
        return
    if source.size <= LARGE_DOCUMENT:
        yield from _read_whole(source, source.once(_understood))
    elif any(one not in told_in(source.outline) for one in source.once(_understood)):
        keys, nested = longest_within(source.outline)
        yield from _read_together(source, lambda: source.elements(*keys), nested, [])
    elif (long := long_list_in(source.outline)) is None:
        yield from _read_whole(source, told_in(source.document))
    elif long.has_messages:
        yield from _read_messages(source, source.elements(*long.keys), long.opening, long.context)
    else:
        ends: dict[str, str] = {}
        for element in source.elements(*long.keys):
            if isinstance(element, Unreadable):
                yield element
                continue
            for conversation in told_in(element.value, replace(long.context, conversation_id=None)):
                yield from _turns(_news(conversation, ends), Places(element.text, element.line))


def _read_whole(source: SourceFile, found: list[Conversation]) -> Iterator[Turn]:
    places, ends = Places(source.text), dict[str, str]()
    for conversation in found:
        yield from _turns(_news(conversation, ends), places)


def _read_conversations(records: Records) -> Iterator[Turn | Unreadable]:
    ends: dict[str, str] = {}
    for item in records:
        if isinstance(item, Unreadable):
            yield item
            continue
        for conversation in told_in(item.value):
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
    source: SourceFile,
    items: Iterable[Record | Element | Unreadable],
    opening: list[object],
    context: Context = NOWHERE,
) -> Iterator[Turn | Unreadable]:
    """One message a line, or an item of a long list: the conversation is the one that the line names, else the one of a header line, else the file."""
    first = [message for value in opening for message in messages_in(value) if message.text]
    common = _common_of(first)
    for header in takewhile(_is_header, opening):
        context = context.inside(mapping_of(header))
    for item in items:
        if isinstance(item, Unreadable):
            yield item
        elif messages := messages_in(item.value):
            for message in messages:
                if message.text:
                    yield _turn(message, context, common, line=_line(item, message))
        elif not isinstance(item.value, dict):
            yield Unreadable(str(source.path), item.line, "not a JSON object")
        elif "role" in item.value and "content" in item.value:
            yield Unreadable(str(source.path), item.line, "role or content is neither text nor a list of parts")


def _is_header(value: object) -> bool:
    return not messages_in(value) and not {"role", "content"} <= mapping_of(value).keys()


def _line(item: Record | Element, message: Message) -> int:
    return item.line if isinstance(item, Record) else Places(item.text, item.line).line(message.first_piece)


def _turns(conversation: Conversation, places: Places) -> Iterator[Turn]:
    common = _common_of([message for message in conversation.messages if message.text])
    abandoned = conversation.abandoned
    for place, message in enumerate(conversation.messages):
        if message.text:
            branch = "abandoned" if place in abandoned else "main"
            line = places.line(message.first_piece)
            yield _turn(message, conversation.context, common, line=line, branch=branch)


@dataclass(frozen=True, slots=True)
class Common:
    """What the messages of a list tell of each other."""

    fallback_id: str
    """A digest of what they say."""
    renamed: Mapping[str, str]
    ids_are_conversations: bool
    parting: str
    """The key that says in which of several conversations each stands; "" for one conversation."""

    def conversation_of(self, message: Message, outer: str | None) -> str:
        """The id of a message's conversation, where it has none of its own: within `outer`, that of what is around, else within the list."""
        if self.ids_are_conversations and message.own_id:
            return message.own_id
        part = (message.metadata or {}).get(self.parting) if self.parting else None
        return (outer or self.fallback_id) + (f"/{part}" if part is not None else "")


def _common_of(messages: list[Message]) -> Common:
    return Common(
        conversation_hash((message.speaker.role, message.text) for message in messages),
        roles_of_names(message.speaker for message in messages),
        _ids_are_conversations(messages),
        parting_key(messages),
    )


def _turn(message: Message, context: Context, common: Common, *, line: int, branch: str = "main") -> Turn:
    role = common.renamed.get(message.speaker.role, message.speaker.role)
    metadata = dict(message.metadata or {}) | (
        {"speaker": message.speaker.word} if role != message.speaker.role else {}
    )
    about = {"title": context.title, "model": context.model}
    return Turn(
        role=role,
        content=shortened(message.text) if role == "tool" else message.text,
        line=line,
        conversation_id=message.conversation_id or common.conversation_of(message, context.conversation_id),
        timestamp=message.timestamp or to_the_minute(context.timestamp),
        cwd=message.cwd or context.cwd,
        project=message.project or context.project,
        native_id=None if common.ids_are_conversations else message.native_id,
        branch=branch,
        kind="error" if role == "tool" and metadata.get("is_error") is True else KINDS.get(role, "prompt"),
        metadata={key: value for key, value in about.items() if value} | metadata,
    )


def _ids_are_conversations(messages: list[Message]) -> bool:
    """Whether the `id` of the messages is that of their conversation: a user and an assistant have the same one."""
    roles = defaultdict(set)
    for message in messages:
        roles[message.own_id].add(message.speaker.role)
    return any(own_id is not None and said_by >= SIDES for own_id, said_by in roles.items())


MESSAGES = Format(
    name="messages",
    version=16,
    detect=confident(recognise, 50),
    read=read,
    program="Augment",
    locations=below_home(".augment/sessions"),
    is_specific=False,
    explain=explain,
)
