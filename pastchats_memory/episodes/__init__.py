"""Split conversations into episodes: a request, its answers, tool results.

An episode starts with a user turn that follows an answer or calls of tools, or a prompt that was stopped before any. Leading answers are an
episode of their own.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Protocol, TypeVar

from pastchats_memory.model import Metadata

STOPPED = frozenset({"interrupted", "api_error"})
"""Flags of a turn that the user, the client or the model ended."""
WATCHED = "watched"
"""Flag of a request in a comment of a watched file, which nobody typed."""


class Utterance(Protocol):
    """A turn of any shape."""

    @property
    def role(self) -> str:
        """`user`, `assistant`, `tool` or `note`."""
        ...

    @property
    def content(self) -> str:
        """The text."""
        ...

    @property
    def metadata(self) -> Metadata:
        """The client's records beside the text."""
        ...


T = TypeVar("T", bound=Utterance)


def split_episodes(turns: Iterable[T]) -> Iterator[list[T]]:
    """Yield the episodes of one conversation, whose turns are in order."""
    episode: list[T] = []
    for turn in turns:
        last = episode[-1] if episode and is_user_turn(turn) else None
        # A prompt that was stopped, and not only sent once more, ends its episode.
        is_stopped = last and not STOPPED.isdisjoint(list_recorded(last, "flags")) and last.content != turn.content
        if last and (is_stopped or is_answered(last)):
            yield episode
            episode = []
        episode.append(turn)
    if episode:
        yield episode


def is_user_turn(turn: Utterance) -> bool:
    """Return whether the user typed the turn, or wrote it into a watched file."""
    return turn.role == "user" or WATCHED in list_recorded(turn, "flags")


def is_answered(turn: Utterance) -> bool:
    """Return whether a turn is an answer, or a prompt that was answered by calls of tools alone."""
    return not is_user_turn(turn) or bool(turn.metadata.get("tools"))


def leading_user_turns(episode: Iterable[T]) -> list[T]:
    """Return the user turns at the start of an episode."""
    return list(takewhile(is_user_turn, episode))


def find_request(episode: Sequence[T]) -> T:
    """Return the turn that states the request: the longest leading user turn.

    A client command counts only if nothing else was typed. Without a user turn, return the first turn.
    """
    return max(
        leading_user_turns(episode),
        key=lambda turn: (turn.metadata.get("kind") != "command", len(turn.content)),
        default=episode[0],
    )


def list_recorded(turn: Utterance, key: str) -> list[str]:
    """Return the values that the client recorded with a turn, such as its `tools`, `files` or `flags`."""
    values = turn.metadata.get(key)
    return [str(value) for value in values] if isinstance(values, list | tuple) else []
