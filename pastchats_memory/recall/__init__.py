"""Before work starts: which episodes to remember, how much of each, and when to say nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import NamedTuple

from pastchats_memory.embed import Embedder
from pastchats_memory.episodes.actions import FAILED, actions_of
from pastchats_memory.episodes.cite import cite_hits
from pastchats_memory.episodes.load import load_episode, present_outcome
from pastchats_memory.episodes.threads import Thread, cite_attempts, find_thread
from pastchats_memory.errors import UsageFault
from pastchats_memory.model import RESOLVED, Block, Hit, Hits, Item, Outcome, Recollection, StoredTask
from pastchats_memory.recall.budget import within_budget
from pastchats_memory.search import MOST_HITS, Request, hit_at, search_terms, with_snippet
from pastchats_memory.search.lexical import Terms
from pastchats_memory.store import outcomes, turns
from pastchats_memory.store.database import Database
from pastchats_memory.store.outcomes import Ending
from pastchats_memory.text.excerpt import decisive, excerpt, present

LEAST_RELEVANCE = 0.5
"""Below this best relevance recall says nothing: 5 % of the questions reach it that are asked of a memory of other things,
96 % of the others (`benchmarks/recall_floor.py`)."""
FAR_BELOW = 0.25
"""Share of the best relevance that a further entry must have: what is far below only fills the block."""
OUTPUT_FAR_BELOW = 0.5
"""The same of one of which only the output of a tool matched."""
LEAST_COVERAGE = 0.5
"""Share of the question's weight that the corpus must know for recall to speak where there is no model."""
CANDIDATES = 40
"""Hits that are looked at for a block; several of them may belong to one episode."""
ASKED_WIDTH, ANSWERED_WIDTH = 240, 900
"""Characters: what was asked only names the problem, what was answered is wanted (`benchmarks/usefulness.py`)."""
DECISIVE = 0.5
"""Share of the best answer's weight that a later one of the same episode must have for its lines to be shown."""
LONGEST_JUDGEMENT = 120
"""Characters up to which what a person says may be nothing but a judgement on what was answered before."""
LONGEST_REPLY = 160
"""Characters up to which answers to such a judgement may say no more than that it was heard."""
AS_RELEVANT = 0.9
"""Share of a failed attempt's relevance from which on a later one that worked may be one at the same."""
MOST_ANSWERS = 3
"""Of an episode, the last ones about the question, out of which the decisive lines are taken."""
NEAR_TIE = 0.1
"""Scores that differ by less may be equal enough for project and date to decide: rows next to each other in every list,
however alike, differ by up to a twelfth."""
NEAR_SIMILARITY = 0.03
"""How far the cosines of such hits may lie apart, since places alone do not say how much better the better one is."""
NEAR_DUPLICATE = 0.85
"""Share of words in common above which two entries say the same."""

_WORD = re.compile(r"[^\W_]+")
_SENTENCE = re.compile(r"(?<=[.!?\n])\s+|(?<=[。！？])")


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """What to recall and how much of it may be said. Raises UsageFault for a budget that holds nothing."""

    search: Request
    budget: int = 1500
    """Tokens of the whole block."""
    current_project: str | None = None
    """The project in which the caller stands: it wins near ties."""
    not_conversation: str | None = None
    """The conversation that is going on: what was said in it needs no recalling."""
    given: frozenset[str] = frozenset()
    """Ids of items that the caller was given already; their episodes are left out."""
    least_relevance: float = LEAST_RELEVANCE
    """Of the best hit, for anything to be said."""

    def __post_init__(self) -> None:
        if self.budget < 1:
            raise UsageFault("the budget is less than one token", "Leave it out for 1500.")


def recall(database: Database, embedder: Embedder, request: RecallRequest, count_tokens: Callable[[str], int]) -> Block:
    """The block for a request, empty of memories where nothing fits.

    Raises:
        StoreFault: the database cannot be read.
    """
    here = request.not_conversation
    said_here = 0 if here is None else turns.count_turns(database, here)
    wide = replace(request.search, limit=min(MOST_HITS, CANDIDATES + said_here), page=1)
    found, terms = search_terms(database, embedder, wide)
    if said_here:
        found = Hits((hit for hit in found if hit.conversation_id != here), found.warnings)
    worth = _without_weak_outputs(worth_saying(found, terms, request.least_relevance))
    hits = _settle_near_ties(worth, request.current_project)
    others = _of_any_outcome(database, embedder, request, wide) if hits and wide.filters.outcomes else hits
    memories = _solved_first(_cited(database, _episodes(database, hits, others, terms, request)))
    block = within_budget(request.search.text, memories, terms.weights, request.budget, count_tokens)
    return block._replace(warnings=found.warnings)


def _of_any_outcome(database: Database, embedder: Embedder, request: RecallRequest, wide: Request) -> list[Hit]:
    """The hits of which threads are made: what failed before, and what took its place, does not pass a filter for what worked."""
    unfiltered = replace(wide, filters=wide.filters._replace(outcomes=()))
    found, terms = search_terms(database, embedder, unfiltered)
    worth = worth_saying(found, terms, request.least_relevance)
    here = request.not_conversation
    return [hit for hit in worth if here is None or hit.conversation_id != here]


def worth_saying(found: Hits, terms: Terms, least_relevance: float = LEAST_RELEVANCE) -> list[Hit]:
    """The hits that may be said; none where nothing that was found has anything to do with the question."""
    best = max((hit.relevance for hit in found if hit.relevance is not None), default=None)
    if best is None:
        return [] if terms.coverage < LEAST_COVERAGE else list(found)
    if best < least_relevance:
        return []
    return [hit for hit in found if hit.relevance is not None and hit.relevance >= FAR_BELOW * best]


def _without_weak_outputs(hits: Sequence[Hit]) -> list[Hit]:
    """The hits but for outputs of tools that are far below: they share the words of a command with whatever ran it."""
    best = max((hit.relevance or 0 for hit in hits), default=0)
    return [hit for hit in hits if hit.role != "tool" or (hit.relevance or 0) >= OUTPUT_FAR_BELOW * best]


def _settle_near_ties(hits: Sequence[Hit], current_project: str | None) -> list[Hit]:
    """Best first; within a run of near ties the current project comes first, then the newer turn."""
    ordered: list[Hit] = []
    tied: list[Hit] = []
    for hit in hits:
        if tied and not _is_near_tie(tied[0], hit):
            ordered += _by_project_and_date(tied, current_project)
            tied = []
        tied.append(hit)
    return ordered + _by_project_and_date(tied, current_project)


def _is_near_tie(first: Hit, second: Hit) -> bool:
    """Whether a hit is as good as the better one; without a model nothing says so."""
    if first.similarity is None or second.similarity is None:
        return False
    is_near = abs(first.similarity - second.similarity) <= NEAR_SIMILARITY
    return is_near and second.score >= first.score * (1 - NEAR_TIE)


def _by_project_and_date(tied: Sequence[Hit], current_project: str | None) -> list[Hit]:
    """The current project first, then the newer conversation; within one the better hit stays before the later one."""
    newest: dict[str, str] = {}
    for hit in tied:
        newest[_conversation(hit)] = max(newest.get(_conversation(hit), ""), hit.timestamp or "")
    newest_first = sorted(tied, key=lambda hit: newest[_conversation(hit)], reverse=True)
    return sorted(newest_first, key=lambda hit: hit.source_project != current_project)


def _conversation(hit: Hit) -> str:
    return hit.id if hit.conversation_id is None else f"{hit.source_project}\n{hit.conversation_id}"


def _episodes(
    database: Database, hits: Sequence[Hit], others: Sequence[Hit], terms: Terms, request: RecallRequest
) -> list[Recollection]:
    """One entry an episode, near-duplicates once, at most as many as were asked for."""
    stored = {item.id: item for item in turns.items(database, [int(hit.id) for hit in hits if hit.task is None])}
    taken = {(True, int(id_)) for id_ in request.given if id_.isdecimal()}
    vocabularies: list[frozenset[str]] = []
    memories: list[Recollection] = []
    for hit in hits:
        own = hit.task.id if hit.task is not None else int(hit.id)
        if (hit.task is None, own) in taken:
            continue
        if hit.task is not None:
            taken.add((False, own))
            memory = _task_recollection(hit, hit.task, terms, request)
        else:
            found = _attempt_to_show(database, stored[own], others, terms, request)
            is_told = not taken.isdisjoint((True, turn.id) for turn in (*found.episode, *found.instead_of))
            taken.update((True, turn.id) for turn in found.instead_of)
            if is_told:
                continue
            taken.update((True, turn.id) for turn in found.episode)
            if all(_is_instruction(turn) for turn in found.episode):
                continue
            memory = _recollection(hit_at(hit, found.item), found, terms, request)
            memory = _with_thread(database, memory, found)
            taken.update((True, int(attempt.id)) for attempt in memory.before)
        vocabulary = frozenset(_WORD.findall(f"{memory.asked} {memory.answered}".lower()))
        if any(_alike(vocabulary, earlier) for earlier in vocabularies):
            continue
        vocabularies.append(vocabulary)
        memories.append(memory)
        if len(memories) == request.search.limit:
            break
    return memories


class _Attempt(NamedTuple):
    """An episode of which a memory tells."""

    item: Item
    """The turn that is cited."""
    episode: Sequence[Item]
    ending: Ending
    thread: Thread
    instead_of: Sequence[Item] = ()
    """The turns that were found: of a failed attempt at the same, of a stopped one, or of mere words about this one."""


def _attempt_to_show(
    database: Database, item: Item, hits: Sequence[Hit], terms: Terms, request: RecallRequest
) -> _Attempt:
    """The episode of the turn; where it failed and a later attempt at the same worked, that one: it tells what to do.

    So does the next that was answered, where this one was stopped before, and the one before, where this one only judges that.

    Who asks for failed ones alone gets them.
    """
    episode, ending = load_episode(database, item)
    wanted = request.search.filters.outcomes
    found: Sequence[Item] = ()
    judged = _judged(database, episode, ending, hits, wanted) if item.role == "user" else None
    if judged and not _answers_more(episode, judged, terms):
        item, found = judged, episode
        episode, ending = load_episode(database, item)
    thread = find_thread(database, episode, ending, hits)
    later = thread.after or thread.answered if not wanted or "worked" in wanted else None
    if shown := turns.items(database, [int(later.id)] if later else []):
        instead, theirs = load_episode(database, shown[0])
        return _Attempt(shown[0], instead, theirs, find_thread(database, instead, theirs, hits), (*found, *episode))
    return _Attempt(item, episode, ending, thread, found)


def _answers_more(episode: Sequence[Item], judged: Item, terms: Terms) -> bool:
    """Whether something was done in the episode, or answered at length or with a word of the question that the person did not say."""
    spoken = [judged.content, *(turn.content for turn in episode if turn.role == "user")]
    answers = [turn.content for turn in episode if turn.role == "assistant"]
    is_about_more = present("\n".join([*spoken, *answers]), terms.weights) > present("\n".join(spoken), terms.weights)
    return is_about_more or sum(map(len, answers)) > LONGEST_REPLY or bool(actions_of(episode))


def _judged(
    database: Database, episode: Sequence[Item], ending: Ending, hits: Sequence[Hit], wanted: Sequence[str]
) -> Item | None:
    """What was asked in the episode before, which matched, too, and whose outcome is shown by this one's own words, if they say nothing else.

    None where that did not end as is wanted.
    """
    spoken = list(takewhile(lambda turn: turn.role == "user", episode))
    text = "\n".join(turn.content for turn in spoken)
    if not spoken or len(text) > LONGEST_JUDGEMENT or ending.outcome == "worked" or spoken[0].conversation_id is None:
        return None
    for before in outcomes.before(database, spoken[0], ending.first_index, 1):
        earlier = before.ending
        is_told = earlier.outcome != "unknown" and (not wanted or earlier.outcome in wanted)
        is_quoted = is_told and earlier.evidence[-1].id in {turn.id for turn in spoken}
        if is_quoted and any(_is_in(hit, spoken[0], earlier) for hit in hits) and not _asks(text):
            return next(iter(turns.items(database, [before.question_id])), None)
    return None


def _is_in(hit: Hit, turn: Item, ending: Ending) -> bool:
    """Whether the hit is of the episode of the turn's conversation that ended so."""
    is_here = (hit.source_project, hit.conversation_id) == (turn.project, turn.conversation_id) and hit.task is None
    return is_here and ending.first_index <= hit.turn_index <= ending.last_index


def _asks(text: str) -> bool:
    # Patterns that are compiled where something short was said, and not in every hook.
    from pastchats_memory.episodes.outcome.requests import is_request

    return "?" in text or "？" in text or any(is_request(sentence) for sentence in _SENTENCE.split(text))


def _recollection(hit: Hit, found: _Attempt, terms: Terms, request: RecallRequest) -> Recollection:
    item, episode, ending = found.item, found.episode, found.ending
    questions = [turn for turn in episode if turn.role == "user"] or list(filter(_is_instruction, episode))
    question = item if item.role == "user" else (questions[0] if questions else None)
    answers = [turn for turn in episode if turn.role == "assistant"] or [
        turn for turn in episode if turn.role == "tool"
    ]
    answered = item.content if item.role == "note" else "\n".join(_about(answers, terms, item))
    return Recollection(
        hit=with_snippet(hit, terms),
        asked=None if question is None else excerpt(question.content, terms.weights, ASKED_WIDTH),
        answered=decisive(answered, terms.weights, ANSWERED_WIDTH) or None,
        outcome=Outcome(ending.outcome),
        is_current=hit.source_project == request.current_project,
        question=None if question is None or question.id == item.id else hit_at(hit, question),
        done=() if item.role == "note" else actions_of(episode),
    )


def _with_thread(database: Database, memory: Recollection, found: _Attempt) -> Recollection:
    """The memory with what shows its outcome, what failed before, and what came of it later."""
    thread = found.thread
    others = [one for one in (*thread.before, thread.after, thread.superseded_by) if one is not None]
    cited = cite_attempts(database, others) if others else {}
    return memory._replace(
        outcome=present_outcome(database, found.ending),
        before=tuple(cited[one.id] for one in thread.before),
        after=thread.after and cited[thread.after.id],
        superseded_by=thread.superseded_by and cited[thread.superseded_by.id],
    )


def _is_instruction(turn: Item) -> bool:
    """Whether it tells the assistant what it is, or a subagent what to do: without an answer it is nothing to remember."""
    return turn.role == "system" and not _is_summary(turn)


def _is_summary(turn: Item) -> bool:
    return turn.metadata.get("kind") == "summary"


def _about(answers: Sequence[Item], terms: Terms, item: Item) -> list[str]:
    """The last answers that are about the question, the matching one among them: the first ones announce what will be done."""
    weights = [present(answer.content, terms.weights) for answer in answers]
    least = DECISIVE * max(weights, default=0.0)
    last = [answer for answer, weight in zip(answers, weights, strict=True) if weight >= least][-MOST_ANSWERS:]
    is_answer = item.role == "assistant" or _is_summary(item)
    matching = [item] if is_answer and all(answer.id != item.id for answer in last) else []
    return [answer.content for answer in (*matching, *last)]


def _task_recollection(hit: Hit, task: StoredTask, terms: Terms, request: RecallRequest) -> Recollection:
    """The task under its title; of what was said about it what matched, else the last word on it."""
    last = task.comments[-1].content if task.comments else task.description
    said = hit.content if hit.id != f"t:{task.key}" else last
    return Recollection(
        hit=with_snippet(hit, terms),
        asked=excerpt(f"{task.title} ({task.status})", terms.weights, ASKED_WIDTH),
        answered=excerpt(said, terms.weights, ANSWERED_WIDTH) if said else None,
        outcome=Outcome("worked" if task.status in RESOLVED else "unknown"),
        is_current=hit.source_project == request.current_project,
    )


def _cited(database: Database, memories: Sequence[Recollection]) -> list[Recollection]:
    """The memories, what matched and what asks for it each at the place that holds best."""
    questions = [memory.question for memory in memories if memory.question is not None]
    cited = cite_hits(database, [*(memory.hit for memory in memories), *questions])
    asking = iter(cited[len(memories) :])
    return [
        memory._replace(hit=hit, question=memory.question and next(asking))
        for memory, hit in zip(memories, cited, strict=False)
    ]


def _solved_first(memories: Sequence[Recollection]) -> list[Recollection]:
    """The same order, but that a later attempt that worked comes before those that failed at the same: it tells what to do."""
    ordered: list[Recollection] = []
    for memory in memories:
        place = next((at for at, earlier in enumerate(ordered) if _solves(memory, earlier)), len(ordered))
        ordered.insert(place, memory)
    return ordered


def _solves(memory: Recollection, failed: Recollection) -> bool:
    """Whether it worked later than the other failed, as close to the question, with a command or a file of it."""
    if memory.outcome.verdict != "worked" or failed.outcome.verdict not in ("failed", "mixed"):
        return False
    is_later = (failed.hit.timestamp or "~") < (memory.hit.timestamp or "")
    is_near = (memory.hit.relevance or 0) >= AS_RELEVANT * (failed.hit.relevance or 1)
    is_here = memory.hit.source_project == failed.hit.source_project
    return is_later and is_near and is_here and not _deeds(memory).isdisjoint(_deeds(failed))


def _deeds(memory: Recollection) -> set[str]:
    lines = (line.removesuffix(FAILED) for line in memory.done)
    return {deed for line in lines for deed in ([line] if line.startswith("$ ") else line.split(", "))}


def _alike(first: frozenset[str], second: frozenset[str]) -> bool:
    return len(first & second) > NEAR_DUPLICATE * len(first | second)
