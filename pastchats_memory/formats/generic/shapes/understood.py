"""The conversations of a JSON value: as its keys say it, else as its columns look.

Keys are surer where they name a user and an assistant. Columns decide where keys do not, and where records amend each
other: pieces, corrections, another order, an exchange beside its history, which single messages know nothing of.
"""

from __future__ import annotations

from dataclasses import replace

from pastchats_memory.formats.generic.shapes.containers import (
    NOWHERE,
    Context,
    Conversation,
    conversations_of,
    is_of_another_kind,
)
from pastchats_memory.formats.generic.shapes.inference.columns import MADE
from pastchats_memory.formats.generic.shapes.inference.evidence import Spoken, Talk, talks_of
from pastchats_memory.formats.generic.shapes.lookalikes import are_asked_again, are_pairs, is_of_others, is_template
from pastchats_memory.formats.generic.shapes.message import OWN_ID_KEYS, Message, message_of
from pastchats_memory.formats.generic.shapes.naming import PERSPECTIVE, SIDES
from pastchats_memory.formats.generic.shapes.spelled import spelled_out
from pastchats_memory.formats.generic.shapes.values import LONGEST_WORD, is_prose
from pastchats_memory.formats.generic.speakers import Speaker, roles_of_names
from pastchats_memory.text.hashes import conversation_hash


def conversations_in(value: object) -> list[Conversation]:
    """Every conversation of the value, in the order of the file; nothing where it is something else."""
    spelled = spelled_out(value)
    told = [one for one in _by_keys(value, spelled, NOWHERE) if not is_of_others(one.messages)]
    if are_asked_again([one.messages for one in told if are_pairs(one.messages)]):
        told = []
    if is_of_another_kind(value):
        return told
    talks = talks_of(spelled)
    seen = [one for one in _conversations(talks) if not is_template(one.messages)]
    if are_asked_again([one.messages for one in seen]):
        return told
    read, shown = _said(told), _said(seen)
    if not shown or (read == shown and _times(told) >= _times(seen)):
        return told
    has_tools = any(message.speaker.role == "tool" for conversation in told for message in conversation.messages)
    is_beside = len(read) < len(shown) and all(
        are_pairs(one.messages) for one in told
    )  # one exchange beside a table of more
    is_more = any(talk.is_amended for talk in talks) or ((is_beside or set(read) < set(shown)) and not has_tools)
    is_talk = any(map(_names_both_sides, told)) and any(is_prose(text) for _, text in read)
    return seen if is_more or not is_talk or read == shown else told


def told_in(value: object, context: Context = NOWHERE) -> list[Conversation]:
    """The conversations that keys tell of, in what strings spell as JSON too where that says more."""
    return _by_keys(value, spelled_out(value), context)


def _by_keys(value: object, spelled: object, context: Context) -> list[Conversation]:
    plain = list(conversations_of(value, context))
    more = list(conversations_of(spelled, context)) if spelled is not value else []
    return more if set(_said(plain)) < set(_said(more)) else plain


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


def _times(conversations: list[Conversation]) -> int:
    return sum(message.timestamp is not None for one in conversations for message in one.messages)


def amended(values: list[object]) -> bool:
    """Whether the values, one a line, amend each other, so that they are understood together alone."""
    return any(talk.is_amended for talk in talks_of(spelled_out(values)))


def _names_both_sides(conversation: Conversation) -> bool:
    speakers = [message.speaker for message in conversation.messages if message.speaker.word.lower() not in PERSPECTIVE]
    known = {speaker.role for speaker in speakers if speaker.certainty}
    return known.union(roles_of_names(speakers).values()) >= SIDES


def _conversations(talks: list[Talk]) -> list[Conversation]:
    """What each talk says; where it goes on from another one and has no id, with the id that this one gets."""
    made = [_conversation(talk) for talk in talks]
    return [
        one if made[talk.first] is one else _going_on(one, made[talk.first])
        for talk, one in zip(talks, made, strict=True)
        if one.messages
    ]


def _going_on(one: Conversation, first: Conversation) -> Conversation:
    said = ((message.speaker.role, message.text) for message in first.messages)
    name = one.context.conversation_id or first.context.conversation_id or conversation_hash(said)
    return replace(one, context=replace(one.context, conversation_id=name))


def _conversation(talk: Talk) -> Conversation:
    context = NOWHERE.inside(talk.around)
    read = [(message, one.is_left) for one in talk.spoken if (message := _message(one, talk)) and message.text]
    left = frozenset(place for place, (_, is_left) in enumerate(read) if is_left)
    return Conversation(tuple(message for message, _ in read), context, left=left)


def _message(one: Spoken, talk: Talk) -> Message | None:
    taken = (
        (talk.role_key, *talk.texts) if talk.role_key else (*talk.texts, *OWN_ID_KEYS)
    )  # an id of both sides is the exchange's
    about = {path: value for path, value in one.row.items() if MADE not in path and path not in taken}
    message = message_of({**about, "role": one.role[:LONGEST_WORD], "content": one.text})
    word = str(one.row.get(talk.role_key, one.role))
    role_key, *text_keys = (path.replace(MADE, " ").strip() for path in (talk.role_key, *talk.texts))
    known = Speaker(one.role, role_key or " and ".join(text_keys), word, 2 if one.role in SIDES else 0)
    said_by = {role_key: word} if role_key and word != one.role else {}
    return message and replace(
        message,
        speaker=known,
        text_key=", ".join(text_keys),
        first_piece=one.piece,
        metadata={**(message.metadata or {}), **said_by},
    )
