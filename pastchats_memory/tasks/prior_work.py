"""Before work starts: was this done, is it under way, did it fail, was it given up for something else, or is it new?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pastchats_memory.embed import Embedder
from pastchats_memory.episodes.around import episode_around
from pastchats_memory.episodes.problems import are_one
from pastchats_memory.errors import UsageFault
from pastchats_memory.likeness import likeness
from pastchats_memory.model import Filters, Item, StoredTask
from pastchats_memory.search import Request, search
from pastchats_memory.statuses import RESOLVED, folded
from pastchats_memory.store import prompts, vectors
from pastchats_memory.store.database import Database
from pastchats_memory.tasks.near import Asked, Near, asked, near

Verdict = Literal["done", "in_progress", "failed_before", "superseded", "new"]
MOST_RESULTS = 3
SUPERSEDED = frozenset({"superseded", "obsolete", "duplicate", "replaced"})
"""Raw words of a cancelled task that was given up for another one."""
SUPERSEDING_LINKS = frozenset({"superseded-by", "superseded_by", "duplicates", "duplicate-of"})
MOST_ASKED = 10
"""Turns nearest to what is wanted whose episodes are looked at."""
LONGEST_ASKED = 400
"""Characters of such a turn that are compared."""
LEAST_SIMILARITY = 0.35
"""Cosine below which a solved task that shares no word with the problem says nothing about it."""


@dataclass(frozen=True, slots=True)
class Episode:
    """What a person asked in a conversation and how it ended."""

    item: Item
    """What was asked."""
    outcome: str
    """`worked`, `failed`, `mixed` or `unknown`."""


@dataclass(frozen=True, slots=True)
class PriorWork:
    """The answer to whether something is new."""

    verdict: Verdict
    reason: str
    """One sentence."""
    results: tuple[Near, ...]
    """The three best matches, fewer where fewer have to do with it."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A solved task and how it was solved."""

    task: StoredTask
    score: float
    similarity: float | None
    resolution: str | None
    """The last word: of the conversation that worked on it, else of its comments."""
    source: Item | None
    """The turn of that conversation."""


def check_prior_work(database: Database, embedder: Embedder, query: str, filters: Filters) -> PriorWork:
    """The verdict with the three best matches of the tasks that pass. Raises UsageFault, ModelUnavailable, ModelChanged, StoreFault."""
    if not query.strip():
        raise UsageFault("there is nothing to check", "Say what you are about to do.")
    wanted = asked(embedder, query.strip())
    found = near(database, embedder, wanted, filters)
    if any(one.likeness.is_duplicate for one in found[:MOST_RESULTS]):
        return judged(found)
    return judged(found, episodes_like(database, wanted, filters.hidden))


def episodes_like(database: Database, wanted: Asked, hidden: tuple[str, ...]) -> list[Episode]:
    """Episodes in which a person asked for the same and was answered, the most alike first; none of a hidden project. Raises StoreFault."""
    said = Filters(role="user", notes=False, hidden=hidden)
    cosines = {one.id: one.similarity for one in vectors.nearest(database, wanted.whole, MOST_ASKED, said)}
    found: list[tuple[float, Episode]] = []
    for item in prompts.items(database, list(cosines)):
        alike = likeness(cosines[item.id], cosines[item.id], wanted.text, item.content[:LONGEST_ASKED])
        if alike.is_duplicate and are_one(wanted.text, item.content):
            ending = episode_around(database, item)[1]
            found += [(alike.score, Episode(item, ending.said))] if ending.is_answered else []
    return [episode for _, episode in sorted(found, key=lambda pair: -pair[0])]


def judged(found: Sequence[Near], episodes: Sequence[Episode] = ()) -> PriorWork:
    """The verdict out of the tasks most alike and of the episodes that are about the same.

    Args:
        found: tasks, the most alike first.
        episodes: those that match as closely as a duplicate; one that worked is as good as a completed task.
    """
    results = tuple(one for one in found if one.likeness.is_related)[:MOST_RESULTS]
    same = [one for one in results if one.likeness.is_duplicate]
    if same:
        verdict, reason = verdict_of(same[0].task)
        return PriorWork(verdict, reason, results)
    for episode in episodes:
        if episode.outcome in ("worked", "failed"):
            worked = episode.outcome == "worked"
            ended = "well" if worked else "in failure"
            text = f"A conversation about it ended {ended} (id {episode.item.id})."
            return PriorWork("done" if worked else "failed_before", text, results)
    closest = f"; the nearest is t:{results[0].task.key}" if results else ""
    return PriorWork("new", f"No task says the same{closest}.", results)


def verdict_of(task: StoredTask) -> tuple[Verdict, str]:
    """What a task that says the same means for whoever wants to begin with it, and why."""
    name = f"t:{task.key}"
    gone = folded(task.status_raw) in SUPERSEDED or any(link.kind in SUPERSEDING_LINKS for link in task.links)
    match task.status:
        case "cancelled" if gone:
            return "superseded", f"{name} was given up for another task."
        case "cancelled":
            return "failed_before", f"{name} was given up ({task.status_raw})."
        case status if status in RESOLVED:
            return ("superseded", f"{name} was closed for another task.") if gone else ("done", f"{name} is {status}.")
        case "blocked":
            return "in_progress", f"{name} is stuck: read its comments to understand why."
        case status:
            return "in_progress", f"{name} is {status}: update it instead of starting another one."


def consult(
    database: Database, embedder: Embedder, problem: str, limit: int, hidden: tuple[str, ...]
) -> tuple[list[Resolved], tuple[str, ...]]:
    """Solved tasks that have to do with a problem, the best first, and warnings; none of a hidden project. Raises UsageFault, StoreFault."""
    filters = Filters(statuses=RESOLVED, hidden=hidden)
    hits = search(database, embedder, Request(problem, limit=20, filters=filters))
    found: dict[int, Resolved] = {}
    for hit in hits:
        if hit.task is None or hit.task.id in found:
            continue
        if hit.lexical_rank is None and (hit.similarity or 0) < LEAST_SIMILARITY:
            continue
        resolution, source = _resolution(database, hit.task, hidden)
        found[hit.task.id] = Resolved(hit.task, hit.score, hit.similarity, resolution, source)
    return list(found.values())[:limit], hits.warnings


def _resolution(database: Database, task: StoredTask, hidden: Sequence[str]) -> tuple[str | None, Item | None]:
    """The last word said in the conversation that worked on it, before it was closed; else the last comment."""
    for conversation in task.conversations:
        item = prompts.last_answer(database, conversation, task.closed_at)
        if item is not None and item.project not in hidden:
            return item.content, item
    return (task.comments[-1].content, None) if task.comments else (None, None)
