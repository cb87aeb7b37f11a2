"""Find lessons: problems that failed repeatedly before they were solved, and commands that did."""

from collections.abc import Sequence
from itertools import combinations, pairwise

from pastchats_memory.arrays import np
from pastchats_memory.episodes.known_failures import group_cured, name_failure
from pastchats_memory.episodes.load import NEIGHBOURS
from pastchats_memory.episodes.problems import extract_errors, is_same_problem, is_shared_error
from pastchats_memory.episodes.threads import cite_attempts, load_attempt
from pastchats_memory.model.episodes import FAILURES, Attempt, Lesson
from pastchats_memory.store import outcomes, turns, vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.failures import StoredFailure
from pastchats_memory.store.outcomes import Ended, Ending
from pastchats_memory.text.groups import group_by_key, group_connected

MAX_EPISODES = 2000
"""The newest episodes of a project with a known outcome."""
MAX_EPISODES_WITH_ERROR = 20
"""An error in more episodes belongs to the project rather than to one problem."""
MIN_COSINE = 0.8
"""Cosine of two equal requests, if they also share words."""
MIN_FAILURES = 2
MAX_ATTEMPTS = 5
"""Attempts that a lesson shows, the last ones."""
CURES = {"instead": "This worked instead.", "after": "The same worked after this."}
"""Cures of a command that end a lesson; a refusal ended nothing."""


def find_lessons(database: Database, project: str | None, limit: int) -> list[Lesson]:
    """Return problems and commands that failed at least twice before they worked: the most failures first, then the newest.

    Attempts belong together if the next message reports a failure, or if they request the same. They also do if both
    requests mention an error of both episodes. The last two need known times, since otherwise their order is unknown.
    """
    episodes = outcomes.latest_known(database, project, MAX_EPISODES)
    solved = [found for group in group_by_problem(database, episodes) if (found := _find_solution(group))]
    solved.sort(key=lambda found: len(found[0]), reverse=True)  # stable: the newest first
    cured = (group for group in group_cured(database, project) if group[0].failure.kind in CURES)
    repeated = sorted((group for group in cured if len(group) >= MIN_FAILURES), key=len, reverse=True)
    lessons = [_make_lesson(database, failed, solution) for failed, solution in solved[:limit]]
    lessons += [_make_lesson_of_command(database, group) for group in repeated[:limit]]
    return sorted(lessons, key=lambda lesson: lesson.times, reverse=True)[:limit]


def _find_solution(group: Sequence[Ended]) -> tuple[list[Ended], Ended] | None:
    """Return the failures of a group and the first success after them; None if either is missing."""
    failed = [one for one in group if one.ending.outcome in FAILURES]
    if len(failed) < MIN_FAILURES:
        return None
    return next(((failed, one) for one in group[group.index(failed[-1]) + 1 :] if one.ending.outcome == "worked"), None)


def group_by_problem(database: Database, episodes: Sequence[Ended]) -> list[list[Ended]]:
    """Return episodes about the same problem, each group in order of time."""
    pairs = _pair_consecutive(episodes) + _pair_similar(database, episodes) + _pair_by_error(database, episodes)
    groups = [[episodes[place] for place in places] for places in group_connected(len(episodes), pairs)]
    return [sorted(group, key=lambda one: (one.timestamp or "", one.ending.first_index)) for group in groups]


def _pair_consecutive(episodes: Sequence[Ended]) -> list[tuple[int, int]]:
    """Return pairs of places: an episode, and the next one that reports its failure."""
    ordered = sorted(
        range(len(episodes)), key=lambda place: (episodes[place].conversation, episodes[place].ending.first_index)
    )
    return [
        (first, second)
        for first, second in pairwise(ordered)
        if episodes[first].conversation == episodes[second].conversation
        and episodes[first].ending.last_index + 1 == episodes[second].ending.first_index
        and _is_failed_by_next(episodes[first].ending)
    ]


def _is_failed_by_next(ending: Ending) -> bool:
    """Return whether the user's next message says that an episode failed, or nothing answered it."""
    is_shown = any(shown.turn_index > ending.last_index for shown in ending.evidence)
    return not ending.is_answered or (ending.outcome in FAILURES and is_shown)


def _pair_similar(database: Database, episodes: Sequence[Ended]) -> list[tuple[int, int]]:
    """Return places of a failed episode and a dated one of the same project with the same request."""
    places = {one.question_id: place for place, one in enumerate(episodes) if one.timestamp is not None}
    ids, rows = vectors.matrix(database, list(places))
    failed = [row for row, id_ in enumerate(ids) if episodes[places[id_]].ending.outcome in FAILURES]
    if not failed:
        return []
    near = np.argwhere(rows[failed] @ rows.T >= MIN_COSINE).tolist()
    pairs = ((places[ids[failed[first]]], places[ids[second]]) for first, second in near)
    return [
        (one, other)
        for one, other in {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}
        if episodes[one].conversation[0] == episodes[other].conversation[0]
        and is_same_problem(episodes[one].text, episodes[other].text)
    ]


def _pair_by_error(database: Database, episodes: Sequence[Ended]) -> list[tuple[int, int]]:
    """Return places of a failed episode and a dated one of the same project whose request shares its error."""
    dated = [place for place, one in enumerate(episodes) if one.timestamp is not None]
    errors = _load_errors(database, episodes, [place for place in dated if episodes[place].ending.outcome in FAILURES])
    projects = {episodes[place].conversation[0] for place, found in errors.items() if found}
    rest = [place for place in dated if place not in errors and episodes[place].conversation[0] in projects]
    errors |= _load_errors(database, episodes, rest)
    with_error = group_by_key(
        ((episodes[place].conversation[0], error), place) for place, found in errors.items() for error in found
    )
    rare = (sorted(shared) for shared in with_error.values() if len(shared) <= MAX_EPISODES_WITH_ERROR)
    pairs = {pair for shared in rare for pair in combinations(shared, 2)}
    return [
        (one, other)
        for one, other in sorted(pairs)
        if not episodes[one].ending.outcome == episodes[other].ending.outcome == "worked"
        and is_shared_error(episodes[one].text, episodes[other].text, errors[one] & errors[other])
    ]


def _load_errors(database: Database, episodes: Sequence[Ended], places: Sequence[int]) -> dict[int, frozenset[str]]:
    by_request = {episodes[place].question_id: place for place in places}
    found: dict[int, frozenset[str]] = {}
    for item in turns.items(database, list(by_request)):
        place = by_request[item.id]
        found[place] = extract_errors(turns.episode_turns(database, item, episodes[place].ending, NEIGHBOURS))
    return found


def _make_lesson(database: Database, failed: Sequence[Ended], solution: Ended) -> Lesson:
    """Return a lesson, in which attempts with equal requests appear once, with their last outcome."""
    shown = [*failed[-MAX_ATTEMPTS:], solution]
    items = {item.id: item for item in turns.items(database, [one.question_id for one in shown])}
    described = [load_attempt(database, items[one.question_id], one.ending) for one in shown]
    cited = cite_attempts(database, described)
    *attempts, last = (cited[one.id] for one in described)
    return Lesson(
        project=solution.conversation[0],
        times=len(failed),
        attempts=tuple({attempt.asked: attempt for attempt in attempts}.values()),
        ended_by=last,
    )


def _make_lesson_of_command(database: Database, group: Sequence[StoredFailure]) -> Lesson:
    """Return what is known of a command that failed: its newest runs in order, and what cured the newest one."""
    name = f"$ {name_failure(group[0].failure)}"
    attempts = [
        Attempt(str(one.failure.turn), name, "", "failed", one.failure.error, one.timestamp, "", None)
        for one in reversed(group[: MAX_ATTEMPTS - 1])
    ]
    cured = group[0]
    id_ = str(cured.failure.cure_turn)
    cure = Attempt(id_, cured.failure.cure, CURES[cured.failure.kind], "worked", "", cured.timestamp, "", None)
    cited = cite_attempts(database, [*attempts, cure])
    return Lesson(cured.project, len(group), tuple(cited[one.id] for one in attempts), cited[cure.id])
