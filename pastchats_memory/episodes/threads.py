"""Connect attempts at one problem: failures, a success, a successor.

Precision comes before recall. Within a conversation, an attempt belongs to the next episode if the user's next message
reports a failure. Across the conversations of a project, only hits of the same question are compared: by the vectors and
words of the requests, or by a shared error. A later request supersedes a decision if it chooses something else instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise, takewhile
from typing import NamedTuple

from pastchats_memory.episodes.actions import last_runs, successful_runs
from pastchats_memory.episodes.cite import cite_items
from pastchats_memory.episodes.load import NEIGHBOURS
from pastchats_memory.episodes.problems import extract_errors, is_same_problem, is_shared_error
from pastchats_memory.model import FAILURES, Attempt, Hit, Item
from pastchats_memory.search.hits import cited_place
from pastchats_memory.store import outcomes, turns
from pastchats_memory.store.database import Database
from pastchats_memory.store.outcomes import Ended, Ending
from pastchats_memory.text.commands import find_purpose, is_same_kind
from pastchats_memory.text.excerpt import excerpt
from pastchats_memory.text.instruction import find_instruction
from pastchats_memory.text.key_sentences import key_sentences

MIN_COSINE = 0.8
"""Cosine of two equal requests, if they also share words."""
MAX_FAILURES = 3
"""Earlier failures that a thread shows, the last ones."""
MAX_DISTANCE = 6
"""Episodes of a conversation in each direction."""
REQUEST_WIDTH = 120
LAST_TURNS = 3
"""Turns of an attempt that are searched for its last answer."""


class Thread(NamedTuple):
    """The other episodes about the same problem."""

    before: tuple[Attempt, ...] = ()
    """Failed and stopped attempts, in order."""
    after: Attempt | None = None
    """A later success; of an undecided episode, the one that repaired its failed command."""
    answered: Attempt | None = None
    """The next episode with an answer, if this one was stopped before any."""
    superseded_by: Attempt | None = None


def find_thread(database: Database, episode: Sequence[Item], ending: Ending, others: Sequence[Hit]) -> Thread:
    """Return the thread of an episode, which visible hits of the same question (`others`) may belong to."""
    first = episode[0]
    if first.role == "note" or first.conversation_id is None:
        return Thread()
    attempts = [*_find_in_conversation(database, episode, ending), *_find_elsewhere(database, episode, others)]
    earlier = [one for one in attempts if one.is_earlier and one.ending.outcome in (*FAILURES, "stopped")]
    later = [one for one in attempts if not one.is_earlier]
    before = islice(_load_answered(database, reversed(earlier)), MAX_FAILURES)
    is_open = ending.outcome in (*FAILURES, "stopped")
    worked = [one for one in later if is_open and one.ending.outcome == "worked"]
    after = next(_load_answered(database, worked), None)
    return Thread(
        before=tuple(before)[::-1],
        after=_find_repair(database, episode, ending) if ending.outcome == "unknown" else after,
        answered=None if ending.is_answered else next(_load_answered(database, later), None),
        superseded_by=find_superseding(database, episode, others),
    )


class _OtherEpisode(NamedTuple):
    """An attempt whose texts are not loaded."""

    is_earlier: bool
    question_id: int
    ending: Ending


def _load_answered(database: Database, attempts: Iterable[_OtherEpisode]) -> Iterator[Attempt]:
    """Yield those that have an answer; weighing the lines of each answer takes a millisecond."""
    for one in attempts:
        (item,) = turns.items(database, [one.question_id])
        attempt = describe_attempt(database, item, one.ending)
        if attempt.answered:
            yield attempt


def is_failed_by_next(ending: Ending) -> bool:
    """Return whether the next episode continues a failed or an unanswered one.

    The user's next message says that it failed, or it was stopped before any answer.
    """
    is_shown_by_next = any(shown.turn_index > ending.last_index for shown in ending.evidence)
    return not ending.is_answered or (ending.outcome in FAILURES and is_shown_by_next)


def _is_continued(ending: Ending) -> bool:
    """Return whether the next episode continues this failed or stopped one.

    Users who stop an agent mostly say how to continue.
    """
    return is_failed_by_next(ending) or ending.outcome == "stopped"


def _find_in_conversation(database: Database, episode: Sequence[Item], ending: Ending) -> list[_OtherEpisode]:
    """Return the earlier and later attempts of the conversation in order."""
    first = episode[0]
    question = next((turn for turn in episode if turn.role == "user"), first)
    own = Ended(question.id, question.content, _conversation(first), first.timestamp, ending)
    before = outcomes.before(database, first, ending.first_index, MAX_DISTANCE)
    after = outcomes.after(database, *own.conversation, ending.last_index, MAX_DISTANCE)
    earlier = list(takewhile(lambda one: _is_continued(one.ending), before[::-1]))[::-1]
    later = [one for last, one in takewhile(lambda two: _is_continued(two[0].ending), pairwise([own, *after]))]
    return [
        _OtherEpisode(is_earlier, one.question_id, one.ending)
        for is_earlier, ones in ((True, earlier), (False, later))
        for one in ones
    ]


def _find_repair(database: Database, episode: Sequence[Item], ending: Ending) -> Attempt | None:
    """Return the next episode of the conversation that worked and ran a failed command of this one with success.

    The commands share an argument, since everybody runs all tests now and then.
    """
    failed = [find_purpose(run.command) for run in last_runs(episode) if run.has_failed]
    if not any(failed):
        return None
    for one in outcomes.after(database, *_conversation(episode[0]), ending.last_index, MAX_DISTANCE):
        if one.ending.outcome == "worked":
            (item,) = turns.items(database, [one.question_id])
            runs = successful_runs(turns.episode_turns(database, item, one.ending, NEIGHBOURS))
            succeeded = [find_purpose(run.command) for run in runs]
            if any(is_same_kind(command, other) for command in failed for other in succeeded):
                return describe_attempt(database, item, one.ending)
    return None


def _conversation(turn: Item) -> tuple[str, str]:
    return turn.project, str(turn.conversation_id)


def _find_elsewhere(database: Database, episode: Sequence[Item], others: Sequence[Hit]) -> list[_OtherEpisode]:
    """Return attempts elsewhere in the project, similar by request or error, by time."""
    question = next((turn for turn in episode if turn.role == "user"), None)
    if question is None or question.timestamp is None:
        return []
    candidates = {
        int(hit.id): hit
        for hit in others
        if hit.task is None and hit.role == "user" and hit.timestamp is not None
        and hit.source_project == question.project and hit.conversation_id != question.conversation_id
    }  # fmt: skip
    if not candidates:
        return []
    from pastchats_memory.store import vectors  # brings NumPy, which a block by words alone does without

    ids, rows = vectors.matrix(database, [question.id, *candidates])
    if question.id not in ids:
        return []
    cosines = dict(zip(ids, (rows @ rows[ids.index(question.id)]).tolist(), strict=True))
    similar = {id_ for id_ in candidates if cosines.get(id_, 0.0) >= MIN_COSINE}
    errors = extract_errors(episode)
    found: list[tuple[str, _OtherEpisode]] = []
    for item in turns.items(database, [id_ for id_ in candidates if errors or id_ in similar]):
        ending = outcomes.of_turn(database, item)
        if ending is None or item.timestamp is None:
            continue
        is_similar = item.id in similar and is_same_problem(question.content, item.content)
        if is_similar or (
            errors and is_shared_error(question.content, item.content, errors & load_errors(database, item, ending))
        ):
            found.append((item.timestamp, _OtherEpisode(item.timestamp < question.timestamp, item.id, ending)))
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def load_errors(database: Database, item: Item, ending: Ending) -> frozenset[str]:
    """Return the errors in the item's episode."""
    return extract_errors(turns.episode_turns(database, item, ending, NEIGHBOURS))


def find_superseding(database: Database, episode: Sequence[Item], others: Sequence[Hit]) -> Attempt | None:
    """Return the first later request of the project that replaces an episode's decision."""
    last = episode[-1]
    if last.timestamp is None:
        return None
    request, answer = (
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
    # Imported here, so that its patterns are compiled only for a later request, and not in every hook.
    from pastchats_memory.episodes.supersession import find_replacements, replaces

    for hit in sorted(later, key=lambda hit: hit.timestamp or ""):
        if not any(replaces(one, request, answer) for one in find_replacements(hit.content)):
            continue
        if found := turns.items(database, [int(hit.id)]):
            ending = outcomes.of_turn(database, found[0])
            if ending is not None and ending.outcome != "failed":
                return describe_attempt(database, found[0], ending)
    return None


def describe_attempt(database: Database, item: Item, ending: Ending) -> Attempt:
    """Return the short form of the item's episode that other episodes show."""
    where = cited_place(item)
    rows = turns.episode_turns(database, item, ending, LAST_TURNS)
    answers = [turn.content for turn in rows if turn.role == "assistant"]
    answer = " ".join(key_sentences(answers[-1], {}, REQUEST_WIDTH).split()) if answers else ""
    return Attempt(
        str(item.id),
        " ".join(excerpt(find_instruction(item.content), {}, REQUEST_WIDTH).split()),
        answer,
        ending.outcome,
        ending.shown_by,
        item.timestamp,
        where.path,
        where.line or None,
        signal="" if ending.outcome == "unknown" else ending.signal,
    )


def cite_attempts(database: Database, attempts: Sequence[Attempt]) -> dict[str, Attempt]:
    """Return the attempts by id, each at its best place."""
    items = cite_items(database, turns.items(database, [int(one.id) for one in attempts]))
    requests = {str(item.id): item for item in items}
    return {one.id: _cite(one, requests[one.id]) for one in attempts}


def _cite(attempt: Attempt, item: Item) -> Attempt:
    where = cited_place(item)
    return attempt._replace(source_path=where.path, source_line=where.line or None, citation=item.citation)
