"""Turn hits into the entries of a recall block: one for each thread, which shows how the thread ended."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from pastchats_memory.episodes import threads
from pastchats_memory.episodes.actions import actions_of, changed_files
from pastchats_memory.episodes.cite import cite_hits
from pastchats_memory.episodes.judgement import SIGNAL
from pastchats_memory.episodes.load import load_episode, present_outcome
from pastchats_memory.episodes.next_message import names_topic, quote_reply
from pastchats_memory.episodes.titles import name_episode
from pastchats_memory.model import RESOLVED, Hit, Item, StoredTask
from pastchats_memory.model.episodes import Attempt, Edits, Outcome, RecallEntry
from pastchats_memory.recall.answering import estimate_answer, is_rejected
from pastchats_memory.recall.request import RecallRequest
from pastchats_memory.recall.selection import choose_first
from pastchats_memory.search.hits import add_snippet, move_hit
from pastchats_memory.store import turns
from pastchats_memory.store.database import Database
from pastchats_memory.text.excerpt import excerpt, weigh_matches
from pastchats_memory.text.instruction import find_instruction
from pastchats_memory.text.key_sentences import find_conclusion, key_sentences
from pastchats_memory.text.sentences import cut_at_word
from pastchats_memory.text.service_errors import shorten_service_errors
from pastchats_memory.text.topics import measure_topic
from pastchats_memory.text.words import WORD

QUESTION_WIDTH, ANSWERED_WIDTH, FIRST_WIDTH = 240, 900, 1200
"""Characters of the question, of an answer's sentences, and of those of the first answer. The question only names the problem, the
answer is wanted (`benchmarks/recall.py`)."""
KEY_ANSWER = 0.5
"""Share of the best answer's weight that a later answer of the episode needs for its lines to be shown."""
MOST_EPISODES = 8
"""Threads of which entries are made."""
MOST_ANSWERS = 3
"""Last answers of an episode about the question from which key sentences are taken."""
MOST_EARLIER = 6
"""Earlier attempts of a thread that are shown: the one that matched, rejected ones, those about the question."""
FULL_REPLY = 1.0
"""Topic of a user's reply for which an attempt is shown that adds nothing else."""
REJECTED = 0.25
"""Share of the question's weight that the user's rejection of an earlier attempt is worth."""
NEAR_DUPLICATE = 0.85
"""Share of common words above which two entries are duplicates."""


def build_entries(
    database: Database, hits: Sequence[Hit], others: Sequence[Hit], weights: Mapping[str, float], request: RecallRequest
) -> list[RecallEntry]:
    """Return one entry for each thread, without near-duplicates: MOST_EPISODES or as many as requested."""
    stored = {item.id: item for item in turns.items(database, [int(hit.id) for hit in hits if hit.task is None])}
    builder = _Builder(database, others, weights, request)
    for hit in hits:
        builder.add(hit, stored.get(int(hit.id)) if hit.task is None else None)
        if len(builder.entries) == max(request.search.limit, MOST_EPISODES):
            break
    return choose_first(builder.entries, builder.texts, request.search.text, weights)


class _Shown(NamedTuple):
    """The thread of a hit, and the episode of it that an entry shows."""

    own: threads.ThreadEpisode
    """The episode that matched."""
    end: threads.ThreadEpisode
    before: Sequence[threads.ThreadEpisode]
    first: threads.ThreadEpisode
    """The episode that names what the thread is about."""
    last: threads.ThreadEpisode | None
    """The end of the thread, if the entry shows an earlier one."""
    standing: Sequence[threads.ThreadEpisode]
    """The episodes of the thread that nobody rejected, the latest first."""
    likelihoods: Mapping[int, float]
    """The probability that an episode answers the question, by the id of the turn that asks."""
    has_turned: bool
    """Whether the conversation had turned to what the question is not about before its end."""


class _Builder:
    """Collects entries, none of a thread that is there already."""

    def __init__(
        self, database: Database, others: Sequence[Hit], weights: Mapping[str, float], request: RecallRequest
    ) -> None:
        self._database, self._others, self._weights, self._request = database, others, weights, request
        self._given = frozenset(request.exclude_items)
        self._places = {int(hit.id): place for place, hit in enumerate(others) if hit.task is None}
        self._tasks: set[int] = set()
        self._spans: list[tuple[str, str | None, int, int]] = []
        self._vocabularies: list[frozenset[str]] = []
        self.entries: list[RecallEntry] = []
        self.texts: list[str] = []
        """What was said in the thread of each entry."""
        self._text = ""

    def add(self, hit: Hit, item: Item | None) -> None:
        """Add the entry of a hit, unless its thread, or one like it, has an entry already."""
        if hit.id in self._given:
            return
        entry = self._build_of_task(hit, hit.task) if hit.task is not None else item and self._build(hit, item)
        if entry is None:
            return
        vocabulary = _vocabulary(entry)
        if not any(_are_alike(vocabulary, earlier) for earlier in self._vocabularies):
            self._vocabularies.append(vocabulary)
            self.entries.append(entry)
            self.texts.append(self._text)

    def _build_of_task(self, hit: Hit, task: StoredTask) -> RecallEntry | None:
        """Return the entry of a task: its title, and the comment that matched, else the last one."""
        if task.id in self._tasks:
            return None
        self._tasks.add(task.id)
        self._text = f"{task.title}\n{task.description}\n{hit.content}"
        last = task.comments[-1].content if task.comments else task.description
        text = hit.content if hit.id != f"t:{task.key}" else last
        return RecallEntry(
            hit=add_snippet(hit, self._weights),
            asked=excerpt(f"{task.title} ({task.status})", self._weights, QUESTION_WIDTH),
            answered=excerpt(text, self._weights, ANSWERED_WIDTH) if text else None,
            outcome=Outcome("worked" if task.status in RESOLVED else "unknown"),
            is_current=hit.source_project == self._request.current_project,
        )

    def _build(self, hit: Hit, item: Item) -> RecallEntry | None:
        if self._is_shown(item):
            return None
        episode, ending = load_episode(self._database, item)
        whole = threads.build_thread(self._database, episode, ending, self._others, self._weights)
        excluded = self._request.exclude_conversation
        thread = [one for one in whole if excluded is None or one.item.conversation_id != excluded]
        own = next(one for one in thread if one.ending == ending and one.turns is episode)
        shown = _choose_end(thread, own, self._request.search.filters.outcomes, self._weights, self._places)
        is_repeated = self._is_shown(shown.end.item)
        self._spans += [(one.item.project, one.item.conversation_id, *one.ending[:2]) for one in thread]
        parts = {str(turn.id) for one in (own, shown.end) for turn in one.turns}
        if is_repeated or not self._given.isdisjoint(parts) or all(map(_is_instruction, shown.end.turns)):
            return None
        self._text = "\n".join(turn.content for one in thread for turn in one.turns if turn.role != "tool")
        return self._build_of_thread(hit, item, shown)

    def _is_shown(self, item: Item) -> bool:
        return any(
            (item.project, item.conversation_id) == (project, conversation) and first <= item.turn_index <= last
            for project, conversation, first, last in self._spans
        )

    def _build_of_thread(self, hit: Hit, item: Item, shown: _Shown) -> RecallEntry:
        """Return the entry of a thread's end, with its evidence, earlier attempts, and what followed."""
        end, matched = shown.end, item
        is_own = end is shown.own
        if not is_own:
            episode, _ = load_episode(self._database, end.item)
            item, end = end.item, end._replace(turns=episode)
        width = ANSWERED_WIDTH if self.entries else FIRST_WIDTH
        entry = _build_entry(move_hit(hit, item), item, end, self._weights, self._request, width)
        if not is_own:
            entry = entry._replace(hit=add_snippet(hit, self._weights), question=move_hit(hit, item))
        database, first = self._database, shown.first
        before = [self._describe_earlier(one, shown, matched, width) for one in shown.before]
        last = shown.last and threads.describe_attempt(
            shown.last.item, shown.last.ending, shown.last.turns, weights=self._weights
        )
        decided = (threads.find_superseding(database, one.turns, self._others) for one in shown.standing)
        successor = next(
            (one for one in decided if one and int(one.id) not in shown.likelihoods), None
        )  # of another thread
        others = [one for one in (*before, last, successor) if one is not None]
        cited = threads.cite_attempts(database, others) if others else {}
        return entry._replace(
            title=name_episode(database, first.request, first.item.project, first.item.conversation_id),
            outcome=_present_outcome(database, end),
            before=tuple(cited[one.id] for one in before),
            after=last and cited[last.id],
            superseded_by=successor and cited[successor.id],
            has_turned=shown.has_turned,
            likelihood=shown.likelihoods[shown.end.item.id],
        )

    def _describe_earlier(self, one: threads.ThreadEpisode, shown: _Shown, matched: Item, width: int) -> Attempt:
        """Return an earlier attempt with the lines of its answers that are worth most."""
        attempt = threads.describe_attempt(one.item, one.ending, one.turns, one.next_message, self._weights)
        matched = matched if one is shown.own else one.item
        answered = _quote_answers(_list_answers(one.turns), matched, self._weights, width)
        return attempt._replace(
            answered=answered or attempt.answered,
            is_match=one is shown.own and bool(answered) and not is_rejected(one),
            likelihood=shown.likelihoods[one.item.id],
        )


def _choose_end(
    thread: Sequence[threads.ThreadEpisode],
    own: threads.ThreadEpisode,
    wanted: Sequence[str],
    weights: Mapping[str, float],
    places: Mapping[int, int],
) -> _Shown:
    """Return the last episode that adds something and has a wanted outcome, with the earlier attempts before it.

    Args:
        places: of the question's hits by the ids of their turns, the best is 0.
    """
    useful = _drop_mere_replies(thread, own)
    last = useful[-1] if useful else own
    fitting = [one for one in useful if one.ending.outcome in wanted] if wanted else [last]
    end = fitting[-1] if fitting else own
    likelihoods = {one.item.id: estimate_answer(one, own, places) for one in thread}
    earlier = [one for one in thread if one.place < end.place and (one in useful or _is_answered_fully(one))]
    rejected = REJECTED * sum(weights.values())

    def rate(one: threads.ThreadEpisode) -> tuple[bool, float, tuple[str, int]]:
        return one is own, weigh_matches(one.text, weights) + rejected * is_rejected(one), one.place

    best: list[threads.ThreadEpisode] = []
    for one in sorted(earlier, key=rate, reverse=True):
        if not any(_are_alike(_words(one.text), _words(other.text)) for other in best):
            best.append(one)
    chosen = sorted(best[:MOST_EARLIER], key=lambda one: one.place)
    first = next((one for one in thread if names_topic(one.request)), end)
    standing = [one for one in reversed(thread) if not is_rejected(one)]
    later = last if last.place > end.place and not _shows_outcome(last, end) else None
    return _Shown(own, end, chosen, first, later, standing, likelihoods, _turned_away(own, end, weights))


def _shows_outcome(one: threads.ThreadEpisode, end: threads.ThreadEpisode) -> bool:
    """Check whether a later request is quoted anyway, as what shows that the end worked."""
    is_same = end.ending.outcome == "worked" and one.item.conversation_id == end.item.conversation_id
    return is_same and any(shown.turn_index == one.item.turn_index for shown in end.ending.evidence)


def _turned_away(own: threads.ThreadEpisode, end: threads.ThreadEpisode, weights: Mapping[str, float]) -> bool:
    """Check whether a conversation went on from an answer that nobody rejected to what the question is not about."""
    if is_rejected(own) or end.item.conversation_id != own.item.conversation_id:
        return False
    return weigh_matches(end.text, weights) < threads.ABOUT * weigh_matches(own.text, weights)


def _drop_mere_replies(
    thread: Sequence[threads.ThreadEpisode], own: threads.ThreadEpisode
) -> list[threads.ThreadEpisode]:
    """Return the episodes that begin a part of a thread or add something; the own one is there, or ends it."""
    known: dict[str | None, str] = {}
    useful: list[threads.ThreadEpisode] = []
    for one in thread:
        conversation = one.item.conversation_id
        if not threads.adds_no_work(one) and (
            conversation not in known or not threads.adds_nothing(one, known[conversation])
        ):
            useful.append(one)
        known[conversation] = f"{known.get(conversation, '')}\n{one.text}"
    if own.answers and own not in useful and useful and own.place < useful[-1].place:
        return sorted([own, *useful], key=lambda one: one.place)
    return useful


def _is_answered_fully(one: threads.ThreadEpisode) -> bool:
    """Check whether an attempt that concludes something got a reply that rejects it or says something of its own."""
    if not one.answers or not find_conclusion(one.answers[-1], {}):
        return False
    return is_rejected(one) or measure_topic(find_instruction(one.next_message)) >= FULL_REPLY


def _present_outcome(database: Database, end: threads.ThreadEpisode) -> Outcome:
    """Return the outcome; the user's next words are quoted in whole sentences, an error of the service by its message."""
    outcome = present_outcome(database, end.ending)
    shown = (one._replace(quotation=shorten_service_errors(one.quotation)) for one in outcome.evidence)
    outcome = outcome._replace(evidence=tuple(shown))
    quoted = end.ending.evidence[-1:]
    is_judged = end.ending.signal == SIGNAL  # its words were chosen by a reader
    if outcome.evidence and not is_judged and quoted and quoted[0].turn_index > end.ending.last_index:
        *others, decisive = outcome.evidence
        whole = decisive._replace(quotation=quote_reply(end.next_message, end.ending) or decisive.quotation)
        outcome = outcome._replace(evidence=(*others, whole))
    return outcome


def _build_entry(
    hit: Hit, item: Item, end: threads.ThreadEpisode, weights: Mapping[str, float], request: RecallRequest, width: int
) -> RecallEntry:
    episode = end.turns
    questions = [turn for turn in episode if turn.role == "user"] or list(filter(_is_instruction, episode))
    question = item if item.role == "user" else (questions[0] if questions else None)
    done = () if item.role == "note" else actions_of(episode)
    answers = _list_answers(episode) or ([] if done else [turn for turn in episode if turn.role == "tool"])
    if item.role == "note":
        answered = key_sentences(item.content, weights, width)
    else:
        answered = _quote_answers(answers, item, weights, width)
    return RecallEntry(
        hit=add_snippet(hit, weights),
        asked=None if question is None else cut_at_word(find_instruction(question.content).strip(), QUESTION_WIDTH),
        answered=answered or None,
        outcome=Outcome(end.ending.outcome),
        is_current=hit.source_project == request.current_project,
        question=None if question is None or question.id == item.id else move_hit(hit, question),
        done=done,
        edits=Edits(
            frozenset(name for turn in episode for name in changed_files(turn)),
            episode[0].timestamp,
            episode[-1].timestamp,
            tuple(turn for turn in episode if any(changed_files(turn))),
        ),
    )


def _is_instruction(turn: Item) -> bool:
    """Check whether a turn instructs the assistant or a subagent, which is nothing without an answer."""
    return turn.role == "system" and not _is_summary(turn)


def _is_summary(turn: Item) -> bool:
    return turn.metadata.get("kind") == "summary"


def _list_answers(episode: Sequence[Item]) -> list[Item]:
    """Return the answers of an episode that stand, without plans if there is another one."""
    found = [turn for turn in episode if turn.role == "assistant"]
    found = [turn for turn in found if turn.metadata.get("kind") != "plan"] or found
    answers = [turn._replace(content=shorten_service_errors(turn.content)) for turn in found]
    return _drop_refuted(answers, episode)


def _quote_answers(answers: Sequence[Item], item: Item, weights: Mapping[str, float], width: int) -> str:
    """Return the conclusion of the last answer, then the lines that answer the question, also of the turn that matched."""
    conclusion = cut_at_word(find_conclusion(answers[-1].content, weights), width // 2) if answers else ""
    sentences = key_sentences("\n".join(_relevant_answers(answers, weights, item)), weights, width)
    above, _, below = sentences.partition(conclusion) if conclusion else (sentences, "", "")
    rest = [*above.rstrip(" ").split("\n"), *below.lstrip(" ").split("\n")]
    return "\n".join(dict.fromkeys(line for line in (*conclusion.split("\n"), *rest) if line.strip()))


def _drop_refuted(answers: Sequence[Item], episode: Sequence[Item]) -> list[Item]:
    """Return the answers without those whose command failed at once; the last one stays."""
    refuted = {
        answer.id
        for answer, result in pairwise(episode)
        if result.role == "tool" and result.metadata.get("kind") == "error"
    }
    return [answer for answer in answers if answer.id not in refuted or answer is answers[-1]]


def _relevant_answers(answers: Sequence[Item], weights: Mapping[str, float], item: Item) -> list[str]:
    """Return the last answers about the question, the one that matched and the conclusion; first ones only plan."""
    worths = [weigh_matches(answer.content, weights) for answer in answers]
    least = KEY_ANSWER * max(worths, default=0.0)
    last = [answer for answer, worth in zip(answers, worths, strict=True) if worth >= least or answer is answers[-1]][
        -MOST_ANSWERS:
    ]
    is_answer = item.role == "assistant" or _is_summary(item)
    matching = [item] if is_answer and all(answer.id != item.id for answer in last) else []
    return [answer.content for answer in (*matching, *last)]


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
    return _words(f"{entry.asked} {entry.answered}")


def _words(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text.lower()))


def _are_alike(first: frozenset[str], second: frozenset[str]) -> bool:
    return len(first & second) > NEAR_DUPLICATE * len(first | second)
