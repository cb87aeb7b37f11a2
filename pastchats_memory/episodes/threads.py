"""Follow a problem through its attempts, whatever their outcomes.

Within a conversation, an episode belongs to the thread until a message turns to another subject. So does a later one that reports trouble and
shares rare words, an error or a file with the thread. Other conversations of the project belong to it if they name it, or refute a part of
it. So does a later one that the same question finds, if it reports trouble or names the day of the thread.
Every look-up uses an index and has a limit, so that a hook can afford it.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import takewhile
from types import MappingProxyType
from typing import NamedTuple

from pastchats_memory.episodes import is_user_turn, problems
from pastchats_memory.episodes.actions import actions_of, changed_files, last_runs, successful_runs
from pastchats_memory.episodes.cite import cite_items
from pastchats_memory.episodes.next_message import (
    names_topic,
    quote_reply,
    reports_trouble,
    tries_again,
    turns_to_another_thing,
)
from pastchats_memory.episodes.refutation import SIGNAL
from pastchats_memory.episodes.subject_turn import estimate_turn
from pastchats_memory.model import Hit, Item
from pastchats_memory.model.episodes import FAILURES, Attempt
from pastchats_memory.search.hits import cited_place
from pastchats_memory.store import outcomes, refutations, turns, word_rows
from pastchats_memory.store.database import Database
from pastchats_memory.store.outcomes import Ended, Ending
from pastchats_memory.text.commands import find_purpose, is_only_git, is_same_kind
from pastchats_memory.text.excerpt import weigh_matches
from pastchats_memory.text.instruction import find_instruction
from pastchats_memory.text.key_sentences import find_conclusion, reports_change
from pastchats_memory.text.lazy_pattern import LazyPattern
from pastchats_memory.text.sentences import cut_at_word, first_sentences, split_sentences
from pastchats_memory.text.topics import measure_topic, topic_words
from pastchats_memory.text.words import stem, words

NO_WEIGHTS: Mapping[str, float] = MappingProxyType({})
MAX_DISTANCE = 8
"""Episodes of a conversation that are looked at in each direction."""
MAX_GAP = 2
"""Episodes about other things that a thread may pass over."""
MAX_WORDS = 24
"""Words of an episode that are looked up."""
COMMON_ROWS = 300
"""Rows of a word that is rare in no memory; a smaller memory has a lower limit, the square root of its rows."""
FEW_ROWS = 12
"""Rows of a word that is rare in every memory."""
MAX_ELSEWHERE = 16
"""Messages of other conversations that are compared."""
NAMED = 1.0
"""Worth of the rare words that name a thread."""
RESUMED = 0.5
"""The same for a later episode that the question finds, too, and that reports trouble."""
BEFORE = 2
"""Episodes whose names are compared with those of the next one."""
LIKELY, LIKELY_AFTER_THANKS = 0.45, 0.25
"""Probability with which an episode turns to another subject, also after a message that got no answer: most of those only thank."""
NAMED_WITH_FILE = 1.5
"""Worth of the rare words of another conversation that has a file of the thread; many things happen to one file. NAMED is enough
for one that says it tries again."""
SAME_REQUEST = 0.7
"""Share of the words of the longer request that two requests for the same have in common."""
ABOUT = 0.5
"""Share of the query's weight that an attempt has, compared with the one that matched, if it is about the query, too."""
_HASH = LazyPattern(r"\b[0-9a-f]{7,40}\b")
COMPARED = 2000
"""Characters of a text that are compared."""
REQUEST_WIDTH = 120
CONCLUSION_WIDTH = 200
"""Characters of an attempt's request and of its conclusion."""
LAST_TURNS = 6
"""Turns at both ends of an attempt that are searched for its answers."""
RUNNERS = frozenset(
    {"manage.py", "setup.py", "conftest.py", "makefile", "package.json", "gulpfile.js", "cargo.toml", "go.mod"}
)
"""Files that commands about any part of a project name."""
DOCUMENTS = (".md", ".rst", ".txt", ".adoc", ".org")
"""Ends of the names of files in which a result is only written down."""
LONGEST_ACKNOWLEDGEMENT = 160
"""Characters of answers that may merely acknowledge what the user said."""


class ThreadEpisode(NamedTuple):
    """An episode of a thread."""

    item: Item
    """The turn that asks."""
    ending: Ending
    turns: Sequence[Item]
    """Its turns, of a long one those near its beginning and its end."""
    next_message: str = ""
    """The start of the user's next message in the conversation."""

    @property
    def place(self) -> tuple[str, int]:
        """The time of its request, and its place in the conversation."""
        return self.item.timestamp or "", self.ending.first_index

    @property
    def answers(self) -> list[str]:
        """The texts of the answers, without plans if there is another one."""
        answers = [turn for turn in self.turns if turn.role == "assistant"]
        return [turn.content for turn in answers if turn.metadata.get("kind") != "plan"] or [
            turn.content for turn in answers
        ]

    @property
    def opening(self) -> list[str]:
        """The user's messages before the first answer."""
        return [turn.content for turn in takewhile(is_user_turn, self.turns)] or [self.item.content]

    @property
    def request(self) -> str:
        """The message of the opening that names most; others thank for what was done before, or ask for less."""
        return max(self.opening, key=lambda message: measure_topic(find_instruction(message)[:COMPARED]))

    @property
    def text(self) -> str:
        """Request and answers."""
        return "\n".join([self.request[:COMPARED], *(answer[:COMPARED] for answer in self.answers)])


def build_thread(
    database: Database,
    episode: Sequence[Item],
    ending: Ending,
    others: Sequence[Hit] = (),
    weights: Mapping[str, float] = NO_WEIGHTS,
) -> list[ThreadEpisode]:
    """Return the episodes of the thread of an episode, in order, with the episode itself.

    Args:
        others: visible hits of the same question, which are compared as well.
        weights: of the words of a query; an episode joins by words alone only if it is about the query, too.
    """
    first = episode[0]
    request = next(filter(is_user_turn, episode), first)
    own = ThreadEpisode(request, ending, episode)
    if first.role == "note" or first.conversation_id is None:
        return [own]
    conversation = _Conversation(database, own)
    subject = _Subject(database, own._replace(next_message=conversation.next_message), weights, others)
    here = [*conversation.follow_back(subject), subject.own, *conversation.follow(subject)]
    ids = [turn.id for one in here for turn in (one.item, *one.turns) if is_user_turn(turn)]
    linked = [*refutations.find_refuting(database, ids), *refutations.find_refuted(database, ids)]
    refuted = (one for item in turns.items(database, linked) if (one := _load_of_turn(database, item)))
    elsewhere = [*refuted, *_find_elsewhere(database, subject, here, others)]
    last = max(elsewhere, key=lambda one: one.place, default=own)
    following = []
    if last.place > own.place:
        following = _Conversation(database, last).follow(_Subject(database, last, weights, others))
    found = {(one.item.conversation_id, one.ending.first_index): one for one in (*elsewhere, *following, *here)}
    return sorted(found.values(), key=lambda one: one.place)


class _Subject:
    """What an episode is about: its rare words, files and errors."""

    def __init__(
        self, database: Database, own: ThreadEpisode, weights: Mapping[str, float], others: Sequence[Hit]
    ) -> None:
        self.own = own
        self._found = frozenset(int(hit.id) for hit in others[:MAX_ELSEWHERE] if hit.task is None)
        self.request = own.item.content
        self._weights = weights
        self._least = ABOUT * weigh_matches(own.text, weights)
        self.rows: dict[str, list[int]] = {}
        """The turns with each of its rare words."""
        self._worths: dict[str, float] = {}
        answer = own.answers[-1][:COMPARED] if own.answers else ""
        worths = topic_words(find_instruction(self.request)[:COMPARED]) | topic_words(answer)
        most = min(COMMON_ROWS, max(FEW_ROWS, math.isqrt(word_rows.last_turn(database))))
        for word in sorted(worths, key=lambda word: -worths[word])[:MAX_WORDS]:
            rows = word_rows.find_first_rows(database, word, most + 1)
            if len(rows) <= most:
                self.rows[word] = rows
                self._worths[stem(word)] = worths[word]
        self.files = _find_files(own)
        self.errors = problems.extract_errors(own.turns)
        self._failed = list(filter(None, (find_purpose(run.command) for run in last_runs(own.turns) if run.has_failed)))

    def measure(self, text: str) -> float:
        """Return the worth of the rare words that a text shares."""
        found = {stem(word) for word in words(text[:COMPARED])}
        return math.fsum(worth for word, worth in self._worths.items() if word in found)

    def weigh_rows(self) -> dict[int, float]:
        """Return the worth of the rare words in each turn that has at least two of them."""
        worths: defaultdict[int, float] = defaultdict(float)
        counts: defaultdict[int, int] = defaultdict(int)
        for word, rows in self.rows.items():
            for id_ in rows:
                worths[id_] += self._worths[stem(word)]
                counts[id_] += 1
        return {id_: worth for id_, worth in worths.items() if counts[id_] > 1 and worth >= NAMED}

    def is_about_query(self, one: ThreadEpisode) -> bool:
        """Check whether an episode is about the query, compared with the own one."""
        return weigh_matches(one.text, self._weights) >= self._least

    def is_resumed_in(self, one: ThreadEpisode) -> bool:
        """Check whether a later episode, found by the same question, reports trouble with one of the rare words."""
        is_later = one.place > self.own.place and reports_trouble(one.request)
        return is_later and self.measure(one.request) >= RESUMED and any(turn.id in self._found for turn in one.turns)

    def is_named_in(self, one: ThreadEpisode) -> bool:
        """Check whether an episode requests the same, shares the error, or names a file and rare words."""
        request = one.item.content
        if not problems.extract_subject(request):
            return False
        if self.is_requested_in(request):
            return True
        if self.errors and problems.is_shared_error(
            self.request, request, self.errors & problems.extract_errors(one.turns)
        ):
            return True
        later = max(one, self.own, key=lambda each: each.place)
        least = NAMED if tries_again(later.item.content) else NAMED_WITH_FILE
        return not self.files.isdisjoint(_find_files(one)) and self.measure(request) >= least

    def is_repaired_in(self, one: ThreadEpisode) -> bool:
        """Check whether an episode ran a command with success that failed in the own one, with the same argument."""
        runs = [find_purpose(run.command) for run in successful_runs(one.turns)] if self._failed else []
        return any(is_same_kind(command, other) for command in self._failed for other in runs)

    def is_requested_in(self, request: str) -> bool:
        """Check whether a request is the same in most of its words."""
        own, other = problems.extract_subject(self.request), problems.extract_subject(request)
        least = max(problems.MIN_SHARED_WORDS, SAME_REQUEST * max(len(own), len(other)))
        return len(own & other) >= least and problems.is_same_problem(self.request, request)


class _Conversation:
    """The episodes around one episode of its conversation."""

    def __init__(self, database: Database, own: ThreadEpisode) -> None:
        self._database = database
        self._own = own
        item, ending = own.item, own.ending
        self._after = outcomes.after(
            database, item.project, str(item.conversation_id), ending.last_index, MAX_DISTANCE + 1
        )

    @property
    def next_message(self) -> str:
        """The start of the user's next message."""
        return self._after[0].text if self._after else ""

    def follow(self, subject: _Subject) -> list[ThreadEpisode]:
        """Return the later episodes of the thread, in order."""
        found: list[ThreadEpisode] = []
        gap = 0
        for place, one in enumerate(self._after[:MAX_DISTANCE]):
            next_message = self._after[place + 1].text if place + 1 < len(self._after) else ""
            loaded = _load(self._database, one, next_message)
            if (not gap and goes_on([self._own, *found], loaded)) or self._joins(subject, loaded):
                found.append(loaded)
                gap = 0
            elif (gap := gap + 1) > MAX_GAP:
                break
        return found

    def follow_back(self, subject: _Subject) -> list[ThreadEpisode]:
        """Return the earlier episodes of the thread, in order."""
        found: list[ThreadEpisode] = []
        following, gap = subject.own, 0
        before = outcomes.before(self._database, self._own.item, self._own.ending.first_index, MAX_DISTANCE)
        next_messages = [*(one.text for one in before[1:]), self._own.item.content]
        backwards = zip(before[::-1], next_messages[::-1], strict=False)
        loaded = (_load(self._database, one, next_message) for one, next_message in backwards)
        one = next(loaded, None)
        while one is not None:
            previous = next(loaded, None)
            replies = not gap and (
                goes_on([previous, one] if previous else [one], following)
                or (not found and turns_to_another_thing(self._own.request) and adds_nothing(self._own, one.text))
            )
            if replies or self._joins(subject, one):
                found.append(one)
                following, gap = one, 0
            elif (gap := gap + 1) > MAX_GAP:
                break
            one = previous
        return found[::-1]

    def _joins(self, subject: _Subject, one: ThreadEpisode) -> bool:
        """Check whether an episode that does not reply to the thread is about the same thing."""
        request = one.request
        if turns_to_another_thing(request):
            return False
        if subject.is_repaired_in(one):
            return True
        if subject.is_resumed_in(one):
            return True
        if not subject.is_about_query(one):
            return False
        is_named = subject.measure(request) >= NAMED or subject.is_named_in(one)
        return subject.is_requested_in(request) or (is_named and reports_trouble(request))


def goes_on(before: Sequence[ThreadEpisode], one: ThreadEpisode) -> bool:
    """Return whether an episode goes on with the ones right before it: it retries, names nothing new, or keeps their subject."""
    ending = before[-1].ending
    is_open = ending.outcome in (*FAILURES, "stopped") and ending.signal != SIGNAL
    if is_open or not names_topic(one.request):
        return True
    if turns_to_another_thing(one.request):
        return False
    known = "\n".join(each.text for each in before[-BEFORE:])
    probability = estimate_turn(one.request, "\n".join(answer[:COMPARED] for answer in one.answers), known)
    return probability < (LIKELY if len(one.opening) == 1 else LIKELY_AFTER_THANKS)


def adds_no_work(one: ThreadEpisode) -> bool:
    """Return whether nothing was answered or changed after a message, such as the last words of a conversation."""
    return not one.answers and not any(True for turn in one.turns for _ in changed_files(turn))


def adds_nothing(one: ThreadEpisode, known: str) -> bool:
    """Return whether an episode only replies: it does nothing, asks for nothing, and says nothing new beside a known text.

    A commit is no attempt, however long its summary is, and neither is a note in a document with a short answer.
    """
    request, answer = find_instruction(one.item.content), "\n".join(one.answers)
    commands = [run.command for run in last_runs(one.turns)]
    files = [path for turn in one.turns for path in changed_files(turn)]
    if len(answer) > LONGEST_ACKNOWLEDGEMENT or not all(path.lower().endswith(DOCUMENTS) for path in files):
        return bool(commands) and all(map(is_only_git, commands)) and not names_topic(request)
    if files and not reports_trouble(request):
        return True
    if commands or not answer:
        return all(map(is_only_git, commands))
    sentences = split_sentences(request)
    asks = "?" in request or "？" in request or (len(sentences) > 1 and names_topic(sentences[-1]))
    new = {
        word: worth
        for word, worth in topic_words(_HASH.sub("", answer)).items()
        if word not in words(f"{known}\n{request}")
    }
    return not asks and not reports_change(answer) and sum(new.values()) < NAMED


def _load(database: Database, one: Ended, next_message: str) -> ThreadEpisode:
    (item,) = turns.items(database, [one.question_id])
    return ThreadEpisode(item, one.ending, turns.episode_turns(database, item, one.ending, LAST_TURNS), next_message)


def _find_files(one: ThreadEpisode) -> frozenset[str]:
    """Return the bare names of the files that an episode changes, runs or names in its request."""
    named = [find_instruction(one.item.content)[:COMPARED], *(run.command for run in last_runs(one.turns))]
    paths = [
        *(path for turn in one.turns for path in changed_files(turn)),
        *problems.find_file_names(" \n".join(named)),
    ]
    return frozenset(path.rstrip("/").rpartition("/")[2].lower() for path in paths) - RUNNERS


def _load_of_turn(database: Database, item: Item) -> ThreadEpisode | None:
    """Return the episode of a turn with a time; None if its outcome is due."""
    ending = outcomes.of_turn(database, item)
    if ending is None or item.timestamp is None:
        return None
    following = outcomes.after(database, item.project, str(item.conversation_id), ending.last_index, 1)
    episode = turns.episode_turns(database, item, ending, LAST_TURNS)
    return ThreadEpisode(item, ending, episode, following[0].text if following else "")


def _find_elsewhere(
    database: Database, subject: _Subject, here: Sequence[ThreadEpisode], others: Sequence[Hit]
) -> list[ThreadEpisode]:
    """Return the episodes of other conversations of the project that name the subject, and later ones that come back to it."""
    own = subject.own.item
    if own.timestamp is None:
        return []
    returning = [
        int(hit.id)
        for hit in others[:MAX_ELSEWHERE]
        if hit.task is None and hit.source_project == own.project and hit.conversation_id != own.conversation_id
        and _comes_back(hit, own.timestamp, here)
    ]  # fmt: skip
    worths = subject.weigh_rows() | {int(hit.id): NAMED for hit in others if hit.task is None and hit.role == "user"}
    prompts = word_rows.select_prompts(database, worths, own.project, str(own.conversation_id))
    naming = sorted(prompts, key=lambda id_: (-worths[id_], id_))[:MAX_ELSEWHERE]
    loaded = (
        one
        for item in turns.items(database, [*returning, *naming])
        if (one := _load_of_turn(database, item)) and (item.id in returning or subject.is_named_in(one))
    )
    return [one for one in loaded if one.place < subject.own.place or subject.is_about_query(one)]


def _comes_back(hit: Hit, earlier: str, here: Sequence[ThreadEpisode]) -> bool:
    """Check whether a hit came after a time (`earlier`), and reports trouble or names its day.

    One that replaces a decision of the episodes `here` stays apart: the decision is marked as superseded.
    """
    if hit.role not in ("user", "assistant") or hit.timestamp is None or hit.timestamp <= earlier:
        return False
    if not (hit.role == "user" and reports_trouble(hit.content)) and not names_day(hit.content, hit.timestamp, earlier):
        return False
    return all(_find_replacement(hit, "\n".join(one.opening), "\n".join(one.answers)) is None for one in here)


def names_day(text: str, written: str, earlier: str) -> bool:
    """Check whether a text written at a time names the day of an earlier one, such as by its month."""
    # Imported here, so that its grammar is read only for a later hit, and not in every hook.
    from pastchats_memory.text.dates import find_times

    today, day = (datetime.fromisoformat(time).date() for time in (written, earlier))
    times = (phrase.widened for phrase in find_times(text[:COMPARED].lower(), today))
    return any(one.first <= day <= one.last < today for one in times)


def find_superseding(database: Database, episode: Sequence[Item], others: Sequence[Hit]) -> Attempt | None:
    """Return the first later episode of the project whose request, or whose answer elsewhere, replaces an episode's decision."""
    last = episode[-1]
    if last.timestamp is None:
        return None
    request, answer = (
        "\n".join(turn.content for turn in episode if turn.role == role) for role in ("user", "assistant")
    )
    later = [
        hit
        for hit in others
        if hit.task is None and (hit.timestamp or "") > last.timestamp and hit.source_project == last.project
        and (hit.role == "user" or (hit.role == "assistant" and hit.conversation_id != last.conversation_id))
    ]  # fmt: skip
    if not later:
        return None
    for hit in sorted(later, key=lambda hit: hit.timestamp or ""):
        stated = _find_replacement(hit, request, answer)
        if stated is None:
            continue
        for item in turns.items(database, [int(hit.id)]):
            found = _load_of_turn(database, item)
            if found is not None and found.ending.outcome != "failed":
                question = next(filter(is_user_turn, found.turns), item)._replace(content=found.request)
                attempt = describe_attempt(question, found.ending, found.turns)
                return attempt._replace(answered=cut_at_word(stated, CONCLUSION_WIDTH)) if stated else attempt
    return None


def _find_replacement(hit: Hit, request: str, answer: str) -> str | None:
    """Return the sentence with which a later answer replaces a decision, "" for a request that does; None for other hits."""
    # Imported here, so that its words are read only for a later hit, and not in every hook.
    from pastchats_memory.episodes.statements import find_replacing_sentence
    from pastchats_memory.episodes.supersession import supersedes

    if hit.role == "user":
        return "" if supersedes(hit.content, request, answer) else None
    return find_replacing_sentence(hit.content, answer) or None


def load_attempt(database: Database, item: Item, ending: Ending) -> Attempt:
    """Return the short form of the item's episode that other episodes show."""
    return describe_attempt(item, ending, turns.episode_turns(database, item, ending, LAST_TURNS))


def describe_attempt(
    item: Item, ending: Ending, rows: Sequence[Item], next_message: str = "", weights: Mapping[str, float] = NO_WEIGHTS
) -> Attempt:
    """Return the short form of the item's episode from its last turns, in words that answer the query's (`weights`)."""
    where = cited_place(item)
    answers = [turn.content for turn in rows if turn.role == "assistant"]
    conclusion, answer = "; ".join(actions_of(rows)[::-1]), "\n".join(answers)
    if answers:
        conclusion = find_conclusion(answer, weights) or first_sentences(answer, CONCLUSION_WIDTH)
    return Attempt(
        str(item.id),
        first_sentences(find_instruction(item.content), REQUEST_WIDTH),
        cut_at_word(" ".join(conclusion.split()), CONCLUSION_WIDTH),
        ending.outcome,
        ending.shown_by,
        item.timestamp,
        where.path,
        where.line or None,
        signal="" if ending.outcome == "unknown" else ending.signal,
        reply=ending.shown_by if ending.signal == SIGNAL else quote_reply(next_message, ending),
    )


def cite_attempts(database: Database, attempts: Sequence[Attempt]) -> dict[str, Attempt]:
    """Return the attempts by id, each at its best place."""
    items = cite_items(database, turns.items(database, [int(one.id) for one in attempts]))
    cited: dict[str, Attempt] = {}
    attempt_of = {one.id: one for one in attempts}
    for item in items:
        where = cited_place(item)
        cited[str(item.id)] = attempt_of[str(item.id)]._replace(
            source_path=where.path, source_line=where.line or None, citation=item.citation
        )
    return cited
