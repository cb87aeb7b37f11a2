"""Describe."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from pastchats_memory.citations import cited_hits
from pastchats_memory.episodes.around import episode_around, said
from pastchats_memory.episodes.done import FAILED, done_in
from pastchats_memory.episodes.threads import Thread, cited_attempts, thread_of
from pastchats_memory.model import RESOLVED, Hit, Item, Outcome, RecallEntry, StoredTask
from pastchats_memory.recall.request import RecallRequest
from pastchats_memory.search.hits import add_snippet, move_hit
from pastchats_memory.search.lexical import Terms
from pastchats_memory.store import outcomes, turns
from pastchats_memory.store.database import Database
from pastchats_memory.store.outcomes import Ending
from pastchats_memory.text.excerpt import excerpt, weigh_matches
from pastchats_memory.text.key_sentences import key_sentences

ASKED_WIDTH, ANSWERED_WIDTH = 240, 900
"""Characters: what was asked only names the problem, what was answered is wanted (`benchmarks/usefulness.py`)."""
KEY_ANSWER = 0.5
"""Share of the best answer's weight that a later one of the same episode must have for its lines to be shown."""
LONGEST_JUDGEMENT = 120
"""Characters up to which what a person says may be nothing but a judgement on what was answered before."""
LONGEST_REPLY = 160
"""Characters up to which answers to such a judgement may say no more than that it was heard."""
SIMILAR_RELEVANCE = 0.9
"""Share of a failed attempt's relevance from which on a later one that worked may be one at the same."""
MOST_ANSWERS = 3
"""Of an episode, the last ones about the question, out of which the decisive lines are taken."""
NEAR_DUPLICATE = 0.85
"""Share of words in common above which two entries say the same."""
_WORD = re.compile(r"[^\W_]+")
_SENTENCE = re.compile(r"(?<=[.!?\n])\s+|(?<=[。！？])")


def build_entries(
    database: Database, hits: Sequence[Hit], others: Sequence[Hit], terms: Terms, request: RecallRequest
) -> list[RecallEntry]:
    """One entry an episode, near-duplicates once, at most as many as were asked for."""
    stored = {item.id: item for item in turns.items(database, [int(hit.id) for hit in hits if hit.task is None])}
    taken = {(True, int(id_)) for id_ in request.given if id_.isdecimal()}
    vocabularies: list[frozenset[str]] = []
    memories: list[RecallEntry] = []
    for hit in hits:
        own = hit.task.id if hit.task is not None else int(hit.id)
        if (hit.task is None, own) in taken:
            continue
        if hit.task is not None:
            taken.add((False, own))
            memory = _build_task_entry(hit, hit.task, terms, request)
        else:
            found = _choose_episode(database, stored[own], others, terms, request)
            is_told = not taken.isdisjoint((True, turn.id) for turn in (*found.episode, *found.instead_of))
            taken.update((True, turn.id) for turn in found.instead_of)
            if is_told:
                continue
            taken.update((True, turn.id) for turn in found.episode)
            if all(_is_instruction(turn) for turn in found.episode):
                continue
            memory = _build_entry(move_hit(hit, found.item), found, terms, request)
            memory = _add_thread(database, memory, found)
            taken.update((True, int(attempt.id)) for attempt in memory.before)
        vocabulary = frozenset(_WORD.findall(f"{memory.asked} {memory.answered}".lower()))
        if any(_are_alike(vocabulary, earlier) for earlier in vocabularies):
            continue
        vocabularies.append(vocabulary)
        memories.append(memory)
        if len(memories) == request.search.limit:
            break
    return memories


class _ShownEpisode(NamedTuple):
    """An episode of which a memory tells."""

    item: Item
    """The turn that is cited."""
    episode: Sequence[Item]
    ending: Ending
    thread: Thread
    instead_of: Sequence[Item] = ()
    """The turns that were found: of a failed attempt at the same, of a stopped one, or of mere words about this one."""


def _choose_episode(
    database: Database, item: Item, hits: Sequence[Hit], terms: Terms, request: RecallRequest
) -> _ShownEpisode:
    """The episode of the turn; where it failed and a later attempt at the same worked, that one: it tells what to do.

    So does the next that was answered, where this one was stopped before, and the one before, where this one only judges that.

    Who asks for failed ones alone gets them.
    """
    episode, ending = episode_around(database, item)
    wanted = request.search.filters.outcomes
    found: Sequence[Item] = ()
    judged = _find_judged_turn(database, episode, ending, hits, wanted) if item.role == "user" else None
    if judged and not _adds_answer(episode, judged, terms):
        item, found = judged, episode
        episode, ending = episode_around(database, item)
    thread = thread_of(database, episode, ending, hits)
    later = thread.after or thread.answered if not wanted or "worked" in wanted else None
    if shown := turns.items(database, [int(later.id)] if later else []):
        instead, theirs = episode_around(database, shown[0])
        return _ShownEpisode(shown[0], instead, theirs, thread_of(database, instead, theirs, hits), (*found, *episode))
    return _ShownEpisode(item, episode, ending, thread, found)


def _adds_answer(episode: Sequence[Item], judged: Item, terms: Terms) -> bool:
    """Whether something was done in the episode, or answered at length or with a word of the question that the person did not say."""
    spoken = [judged.content, *(turn.content for turn in episode if turn.role == "user")]
    answers = [turn.content for turn in episode if turn.role == "assistant"]
    is_about_more = weigh_matches("\n".join([*spoken, *answers]), terms.weights) > weigh_matches(
        "\n".join(spoken), terms.weights
    )
    return is_about_more or sum(map(len, answers)) > LONGEST_REPLY or bool(done_in(episode))


def _find_judged_turn(
    database: Database, episode: Sequence[Item], ending: Ending, hits: Sequence[Hit], wanted: Sequence[str]
) -> Item | None:
    """What was asked in the episode before, which matched, too, and whose outcome is shown by this one's own words, if they say nothing else.

    None where that did not end as is wanted.
    """
    spoken = list(takewhile(lambda turn: turn.role == "user", episode))
    text = "\n".join(turn.content for turn in spoken)
    if not spoken or len(text) > LONGEST_JUDGEMENT or ending.said == "worked" or spoken[0].conversation_id is None:
        return None
    for before in outcomes.before(database, spoken[0], ending.first_index, 1):
        earlier = before.ending
        is_told = earlier.said != "unknown" and (not wanted or earlier.said in wanted)
        is_quoted = is_told and earlier.evidence[-1].id in {turn.id for turn in spoken}
        if is_quoted and any(_is_hit_of(hit, spoken[0], earlier) for hit in hits) and not _is_question(text):
            return next(iter(turns.items(database, [before.asked])), None)
    return None


def _is_hit_of(hit: Hit, turn: Item, ending: Ending) -> bool:
    """Whether the hit is of the episode of the turn's conversation that ended so."""
    is_here = (hit.source_project, hit.conversation_id) == (turn.project, turn.conversation_id) and hit.task is None
    return is_here and ending.first_index <= hit.turn_index <= ending.last_index


def _is_question(text: str) -> bool:
    # Patterns that are compiled where something short was said, and not in every hook.
    from pastchats_memory.outcome.requests import is_request

    return "?" in text or "？" in text or any(is_request(sentence) for sentence in _SENTENCE.split(text))


def _build_entry(hit: Hit, found: _ShownEpisode, terms: Terms, request: RecallRequest) -> RecallEntry:
    item, episode, ending = found.item, found.episode, found.ending
    questions = [turn for turn in episode if turn.role == "user"] or list(filter(_is_instruction, episode))
    question = item if item.role == "user" else (questions[0] if questions else None)
    answers = [turn for turn in episode if turn.role == "assistant"] or [
        turn for turn in episode if turn.role == "tool"
    ]
    answered = item.content if item.role == "note" else "\n".join(_relevant_answers(answers, terms, item))
    return RecallEntry(
        hit=add_snippet(hit, terms),
        asked=None if question is None else excerpt(question.content, terms.weights, ASKED_WIDTH),
        answered=key_sentences(answered, terms.weights, ANSWERED_WIDTH) or None,
        outcome=Outcome(ending.said),
        is_current=hit.source_project == request.current_project,
        question=None if question is None or question.id == item.id else move_hit(hit, question),
        done=() if item.role == "note" else done_in(episode),
    )


def _add_thread(database: Database, memory: RecallEntry, found: _ShownEpisode) -> RecallEntry:
    """The memory with what shows its outcome, what failed before, and what came of it later."""
    thread = found.thread
    others = [one for one in (*thread.before, thread.after, thread.superseded_by) if one is not None]
    cited = cited_attempts(database, others) if others else {}
    return memory._replace(
        outcome=said(database, found.ending),
        before=tuple(cited[one.id] for one in thread.before),
        after=thread.after and cited[thread.after.id],
        superseded_by=thread.superseded_by and cited[thread.superseded_by.id],
    )


def _is_instruction(turn: Item) -> bool:
    """Whether it tells the assistant what it is, or a subagent what to do: without an answer it is nothing to remember."""
    return turn.role == "system" and not _is_summary(turn)


def _is_summary(turn: Item) -> bool:
    return turn.metadata.get("kind") == "summary"


def _relevant_answers(answers: Sequence[Item], terms: Terms, item: Item) -> list[str]:
    """The last answers that are about the question, the matching one among them: the first ones announce what will be done."""
    weights = [weigh_matches(answer.content, terms.weights) for answer in answers]
    least = KEY_ANSWER * max(weights, default=0.0)
    last = [answer for answer, weight in zip(answers, weights, strict=True) if weight >= least][-MOST_ANSWERS:]
    is_answer = item.role == "assistant" or _is_summary(item)
    matching = [item] if is_answer and all(answer.id != item.id for answer in last) else []
    return [answer.content for answer in (*matching, *last)]


def _build_task_entry(hit: Hit, task: StoredTask, terms: Terms, request: RecallRequest) -> RecallEntry:
    """The task under its title; of what was said about it what matched, else the last word on it."""
    last = task.comments[-1].content if task.comments else task.description
    said = hit.content if hit.id != f"t:{task.key}" else last
    return RecallEntry(
        hit=add_snippet(hit, terms),
        asked=excerpt(f"{task.title} ({task.status})", terms.weights, ASKED_WIDTH),
        answered=excerpt(said, terms.weights, ANSWERED_WIDTH) if said else None,
        outcome=Outcome("worked" if task.status in RESOLVED else "unknown"),
        is_current=hit.source_project == request.current_project,
    )


def resolve_citations(database: Database, memories: Sequence[RecallEntry]) -> list[RecallEntry]:
    """The memories, what matched and what asks for it each at the place that holds best."""
    questions = [memory.question for memory in memories if memory.question is not None]
    cited = cited_hits(database, [*(memory.hit for memory in memories), *questions])
    asking = iter(cited[len(memories) :])
    return [
        memory._replace(hit=hit, question=memory.question and next(asking))
        for memory, hit in zip(memories, cited, strict=False)
    ]


def put_solutions_first(memories: Sequence[RecallEntry]) -> list[RecallEntry]:
    """The same order, but that a later attempt that worked comes before those that failed at the same: it tells what to do."""
    ordered: list[RecallEntry] = []
    for memory in memories:
        place = next((at for at, earlier in enumerate(ordered) if _solves(memory, earlier)), len(ordered))
        ordered.insert(place, memory)
    return ordered


def _solves(memory: RecallEntry, failed: RecallEntry) -> bool:
    """Whether it worked later than the other failed, as close to the question, with a command or a file of it."""
    if memory.outcome.verdict != "worked" or failed.outcome.verdict not in ("failed", "mixed"):
        return False
    is_later = (failed.hit.timestamp or "~") < (memory.hit.timestamp or "")
    is_near = (memory.hit.relevance or 0) >= SIMILAR_RELEVANCE * (failed.hit.relevance or 1)
    is_here = memory.hit.source_project == failed.hit.source_project
    return is_later and is_near and is_here and not _actions(memory).isdisjoint(_actions(failed))


def _actions(memory: RecallEntry) -> set[str]:
    lines = (line.removesuffix(FAILED) for line in memory.done)
    return {deed for line in lines for deed in ([line] if line.startswith("$ ") else line.split(", "))}


def _are_alike(first: frozenset[str], second: frozenset[str]) -> bool:
    return len(first & second) > NEAR_DUPLICATE * len(first | second)
