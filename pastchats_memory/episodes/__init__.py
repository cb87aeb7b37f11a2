"""Episodes of stored conversations: how they ended, what was tried before, and what is to be learned from them.

An episode starts at a user turn that follows an answer; leading answers are one of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar


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


T = TypeVar("T", bound=Spoken)


def episodes(turns: Iterable[T]) -> Iterator[list[T]]:
    """The episodes of one conversation, whose turns come in order."""
    episode: list[T] = []
    for turn in turns:
        if turn.role == "user" and episode and episode[-1].role != "user":
            yield episode
            episode = []
        episode.append(turn)
    if episode:
        yield episode
