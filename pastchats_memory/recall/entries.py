"""Turn hits into the entries of a recall block, one for each episode."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise, takewhile
from typing import NamedTuple

from pastchats_memory.episodes.actions import actions_of, changed_files
from pastchats_memory.episodes.cite import cite_hits
from pastchats_memory.episodes.load import load_episode, present_outcome
from pastchats_memory.episodes.threads import Thread, cite_attempts, find_thread
from pastchats_memory.model import RESOLVED, Edits, Hit, Item, Outcome, RecallEntry, StoredTask
from pastchats_memory.recall.request import RecallRequest
from pastchats_memory.search.hits import add_snippet, move_hit
from pastchats_memory.store import outcomes, turns
from pastchats_memory.store.database import Database
from pastchats_memory.store.outcomes import Ending
from pastchats_memory.text.excerpt import excerpt, weigh_matches
from pastchats_memory.text.key_sentences import key_sentences
from pastchats_memory.text.lazy_pattern import LazyPattern

QUESTION_WIDTH, ANSWERED_WIDTH, FIRST_WIDTH = 240, 900, 1200
"""Characters of the question's excerpt, of an answer's, and of the first answer's. The question only names the problem, the answer is
wanted (`benchmarks/usefulness.py`)."""
KEY_ANSWER = 0.5
"""Share of the best answer's weight that a later answer of the episode needs for its lines to be shown."""
LONGEST_JUDGEMENT = 120
"""Characters of a prompt that may be nothing but a judgement of the answer before it."""
LONGEST_REPLY = 160
"""Characters of answers to such a judgement that may merely acknowledge it."""
MOST_EPISODES = 8
"""Episodes of which entries are made, since those of one thread become one entry."""
MOST_ANSWERS = 3
"""Last answers of an episode about the question from which key sentences are taken."""
NEAR_DUPLICATE = 0.85
"""Share of common words above which two entries are duplicates."""
_WORD = re.compile(r"[^\W_]+")
_SENTENCE = LazyPattern(r"(?<=[.!?\n])\s+|(?<=[。！？])")


def build_entries(
    database: Database, hits: Sequence[Hit], others: Sequence[Hit], weights: Mapping[str, float], request: RecallRequest
) -> list[EpisodeEntry]:
    """Return one entry for each episode, without near-duplicates: MOST_EPISODES or as many as requested."""
    stored = {item.id: item for item in turns.items(database, [int(hit.id) for hit in hits if hit.task is None])}
    shown = {(True, int(id_)) for id_ in request.exclude_items if id_.isdecimal()}
    vocabularies: list[frozenset[str]] = []
    entries: list[EpisodeEntry] = []
    for hit in hits:
        own = hit.task.id if hit.task is not None else int(hit.id)
        if (hit.task is None, own) in shown:
            continue
        span = None
        if hit.task is not None:
            shown.add((False, own))
            entry = _build_task_entry(hit, hit.task, weights, request)
        else:
            found = _choose_episode(database, stored[own], others, weights, request)
            is_shown = not shown.isdisjoint((True, turn.id) for turn in (*found.episode, *found.replaced))
            shown.update((True, turn.id) for turn in found.replaced)
            if is_shown:
                entries = [_widen(one, found) for one in entries]
                continue
            shown.update((True, turn.id) for turn in found.episode)
            if all(_is_instruction(turn) for turn in found.episode):
                continue
            width = ANSWERED_WIDTH if entries else FIRST_WIDTH
            entry = _build_entry(move_hit(hit, found.item), found, weights, request, width)
            entry = _add_thread(database, entry, found)
            shown.update((True, int(attempt.id)) for attempt in entry.before)
            span = _span(found)
        vocabulary = _vocabulary(entry)
        if any(_are_alike(vocabulary, earlier) for earlier in vocabularies):
            continue
        vocabularies.append(vocabulary)
        entries.append(EpisodeEntry(entry, span))
        if len(entries) == max(request.search.limit, MOST_EPISODES):
            break
    return entries


class EpisodeEntry(NamedTuple):
    """An entry with the turns that it stands for: its episode, and those whose place it takes."""

    entry: RecallEntry
    span: tuple[int, int] | None
    """Index of the first and the last turn in the conversation; None for a task."""


class _ShownEpisode(NamedTuple):
    """The episode that an entry shows."""

    item: Item
    """The cited turn."""
    episode: Sequence[Item]
    ending: Ending
    thread: Thread
    replaced: Sequence[Item] = ()
    """The turns that matched, if this episode takes their place: a failed or stopped attempt, or a mere judgement of it."""


def _span(found: _ShownEpisode) -> tuple[int, int]:
    replaced = [turn.turn_index for turn in found.replaced if turn.conversation_id == found.item.conversation_id]
    indexes = (found.ending.first_index, found.ending.last_index, *replaced)
    return min(indexes), max(indexes)


def _widen(one: EpisodeEntry, found: _ShownEpisode) -> EpisodeEntry:
    """Return the entry with the turns that the same episode takes the place of, if it shows that episode."""
    is_same = one.entry.hit.conversation_id == found.item.conversation_id
    if one.span is None or not is_same or not one.span[0] <= found.item.turn_index <= one.span[1]:
        return one
    first, last = _span(found)
    return one._replace(span=(min(first, one.span[0]), max(last, one.span[1])))


def _choose_episode(
    database: Database, item: Item, hits: Sequence[Hit], weights: Mapping[str, float], request: RecallRequest
) -> _ShownEpisode:
    """Return the episode to show for a turn that matched.

    A later attempt that worked takes the place of a failed one, because it says what to do. So does the next answered attempt
    after a stopped one, and the episode before a mere judgement. A search for failed episodes alone returns those.
    """
    episode, ending = load_episode(database, item)
    wanted = request.search.filters.outcomes
    found: Sequence[Item] = ()
    judged = _find_judged_turn(database, episode, ending, hits, wanted) if item.role == "user" else None
    if judged and not _adds_answer(episode, judged, weights):
        item, found = judged, episode
        episode, ending = load_episode(database, item)
    thread = find_thread(database, episode, ending, hits)
    successor = thread.answered or (thread.after if ending.outcome != "unknown" else None)
    later = successor if not wanted or "worked" in wanted else None
    if later_items := turns.items(database, [int(later.id)] if later else []):
        later_episode, later_ending = load_episode(database, later_items[0])
        return _ShownEpisode(
            later_items[0],
            later_episode,
            later_ending,
            find_thread(database, later_episode, later_ending, hits),
            (*found, *episode),
        )
    return _ShownEpisode(item, episode, ending, thread, found)


def _adds_answer(episode: Sequence[Item], judged: Item, weights: Mapping[str, float]) -> bool:
    """Check whether an episode adds something to what the user wrote.

    It does by an action, a long answer, or words of the question that only an answer has.
    """
    prompts = [judged.content, *(turn.content for turn in episode if turn.role == "user")]
    answers = [turn.content for turn in episode if turn.role == "assistant"]
    is_about_more = weigh_matches("\n".join([*prompts, *answers]), weights) > weigh_matches("\n".join(prompts), weights)
    return is_about_more or sum(map(len, answers)) > LONGEST_REPLY or bool(actions_of(episode))


def _find_judged_turn(
    database: Database, episode: Sequence[Item], ending: Ending, hits: Sequence[Hit], wanted: Sequence[str]
) -> Item | None:
    """Return the prompt of the episode before, if this one merely judges it.

    That episode must have matched as well. Returns None if its outcome is not a wanted one.
    """
    prompts = list(takewhile(lambda turn: turn.role == "user", episode))
    text = "\n".join(turn.content for turn in prompts)
    if not prompts or len(text) > LONGEST_JUDGEMENT or ending.outcome == "worked" or prompts[0].conversation_id is None:
        return None
    for before in outcomes.before(database, prompts[0], ending.first_index, 1):
        earlier = before.ending
        is_known = earlier.outcome != "unknown" and (not wanted or earlier.outcome in wanted)
        is_quoted = is_known and earlier.evidence[-1].id in {turn.id for turn in prompts}
        if is_quoted and any(_is_hit_of(hit, prompts[0], earlier) for hit in hits) and not _is_question(text):
            return next(iter(turns.items(database, [before.question_id])), None)
    return None


def _is_hit_of(hit: Hit, turn: Item, ending: Ending) -> bool:
    is_here = (hit.source_project, hit.conversation_id) == (turn.project, turn.conversation_id) and hit.task is None
    return is_here and ending.first_index <= hit.turn_index <= ending.last_index


def _is_question(text: str) -> bool:
    # Importing compiles patterns, which most hooks do without.
    from pastchats_memory.episodes.outcome.requests import is_request

    return "?" in text or "？" in text or any(is_request(sentence) for sentence in _SENTENCE.split(text))


def _build_entry(
    hit: Hit, found: _ShownEpisode, weights: Mapping[str, float], request: RecallRequest, width: int
) -> RecallEntry:
    item, episode, ending = found.item, found.episode, found.ending
    questions = [turn for turn in episode if turn.role == "user"] or list(filter(_is_instruction, episode))
    question = item if item.role == "user" else (questions[0] if questions else None)
    plans_and_answers = [turn for turn in episode if turn.role == "assistant"]
    answers = (
        [turn for turn in plans_and_answers if turn.metadata.get("kind") != "plan"]
        or plans_and_answers
        or [turn for turn in episode if turn.role == "tool"]
    )
    standing = _drop_refuted(answers, episode)
    answered = item.content if item.role == "note" else "\n".join(_relevant_answers(standing, weights, item))
    return RecallEntry(
        hit=add_snippet(hit, weights),
        asked=None if question is None else excerpt(question.content, weights, QUESTION_WIDTH),
        answered=key_sentences(answered, weights, width) or None,
        outcome=Outcome(ending.outcome),
        is_current=hit.source_project == request.current_project,
        question=None if question is None or question.id == item.id else move_hit(hit, question),
        done=() if item.role == "note" else actions_of(episode),
        edits=Edits(
            frozenset(name for turn in episode for name in changed_files(turn)),
            episode[0].timestamp,
            episode[-1].timestamp,
            tuple(turn for turn in episode if any(changed_files(turn))),
        ),
    )


def _add_thread(database: Database, entry: RecallEntry, found: _ShownEpisode) -> RecallEntry:
    """Return the entry with its evidence, earlier failures, and what followed."""
    thread = found.thread
    others = [one for one in (*thread.before, thread.after, thread.superseded_by) if one is not None]
    cited = cite_attempts(database, others) if others else {}
    return entry._replace(
        outcome=present_outcome(database, found.ending),
        before=tuple(cited[one.id] for one in thread.before),
        after=thread.after and cited[thread.after.id],
        superseded_by=thread.superseded_by and cited[thread.superseded_by.id],
    )


def _is_instruction(turn: Item) -> bool:
    """Check whether a turn instructs the assistant or a subagent, which is nothing without an answer."""
    return turn.role == "system" and not _is_summary(turn)


def _is_summary(turn: Item) -> bool:
    return turn.metadata.get("kind") == "summary"


def _drop_refuted(answers: Sequence[Item], episode: Sequence[Item]) -> list[Item]:
    """Return the answers without those whose command failed at once; the last one stays."""
    refuted = {
        answer.id
        for answer, result in pairwise(episode)
        if result.role == "tool" and result.metadata.get("kind") == "error"
    }
    return [answer for answer in answers if answer.id not in refuted or answer is answers[-1]]


def _relevant_answers(answers: Sequence[Item], weights: Mapping[str, float], item: Item) -> list[str]:
    """Return the last answers about the question, with the one that matched and the conclusion.

    First answers only announce a plan.
    """
    worths = [weigh_matches(answer.content, weights) for answer in answers]
    least = KEY_ANSWER * max(worths, default=0.0)
    last = [answer for answer, worth in zip(answers, worths, strict=True) if worth >= least or answer is answers[-1]][
        -MOST_ANSWERS:
    ]
    is_answer = item.role == "assistant" or _is_summary(item)
    matching = [item] if is_answer and all(answer.id != item.id for answer in last) else []
    return [answer.content for answer in (*matching, *last)]


def _build_task_entry(hit: Hit, task: StoredTask, weights: Mapping[str, float], request: RecallRequest) -> RecallEntry:
    """Return the entry of a task: its title, and the comment that matched, else the last one."""
    last = task.comments[-1].content if task.comments else task.description
    text = hit.content if hit.id != f"t:{task.key}" else last
    return RecallEntry(
        hit=add_snippet(hit, weights),
        asked=excerpt(f"{task.title} ({task.status})", weights, QUESTION_WIDTH),
        answered=excerpt(text, weights, ANSWERED_WIDTH) if text else None,
        outcome=Outcome("worked" if task.status in RESOLVED else "unknown"),
        is_current=hit.source_project == request.current_project,
    )


def resolve_citations(database: Database, entries: Sequence[RecallEntry]) -> list[RecallEntry]:
    """Return the entries with each hit and question at its best surviving place."""
    questions = [entry.question for entry in entries if entry.question is not None]
    cited = cite_hits(database, [*(entry.hit for entry in entries), *questions])
    asking = iter(cited[len(entries) :])
    return [
        entry._replace(hit=hit, question=entry.question and next(asking))
        for entry, hit in zip(entries, cited, strict=False)
    ]


def drop_alike(entries: Sequence[RecallEntry], others: Sequence[RecallEntry]) -> list[RecallEntry]:
    """Return the entries that are near-duplicates of no other one."""
    known = [_vocabulary(entry) for entry in others]
    return [entry for entry in entries if not any(_are_alike(_vocabulary(entry), one) for one in known)]


def _vocabulary(entry: RecallEntry) -> frozenset[str]:
    return frozenset(_WORD.findall(f"{entry.asked} {entry.answered}".lower()))


def _are_alike(first: frozenset[str], second: frozenset[str]) -> bool:
    return len(first & second) > NEAR_DUPLICATE * len(first | second)
