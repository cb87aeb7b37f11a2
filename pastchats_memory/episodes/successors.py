"""Name the later request that replaced a decision, for search results and for the episodes of a digest."""

from collections.abc import Iterable, Sequence

from pastchats_memory.episodes.load import load_episode
from pastchats_memory.episodes.supersession import find_replacements, replaces
from pastchats_memory.model import Hit
from pastchats_memory.store import turns
from pastchats_memory.store.database import Database
from pastchats_memory.store.outcomes import Ended


def mark_superseded(database: Database, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits, each with the id of a later one of them that replaced what its episode decided."""
    later = [hit for hit in hits if hit.task is None and hit.role == "user" and find_replacements(hit.content)]
    if not later:
        return list(hits)
    from pastchats_memory.episodes.threads import find_superseding  # most searches need none of it

    newest = max(hit.timestamp or "" for hit in later)
    earlier = [int(hit.id) for hit in hits if hit.task is None and (hit.timestamp or "") < newest]
    found: dict[str, str] = {}
    for item in turns.items(database, earlier):
        if successor := find_superseding(database, load_episode(database, item)[0], later):
            found[str(item.id)] = successor.id
    return [hit._replace(replaced_by=found.get(hit.id, "")) for hit in hits]


def find_successors(database: Database, episodes: Sequence[Ended], considered: Iterable[Ended]) -> dict[int, str]:
    """Return the first of the considered requests that replaces what an episode decided, by the id of its question."""
    later = [
        (one, found) for one in considered if one.ending.outcome != "failed" and (found := find_replacements(one.text))
    ]
    if not later:
        return {}
    answers = {
        item.id: "\n".join(turn.content for turn in load_episode(database, item)[0] if turn.role == "assistant")
        for item in turns.items(database, [one.question_id for one in episodes])
    }
    return {
        one.question_id: str(other.question_id)
        for one in episodes
        for other, found in reversed(later)
        if one.conversation[0] == other.conversation[0]
        and (one.timestamp or "") < (other.timestamp or "")
        and any(replaces(new, one.text, answers.get(one.question_id, "")) for new in found)
    }
