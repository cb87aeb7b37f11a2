"""Answer from the local copy of the team's memory."""

from dataclasses import replace

from pastchats_memory.embed.session import ModelSession
from pastchats_memory.episodes.cite import cite_items
from pastchats_memory.episodes.load import load_outcome
from pastchats_memory.errors import StoreFault
from pastchats_memory.model import Item
from pastchats_memory.model.episodes import Outcome
from pastchats_memory.recall.pipeline import Found, find_entries
from pastchats_memory.recall.request import RecallRequest
from pastchats_memory.store import turns
from pastchats_memory.store.database import Database
from pastchats_memory.team.ask import find_id, find_local_ids, name_entries, name_items
from pastchats_memory.team.copy import open_copy


def find_team_entries(database: Database, endpoint: str | None, session: ModelSession, request: RecallRequest) -> Found:
    """Return the entries for a request, with their authors; a warning if there is no copy that answers."""
    if endpoint is None:
        return Found(warnings=("`team_endpoint` is not set, so no team answers",))
    try:
        with open_copy(database, endpoint) as copy:
            if copy is None:
                return Found(warnings=("nothing of the team is here yet; `pastchats-memory team pull` gets it",))
            given = find_local_ids(copy, request.exclude_items)
            found = find_entries(copy, session, replace(request, folder=None, exclude_items=given))
            return found._replace(entries=name_entries(copy, found.entries)) if found.entries else Found()
    except StoreFault as fault:
        return Found(warnings=(f"the team's memory does not answer: {fault.message}",))


def load_team_items(database: Database, endpoint: str, id_: str, neighbours: int) -> list[Item]:
    """Return a turn between its neighbours, without those of hidden projects; empty if there is no such turn."""
    with open_copy(database, endpoint) as copy:
        number = None if copy is None else find_id(copy, id_)
        if copy is None or number is None:
            return []
        around = [
            one for item in turns.items(copy, [number]) for one in turns.conversation_around(copy, item, neighbours)
        ]
        return name_items(copy, cite_items(copy, around))


def load_team_outcome(database: Database, endpoint: str, item: Item) -> Outcome:
    """Return the outcome of an item's episode, with the lines that show it."""
    with open_copy(database, endpoint) as copy:
        return Outcome() if copy is None else load_outcome(copy, item)
