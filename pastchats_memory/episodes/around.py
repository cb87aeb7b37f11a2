"""The episode of a turn, and how it ended: as it is stored, else derived from the turns around."""

from __future__ import annotations

from pastchats_memory.citations import cited_items
from pastchats_memory.episodes import asking, episodes, spoken_first
from pastchats_memory.episodes.citing import line_near, line_of
from pastchats_memory.episodes.judged import SIGNAL
from pastchats_memory.model import Evidence, Item, Outcome
from pastchats_memory.search.hits import cited_place
from pastchats_memory.store import outcomes, turns
from pastchats_memory.store.database import Database
from pastchats_memory.store.outcomes import Ending, Judgement

NEIGHBOURS = 12
"""Turns on each side of one in which its episode is looked for."""


def episode_around(database: Database, item: Item) -> tuple[list[Item], Ending]:
    """The turns of the item's episode and how it ended; a note is its own episode.

    Of a long episode those turns come that are near its beginning, its end or the item. Raises StoreFault.
    """
    if item.role == "note" or item.conversation_id is None:
        return [item], _unknown(item, item)
    ending = outcomes.of_turn(database, item)
    if ending is not None:
        return turns.of_episode(database, item, ending, NEIGHBOURS), ending
    around = turns.conversation_around(database, item, NEIGHBOURS)
    parts = list(episodes(around))
    place = next(place for place, part in enumerate(parts) if any(turn.id == item.id for turn in part))
    episode = parts[place]
    if episode[-1] is around[-1] and around[-1].turn_index == item.turn_index + NEIGHBOURS:
        return episode, _unknown(episode[0], episode[-1])
    known = outcomes.of_conversation(database, item.project, item.conversation_id).get(asking(episode).id)
    return episode, _derived(episode, parts[place + 1] if place + 1 < len(parts) else [], known)


def how_ended(database: Database, item: Item) -> Outcome:
    """What is said of the outcome of the item's episode. Raises StoreFault."""
    return said(database, outcomes.of_turn(database, item) or episode_around(database, item)[1])


def said(database: Database, ending: Ending) -> Outcome:
    """The outcome that is sure enough to be said, each line of its evidence where it stands now; of another one what was said next. Raises StoreFault."""
    is_told = ending.said != "unknown"
    quotations = [shown for shown in ending.evidence if is_told or shown.turn_index > ending.last_index]
    quoted = turns.items(database, [shown.id for shown in quotations])
    items = {item.id: item for item in cited_items(database, quoted)}
    evidence = tuple(_evidence(items[shown.id], shown.text) for shown in quotations if shown.id in items)
    return Outcome(ending.said, evidence, ending.signal if is_told or ending.signal == SIGNAL else "")


def _evidence(item: Item, quotation: str) -> Evidence:
    """The quotation by its line of the file, of a turn whose citation was checked."""
    where = cited_place(item)
    return Evidence(quotation, where.path, line_of(quotation, where) or None, item.citation)


def run_in(item: Item, command: str) -> Evidence:
    """The run of a command by the line nearest to the turn with which it was noted: its call may stand above or below that."""
    where = cited_place(item)
    return Evidence(command, where.path, line_near(command, where) or None, item.citation)


def _derived(episode: list[Item], following: list[Item], judgement: Judgement | None) -> Ending:
    # The rules are many patterns: only where nothing is stored.
    from pastchats_memory.episodes.derive import ending_of

    return ending_of(episode, spoken_first(following), judgement=judgement)


def _unknown(first: Item, last: Item) -> Ending:
    return Ending(first.turn_index, last.turn_index, "unknown", 0.0, "")
