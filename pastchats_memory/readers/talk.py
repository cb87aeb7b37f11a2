"""Whether messages are a conversation, and in which order they were said."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from pastchats_memory.readers.message import Message
from pastchats_memory.readers.speakers import Speaker, parts_of, roles_of_names

STRONG_SHARE = 0.2
"""Of a list's objects that say a known role outright, so many make it a conversation among other records."""
WEAK_SHARE = 0.5
FEWEST_SPEECHES = 4
MOST_SPEAKERS = 12

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
    if any(speaker.role in ("user", "assistant") for speaker in outright) and len(messages) >= objects * STRONG_SHARE:
        return True
    if len(messages) < max(2, objects * WEAK_SHARE):
        return False
    roles = {speaker.role for speaker in told if speaker.certainty}
    named = roles_of_names(told).values() if len(told) >= FEWEST_SPEECHES else ()
    return {"user", "assistant"} <= {*roles, *named} or _people_talk(told)


def _people_talk(speakers: list[Speaker]) -> bool:
    """Whether a few names take turns, as people do, and columns of a table do not."""
    words = Counter(speaker.word for speaker in speakers)
    numbered = all("speaker" in parts_of(speaker.key) for speaker in speakers)
    named = all(_NAME.match(word) and (numbered or not word.isnumeric()) for word in words)
    fits = 1 < len(words) <= MOST_SPEAKERS and named
    return fits and len(speakers) >= max(FEWEST_SPEECHES, 2 * len(words))
