"""What failed repeatedly in a project before something ended it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np

from pastchats_memory.episodes.problems import are_of_one_error, are_one
from pastchats_memory.episodes.threads import (
    ALIKE,
    attempt_at,
    cited_attempts,
    errors_of,
    is_failed_by_next,
)
from pastchats_memory.model import Lesson
from pastchats_memory.store import outcomes, turns, vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.outcomes import Ended

MOST_EPISODES = 2000
"""The newest of a project whose outcome is known."""
MOST_WITH_ERROR = 20
"""Episodes up to which an error is that of a problem, rather than of the project."""
REPEATEDLY = 2
MOST_ATTEMPTS = 5
"""That a lesson tells, the last ones."""


def lessons(database: Database, project: str | None, hidden: Sequence[str], limit: int) -> list[Lesson]:
    """What failed at least twice before something worked, which says what to do: first the most often failed, then the newest.

    Attempts belong together where the person's next words say of one that it failed, and where they ask for the same, or speak of
    an error that came in both, at times that are known, since else nobody can tell which came after the other.

    Args:
        database: to be read.
        project: only of this one; None for all.
        hidden: projects that are not to be seen.
        limit: lessons at most.

    Raises:
        StoreFault: the database cannot be read.
    """
    told = outcomes.told_of(database, project, hidden, MOST_EPISODES)
    found = [solved for group in _groups(database, told) if (solved := _solved(group))]
    found.sort(key=lambda solved: len(solved[0]), reverse=True)  # and stable: as told, the newest first
    return [_lesson(database, failed, ended) for failed, ended in found[:limit]]


def _solved(group: Sequence[Ended]) -> tuple[list[Ended], Ended] | None:
    """What failed of a group, and the first that worked after the last of it; None where it is not repeated failure or has no end."""
    failed = [one for one in group if one.ending.said in ("failed", "mixed") and one.ending.is_answered]
    if len(failed) < REPEATEDLY:
        return None
    after = group[group.index(failed[-1]) + 1 :]
    return next(((failed, one) for one in after if one.ending.said == "worked"), None)


def _groups(database: Database, told: Sequence[Ended]) -> list[list[Ended]]:
    """Episodes about the same problem, each group in the order of time."""
    leader = list(range(len(told)))

    def led_by(place: int) -> int:
        while leader[place] != place:
            leader[place] = leader[leader[place]]
            place = leader[place]
        return place

    for first, second in (*_chained(told), *_alike(database, told), *_of_one_error(database, told)):
        leader[led_by(second)] = led_by(first)
    groups: dict[int, list[Ended]] = {}
    for place in range(len(told)):
        groups.setdefault(led_by(place), []).append(told[place])
    return [sorted(group, key=lambda one: (one.timestamp or "", one.ending.first_index)) for group in groups.values()]


def _chained(told: Sequence[Ended]) -> list[tuple[int, int]]:
    """Pairs of places: an episode and the one that begins by saying that it failed."""
    ordered = sorted(range(len(told)), key=lambda place: (told[place].conversation, told[place].ending.first_index))
    return [
        (first, second)
        for first, second in pairwise(ordered)
        if told[first].conversation == told[second].conversation
        and told[first].ending.last_index + 1 == told[second].ending.first_index
        and is_failed_by_next(told[first].ending)
    ]


def _alike(database: Database, told: Sequence[Ended]) -> list[tuple[int, int]]:
    """Pairs of a failed episode and another one of its project that was asked for the same, each at a time that is known."""
    places = {one.asked: place for place, one in enumerate(told) if one.timestamp is not None}
    ids, rows = vectors.matrix(database, list(places))
    failed = [row for row, id_ in enumerate(ids) if told[places[id_]].ending.said in ("failed", "mixed")]
    if not failed:
        return []
    near = np.argwhere(rows[failed] @ rows.T >= ALIKE).tolist()
    pairs = [(places[ids[failed[first]]], places[ids[second]]) for first, second in near]
    return [
        (one, other)
        for one, other in pairs
        if told[one].conversation[0] == told[other].conversation[0] and are_one(told[one].text, told[other].text)
    ]


def _of_one_error(database: Database, told: Sequence[Ended]) -> list[tuple[int, int]]:
    """Pairs of a failed episode and another one of its project in which the same error came, of which both requests speak."""
    dated = [place for place, one in enumerate(told) if one.timestamp is not None]
    failed = [place for place in dated if told[place].ending.said in ("failed", "mixed")]
    errors = _errors(database, told, failed)
    projects = {told[place].conversation[0] for place, found in errors.items() if found}
    rest = [place for place in dated if place not in errors and told[place].conversation[0] in projects]
    errors |= _errors(database, told, rest)
    with_error: dict[tuple[str, str], list[int]] = {}
    for place, found in errors.items():
        for error in found:
            with_error.setdefault((told[place].conversation[0], error), []).append(place)
    rare = (sorted(shared) for shared in with_error.values() if len(shared) <= MOST_WITH_ERROR)
    pairs = {pair for shared in rare for pair in combinations(shared, 2)}
    return [
        (one, other)
        for one, other in sorted(pairs)
        if not told[one].ending.said == told[other].ending.said == "worked"
        and are_of_one_error(told[one].text, told[other].text, errors[one] & errors[other])
    ]


def _errors(database: Database, told: Sequence[Ended], places: Sequence[int]) -> dict[int, frozenset[str]]:
    """The errors in the episode at each of the places."""
    asked = {told[place].asked: place for place in places}
    items = turns.items(database, list(asked))
    return {asked[item.id]: errors_of(database, item, told[asked[item.id]].ending) for item in items}


def _lesson(database: Database, failed: Sequence[Ended], ended: Ended) -> Lesson:
    """The attempts as they are told: what was asked in the same words several times once, as it ended last."""
    shown = [*failed[-MOST_ATTEMPTS:], ended]
    items = {item.id: item for item in turns.items(database, [one.asked for one in shown])}
    told = [attempt_at(database, items[one.asked], one.ending) for one in shown]
    cited = cited_attempts(database, told)
    *attempts, last = (cited[one.id] for one in told)
    return Lesson(
        project=ended.conversation[0],
        times=len(failed),
        attempts=tuple({attempt.asked: attempt for attempt in attempts}.values()),
        ended_by=last,
    )
