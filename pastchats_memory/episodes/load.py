"""Load the episode of a stored turn with its outcome, stored or derived."""

from pastchats_memory.episodes import find_request, leading_user_turns, split_episodes
from pastchats_memory.episodes.cite import cite_items, find_line, find_nearest_line
from pastchats_memory.episodes.judgement import SIGNAL
from pastchats_memory.model import Item
from pastchats_memory.model.episodes import Evidence, Outcome
from pastchats_memory.search.hits import cited_place
from pastchats_memory.store import outcomes, replies, turns
from pastchats_memory.store.database import Database
from pastchats_memory.store.outcomes import Ending

NEIGHBOURS = 12
"""Turns on each side of a turn that are searched for its episode."""


def load_episode(database: Database, item: Item) -> tuple[list[Item], Ending]:
    """Return the turns of the item's episode, and its ending. A note is its own episode.

    Of a long episode, return the turns near its start, its end and the item.
    """
    if item.role == "note" or item.conversation_id is None:
        return [item], _unknown_ending(item, item)
    ending = outcomes.of_turn(database, item)
    if ending is not None:
        return turns.episode_turns(database, item, ending, NEIGHBOURS), ending
    around = turns.conversation_around(database, item, NEIGHBOURS)
    parts = list(split_episodes(around))
    place = next(place for place, part in enumerate(parts) if any(turn.id == item.id for turn in part))
    episode = parts[place]
    if episode[-1] is around[-1] and around[-1].turn_index == item.turn_index + NEIGHBOURS:
        return episode, _unknown_ending(episode[0], episode[-1])
    judged = outcomes.conversation_judgements(database, item.project, item.conversation_id).get(
        find_request(episode).id
    )
    # Imported here, since the rules compile many patterns: only an episode without a stored outcome needs them.
    from pastchats_memory.episodes.derive import derive_ending

    following = leading_user_turns(parts[place + 1]) if place + 1 < len(parts) else []
    reply = replies.find_reply(database, [turn.id for turn in following])
    return episode, derive_ending(episode, following, judgement=judged, reply=reply)


def load_outcome(database: Database, item: Item) -> Outcome:
    """Return the outcome of the item's episode, ready to be shown."""
    return present_outcome(database, outcomes.of_turn(database, item) or load_episode(database, item)[1])


def present_outcome(database: Database, ending: Ending) -> Outcome:
    """Return the outcome with the present line of each quotation; an unknown one quotes the next message."""
    is_known = ending.outcome != "unknown"
    quotations = [shown for shown in ending.evidence if is_known or shown.turn_index > ending.last_index]
    items = {item.id: item for item in cite_items(database, turns.items(database, [shown.id for shown in quotations]))}
    evidence = tuple(
        Evidence(shown.text, (where := cited_place(item)).path, find_line(shown.text, where) or None, item.citation)
        for shown in quotations
        if (item := items.get(shown.id)) is not None
    )
    return Outcome(ending.outcome, evidence, ending.signal if is_known or ending.signal == SIGNAL else "")


def cite_run(item: Item, command: str) -> Evidence:
    """Return a command with the line nearest to the turn that records it, above or below the turn."""
    where = cited_place(item)
    return Evidence(command, where.path, find_nearest_line(command, where) or None, item.citation)


def _unknown_ending(first: Item, last: Item) -> Ending:
    return Ending(first.turn_index, last.turn_index, "unknown", 0.0, "")
