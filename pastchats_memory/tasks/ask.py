"""Answer plain-language questions, without a language model: from tasks, else from conversations.

A small grammar reads the question from left to right. Each step takes the phrases that it knows (a status, a date, another
task) and leaves a bar in their place. Words that no step knows, and that are no filler, are the topic of the question.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pastchats_memory.embed import Embedder, is_unread
from pastchats_memory.episodes.load import load_episode
from pastchats_memory.errors import UsageFault
from pastchats_memory.fields import HIDDEN, As, At, Shown, one_of, shown_as
from pastchats_memory.model import OPEN, RESOLVED, TYPES, Filters, Hit, StoredTask
from pastchats_memory.search.hits import SNIPPET_WIDTH, move_hit
from pastchats_memory.search.pipeline import search
from pastchats_memory.search.request import Request
from pastchats_memory.store import sources, task_rows
from pastchats_memory.store import turns as turn_rows
from pastchats_memory.store.database import Database
from pastchats_memory.tasks.edit import EVERY_TASK, Viewpoint
from pastchats_memory.tasks.prior_work import find_resolution
from pastchats_memory.tasks.reasons import explain_start, explain_wait, find_wait
from pastchats_memory.tasks.similarity import RELATED_SCORE, TaskQuery, find_similar_tasks, load_words
from pastchats_memory.text.data_file import read_data
from pastchats_memory.text.dates import DAYS, MONTH_NAMES, NUMBERS, SEASONS, find_times, next_occurrence, parse_number
from pastchats_memory.text.groups import group_by_key
from pastchats_memory.text.lazy_pattern import read_pattern
from pastchats_memory.text.timestamps import parse_bound
from pastchats_memory.text.tracker_words import PRIORITIES

T = TypeVar("T")
PHRASES_FILE = Path(__file__).with_name("questions.toml")
MAX_TASKS = 50
"""Tasks in an answer, unless the question names a number."""
MAX_NEXT = 10
"""Tasks in the answer to what is next."""
MAX_TOPIC_HITS = 200
MIN_SIMILARITY = 0.3
"""Cosine below which a task that shares no word with the topic does not count as a match."""
MAX_QUESTION_LENGTH = 1000
"""Characters of a question that are read. Some patterns take minutes for a megabyte of one word."""
MAX_NAMED = 3
"""Tasks that a name of several words may stand for."""
NEAR_DAYS = 7
"""Days ahead in which a due date makes a task more urgent."""
SOON_DAYS = 30
"""Days ahead in which a due date is soon."""
LEAST_RELEVANCE = 0.5
"""Relevance that a conversation or task needs to answer a question that no reading of it answers."""
AGREED_RELEVANCE = 0.15
"""The same for one that both words and meaning rank among the first AGREED_RANKS."""
AGREED_RANKS = 3
FAR_BELOW = 0.5
"""Share of the best relevance below which tasks do not answer beside conversations, nor the reverse."""
MAX_HITS = 5
"""Parts of conversations in an answer."""
FIRST_OF_CONVERSATION = 2
"""Parts of one conversation before those of the next."""
KINDS_IN_TITLES = frozenset({"bug"})
"""Kinds that are seldom tagged where the title names them."""
STALE_DAYS = 30
"""Days without a change after which a task is stale, unless the question names a time."""


@shown_as("SpanView")
@dataclass(frozen=True, slots=True)
class DateSpan:
    """Days, both inclusive; null for no bound.

    Something happened to a task on them.
    """

    field: Annotated[str, one_of("closed", "created", "updated", "due")]
    since: Annotated[date | None, As(str | None), At("since", date.isoformat)]
    until: Annotated[date | None, As(str | None), At("until", date.isoformat)]

    @property
    def stored_bounds(self) -> tuple[str | None, str | None]:
        """Return the first and the last moment, in the form that the store compares."""
        return (
            None if self.since is None else parse_bound(self.since.isoformat(), is_end=False),
            None if self.until is None else parse_bound(self.until.isoformat(), is_end=True),
        )


@shown_as("ReadingView")
@dataclass(slots=True)
class ParsedQuestion:
    """How a question was understood.

    It has the filters, the order and the topic that the question asks for.
    """

    statuses: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    priorities: tuple[int, ...] = ()
    tags: Annotated[tuple[str, ...], At("all_tags")] = ()
    kinds: Annotated[tuple[str, ...], HIDDEN] = ()
    """Kinds that trackers keep as tags, such as `bug`; a title may name some of them as well."""
    project: str | None = None
    """`.` stands for the project of the working directory."""
    span: DateSpan | None = None
    missing: tuple[str, ...] = ()
    """Properties that the tasks lack, as names of `store.task_rows.CONDITIONS`."""
    present: tuple[str, ...] = ()
    """Properties that the tasks have, by the same names."""
    relation: Annotated[str | None, one_of("depends_on", "dependencies_of", "part_of", "parent_of", "named")] = None
    """Relation to the task `of`, as a name of `store.task_rows.RELATED`."""
    of: str | None = None
    """Key or title of another task."""
    order: Annotated[str | None, one_of("newest", "oldest", "latest", "most_urgent")] = None
    """`latest` is that of the last change."""
    limit: int | None = None
    is_count: bool = False
    """Whether the question asks only for a number."""
    concept: str | None = None
    """Topic for the search."""
    is_topic_named: Annotated[bool, HIDDEN] = False
    """Whether a word such as "about" introduces the topic; other topics are the words that the grammar does not know."""
    asks_for_story: Annotated[bool, HIDDEN] = False
    """Whether the question asks why or how something happened, which conversations tell."""
    names_tasks: Annotated[bool, HIDDEN] = False
    """Whether the question uses a word for tasks, or asks what there is about a topic."""
    next_from: Annotated[date | None, HIDDEN] = None
    """The day of a question that asks what to take up next; None for another question."""

    @property
    def is_open(self) -> bool:
        """Return whether nothing shows that the question is about tasks; conversations may answer it."""
        if self.concept is None:
            return False
        if self.asks_for_story:
            return self.relation is None
        asks_for_tasks = (
            self.statuses, self.types, self.priorities, self.tags, self.kinds, self.span, self.missing, self.present,
        )  # fmt: skip
        return not (self.names_tasks or self.relation or self.order or any(asks_for_tasks))

    @property
    def all_tags(self) -> tuple[str, ...]:
        """Return the tags, and the kinds that trackers keep as tags."""
        return (*self.tags, *self.kinds)

    @property
    def described(self) -> Annotated[str, Shown(after="concept")]:
        """Return one line that tells the user how the question was read."""
        parts = [
            " or ".join(self.types) or "tasks",
            f"status {' or '.join(self.statuses)}" if self.statuses else "",
            f"priority {' or '.join(PRIORITIES[level] for level in self.priorities)}" if self.priorities else "",
            f"tagged {' and '.join(self.all_tags)}" if self.all_tags else "",
            f"project {self.project}" if self.project else "",
            f"{self.span.field} {self.span.since or '…'} to {self.span.until or '…'}" if self.span else "",
            *(f"without {name}" for name in self.missing),
            *(f"with {name}" for name in self.present),
            f"{self.relation.replace('_', ' ')} {self.of!r}" if self.relation else "",
            f"about {self.concept!r}" if self.concept else "",
            f"{self.order.replace('_', ' ')} first" if self.order else "",
            f"at most {self.limit}" if self.limit else "",
        ]
        return ("count of " if self.is_count else "") + " · ".join(filter(None, parts))


class Vocabulary:
    """Phrases of `questions.toml`, as the grammar uses them."""

    def __init__(self, phrases: Mapping[str, Any]) -> None:
        groups = {"open": OPEN, "resolved": RESOLVED}
        self.statuses: dict[str, tuple[str, ...]] = _sort_longest_first(
            (phrase, groups.get(status, (status,)))
            for status, listed in phrases["statuses"].items()
            for phrase in listed
        )
        self.priorities: dict[str, tuple[int, ...]] = _sort_longest_first(
            (phrase, tuple(map(int, levels.split())))
            for levels, listed in phrases["priorities"].items()
            for phrase in listed
        )
        self.types: Mapping[str, Sequence[str]] = phrases["types"]
        self.tags: Mapping[str, Sequence[str]] = phrases["tags"]
        self.missing_nouns: Mapping[str, Sequence[str]] = phrases["missing_nouns"]
        self.missing_words: Mapping[str, Sequence[str]] = phrases["missing_words"]
        self.present_words: Mapping[str, Sequence[str]] = phrases["present_words"]
        stems = {phrase.removesuffix("ed"): phrase for phrase in self.statuses if phrase.endswith("ed")}
        self.participles = {
            base: phrase
            for stem, phrase in stems.items()
            for base in (stem, f"{stem}e", re.sub(r"(.)\1\Z", r"\1", stem))
        }
        """Participles of the statuses, such as `dropped`, by what may be their base form."""
        self.words = {name: _match_any(listed) for name, listed in phrases["words"].items()}
        self.words["day_names"] = _match_any((*DAYS, *MONTH_NAMES, *SEASONS))
        self.filler = frozenset(phrases["words"]["filler"])
        self.relations = [(entry["kind"], entry["pattern"].format_map(self.words)) for entry in phrases["relations"]]
        self.next = f"(?:{'|'.join(entry['pattern'].format_map(self.words) for entry in phrases['next'])})"
        self.no_tags = frozenset(
            phrase
            for listed in (
                self.statuses,
                self.priorities,
                *self.types.values(),
                *self.tags.values(),
                *self.missing_nouns.values(),
                ("due", "overdue", "not", "is", "are", "no", "about", "created", "closed", "updated"),
            )
            for phrase in listed
        )
        """Words that end a list of tags."""


@cache
def load_vocabulary() -> Vocabulary:
    """Return the vocabulary of `questions.toml`; the file is read at the first call."""
    return Vocabulary(read_data(__file__, PHRASES_FILE.name))


def _sort_longest_first(entries: Iterable[tuple[str, T]]) -> dict[str, T]:
    return dict(sorted(entries, key=lambda entry: -len(entry[0])))


def _match_any(phrases: Iterable[str]) -> str:
    """Return a pattern that matches any of the phrases, and nothing if there is none."""
    longest_first = sorted(phrases, key=len, reverse=True)
    return f"(?:{'|'.join(map(re.escape, longest_first))})" if longest_first else "(?!)"


def _match_whole(pattern: str) -> str:
    """Return the pattern with word boundaries, where a hyphen belongs to a word."""
    return rf"(?<![\w-]){pattern}(?![\w-])"


_NUMBER = rf"(\d{{1,3}}|{'|'.join(NUMBERS)})"
_TASK_NOUN = r"(?:tasks?|issues?|tickets?|bugs?|epics?|things|items)"
_ONE_TASK = read_pattern(__file__, "one-task")
_PROJECT_NAME = r"['\"]?([\w./-]+)['\"]?"
_IN_NAME = re.compile(rf"\b(?:in|for|of|from|at|on|with|within|inside|across|did|does|has) {_PROJECT_NAME}")
_NAME_BEFORE_NOUN = re.compile(rf"\b{_PROJECT_NAME}(?= {_TASK_NOUN}\b|'s\b|\s*\Z)")
_TAG = r"['\"]?#?([\w/-]+)['\"]?"
_NEXT_TAG = re.compile(r"\| *(?:,|and|&) *#?([\w/-]+)(?= *(?:,|and\b|&|\Z))")
_TASK_KEY = re.compile(r"(?:the )?(?:task |issue |ticket |epic )?(?P<key>[a-z]+-[a-z]*\d[\w.]*)(?![\w-])")
"""A key as trackers write it, such as `TREK-45`."""
_NO_KEY = re.compile(r"\d{4}-|\w-\d*(?:day|week|month|year)|(?:utf|sha|md|iso|top|covid)-?\d")
"""Words with digits that are no keys."""
_TASK_NOUN_BEFORE = re.compile(r"\A(?:the )?(?:task|issue|ticket) ")
_INVERTED = re.compile(r"\b(have|has|did)n't (we|i|you|they)\b")
"""A negation before its pronoun, as questions have it."""
_NOT_VERY = re.compile(
    r"\b(?:isn't|aren't|not)(?: (?:so|that|very|really|too|all that))*(?= (?:urgent|important|pressing|critical)\b)"
)
_NEGATED_VERB = read_pattern(__file__, "negated-verb")
"""Verbs before a participle that only negate it: "haven't been started" asks for what is not started."""
_RELATIVE_CLAUSE = read_pattern(__file__, "relative-clause")
"""What a question says about the tasks that it asks for, after it named another task."""


class QuestionParser:
    """Parse one question: each step cuts the phrases that it knows out of `text`."""

    def __init__(self, question: str, today: date, project_names: Mapping[str, str]) -> None:
        """Prepare to parse a question on a day, which may name a known project; their names are by lower case."""
        self.question = question
        text = " ".join(question.lower().replace("’", "'").rstrip("?!. ").split())
        self.text = _NEGATED_VERB.sub("are not", _INVERTED.sub(r"\2 \1 not", _NOT_VERY.sub("not", text)))
        """The rest of the question in lower case; a bar stands where a phrase was cut out."""
        self.today = today
        self.project_names = project_names
        self.vocabulary = load_vocabulary()
        self.words = self.vocabulary.words
        self.parsed = ParsedQuestion()

    def parse(self) -> ParsedQuestion:
        """Run all steps; each depends on what the steps before it cut out."""
        self.parsed.is_count = self.cut(rf"\b{self.words['count']}\b") is not None
        self.parsed.asks_for_story = re.match(self.words["story"], self.text) is not None
        self.parse_past()
        self.parse_waiting()
        self.parse_relation()
        self.parse_topic()
        self.parse_tags()
        self.parse_project()
        self.parse_next()
        self.parse_limit()
        self.parse_order()
        self.parse_missing()
        self.parse_stale()
        self.parse_span()
        self.parse_overdue()
        self.cut(rf"\b{self.words['mine']}\b")  # all tasks belong to one person
        self.parse_statuses()
        self.parse_priorities()
        self.parse_types()
        if self.parsed.concept is None:
            self.parsed.concept = self.find_remaining_words() or None
        if self.parsed.next_from:
            self.choose_next()
        return self.parsed

    def cut(self, pattern: str) -> re.Match[str] | None:
        """Cut the first match of the pattern out of the text and return it."""
        match = re.search(pattern, self.text)
        if match is not None:
            self.text = f"{self.text[: match.start()]} | {self.text[match.end() :]}"
        return match

    def cut_names(self, phrases_of: Mapping[str, Sequence[str]], form: Callable[[str], str]) -> list[str]:
        """Cut out a phrase of each name that has one in the text, and return the names."""
        return [name for name, phrases in phrases_of.items() if self.cut(form(_match_any(phrases)))]

    def restore_case(self, text: str) -> str:
        """Return part of the text as typed, without quotation marks and article."""
        start = self.question.lower().find(text)
        typed = self.question[start : start + len(text)] if start >= 0 else text
        return re.sub(r"\A(?:the|a|an) ", "", typed.strip(" \"'"), flags=re.IGNORECASE)

    def parse_past(self) -> None:
        """Write the participle in questions such as "what did we drop?", since statuses are participles."""
        did = r"(\bdid (?:the )?[\w.-]+(?: \w+ly| ever| already| not| never)?(?: (?:decide|agree|choose|plan) to)? )(?!not|never)([a-z]+)\b"
        participles = self.vocabulary.participles
        self.text = re.sub(did, lambda match: match[1] + participles.get(match[2], match[2]), self.text)

    def parse_waiting(self) -> None:
        """Read what can wait, and what cannot; and who waits for whom."""
        words = self.words
        anything = rf"(?:{words['pronoun']}|anything|something|any of \w+)"
        later = rf"(?: {words['until']}| (?:until|till|to|by) [^|]*)?(?=\s*(?:\Z|\||,|(?:in|this|and|or) ))"
        wait = rf"(?: {anything})?(?: \w+ly| still| just| perhaps)?(?: be)? {words['wait']}{later}"
        if self.cut(rf"\b{words['may_not']}{wait}"):
            self.parsed.statuses, self.parsed.priorities = OPEN, (0, 1)
        elif not self.parsed.asks_for_story and self.cut(rf"\b{words['may']}{wait}"):
            self.parsed.statuses, self.parsed.priorities = OPEN, (3, 4)
        elif self.cut(rf"\b{words['hinder']}(?: (?:by|on|for|up))? {words['which_other']}\b"):
            self.parsed.present = ("blockers",)

    def parse_next(self) -> None:
        """Read that the question asks what to take up next; what follows is a project, a topic, or nothing."""
        end = rf"(?: with)?(?: {self.words['at_once']})*(?=\s*(?:\Z|\||,|(?:in|at|for(?! (?:a )?(?:review|approval|sign))) ))"
        self.text = " ".join(self.text.split())
        found = None if self.parsed.concept else self.cut(rf"\b{self.vocabulary.next}{end}")
        self.parsed.next_from = self.today if found else None
        self.parsed.types = tuple(
            type_ for type_ in ("epic", "subtask") if found and re.search(rf"\b{type_}", found[0])
        )

    def choose_next(self) -> None:
        """Ask for a few tasks that can be started, the best first; what the question names itself stays."""
        parsed = self.parsed
        parsed.names_tasks = True
        parsed.types = parsed.types or ("task", "subtask")
        parsed.statuses = parsed.statuses or ("pending",)
        parsed.missing = tuple(dict.fromkeys((*parsed.missing, "blockers")))
        parsed.order, parsed.limit = parsed.order or "most_urgent", parsed.limit or MAX_NEXT

    def parse_relation(self) -> None:
        """Read a relation to another task, such as "what depends on TREK-45", or the key of the task itself."""
        no_task = self.words["not_a_task"]
        for kind, pattern in self.vocabulary.relations:
            match = re.search(pattern, self.text)
            if match is None or re.match(rf"{no_task}(?= (?:in|for|of|at|from)\b|\Z)", match["of"]):
                continue
            key = _TASK_KEY.match(match["of"])  # "TREK-45 that are done" names a task, and what is asked of it
            whole = key[0] if key else _RELATIVE_CLAUSE.sub("", match["of"])
            name, rest = key["key"] if key else _TASK_NOUN_BEFORE.sub("", whole), match["of"][len(whole) :]
            self.parsed.relation, self.parsed.of = kind, self.restore_case(name)
            before = self.text[: match.start()]
            if kind == "part_of":  # the pattern also covers the words before the relation
                phrase = re.search(rf"\b{self.words['part_of']}\b", match[0])
                before += match[0][: phrase.start()] if phrase else ""
            self.text = f"{before} | {rest}{self.text[match.end() :]}"
            return
        self.parse_named_task()

    def parse_named_task(self) -> None:
        """Read the key of a task: after "in" and the like its parts are asked for, else the task itself."""
        match = re.search(rf"(?:\b(?P<inside>{self.words['inside']}) )?{_TASK_KEY.pattern}", self.text)
        if match is None or _NO_KEY.search(match[0]):
            return
        before = self.text[: match.start()]
        is_itself = match["inside"] is None or re.search(
            rf"\b{self.words['about_task']}\Z", f"{before}{match['inside']}"
        )
        self.parsed.relation, self.parsed.of = "named" if is_itself else "part_of", self.restore_case(match["key"])
        self.text = "" if is_itself else f"{before} | {self.text[match.end() :]}"

    def parse_topic(self) -> None:
        """Read the topic after a word such as "about", up to a project or a date."""
        match = re.search(rf"{self.words['about']}\s+(.+)", self.text)
        if match is None:
            return
        inner = copy(self)
        inner.text, inner.parsed = match[1], replace(self.parsed)
        inner.parse_project()
        inner.parse_span()
        inner.parse_overdue()
        topic = inner.text.split("|")[0].strip(" ,")
        topic = re.sub(r"\b(?:that|which|and) (?:is|are|was|were)\b.*", "", topic).strip()
        if topic:
            self.parsed.is_topic_named = True
            talk = re.search(rf"\b{self.words['talk']}\b", self.text[: match.start()])
            self.parsed.names_tasks = self.parsed.names_tasks or talk is None
            self.parsed.concept = self.restore_case(topic)
            self.text = self.text.replace(match[0], match[0].replace(topic, "|", 1).partition(" ")[2], 1)

    def parse_tags(self) -> None:
        """Read tags, and kinds of tasks that trackers keep as tags."""
        tags = []
        named = r"\b(?:tagged|labell?ed)(?: as| with)?|\bwith (?:the )?(?:tag|label)|\btag|\blabel"
        named_after = rf"\bwith (?:the |an? )?{_TAG} (?:tag|label)\b"
        while match := self.cut(rf"(?:{named}) {_TAG}|(?<!\S)#([a-z][\w/-]*)|{named_after}"):
            tags.append(match[1] or match[2] or match[3])
            while (further := _NEXT_TAG.search(self.text)) and further[1] not in self.vocabulary.no_tags:
                tags.append(further[1])
                self.text = f"{self.text[: further.start()]}|{self.text[further.end() :]}"
        self.parsed.tags = tuple(dict.fromkeys(tags))
        self.parsed.kinds = tuple(self.cut_names(self.vocabulary.tags, _match_whole))

    def parse_project(self) -> None:
        """Read "project NAME", "this project", or the name of a known project alone."""
        match = self.cut(rf"\b(?:in|for|of|from) (?:the )?project {_PROJECT_NAME}") or self.cut(
            rf"\b(?:in|for|of|from) (?:the )?{_PROJECT_NAME} project\b"
        )
        # A name after "in" and the like, before a word for tasks, or at the end may be a project.
        names = chain(_IN_NAME.finditer(self.text), _NAME_BEFORE_NOUN.finditer(self.text))
        if match:
            self.parsed.project = "." if match[1] in ("this", "my", "our") else self.restore_case(match[1])
        elif known := next((one for one in names if one[1] in self.project_names), None):
            self.text = f"{self.text[: known.start()]} | {self.text[known.end() :]}"
            self.parsed.project = self.project_names[known[1]]

    def parse_limit(self) -> None:
        """Read how many tasks are asked for, and from which end."""
        found = self.cut(rf"\b(?:top|first) {_NUMBER}\b") or self.cut(
            rf"\b(?:latest|newest|oldest|last|most recent) {_NUMBER} (?=(?:[\w-]+ ){{0,2}}{_TASK_NOUN})"
        )
        before = re.search(rf"\b{_NUMBER} (?=(?:latest|newest|oldest|most recent|most urgent|best)\b)", self.text)
        if before and not found:
            self.text = self.text.replace(before[0], "", 1)
            self.parsed.limit = parse_number(before[1])
        if found:
            self.parsed.limit = parse_number(found[1])
            orders = {"newest": "newest", "oldest": "oldest", "top": None, "first": None}
            self.parsed.order = orders.get(found[0].partition(" ")[0], "latest")
        elif one := _ONE_TASK.search(self.text):
            self.parsed.limit = self.parsed.limit or 1
            if one[0].startswith("last "):
                self.parsed.order = "latest"
                self.text = self.text.replace(one[0], one[0].removeprefix("last "), 1)

    def parse_order(self) -> None:
        """Read the order in which tasks are asked for."""
        for order in ("newest", "latest", "oldest"):
            if self.cut(rf"\b{self.words[order]}\b"):
                self.parsed.order = self.parsed.order or order
        if self.cut(rf"\b{self.words['urgent']}(?! (?:are|is) missing)\b"):
            self.parsed.order = self.parsed.order or "most_urgent"
            self.parsed.statuses = self.parsed.statuses or OPEN

    def parse_missing(self) -> None:
        """Read properties that the tasks lack or have."""
        vocabulary = self.vocabulary
        lacking = rf"{self.words['lacking']} (?:any |an? )?"
        having = rf"{self.words['having']} (?:any |an? |some )?"
        missing = [
            *self.cut_names(vocabulary.missing_nouns, lambda noun: rf"\b{lacking}{noun}\b"),
            *self.cut_names(vocabulary.missing_words, lambda word: rf"\b{word}\b"),
        ]
        present = [
            *self.cut_names(vocabulary.missing_nouns, lambda noun: rf"\b{having}{noun}\b"),
            *self.cut_names(vocabulary.present_words, _match_whole),
        ]
        self.parsed.missing = tuple(dict.fromkeys(missing))
        self.parsed.present = tuple(dict.fromkeys((*self.parsed.present, *present)))

    def parse_stale(self) -> None:
        """Read that nobody changed the tasks since a time; the span ends on the day before it."""
        words = self.words
        untouched = rf"{words['never']}(?: has| have)?(?: been)? {words['touched']}|{words['no']} {words['activity']}|{words['untouched']}"
        if not self.cut(rf"\b(?:{untouched})\b"):
            return
        period = rf"\bin (?:the (?:last|past) )?(?=(?:\d{{1,4}}|{'|'.join(NUMBERS)}) )"
        self.text = re.sub(period, "for ", self.text)
        self.parse_span()
        span = self.parsed.span
        until = self.today - timedelta(days=STALE_DAYS)
        if span is not None:
            until = span.until or until if span.since is None else span.since - timedelta(days=1)
        self.parsed.span = DateSpan("updated", None, until)
        self.parsed.statuses = self.parsed.statuses or OPEN

    def parse_span(self) -> None:
        """Read the first span of time, and what happened to the tasks in it."""
        if self.parsed.span:
            return
        words = self.words
        promised = rf"\b(?:{words['must_be']} {words['done_by']}|{words['must']}(?: {words['pronoun']})? {words['do_by']})(?= (?:by|before|until|this|next|today|tomorrow|on)\b)"
        self.text, promises = re.subn(promised, "due", self.text)
        if promises:
            self.parsed.statuses = self.parsed.statuses or OPEN
        phrase = next(find_times(self.text, self.today, is_of_tasks=True), None)
        if phrase is None:
            return
        bounds = phrase.widened.bounds
        events = (
            ("due", rf"{words['due']}\b"),
            ("closed", rf"\b{words['closed']}\b"),
            ("created", rf"{words['created']}\b"),
        )
        field = next((event for event, pattern in events if re.search(pattern, self.text)), "updated")
        if field == "due":
            bounds = next_occurrence(bounds, phrase.words, self.today)
        self.parsed.span = DateSpan(field, bounds[0], self.today if phrase.kind == "since" else bounds[1])
        start, end = phrase.place
        behind = self.text[end:].removeprefix("'s")
        self.text = f"{self.text[:start]} | {behind}"
        for event in {"due": ("due", "created"), "created": ("created",), "updated": ("updated",)}.get(field, ()):
            self.text = re.sub(rf"{words[event]}\b", "|", self.text)

    def parse_overdue(self) -> None:
        """Read that the tasks were due before today, or will be soon."""
        due, soon = self.words["due"], self.words["soon"]
        if self.parsed.span is None and self.cut(rf"\b(?:{due}\b.*\b{soon}|{soon}\b.*\b{due}|next {due})\b"):
            self.parsed.span = DateSpan("due", self.today, self.today + timedelta(days=SOON_DAYS))
            self.parsed.statuses = self.parsed.statuses or OPEN
        missed = rf"miss(?:ed|ing)? (?:(?:any|an?|the|its|their|our|my) )?{due}|{due} (?:(?:have|has|are|were|did) )?(?:{self.words['pronoun']} )?(?:passed|missed|miss)"
        if self.cut(rf"\b(?:{self.words['overdue']}|{missed})\b"):
            self.parsed.span = DateSpan("due", None, self.today - timedelta(days=1))
            self.parsed.statuses = self.parsed.statuses or OPEN

    def parse_statuses(self) -> None:
        """Read statuses without excluded ones; closing asks for resolved tasks, a start for unblocked ones."""
        included: list[str] = []
        excluded: list[str] = []
        while self.cut(_match_whole(self.words["ready"])):
            self.parsed.missing = tuple(dict.fromkeys((*self.parsed.missing, "blockers")))
            included.append("pending")
        self.text = re.sub(r"\bneither (.{1,80}?) nor (?=\w)", r"not \1 not ", self.text)
        self.text = re.sub(rf"\b({self.words['refused']}) \w+\b", r"\1", self.text)
        negation = rf"(?P<not>\b{self.words['except']}(?: the)? )?"
        for phrase, statuses in self.vocabulary.statuses.items():
            if phrase in self.text and (match := self.cut(negation + _match_whole(re.escape(phrase)))):
                (excluded if match["not"] else included).extend(statuses)
        if excluded:
            included = [status for status in included or OPEN if status not in excluded]
        if included:
            self.parsed.statuses = tuple(dict.fromkeys(included))
        elif self.parsed.span and self.parsed.span.field == "closed":
            self.parsed.statuses = RESOLVED

    def parse_priorities(self) -> None:
        """Read all priorities that are named; urgent tasks are unfinished ones."""
        if re.search(rf"\b{self.words['current']}\b", self.text):
            self.parsed.statuses = self.parsed.statuses or OPEN
        for phrase, levels in self.vocabulary.priorities.items():
            plural = "s?" if phrase[-1].isdigit() else ""
            if phrase in self.text and self.cut(_match_whole(re.escape(phrase) + plural)):
                self.parsed.priorities = tuple(sorted({*levels, *self.parsed.priorities}))

    def parse_types(self) -> None:
        """Read types; other words for a task, such as "ticket", stand for all types."""
        patterns = {type_: _match_whole(_match_any(phrases)) for type_, phrases in self.vocabulary.types.items()}
        named = [type_ for type_, pattern in patterns.items() if self.cut(pattern)]
        self.parsed.types = self.parsed.types or tuple(type_ for type_ in named if type_ in TYPES)
        self.parsed.names_tasks |= bool(named)
        while any(self.cut(pattern) for pattern in patterns.values()):
            continue

    def find_remaining_words(self) -> str:
        """Return the words of the text that no step knows and that are no filler."""
        words = self.words
        looked_at = rf"{words['has']} {words['anyone']} (?:ever |already )?{words['looked_at']}"
        text = re.sub(rf"\b(?:{looked_at}|last time)\b", " ", self.text)
        stripped = [word.strip("|,;:()\"'") for word in text.split()]
        return " ".join(word for word in stripped if any(map(str.isalnum, word)) and word not in self.vocabulary.filler)


def parse_question(question: str, today: date, projects: Iterable[str] = ()) -> ParsedQuestion:
    """Parse a question such as "what did we finish last week?"; `today` is the day from which "last week" counts."""
    names = {name.lower(): name for name in projects}
    question = question.strip()[:MAX_QUESTION_LENGTH]
    return QuestionParser(question, today, names).parse()


@dataclass(frozen=True, slots=True)
class TaskAnswer:
    """Tasks that answer a question, and how the question was read."""

    question: ParsedQuestion
    tasks: tuple[StoredTask, ...]
    total: int
    """Number of all matching tasks; `tasks` may hold fewer."""
    warnings: tuple[str, ...] = ()
    hits: tuple[Hit, ...] = ()
    """Parts of conversations that answer instead of tasks."""
    remarks: tuple[tuple[StoredTask, str], ...] = ()
    """What a task says about why or how: the comment about what it waits for, or its resolution."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why a task is worth starting, or what it waits for, by its id."""


ListTasks = Callable[[ParsedQuestion], TaskAnswer]


def answer_question(
    database: Database, embedder: Embedder, question: str, today: date | None, viewpoint: Viewpoint
) -> TaskAnswer:
    """Return the tasks that a question asks for, or the parts of conversations that answer it.

    If no task fits the reading of the question, the nearest by meaning answer, and a warning says so.

    Args:
        today: the day to which "last week" and the like refer; None for the current day in the local zone.
        viewpoint: what "this project" means.

    Raises:
        UsageFault: the question is empty.
    """
    if not question.strip():
        raise UsageFault("there is no question", 'Ask one: pastchats-memory ask "what is blocked?"')
    visible = sources.project_names(database)
    parsed = parse_question(question, today or date.today(), visible)  # noqa: DTZ011 - in the local zone
    if parsed.is_open:
        found = _search_everything(database, embedder, parsed, question, question, viewpoint)
        return _add_resolutions(database, found)
    list_tasks = partial(_list_answer, database, embedder, viewpoint)
    answer = list_tasks(parsed)
    if parsed.relation == "dependencies_of" and question.strip().lower().startswith("why"):
        return _explain_waiting(database, embedder, answer)
    topic = parsed.concept or (parsed.of if parsed.relation else None)
    if not answer.total:
        answer = _list_instead(answer, list_tasks)
    if answer.total or topic is None:
        return answer
    text = topic if parsed.statuses else question
    other = _search_everything(database, embedder, parsed, topic, text, viewpoint)
    if other.tasks or other.hits:
        note = f"nothing fits the reading {parsed.described!r}; these are the nearest by meaning"
        return replace(other, warnings=(*answer.warnings, note, *other.warnings))
    if parsed.concept and not parsed.is_topic_named:
        return _list_first(answer, {_note_ignored(parsed): replace(parsed, concept=None)}, list_tasks)
    return answer


def _note_ignored(parsed: ParsedQuestion) -> str:
    return f"nothing is about {parsed.concept!r}, so it was ignored"


def _list_instead(answer: TaskAnswer, list_tasks: ListTasks) -> TaskAnswer:
    """Return tasks that wait for others if none has the status blocked, and those in progress if none can be started."""
    parsed = answer.question
    instead: dict[str, ParsedQuestion] = {}
    if parsed.next_from and parsed.concept:
        instead[_note_ignored(parsed)] = replace(parsed, concept=None)
    if parsed.next_from:
        instead["nothing can be started; these are in progress"] = replace(parsed, statuses=("in_progress", "review"))
    if parsed.statuses == ("blocked",):
        waiting = replace(parsed, statuses=(), present=("blockers",))
        instead["no task has the status blocked; these wait for another task"] = waiting
    return _list_first(answer, instead, list_tasks)


def _list_first(answer: TaskAnswer, instead: Mapping[str, ParsedQuestion], list_tasks: ListTasks) -> TaskAnswer:
    """Return the tasks of the first reading that has any, with its note as a warning; else the answer."""
    for note, parsed in instead.items():
        if (other := list_tasks(parsed)).total:
            return replace(other, warnings=(*other.warnings, note))
    return answer


def _list_answer(database: Database, embedder: Embedder, viewpoint: Viewpoint, parsed: ParsedQuestion) -> TaskAnswer:
    topic = None if parsed.is_topic_named else parsed.concept
    if topic and task_rows.is_tag(database, topic):
        parsed.tags, parsed.concept = (*parsed.tags, topic), None
    elif topic and parsed.relation is None and task_rows.find_epics(database, topic):
        parsed.relation, parsed.of, parsed.concept = "part_of", topic, None
    conditions = _list_conditions(parsed)
    if parsed.relation is not None:
        others = find_named_tasks(database, embedder, parsed.of or "")
        if not others:
            return TaskAnswer(parsed, (), 0, (f"there is no task {parsed.of!r}",))
        conditions.append(task_rows.related_condition(database, parsed.relation, others))
    filters = Filters(
        kinds=parsed.types or TYPES,
        statuses=parsed.statuses,
        priorities=parsed.priorities,
        project=viewpoint.project if parsed.project == "." else parsed.project,
    )
    order = task_rows.ORDERS.get(parsed.order or ("due" if parsed.span and parsed.span.field == "due" else ""))
    if parsed.next_from:
        order = task_rows.order_to_start(parsed.next_from + timedelta(days=NEAR_DAYS))
    list_ids = partial(task_rows.listed, database, conditions=conditions, limit=-1, order=order, tags=parsed.tags)
    ids: Sequence[int] = list_ids(filters)
    if parsed.next_from and filters.project is None and viewpoint.project is not None:
        ids = list(dict.fromkeys((*list_ids(filters._replace(project=viewpoint.project)), *ids)))
    warnings: tuple[str, ...] = ()
    if parsed.concept:
        matches, warnings = _search_topic(database, embedder, parsed.concept, filters)
        ordered, wanted = (matches, frozenset(ids)) if order is None else (ids, frozenset(matches))
        ids = [id_ for id_ in ordered if id_ in wanted]
    shown = task_rows.tasks(database, ids[: parsed.limit or MAX_TASKS])
    reasons: Mapping[str, str] = {}
    if parsed.next_from:
        reasons = explain_start(database, shown, parsed.next_from)
    elif parsed.statuses == ("blocked",) or "blockers" in parsed.present:
        reasons = explain_wait(database, shown)
    return TaskAnswer(parsed, tuple(shown), len(ids), warnings, reasons=reasons)


def _list_conditions(parsed: ParsedQuestion) -> list[str]:
    conditions = [task_rows.CONDITIONS[name] for name in parsed.missing]
    conditions += [f"NOT ({task_rows.CONDITIONS[name]})" for name in parsed.present]
    for kind in parsed.kinds:
        words = load_vocabulary().tags[kind] if kind in KINDS_IN_TITLES else ()
        conditions.append(task_rows.kind_condition(kind, words))
    if parsed.span is not None:
        conditions += task_rows.time_conditions(parsed.span.field, *parsed.span.stored_bounds)
    return [*conditions, task_rows.IS_STARTABLE] if parsed.next_from else conditions


def _explain_waiting(database: Database, embedder: Embedder, answer: TaskAnswer) -> TaskAnswer:
    """Return what a task waits for, else the task itself, and its comment that says why, else its last one."""
    own = task_rows.tasks(database, find_named_tasks(database, embedder, answer.question.of or ""))
    reasons = (find_wait(task) or (task.comments[-1].content if task.comments else task.description) for task in own)
    remarks = tuple((task, reason) for task, reason in zip(own, reasons, strict=True) if reason)
    tasks = answer.tasks or tuple(own)
    return replace(answer, tasks=tasks, total=answer.total or len(tasks), remarks=remarks)


def _add_resolutions(database: Database, answer: TaskAnswer) -> TaskAnswer:
    """Return the answer with its resolved tasks alone and their resolutions, if the question asks for resolved ones."""
    wanted = answer.question.statuses
    fitting = tuple(task for task in answer.tasks if task.status in RESOLVED and task.status in wanted)
    if not fitting:
        return answer
    remarks = ((task, find_resolution(database, task)[0]) for task in fitting[:MAX_NAMED])
    found = tuple((task, text) for task, text in remarks if text)
    return replace(answer, tasks=fitting, total=len(fitting), remarks=found)


def _search_everything(
    database: Database, embedder: Embedder, parsed: ParsedQuestion, topic: str, text: str, viewpoint: Viewpoint
) -> TaskAnswer:
    """Return parts of conversations of the named days, else the tasks and the parts that are near to a text."""
    if parsed.span is not None and not parsed.statuses and not parsed.names_tasks:
        since, until = parsed.span.stored_bounds
        of_days = Filters(project=parsed.project, since=since, until=until)
        if of_then := search(database, embedder, Request(topic, limit=MAX_HITS, filters=of_days)):
            return TaskAnswer(parsed, (), 0, of_then.warnings, tuple(_with_answers(database, of_then)[:MAX_HITS]))
    project = viewpoint.project if parsed.project == "." else parsed.project
    filters = Filters(project=project)
    hits = search(database, embedder, Request(text, limit=20, filters=filters, threshold=AGREED_RELEVANCE))
    near = [hit for hit in hits if _is_near(hit)]
    least = FAR_BELOW * max((hit.relevance or 0 for hit in near), default=0)
    of_tasks, of_turns = (
        [hit for hit in near if (hit.task is None) == is_turn]
        if any((hit.task is None) == is_turn and (hit.relevance or 0) >= least for hit in near)
        else []
        for is_turn in (False, True)
    )
    ids = list(dict.fromkeys(hit.task.id for hit in of_tasks if hit.task is not None))
    if not near:
        ids = _find_by_all_words(database, embedder, parsed.concept or text, filters)
    tasks = tuple(task_rows.tasks(database, ids))
    return TaskAnswer(parsed, tasks, len(ids), hits.warnings, tuple(_with_answers(database, of_turns)[:MAX_HITS]))


def _is_near(hit: Hit) -> bool:
    """Check whether a hit may answer; without a model, whether its words are among the first."""
    is_first = hit.lexical_rank is not None and hit.lexical_rank <= AGREED_RANKS
    if hit.relevance is None:
        return is_first
    is_agreed = is_first and hit.semantic_rank is not None and hit.semantic_rank <= AGREED_RANKS
    return is_agreed or hit.relevance >= LEAST_RELEVANCE


def _with_answers(database: Database, hits: Sequence[Hit]) -> list[Hit]:
    """Return hits of conversations, and the last answers to prompts; first parts of each conversation come first."""
    found: dict[str, Hit] = {}
    for hit in hits:
        found.setdefault(hit.id, hit)
        if hit.role == "user":
            (item,) = turn_rows.items(database, [int(hit.id)])
            for answer in [turn for turn in load_episode(database, item)[0] if turn.role == "assistant"][-1:]:
                moved = move_hit(hit, answer)
                found.setdefault(moved.id, moved._replace(snippet=answer.content[:SNIPPET_WIDTH]))
    turns_of = group_by_key((hit.conversation_id or hit.id, hit) for hit in found.values())
    first = [hit for turns in turns_of.values() for hit in turns[:FIRST_OF_CONVERSATION]]
    ordered = [*first, *(hit for turns in turns_of.values() for hit in turns[FIRST_OF_CONVERSATION:])]
    return [hit._replace(rank=rank) for rank, hit in enumerate(ordered, start=1)]


def _find_by_all_words(database: Database, embedder: Embedder, topic: str, filters: Filters) -> list[int]:
    """Return the tasks whose title, description and tags have every word of a topic."""
    words = load_words()
    wanted = words.find_stems(topic)
    ids, _ = _search_topic(database, embedder, topic, filters._replace(kinds=TYPES))
    return [
        task.id
        for task in task_rows.tasks(database, ids)
        if wanted and wanted <= words.find_stems(" ".join((task.title, task.description, *task.tags)))
    ]


_NUMBERED_KEY = re.compile(r"(?:[a-z]+-)?\d[\d.]*", re.IGNORECASE)
"""A key that is a number: the most similar title would be another task."""


def find_named_tasks(database: Database, embedder: Embedder, name: str) -> list[int]:
    """Find the tasks with a key, or else with an id in a list of their tracker.

    If there is none, return the epics of that title, else the tasks that have all of its words, else the most similar task.
    """
    found = (
        task_rows.find(database, name) or task_rows.find_tagged(database, name) or task_rows.find_epics(database, name)
    )
    if found or _NUMBERED_KEY.fullmatch(name):
        return found
    if with_all_words := _find_by_all_words(database, embedder, name, EVERY_TASK)[:MAX_NAMED]:
        return with_all_words
    session = sources.open_session(database, embedder)
    best = find_similar_tasks(database, session, TaskQuery.embed(session, name), EVERY_TASK)[:1]
    return [similar.task.id for similar in best if similar.match.score >= RELATED_SCORE / 2]


def _search_topic(
    database: Database, embedder: Embedder, topic: str, filters: Filters
) -> tuple[Sequence[int], tuple[str, ...]]:
    """Return tasks about a topic, or with a comment or attachment about it, the best first, and warnings."""
    with_parts = filters._replace(kinds=(*filters.kinds, "comment", "attachment"))
    hits = search(database, embedder, Request(topic, limit=MAX_TOPIC_HITS, filters=with_parts))
    least = 1.0 if is_unread(embedder.name, topic) else MIN_SIMILARITY
    matches = (
        hit.task.id for hit in hits if hit.task and (hit.lexical_rank is not None or (hit.similarity or 0) >= least)
    )
    return list(dict.fromkeys(matches)), hits.warnings
