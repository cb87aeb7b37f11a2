"""Load a conversation, whole or a part of it: its episodes with outcomes, commands and changed files."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from pastchats_memory.episodes import find_request, split_episodes
from pastchats_memory.episodes.actions import actions_of
from pastchats_memory.episodes.cite import cite_items
from pastchats_memory.episodes.load import load_outcome, present_outcome
from pastchats_memory.episodes.titles import find_title, name_conversation
from pastchats_memory.model import Item
from pastchats_memory.model.episodes import Outcome
from pastchats_memory.store import outcomes, turns
from pastchats_memory.store.database import Database
from pastchats_memory.store.outcomes import Ended

PART_TURNS = 60
"""Turns of a part."""
MAX_OUTLINE = 5000
"""Episodes that an outline lists."""


class StoredEpisode(NamedTuple):
    """An episode with all of its turns."""

    title: str
    """What its request names; empty for one such as "go on"."""
    turns: tuple[Item, ...]
    """In order, with checked citations."""
    outcome: Outcome
    done: tuple[str, ...]
    """Commands and changed files, as recall shows them."""


class StoredConversation(NamedTuple):
    """A stored conversation."""

    id: str
    project: str
    title: str
    episodes: tuple[StoredEpisode, ...]


def load_conversation(database: Database, conversation_id: str) -> StoredConversation | None:
    """Return a conversation by its native id; of several projects with it, the one with the newest turn."""
    items = turns.of_conversation(database, conversation_id)
    if not items:
        return None
    project = max(items, key=lambda item: (item.timestamp or "", item.id)).project
    own = cite_items(database, [item for item in items if item.project == project])
    episodes = (
        StoredEpisode(_name(episode), tuple(episode), load_outcome(database, episode[0]), actions_of(episode))
        for episode in split_episodes(own)
    )
    title = name_conversation(database, project, conversation_id)
    return StoredConversation(conversation_id, project, title, tuple(episodes))


def _name(episode: Sequence[Item]) -> str:
    return find_title([find_request(episode).content])


class EpisodePart(NamedTuple):
    """Those turns of an episode that belong to a part of its conversation."""

    number: int
    """Place of the episode in the conversation, counted from 1; 0 for turns of no known episode."""
    episode: StoredEpisode
    ended: Ended | None
    """The stored outcome; None until it is derived."""


class ConversationPart(NamedTuple):
    """Some turns of a stored conversation, and an outline of all of it."""

    id: str
    project: str
    title: str
    number: int
    """Counted from 1."""
    parts: int
    """Number of parts."""
    turns: int
    """Number of turns of the conversation."""
    episodes: tuple[EpisodePart, ...]
    outline: tuple[Ended, ...]
    """All episodes, in order."""
    subagents: tuple[turns.SubagentTurns, ...]
    parent: str | None
    """Id of the stored conversation that started it or that it was forked from."""


def load_part(database: Database, conversation_id: str, project: str | None, number: int) -> ConversationPart | None:
    """Return a part of a conversation of up to PART_TURNS turns; None for no such conversation.

    Args:
        project: of several projects with the id, this one; None for the one with the newest turn.
        number: of the part, counted from 1; one too large means the last.
    """
    extent = turns.find_extent(database, conversation_id, project)
    if extent is None:
        return None
    project, last_index = extent
    parts = last_index // PART_TURNS + 1
    number = min(max(number, 1), parts)
    first = (number - 1) * PART_TURNS
    items = turns.in_span(database, (project, conversation_id), first, first + PART_TURNS - 1)
    outline = tuple(outcomes.after(database, project, conversation_id, -1, MAX_OUTLINE))
    episodes = tuple(_load_episodes(database, cite_items(database, items), outline))
    subagents = tuple(turns.list_parts(database, conversation_id))
    parent = str(items[0].metadata.get("parent_conversation_id") or "") if items else ""
    is_stored = parent not in ("", conversation_id) and turns.find_extent(database, parent) is not None
    return ConversationPart(
        conversation_id,
        project,
        name_conversation(database, project, conversation_id),
        number,
        parts,
        last_index + 1,
        episodes,
        outline,
        subagents,
        parent if is_stored else None,
    )


def _load_episodes(database: Database, items: Sequence[Item], outline: Sequence[Ended]) -> Iterator[EpisodePart]:
    """Yield the episodes of some turns, each with only these."""
    starts = [one.ending.first_index for one in outline]

    def find_number(item: Item) -> int:
        number = bisect_right(starts, item.turn_index)
        return number if number and item.turn_index <= outline[number - 1].ending.last_index else 0

    for number, group in groupby(items, key=find_number):
        own = tuple(group)
        ended = outline[number - 1] if number else None
        title = find_title([ended.text]) if ended else ""
        outcome = Outcome() if ended is None else present_outcome(database, ended.ending)
        yield EpisodePart(number, StoredEpisode(title, own, outcome, actions_of(own)), ended)
