"""Check whether work is new, asked before, done, in progress, failed before or superseded."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, NamedTuple

from pastchats_memory.embed import Embedder, is_unread
from pastchats_memory.embed.session import ModelSession
from pastchats_memory.episodes import threads
from pastchats_memory.episodes.actions import actions_of
from pastchats_memory.episodes.load import load_episode
from pastchats_memory.episodes.problems import MIN_SHARED_WORDS, extract_subject, has_different_name, is_same_problem
from pastchats_memory.episodes.refutation import SIGNAL
from pastchats_memory.errors import UsageFault
from pastchats_memory.fields import As, At, Flat, Shown, View, shown_as
from pastchats_memory.model import RESOLVED, Filters, Hit, Item, StoredTask
from pastchats_memory.model.episodes import FAILURES, Attempt
from pastchats_memory.search.pipeline import search
from pastchats_memory.search.request import Request
from pastchats_memory.store import outcomes, sources, vectors
from pastchats_memory.store import turns as turn_rows
from pastchats_memory.store.database import Database
from pastchats_memory.store.outcomes import Ending
from pastchats_memory.tasks.similarity import (
    SimilarTask,
    TaskQuery,
    estimate_cosine,
    find_similar_tasks,
    load_words,
    score_similarity,
)
from pastchats_memory.text.display import escape_name
from pastchats_memory.text.tracker_words import folded
from pastchats_memory.text.words import FUNCTION_WORDS

Verdict = Literal["done", "in_progress", "failed_before", "superseded", "asked_before", "new"]
MAX_RESULTS = 3
SUPERSEDED_WORDS = frozenset({"superseded", "obsolete", "duplicate", "replaced"})
"""Raw status words of a task that another task replaced."""
SUPERSEDED_LINKS = frozenset({"superseded-by", "superseded_by", "duplicates", "duplicate-of"})
MAX_EPISODES = 10
"""User turns nearest to the query whose episodes are read."""
MAX_RELATED_TURNS = 40
"""User turns about the same topic among which a later attempt or decision is looked for."""
MAX_COMPARED_LENGTH = 400
"""Characters of a user turn that are compared with the query."""
MAX_LATER_EPISODES = 6
"""Episodes after a request in which the work may be finished."""
MAX_THREADS = 8
"""Related requests whose threads are compared with the words of the query."""
MIN_TOPIC = 2
"""Words of a query that says what is to be done; one word is a topic alone."""
MAX_UNNAMED = 0.25
"""Share of the words of a query that the requests of a thread for the same may lack."""
ACTION_WORDS = frozenset("add build create have introduce less make more new provide set support use write".split())  # noqa: SIM905 - one string is shorter
"""Words of a wish that do not say for what."""
MIN_SIMILARITY = 0.35
"""Cosine below which a resolved task that shares no word with the problem is left out."""


class PriorEpisode(NamedTuple):
    """An episode whose user turn is similar to the query, and its outcome."""

    attempt: Attempt
    is_same: bool
    """Whether the turn asks for the same as the query, not only for something similar."""
    is_done: bool
    """Whether the work is visible and ended well; an answer alone is no work."""
    later_success: Attempt | None = None
    """A later attempt that succeeded: of the same problem if this one failed, or one that says so in the query's words."""
    superseded_by: Attempt | None = None
    refuted_by: Attempt | None = None
    """A later prompt that says that the work did not help, unless a later attempt succeeded."""


@dataclass(frozen=True, slots=True)
class PriorWork:
    """Verdict on whether a query is new work."""

    verdict: Verdict
    reason: str
    """One sentence."""
    results: tuple[SimilarTask, ...]
    """The best related tasks; with the episodes at most MAX_RESULTS."""
    episodes: tuple[Attempt, ...] = ()
    """The episode that the verdict rests on, with citation, and the one that superseded it; none if a task decides."""
    warnings: tuple[str, ...] = ()
    """Why words alone decided, if the model could not be used."""


class ResolutionSourceView(View):
    """The turn that has a resolution."""

    id: Annotated[str, At("shown_id")]
    source_path: str
    source_line: int | None
    conversation_id: str | None


@shown_as("ResolvedView")
@dataclass(frozen=True, slots=True)
class ResolvedTask:
    """A solved task with its resolution."""

    task: Annotated[StoredTask, Flat(but=("parts",))]
    score: float
    similarity: float | None
    resolution: Annotated[str | None, "The last words of the conversation that worked on it, else of its comments."]
    source: Annotated[Item | None, As(ResolutionSourceView | None), Shown("resolution_source")]


def check_prior_work(
    database: Database, embedder: Embedder, query: str, filters: Filters, project: str | None = None
) -> PriorWork:
    """Return the verdict on a query with the three best matching tasks. Raises UsageFault for an empty query.

    The reason names the project of a task that belongs to another one than the user's.
    """
    if not query.strip():
        raise UsageFault("there is nothing to check", "Say what you are about to do.")
    session = sources.open_session(database, embedder)
    task_query = TaskQuery.embed(session, query.strip())
    tasks = find_similar_tasks(database, session, task_query, filters)
    if any(similar.match.is_duplicate for similar in tasks[:MAX_RESULTS]):
        return replace(decide_verdict(tasks, project=project), warnings=session.warnings)
    related = search(
        database, session, Request(task_query.text, limit=MAX_RELATED_TURNS, filters=Filters(role="user", notes=False))
    )
    episodes = find_similar_episodes(database, session, task_query, related)
    work = decide_verdict(tasks, episodes, extract_subject(task_query.text), project)
    if work.verdict == "new" and (end := _find_end_of_thread(database, task_query.text, related)):
        reason = f"A conversation asked for it, outcome {end.outcome}: id {end.id}."
        work = PriorWork("asked_before", reason, work.results[: MAX_RESULTS - 1], (end,))
    cited = threads.cite_attempts(database, work.episodes)
    return replace(work, episodes=tuple(cited[attempt.id] for attempt in work.episodes), warnings=session.warnings)


def _measure_turns(database: Database, session: ModelSession, query: TaskQuery, filters: Filters) -> dict[int, float]:
    """Return the cosines of the nearest turns by id; without a model, an estimate for the turns that share words."""
    if query.vector is not None:
        return {turn.id: turn.similarity for turn in vectors.nearest(database, query.vector, MAX_EPISODES, filters)}
    hits = search(database, session, Request(query.text, mode="keyword", limit=MAX_EPISODES, filters=filters))
    return {int(hit.id): estimate_cosine(query.text, hit.content[:MAX_COMPARED_LENGTH]) for hit in hits}


def find_similar_episodes(
    database: Database, session: ModelSession, query: TaskQuery, related: Sequence[Hit]
) -> list[PriorEpisode]:
    """Return episodes with a user turn that is similar to the query, the most similar first."""
    topic = extract_subject(query.text)
    cosines = _measure_turns(database, session, query, Filters(role="user", notes=False))
    items = [item for item in turn_rows.items(database, list(cosines)) if topic & extract_subject(item.content)]
    found: list[tuple[float, PriorEpisode]] = []
    for item in items:
        cosine = cosines[item.id]
        match = score_similarity(cosine, cosine, query.text, item.content[:MAX_COMPARED_LENGTH])
        turns, ending = load_episode(database, item)
        later = None
        if ending.outcome in (*FAILURES, "stopped"):
            later = _find_later_success(database, threads.build_thread(database, turns, ending, related), ending)
        own = threads.describe_attempt(item, ending, turns)
        is_done = ending.is_answered and _is_done(database, item, turns, ending)
        later = later or _find_reported_success(database, item, ending, topic)
        episode = PriorEpisode(
            attempt=own,
            is_same=match.is_duplicate and is_same_problem(query.text, item.content),
            is_done=is_done,
            later_success=later,
            superseded_by=threads.find_superseding(database, turns, related),
            refuted_by=None if later else _load_refutation(database, ending),
        )
        found.append((match.score, episode))
    return [episode for _, episode in sorted(found, key=lambda pair: -pair[0])]


def _find_end_of_thread(database: Database, query: str, related: Sequence[Hit]) -> Attempt | None:
    """Return the last attempt of the first thread whose requests name nearly everything that the query does."""
    words = load_words()
    topic = words.find_stems(query) - words.find_stems(" ".join(FUNCTION_WORDS | ACTION_WORDS))
    if min(len(topic), len(extract_subject(query))) < MIN_TOPIC:
        return None
    for hit in related[:MAX_THREADS]:
        if not topic & words.find_stems(hit.content) or has_different_name(query, hit.content):
            continue
        (item,) = turn_rows.items(database, [int(hit.id)])
        turns, ending = load_episode(database, item)
        thread = threads.build_thread(database, turns, ending, related)
        named = words.find_stems("\n".join(one.request for one in thread))
        if len(topic - named) <= MAX_UNNAMED * len(topic):
            last = next((one for one in reversed(thread) if one.answers), thread[-1])
            return threads.describe_attempt(last.item, last.ending, last.turns)
    return None


def _is_done(database: Database, item: Item, turns: Sequence[Item], ending: Ending) -> bool:
    """Return whether the work that the item asks for is visible and ended well.

    Work that follows a bare "go" counts too, since "go" refers to the request. After a question it refers to the
    proposal of the answer, so it does not count; neither does a client command.
    """
    if _has_work(turns):
        return ending.outcome == "worked"
    if item.content.rstrip().endswith(("?", "？")):
        return False
    for later in outcomes.after(database, item.project, item.conversation_id or "", ending.last_index, 1):
        (turn,) = turn_rows.items(database, [later.question_id])
        is_go = turn.metadata.get("kind") != "command" and not extract_subject(turn.content)
        return is_go and later.ending.outcome == "worked" and _has_work(load_episode(database, turn)[0])
    return False


def _find_later_success(database: Database, thread: Sequence[threads.ThreadEpisode], ending: Ending) -> Attempt | None:
    """Return the last success with visible work after an episode of a thread, unless a later attempt failed."""
    own = next(place for place, one in enumerate(thread) if one.ending == ending)
    for one in thread[:own:-1]:
        if one.ending.outcome in FAILURES:
            return None
        if one.ending.outcome == "worked" and _has_work(load_episode(database, one.item)[0]):
            return threads.describe_attempt(one.item, one.ending, one.turns)
    return None


def _find_reported_success(database: Database, item: Item, ending: Ending, topic: frozenset[str]) -> Attempt | None:
    """Return the next episode of the conversation that did the work and whose answers name the whole topic.

    People seldom repeat what they asked for: "What is the clean way?" ends with "the flaky login test is fixed".
    """
    if len(topic) < MIN_SHARED_WORDS:
        return None
    following = outcomes.after(
        database, item.project, item.conversation_id or "", ending.last_index, MAX_LATER_EPISODES
    )
    for later in following:
        if later.ending.outcome != "worked":
            continue
        (question,) = turn_rows.items(database, [later.question_id])
        turns, _ = load_episode(database, question)
        answers = (extract_subject(turn.content) for turn in turns if turn.role == "assistant")
        if _has_work(turns) and any(topic <= subject for subject in answers):
            return threads.load_attempt(database, question, later.ending)
    return None


def _load_refutation(database: Database, ending: Ending) -> Attempt | None:
    """Return the message for which an episode counts as failed, if that refutes it later."""
    if ending.signal != SIGNAL:
        return None
    (turn,) = turn_rows.items(database, [ending.evidence[-1].id])
    episode, outcome = load_episode(database, turn)
    return threads.describe_attempt(turn, outcome, episode)


def _has_work(turns: Sequence[Item]) -> bool:
    return bool(actions_of(turns)) or any(turn.metadata.get("commits") for turn in turns)


def decide_verdict(
    tasks: Sequence[SimilarTask],
    episodes: Sequence[PriorEpisode] = (),
    topic: frozenset[str] = frozenset(),
    project: str | None = None,
) -> PriorWork:
    """Decide by the most similar tasks, else by episodes that ask for the same; the topic is the query's subject."""
    results = tuple(similar for similar in tasks if similar.match.is_related)[:MAX_RESULTS]
    same = [similar for similar in results if similar.match.is_duplicate]
    if same:
        verdict, reason = judge_task(same[0].task, project)
        return PriorWork(verdict, reason, results)
    weaker: PriorWork | None = None
    superseded = {one.superseded_by.id: one for one in reversed(episodes) if one.superseded_by is not None}
    for episode in (one for one in episodes if one.is_same):
        earlier = superseded.get(episode.attempt.id)
        if earlier and not topic & (extract_subject(episode.attempt.asked) - extract_subject(earlier.attempt.asked)):
            episode = earlier  # noqa: PLW2901 - the query shares only the words of the superseded request
        verdict, reason, attempts = _judge_episode(episode)
        work = PriorWork(verdict, reason, results[: MAX_RESULTS - len(attempts)], attempts)
        if verdict != "asked_before" and episode.refuted_by is None:
            return work
        if weaker is None or weaker.verdict == "asked_before":
            weaker = work
    if weaker is not None:
        return weaker
    nearest = f"; the nearest is t:{results[0].task.key}" if results else ""
    return PriorWork("new", f"No task and no conversation asks for the same{nearest}.", results)


def _judge_episode(episode: PriorEpisode) -> tuple[Verdict, str, tuple[Attempt, ...]]:
    """Return verdict, reason and evidence of an episode that asks for the same."""
    attempt = episode.attempt
    if later := episode.superseded_by:
        reason = (
            f"A conversation decided this (id {attempt.id}), and a later one replaced the decision (id {later.id})."
        )
        return "superseded", reason, (attempt, later)
    done = attempt if episode.is_done else episode.later_success
    if done is not None and (refuted := episode.refuted_by) is not None:
        reason = (
            f"A conversation about it ended well (id {done.id}), but a later message refutes that (id {refuted.id})."
        )
        return "failed_before", reason, (done, refuted)
    if done is not None:
        return "done", f"A conversation about it ended well (id {done.id}).", (done,)
    if attempt.outcome == "failed":
        shown = (attempt,) if episode.refuted_by is None else (attempt, episode.refuted_by)
        return "failed_before", f"A conversation about it ended in failure (id {attempt.id}).", shown
    return "asked_before", f"A conversation asked for it, outcome {attempt.outcome}: id {attempt.id}.", (attempt,)


def judge_task(task: StoredTask, project: str | None = None) -> tuple[Verdict, str]:
    """Return verdict and reason of a task that is the same as the query.

    The reason names the task's project if it is not the user's.
    """
    name = f"t:{escape_name(task.key)}" + (
        f" of {escape_name(task.project)}" if task.project and task.project != project else ""
    )
    is_superseded = folded(task.status_raw) in SUPERSEDED_WORDS or any(
        link.kind in SUPERSEDED_LINKS for link in task.links
    )
    match task.status:
        case "cancelled" if is_superseded:
            return "superseded", f"{name} was given up for another task."
        case "cancelled":
            return "failed_before", f"{name} was given up ({task.status_raw})."
        case status if status in RESOLVED and is_superseded:
            return "superseded", f"{name} was closed for another task."
        case status if status in RESOLVED:
            return "done", f"{name} is {status}."
        case "blocked":
            return "in_progress", f"{name} is stuck: read its comments to understand why."
        case status:
            return "in_progress", f"{name} is {status}: update it instead of starting another one."


def find_resolved_tasks(
    database: Database, embedder: Embedder, problem: str, limit: int
) -> tuple[list[ResolvedTask], tuple[str, ...]]:
    """Return resolved tasks about a problem, the best first, and warnings. Raises UsageFault if it is empty."""
    filters = Filters(statuses=RESOLVED)
    hits = search(database, embedder, Request(problem, limit=20, filters=filters))
    cannot_read = is_unread(embedder.name, problem)
    found: dict[int, ResolvedTask] = {}
    for hit in hits:
        if hit.task is None or hit.task.id in found:
            continue
        if hit.lexical_rank is None and (cannot_read or (hit.similarity or 0) < MIN_SIMILARITY):
            continue
        resolution, source = find_resolution(database, hit.task)
        found[hit.task.id] = ResolvedTask(hit.task, hit.score, hit.similarity, resolution, source)
    return list(found.values())[:limit], hits.warnings


def find_resolution(database: Database, task: StoredTask) -> tuple[str | None, Item | None]:
    """Return the last answer of a conversation that worked on the task.

    Answers after the task was closed do not count. Without such an answer, return the last comment.
    """
    for conversation in task.conversations:
        item = turn_rows.last_answer(database, conversation, task.closed_at)
        if item is not None:
            return item.content, item
    return (task.comments[-1].content, None) if task.comments else (None, None)
