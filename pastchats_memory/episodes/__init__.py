"""Episodes of stored conversations: how they ended, what was tried before, and what is to be learned from them.

An episode starts at what a person says that follows an answer, or a prompt that was stopped before any; leading answers are one of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Protocol, TypeVar

from pastchats_memory.model import Metadata

STOPPED = frozenset({"interrupted", "api_error"})
"""Flags of a turn at which the person, the client or the model ended it."""
WATCHED = "watched"
"""Flag of what a person asked for by a comment in a file that the client watches, and nobody typed."""


class Spoken(Protocol):
    """A turn, in whatever shape."""

    @property
    def role(self) -> str:
        """Who said it."""
        ...

    @property
    def content(self) -> str:
        """What was said."""
        ...

    @property
    def metadata(self) -> Metadata:
        """What the client recorded beside the words."""
        ...


T = TypeVar("T", bound=Spoken)


def episodes(turns: Iterable[T]) -> Iterator[list[T]]:
    """The episodes of one conversation, whose turns come in order."""
    episode: list[T] = []
    for turn in turns:
        if is_spoken(turn) and episode and (not is_spoken(episode[-1]) or _is_stopped(episode[-1], turn)):
            yield episode
            episode = []
        episode.append(turn)
    if episode:
        yield episode


def is_spoken(turn: Spoken) -> bool:
    """Whether a person says it: typed, or written into a file for the client to see."""
    return turn.role == "user" or WATCHED in _flags(turn)


def spoken_first(following: Iterable[T]) -> list[T]:
    """What the person says at the beginning of an episode."""
    return list(takewhile(is_spoken, following))


def asking(episode: Sequence[T]) -> T:
    """The turn that says what is wanted: the longest that the person began with, and a command to the client only where it is all."""
    return max(
        spoken_first(episode),
        key=lambda turn: (turn.metadata.get("kind") != "command", len(turn.content)),
        default=episode[0],
    )


def _is_stopped(turn: Spoken, following: Spoken) -> bool:
    """Whether the prompt was stopped, and not only sent once more."""
    return not STOPPED.isdisjoint(_flags(turn)) and turn.content != following.content


def _flags(turn: Spoken) -> list[object]:
    flags = turn.metadata.get("flags")
    return flags if isinstance(flags, list) else []
