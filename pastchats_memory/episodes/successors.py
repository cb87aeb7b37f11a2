"""Name the later request that replaced a decision, for search results and for the episodes of a digest."""

from collections.abc import Iterable, Sequence

from pastchats_memory.episodes.load import load_episode
from pastchats_memory.episodes.supersession import list_changes, supersedes
from pastchats_memory.model import Hit
from pastchats_memory.search.hits import turn_hit
from pastchats_memory.store import turns, word_rows
from pastchats_memory.store.database import Database
from pastchats_memory.store.outcomes import Ended
from pastchats_memory.text.topics import topic_words

MOST_ROWS, MOST_PROMPTS = 2000, 64
"""Rows of a word, and prompts, among which a successor is looked for."""


def mark_superseded(database: Database, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits, each with the id of a later one of them that replaced what its episode decided."""
    later = [hit for hit in hits if hit.task is None and hit.role == "user" and list_changes(hit.content)]
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


def list_successors(database: Database, hit: Hit) -> list[Hit]:
    """Return the prompts of other conversations that replaced what a prompt decided, the newest first."""
    names = topic_words(hit.content)
    rows = {id_ for word in names for id_ in word_rows.find_first_rows(database, word, MOST_ROWS)}
    prompts = word_rows.select_prompts(database, rows, hit.source_project, hit.conversation_id or "")
    later = map(turn_hit, turns.items(database, sorted(prompts, reverse=True)[:MOST_PROMPTS]))
    return [
        one for one in later if (one.timestamp or "") > (hit.timestamp or "") and supersedes(one.content, hit.content)
    ]


def find_successors(database: Database, episodes: Sequence[Ended], considered: Iterable[Ended]) -> dict[int, str]:
    """Return the first of the considered requests that replaces what an episode decided, by the id of its question."""
    later = [one for one in considered if one.ending.outcome != "failed" and list_changes(one.text)]
    if not later:
        return {}
    answers = {
        item.id: "\n".join(turn.content for turn in load_episode(database, item)[0] if turn.role == "assistant")
        for item in turns.items(database, [one.question_id for one in episodes])
    }
    return {
        one.question_id: str(other.question_id)
        for one in episodes
        for other in reversed(later)
        if one.conversation[0] == other.conversation[0]
        and (one.timestamp or "") < (other.timestamp or "")
        and supersedes(other.text, one.text, answers.get(one.question_id, ""))
    }
