"""Whether messages are a conversation or several, and in which order they were said."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from pastchats_memory.formats.generic.shapes.message import Message
from pastchats_memory.formats.generic.shapes.naming import SIDES, has, words_of
from pastchats_memory.formats.generic.shapes.values import is_word
from pastchats_memory.formats.generic.speakers import Speaker, roles_of_names

STRONG_SHARE = 0.2
"""Of a list's objects that say a known role outright, so many make it a conversation among other records."""
WEAK_SHARE = 0.5
FEWEST_SPEECHES = 4
MOST_SPEAKERS = 12
THREADS = frozenset({
    "thread", "threads", "talk", "conversation", "conv", "convo", "chat", "dialog", "dialogue", "session", "call", "room", "ticket", "case", "gesprach", "sitzung",
})  # fmt: skip
"""Each message of such a one has its name; `turn` and `exchange` number what is said in one."""
FEWEST_IN_THREAD = 3
"""Messages of a conversation that takes turns with others; of two an exchange has as many."""

_NAME = re.compile(r"[\w][\w .'-]{0,39}\Z")


def oldest_first(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages as they were said, where a program lists the newest first; equal times keep their order."""
    times = [message.timestamp for message in messages if message.timestamp]
    falling = len(times) == len(messages) and times[0] > times[-1]
    if falling and all(before >= after for before, after in pairwise(times)):
        return tuple(sorted(messages, key=lambda message: message.timestamp or ""))
    return messages


def is_dialogue(messages: list[Message], objects: int) -> bool:
    """Whether so many messages among so many objects are a conversation, and not another list that uses the same words."""
    told = [message.speaker for message in messages if message.text]
    outright = [speaker for speaker in told if speaker.certainty > 1]
    if any(speaker.role in SIDES for speaker in outright) and len(messages) >= objects * STRONG_SHARE:
        return True
    if len(messages) < max(2, objects * WEAK_SHARE):
        return False
    roles = {speaker.role for speaker in told if speaker.certainty}
    named = roles_of_names(told).values() if len(told) >= FEWEST_SPEECHES else ()
    return {*roles, *named} >= SIDES or _people_talk(told)


def _people_talk(speakers: list[Speaker]) -> bool:
    """Whether a few names take turns, as people do, and columns of a table do not."""
    words = Counter(speaker.word for speaker in speakers)
    numbered = all("speaker" in words_of(speaker.key) for speaker in speakers)
    named = all(_NAME.match(word) and (numbered or not word.isnumeric()) for word in words)
    fits = 1 < len(words) <= MOST_SPEAKERS and named
    return fits and len(speakers) >= max(FEWEST_SPEECHES, 2 * len(words))


def parting_key(messages: Sequence[Message]) -> str:
    """The key whose values part the messages into conversations, or "" where they are one, or have ids of theirs.

    By its name, or since within each of its values the sides alternate, as they do not where conversations stand in between each other.
    """
    said = [message for message in messages if message.text and message.speaker.role not in ("system", "tool")]
    if not said or any(message.conversation_id for message in said):
        return ""
    facts = [message.metadata or {} for message in said]
    common = [key for key in facts[0] if key != said[0].speaker.key and all(is_word(fact.get(key)) for fact in facts)]
    for key in sorted(common, key=lambda key: not has(key, THREADS)):
        if _parts(said, [str(fact[key]) for fact in facts], is_named=has(key, THREADS)):
            return key
    return ""


def _parts(said: Sequence[Message], names: Sequence[str], *, is_named: bool) -> bool:
    roles: dict[str, list[str]] = {}
    for message, name in zip(said, names, strict=True):
        roles.setdefault(name, []).append(message.speaker.role)
    talks = [each for each in roles.values() if len(each) > 1]
    if len(talks) <= 1 or any(len(set(each)) == 1 for each in talks) or max(map(len, talks)) < FEWEST_IN_THREAD:
        return False
    if is_named:
        return True
    mixed = sum(before != after for before, after in pairwise(names)) >= len(roles)
    whole = [message.speaker.role for message in said]
    return (
        mixed
        and not _alternate(whole)
        and all(len(each) >= FEWEST_IN_THREAD and _alternate(each) for each in roles.values())
    )


def _alternate(roles: Sequence[str]) -> bool:
    return all(before != after for before, after in pairwise(roles))
