"""One problem, several attempts: what failed before an episode, what worked after it, what took its place.

Precision before recall. Within a conversation an attempt belongs to the next episode where the person's next words say that
it failed. Across conversations of a project those are compared that a question has brought together anyway, by the vectors and the
words of what was asked, or by an error that came in both; and something is superseded where a later request puts another thing in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, takewhile
from typing import NamedTuple

from pastchats_memory.citations import cited_items
from pastchats_memory.episodes.around import NEIGHBOURS
from pastchats_memory.episodes.problems import are_of_one_error, are_one, errors_in
from pastchats_memory.model import Attempt, Hit, Item
from pastchats_memory.search.hits import cited_place
from pastchats_memory.store import outcomes, vectors
from pastchats_memory.store import turns as turn_rows
from pastchats_memory.store.database import Database
from pastchats_memory.store.outcomes import BROKE_OFF, Ended, Ending
from pastchats_memory.text.excerpt import excerpt
from pastchats_memory.text.key_sentences import key_sentences
from pastchats_memory.text.shell import find_instruction

ALIKE = 0.8
"""Cosine of two questions from which they ask for the same, if they also share words."""
MOST_BEFORE = 3
FARTHEST = 6
"""Episodes back and forth in a conversation that are looked at."""
ASKED_WIDTH = 120
LAST_TURNS = 3
"""Of an attempt, among which its last answer is."""


class Thread(NamedTuple):
    """The other episodes about the same problem."""

    before: tuple[Attempt, ...] = ()
    """Failed ones, in order."""
    after: Attempt | None = None
    """A later one that worked."""
    answered: Attempt | None = None
    """The next that was answered, where this one was stopped before."""
    superseded_by: Attempt | None = None


def thread_of(database: Database, episode: Sequence[Item], ending: Ending, others: Sequence[Hit]) -> Thread:
    """The thread of an episode.

    Args:
        database: to be read.
        episode: its turns, in order.
        ending: how it ended.
        others: further hits of the same question, none of them hidden from whoever asks.

    Raises:
        StoreFault: the database cannot be read.
    """
    first = episode[0]
    if first.role == "note" or first.conversation_id is None:
        return Thread()
    attempts = [*_here(database, episode, ending), *_elsewhere(database, episode, others)]
    before = [one for is_earlier, one in attempts if is_earlier and one.answered and one.outcome in ("failed", "mixed")]
    later = [one for is_earlier, one in attempts if not is_earlier and one.answered]
    is_open = ending.said in ("failed", "mixed")
    return Thread(
        before=tuple(before[-MOST_BEFORE:]),
        after=next((one for one in later if is_open and one.outcome == "worked"), None),
        answered=None if ending.is_answered else next(iter(later), None),
        superseded_by=superseding(database, episode, others),
    )


def is_failed_by_next(ending: Ending) -> bool:
    """Whether the next episode goes on from one that failed: by the words that say so, or since this one was stopped before any answer."""
    begins_so = any(shown.turn_index > ending.last_index for shown in ending.evidence)
    return ending.said in ("failed", "mixed") and (begins_so or not ending.is_answered)


def _goes_on(ending: Ending) -> bool:
    """Whether the next episode goes on from this one, which failed: by its words, or since who stops an agent at work mostly tells it how to go on."""
    return is_failed_by_next(ending) or (ending.said == "failed" and ending.signal == BROKE_OFF)


def _here(database: Database, episode: Sequence[Item], ending: Ending) -> list[tuple[bool, Attempt]]:
    """The attempts of its conversation that the episode goes on from or that go on from it, in order."""
    first = episode[0]
    asked = next((turn for turn in episode if turn.role == "user"), first)
    project, conversation = first.project, str(first.conversation_id)
    own = Ended(asked.id, asked.content, (project, conversation), first.timestamp, ending)
    before = outcomes.before(database, first, ending.first_index, FARTHEST)
    after = outcomes.after(database, project, conversation, ending.last_index, FARTHEST)
    earlier = list(takewhile(lambda one: _goes_on(one.ending), before[::-1]))[::-1]
    later = [one for last, one in takewhile(lambda two: _goes_on(two[0].ending), pairwise([own, *after]))]
    return [
        (is_earlier, _attempt(database, one)) for is_earlier, ones in ((True, earlier), (False, later)) for one in ones
    ]


def _elsewhere(database: Database, episode: Sequence[Item], others: Sequence[Hit]) -> list[tuple[bool, Attempt]]:
    """Attempts of other conversations of the project at what is asked in like words, or at an error that both speak of, in order."""
    asked = next((turn for turn in episode if turn.role == "user"), None)
    if asked is None or asked.timestamp is None:
        return []
    candidates = {
        int(hit.id): hit
        for hit in others
        if hit.task is None and hit.role == "user" and hit.timestamp is not None
        and hit.source_project == asked.project and hit.conversation_id != asked.conversation_id
    }  # fmt: skip
    ids, rows = vectors.matrix(database, [asked.id, *candidates])
    if asked.id not in ids:
        return []
    cosines = dict(zip(ids, (rows @ rows[ids.index(asked.id)]).tolist(), strict=True))
    alike = {id_ for id_ in candidates if cosines.get(id_, 0.0) >= ALIKE}
    errors = errors_in(episode)
    found: list[tuple[str, Attempt]] = []
    for item in turn_rows.items(database, [id_ for id_ in candidates if errors or id_ in alike]):
        ending = outcomes.of_turn(database, item)
        if ending is None or item.timestamp is None:
            continue
        is_alike = item.id in alike and are_one(asked.content, item.content)
        if is_alike or (
            errors and are_of_one_error(asked.content, item.content, errors & errors_of(database, item, ending))
        ):
            found.append((item.timestamp, attempt_at(database, item, ending)))
    return [(when < asked.timestamp, one) for when, one in sorted(found, key=lambda pair: pair[0])]


def errors_of(database: Database, item: Item, ending: Ending) -> frozenset[str]:
    """The errors in the item's episode. Raises StoreFault."""
    return errors_in(turn_rows.of_episode(database, item, ending, NEIGHBOURS))


def superseding(database: Database, episode: Sequence[Item], others: Sequence[Hit]) -> Attempt | None:
    """The first later question of the project that wants something else in the place of what this episode is about."""
    last = episode[-1]
    if last.timestamp is None:
        return None
    asked, answered = (
        "\n".join(turn.content for turn in episode if turn.role == role) for role in ("user", "assistant")
    )
    later = [
        hit
        for hit in others
        if hit.task is None and hit.role == "user" and (hit.timestamp or "") > last.timestamp
        and hit.source_project == last.project
    ]  # fmt: skip
    if not later:
        return None
    # Patterns that are compiled where a later question was found, and not in every hook.
    from pastchats_memory.episodes.replacing import replacements, replaces

    for hit in sorted(later, key=lambda hit: hit.timestamp or ""):
        if not any(replaces(one, asked, answered) for one in replacements(hit.content)):
            continue
        if found := turn_rows.items(database, [int(hit.id)]):
            ending = outcomes.of_turn(database, found[0])
            if ending is not None and ending.said != "failed":
                return attempt_at(database, found[0], ending)
    return None


def _attempt(database: Database, one: Ended) -> Attempt:
    (item,) = turn_rows.items(database, [one.asked])
    return attempt_at(database, item, one.ending)


def attempt_at(database: Database, item: Item, ending: Ending) -> Attempt:
    """The episode that the item asks for, as another one tells of it. Raises StoreFault."""
    where = cited_place(item)
    turns = turn_rows.of_episode(database, item, ending, LAST_TURNS)
    answers = [turn.content for turn in turns if turn.role == "assistant"]
    said = " ".join(key_sentences(answers[-1], {}, ASKED_WIDTH).split()) if answers else ""
    return Attempt(
        str(item.id),
        _one_line(find_instruction(item.content)),
        said,
        ending.said,
        ending.shown_by,
        item.timestamp,
        where.path,
        where.line or None,
        signal="" if ending.said == "unknown" else ending.signal,
    )


def cited_attempts(database: Database, attempts: Sequence[Attempt]) -> dict[str, Attempt]:
    """The attempts by id, each at the place that holds best. Raises StoreFault."""
    items = cited_items(database, turn_rows.items(database, [int(one.id) for one in attempts]))
    asked = {str(item.id): item for item in items}
    return {one.id: _at(one, asked[one.id]) for one in attempts}


def _at(attempt: Attempt, cited: Item) -> Attempt:
    where = cited_place(cited)
    return attempt._replace(source_path=where.path, source_line=where.line or None, citation=cited.citation)


def _one_line(text: str) -> str:
    return " ".join(excerpt(text, {}, ASKED_WIDTH).split())
