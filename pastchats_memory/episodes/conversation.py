"""Load a whole conversation: its episodes with outcomes, commands and changed files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pastchats_memory.episodes import split_episodes
from pastchats_memory.episodes.actions import actions_of
from pastchats_memory.episodes.cite import cite_items
from pastchats_memory.episodes.load import load_outcome
from pastchats_memory.model import Item, Outcome
from pastchats_memory.store import turns
from pastchats_memory.store.database import Database


class Episode(NamedTuple):
    """An episode with all of its turns."""

    turns: tuple[Item, ...]
    """In order, with checked citations."""
    outcome: Outcome
    done: tuple[str, ...]
    """Commands and changed files, as recall shows them."""


class Conversation(NamedTuple):
    """A stored conversation."""

    id: str
    project: str
    episodes: tuple[Episode, ...]


def load_conversation(database: Database, conversation_id: str, hidden: Sequence[str]) -> Conversation | None:
    """Return a conversation by its native id; of several projects with the id, the one with the newest turn.

    Args:
        database: to be read.
        conversation_id: the native id.
        hidden: projects to leave out.

    Raises:
        StoreFault: the database cannot be read.
    """
    items = [item for item in turns.of_conversation(database, conversation_id) if item.project not in hidden]
    if not items:
        return None
    project = max(items, key=lambda item: (item.timestamp or "", item.id)).project
    own = cite_items(database, [item for item in items if item.project == project])
    episodes = (
        Episode(tuple(episode), load_outcome(database, episode[0]), actions_of(episode))
        for episode in split_episodes(own)
    )
    return Conversation(conversation_id, project, tuple(episodes))
