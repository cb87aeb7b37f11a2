"""The conversations of a JSON value: as its keys say it, else as its columns look.

Keys are surer where they name a user and an assistant. Columns decide where keys do not, and where records amend each
other: pieces, corrections, another order, an exchange beside its history, which single messages know nothing of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pastchats_memory.readers.columns import is_prose
from pastchats_memory.readers.containers import NOWHERE, Conversation, conversations_of, is_of_another_kind
from pastchats_memory.readers.inferred import Spoken, Talk, is_recorded, talks_of
from pastchats_memory.readers.message import Message, message_of
from pastchats_memory.readers.naming import PERSPECTIVE
from pastchats_memory.readers.sequence import PIECE
from pastchats_memory.readers.speakers import LONGEST_WORD, Speaker, roles_of_names
from pastchats_memory.readers.tables import KEY

SIDES = frozenset({"user", "assistant"})


def conversations_in(value: object) -> list[Conversation]:
    """Every conversation of the value, in the order of the file; nothing where it is something else."""
    told = [one for one in conversations_of(value) if not is_record(one.messages)]
    if is_of_another_kind(value):
        return told
    talks = talks_of(value)
    seen = list(filter(None, map(_conversation, talks)))
    read, shown = _said(told), _said(seen)
    if not shown or read == shown:
        return told
    has_tools = any(message.speaker.role == "tool" for conversation in told for message in conversation.messages)
    is_more = any(talk.is_amended for talk in talks) or (set(read) < set(shown) and not has_tools)
    is_talk = any(map(_names_both_sides, told)) and any(is_prose(text) for _, text in read)
    return seen if is_more or not is_talk else told


def _said(conversations: list[Conversation]) -> list[tuple[str, str]]:
    """Role and text of everything that a person or a program says."""
    found = []
    for conversation in conversations:
        renamed = roles_of_names(message.speaker for message in conversation.messages)
        left = conversation.abandoned
        for place, message in enumerate(conversation.messages):
            role = renamed.get(message.speaker.role, message.speaker.role)
            if place not in left and role in SIDES and message.text:
                found.append((role, " ".join(message.text.split())))
    return found


def is_record(messages: Sequence[Message]) -> bool:
    """Whether messages that no role names are those of a log, of commits, issues or reviews, by what stands beside each."""
    if any(message.speaker.certainty > 1 and message.speaker.key == "role" for message in messages):
        return False
    names = (
        set(messages[0].metadata or {}).intersection(*(message.metadata or {} for message in messages))
        if messages
        else set()
    )
    return is_recorded(names)


def amended(values: list[object]) -> bool:
    """Whether the values, one a line, amend each other, so that they are understood together alone."""
    return any(talk.is_amended for talk in talks_of(values))


def _names_both_sides(conversation: Conversation) -> bool:
    speakers = [message.speaker for message in conversation.messages if message.speaker.word.lower() not in PERSPECTIVE]
    known = {speaker.role for speaker in speakers if speaker.certainty}
    return known.union(roles_of_names(speakers).values()) >= SIDES


def _conversation(talk: Talk) -> Conversation | None:
    context = NOWHERE.inside(talk.around)
    read = [(message, one.is_left) for one in talk.spoken if (message := _message(one, talk)) and message.text]
    left = frozenset(place for place, (_, is_left) in enumerate(read) if is_left)
    return Conversation(tuple(message for message, _ in read), context, left=left) if read else None


def _message(one: Spoken, talk: Talk) -> Message | None:
    about = {path: value for path, value in one.row.items() if path not in (KEY, PIECE, talk.role_key, *talk.texts)}
    message = message_of({**about, "role": one.role[:LONGEST_WORD], "content": one.text})
    word = str(one.row.get(talk.role_key, one.role))
    known = Speaker(one.role, talk.role_key or " and ".join(talk.texts), word, 2 if one.role in SIDES else 0)
    said_by = {talk.role_key: word} if talk.role_key and word != one.role else {}
    return message and replace(
        message,
        speaker=known,
        text_key=", ".join(talk.texts),
        first_piece=one.piece,
        metadata={**(message.metadata or {}), **said_by},
    )
