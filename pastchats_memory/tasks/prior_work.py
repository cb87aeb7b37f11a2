"""Before work starts: was this done, is it under way, did it fail, was it given up for something else, or is it new?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from pastchats_memory.embed import Embedder
from pastchats_memory.episodes.around import episode_around
from pastchats_memory.episodes.done import done_in
from pastchats_memory.episodes.problems import are_one, subject
from pastchats_memory.episodes.threads import attempt_at, cited_attempts, thread_of
from pastchats_memory.errors import UsageFault
from pastchats_memory.likeness import likeness
from pastchats_memory.model import RESOLVED, Attempt, Filters, Item, StoredTask, folded
from pastchats_memory.render import one_line
from pastchats_memory.search import search
from pastchats_memory.search.request import Request
from pastchats_memory.store import outcomes, vectors
from pastchats_memory.store import turns as turn_rows
from pastchats_memory.store.database import Database
from pastchats_memory.store.outcomes import Ending
from pastchats_memory.tasks.near import Asked, Near, asked, near

Verdict = Literal["done", "in_progress", "failed_before", "superseded", "new"]
MOST_RESULTS = 3
SUPERSEDED = frozenset({"superseded", "obsolete", "duplicate", "replaced"})
"""Raw words of a cancelled task that was given up for another one."""
SUPERSEDING_LINKS = frozenset({"superseded-by", "superseded_by", "duplicates", "duplicate-of"})
MOST_ASKED = 10
"""Turns nearest to what is wanted whose episodes are looked at."""
MOST_OTHERS = 40
"""What persons said about the same in which a later attempt or a later decision is looked for."""
LONGEST_ASKED = 400
"""Characters of such a turn that are compared."""
LEAST_SIMILARITY = 0.35
"""Cosine below which a solved task that shares no word with the problem says nothing about it."""


class Episode(NamedTuple):
    """What a person asked in a conversation and what came of it."""

    told: Attempt
    is_same: bool
    """Whether that is rather what is wanted than something near it."""
    is_done: bool
    """Whether work for it is in sight and ended well: an answer alone is no deed."""
    after: Attempt | None = None
    """The later attempt at it that was such work, where this one failed."""
    superseded_by: Attempt | None = None


@dataclass(frozen=True, slots=True)
class PriorWork:
    """The answer to whether something is new."""

    verdict: Verdict
    reason: str
    """One sentence."""
    results: tuple[Near, ...]
    """The best matches among the tasks, fewer where fewer have to do with it; with the episodes at most three."""
    episodes: tuple[Attempt, ...] = ()
    """Those that the verdict rests on, each where it is said: one, and where something took its place that, too; none where a task decides."""


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


def check_prior_work(
    database: Database, embedder: Embedder, query: str, filters: Filters, here: str | None = None
) -> PriorWork:
    """The verdict with the three best matches of the tasks that pass, for whoever stands in the project. Raises UsageFault, ModelUnavailable, ModelChanged, StoreFault."""
    if not query.strip():
        raise UsageFault("there is nothing to check", "Say what you are about to do.")
    wanted = asked(embedder, query.strip())
    found = near(database, embedder, wanted, filters)
    if any(one.likeness.is_duplicate for one in found[:MOST_RESULTS]):
        return judged(found, here=here)
    like = episodes_like(database, embedder, wanted, filters.hidden)
    work = judged(found, like, subject(wanted.text), here)
    cited = cited_attempts(database, work.episodes)
    return replace(work, episodes=tuple(cited[one.id] for one in work.episodes))


def episodes_like(database: Database, embedder: Embedder, wanted: Asked, hidden: tuple[str, ...]) -> list[Episode]:
    """Answered episodes in which a person asked for something like it, the most alike first; none of a hidden project. Raises StoreFault."""
    said = Filters(role="user", notes=False, hidden=hidden)
    about = subject(wanted.text)
    cosines = {one.id: one.similarity for one in vectors.nearest(database, wanted.whole, MOST_ASKED, said)}
    near_ones = [item for item in turn_rows.items(database, list(cosines)) if about & subject(item.content)]
    others = search(database, embedder, Request(wanted.text, limit=MOST_OTHERS, filters=said)) if near_ones else ()
    found: list[tuple[float, Episode]] = []
    for item in near_ones:
        alike = likeness(cosines[item.id], cosines[item.id], wanted.text, item.content[:LONGEST_ASKED])
        turns, ending = episode_around(database, item)
        if ending.is_answered:
            thread = thread_of(database, turns, ending, others)
            after = thread.after if thread.after and _is_worked_on(database, thread.after) else None
            told = attempt_at(database, item, ending)
            done = _is_deed(database, item, turns, ending)
            is_same = alike.is_duplicate and are_one(wanted.text, item.content)
            found.append((alike.score, Episode(told, is_same, done, after, thread.superseded_by)))
    return [episode for _, episode in sorted(found, key=lambda pair: -pair[0])]


def _is_deed(database: Database, item: Item, turns: Sequence[Item], ending: Ending) -> bool:
    """Whether what the item asks for was worked on, and that went well.

    What is worked on after a bare go counts, since that goes back to what was wished; after a question it goes back to
    whatever the answer proposed, and a command to the client is no go.
    """
    if _has_work(turns):
        return ending.said == "worked"
    if item.content.rstrip().endswith(("?", "？")):
        return False
    for later in outcomes.after(database, item.project, item.conversation_id or "", ending.last_index, 1):
        (go,) = turn_rows.items(database, [later.asked])
        is_go = go.metadata.get("kind") != "command" and not subject(go.content)
        return is_go and later.ending.said == "worked" and _has_work(episode_around(database, go)[0])
    return False


def _is_worked_on(database: Database, attempt: Attempt) -> bool:
    (item,) = turn_rows.items(database, [int(attempt.id)])
    return _has_work(episode_around(database, item)[0])


def _has_work(turns: Sequence[Item]) -> bool:
    """Whether commands, edits or commits are in sight."""
    return bool(done_in(turns)) or any(turn.metadata.get("commits") for turn in turns)


def judged(
    found: Sequence[Near],
    episodes: Sequence[Episode] = (),
    about: frozenset[str] = frozenset(),
    here: str | None = None,
) -> PriorWork:
    """The verdict out of the tasks most alike and of the episodes that are about the same.

    Args:
        found: tasks, the most alike first.
        episodes: the most alike first; one that is the same decides where no task is.
        about: the subject of what is wanted.
        here: the project that is stood in; a task of another one is said to be of that.
    """
    results = tuple(one for one in found if one.likeness.is_related)[:MOST_RESULTS]
    same = [one for one in results if one.likeness.is_duplicate]
    if same:
        verdict, reason = verdict_of(same[0].task, here)
        return PriorWork(verdict, reason, results)
    replaced = {one.superseded_by.id: one for one in reversed(episodes) if one.superseded_by is not None}
    for episode in (one for one in episodes if one.is_same):
        given_up = replaced.get(episode.told.id)
        if given_up and not about & (subject(episode.told.asked) - subject(given_up.told.asked)):
            episode = given_up  # noqa: PLW2901 - it shares only what is no longer wanted
        if found_so := _verdict_of_episode(episode):
            verdict, reason, told = found_so
            return PriorWork(verdict, reason, results[: MOST_RESULTS - len(told)], told)
    closest = f"; the nearest is t:{results[0].task.key}" if results else ""
    return PriorWork("new", f"No task and no conversation asks for the same{closest}.", results)


def _verdict_of_episode(episode: Episode) -> tuple[Verdict, str, tuple[Attempt, ...]] | None:
    """What an episode that asked for the same means, why, and what shows it; None where it neither did it nor failed at it."""
    told = episode.told
    if later := episode.superseded_by:
        reason = f"What a conversation decided about it (id {told.id}) was later replaced (id {later.id})."
        return "superseded", reason, (told, later)
    done = told if episode.is_done else episode.after
    if done is not None:
        return "done", f"A conversation about it ended well (id {done.id}).", (done,)
    if told.outcome == "failed":
        return "failed_before", f"A conversation about it ended in failure (id {told.id}).", (told,)
    return None


def verdict_of(task: StoredTask, here: str | None = None) -> tuple[Verdict, str]:
    """What a task that says the same means for whoever wants to begin with it, and why."""
    name = f"t:{task.key}" + (f" of {one_line(task.project)}" if task.project and task.project != here else "")
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
        item = turn_rows.last_answer(database, conversation, task.closed_at)
        if item is not None and item.project not in hidden:
            return item.content, item
    return (task.comments[-1].content, None) if task.comments else (None, None)
