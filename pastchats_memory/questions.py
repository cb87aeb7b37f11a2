"""A question in plain language to filters and the words that are left: a small grammar, no language model. Pure.

The question is read from left to right. At every place the longest phrase that the tables know is taken (a status, a
type, a priority, a span of time, a relation to another task, something that is missing); what no table knows, and is no
word of asking, is what the question is about.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from pastchats_memory.phrases import (
    ASKING_WORDS,
    DUE_BY,
    KEY,
    LOOKED_AT,
    MISSING_PHRASES,
    NO_TAGS,
    NO_TASK,
    PRIORITY_PHRASES,
    RELATION_PATTERNS,
    STATUS_PHRASES,
    TAG_PHRASES,
    TAIL,
    TO_DO_NOW,
    TYPE_PHRASES,
    UNTOUCHED,
    WE_COULD,
)
from pastchats_memory.spans import NUMBERS, TIMES, number_of, to_come
from pastchats_memory.statuses import OPEN, PRIORITIES, RESOLVED

RELATIONS = ("depends_on", "dependencies_of", "part_of", "parent_of")
MISSING = (
    "epic",
    "priority",
    "description",
    "dependencies",
    "comments",
    "due",
    "tags",
    "subtasks",
    "project",
    "assignee",
)
ORDERS = ("newest", "oldest", "most_urgent")

_ABOUT = re.compile(
    r"(?:about|regarding|concerning|related to|to do with|mention(?:s|ing)?|involv(?:es|ing)|on the topic of|around)\s+(.+)"
)
_DUE = re.compile(r"(?:due|deadlines?)\b")
_CREATED = re.compile(
    r"(?:created|added|opened|filed|reported|new|captured|raised|came in|logged|requested|submitted|proposed|suggested)\b"
)
STALE_DAYS = 30
"""Without a change after which a task is stale where the question says no time."""
_BUT = r"\b(?:not|aren't|isn't|but|except(?: for)?|excluding|other than|apart from)(?: the)?"
_UPDATED = re.compile(r"(?:updated|changed|touched|modified|moved)\b")


@dataclass(frozen=True, slots=True)
class Span:
    """Days, both inclusive; None for no bound."""

    field: str
    """`closed`, `created`, `updated` or `due`."""
    since: date | None
    until: date | None


@dataclass(frozen=True, slots=True)
class Reading:
    """What a question was taken for."""

    statuses: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    priorities: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()
    project: str | None = None
    span: Span | None = None
    missing: tuple[str, ...] = ()
    """Of MISSING: what a task must not have."""
    relation: str | None = None
    """Of RELATIONS, to `of`."""
    of: str | None = None
    """A task, by its key or in words."""
    order: str | None = None
    """Of ORDERS."""
    limit: int | None = None
    is_count: bool = False
    concept: str | None = None
    """What it is about, for the search."""

    def described(self) -> str:
        """The reading in one line, for whoever asked."""
        parts = [" or ".join(self.types) if self.types else "tasks"]
        if self.statuses:
            parts.append("status " + " or ".join(self.statuses))
        if self.priorities:
            parts.append("priority " + " or ".join(PRIORITIES[number] for number in self.priorities))
        if self.tags:
            parts.append("tagged " + " and ".join(self.tags))
        if self.project:
            parts.append(f"project {self.project}")
        if self.span:
            parts.append(f"{self.span.field} {self.span.since or '…'} to {self.span.until or '…'}")
        parts += [f"without {name}" for name in self.missing]
        if self.relation:
            parts.append(f"{self.relation.replace('_', ' ')} {self.of!r}")
        if self.concept:
            parts.append(f"about {self.concept!r}")
        if self.order:
            parts.append(f"{self.order.replace('_', ' ')} first")
        if self.limit:
            parts.append(f"at most {self.limit}")
        return ("count of " if self.is_count else "") + " · ".join(parts)


@dataclass(slots=True)
class _Draft:
    text: str
    today: date
    values: dict[str, object] = field(default_factory=dict)

    def take(self, pattern: str) -> re.Match[str] | None:
        """Cut the first place where the pattern stands out of the text."""
        found = re.search(pattern, self.text)
        if found is not None:
            self.text = f"{self.text[: found.start()]} | {self.text[found.end() :]}"
        return found


def read_question(question: str, today: date) -> Reading:
    """The reading of a question asked on a day."""
    plain = " ".join(question.strip().lower().replace("’", "'").rstrip("?!. ").split())
    draft = _Draft(plain, today)
    for step in (
        _count,
        _relation,
        _about,
        _tags,
        _project,
        _limit,
        _order,
        _missing,
        _stale,
        _time,
        _overdue,
        _assigned,
        _priorities,
        _statuses,
        _types,
    ):
        step(draft, question)
    concept = draft.values.pop("concept", None) or _rest(draft.text)
    values = {name: value for name, value in draft.values.items() if not name.startswith("_")}
    return Reading(**values, concept=concept or None)  # type: ignore[arg-type] # each step knows its field


def _rest(text: str) -> str:
    asked = WE_COULD.sub(" ", LOOKED_AT.sub(" ", text))
    words = [word.strip("|,;:()\"'") for word in asked.split()]
    kept = [word for word in words if any(map(str.isalnum, word)) and word not in ASKING_WORDS]
    return " ".join(kept)


def _count(draft: _Draft, _: str) -> None:
    if draft.take(r"\b(?:how many|number of|count(?: of)?)\b"):
        draft.values["is_count"] = True


def _relation(draft: _Draft, question: str) -> None:
    for relation, pattern in RELATION_PATTERNS:
        found = re.search(pattern, draft.text)
        if found and not NO_TASK.fullmatch(found["of"]):
            of, tail = _named(found["of"])
            draft.values |= {"relation": relation, "of": _as_written(of, question)}
            before = draft.text[: found.start()]
            if relation == "part_of":
                inside = re.search(r"\b(?:part of|belongs? to|under|falls? under)\b", found[0])
                before += found[0][: inside.start()] if inside else ""
            draft.text = f"{before} | {tail}"
            return


def _named(of: str) -> tuple[str, str]:
    """The other task as it is named, and what the question goes on to say of those that are asked for."""
    key = KEY.match(of)
    if key:
        return key["key"], of[key.end() :]
    name = TAIL.sub("", of)
    return re.sub(r"\A(?:the )?(?:task|issue|ticket) ", "", name), of[len(name) :]


def _as_written(text: str, question: str) -> str:
    """The words as they were typed, without quotation marks and an article."""
    at = question.lower().find(text)
    written = question[at : at + len(text)] if at >= 0 else text
    return re.sub(r"\A(?:the|a|an) ", "", written.strip(" \"'"), flags=re.IGNORECASE)


def _about(draft: _Draft, question: str) -> None:
    found = _ABOUT.search(draft.text)
    if found is None:
        return
    inner = _Draft(found[1], draft.today)
    for step in (_project, _time, _overdue):
        step(inner, question)
    cut = inner.text.split("|")[0].strip(" ,")
    cut = re.sub(r"\b(?:that|which|and) (?:is|are|was|were)\b.*", "", cut).strip()
    if cut:
        draft.values["concept"] = _as_written(cut, question)
        draft.text = draft.text.replace(found[0], found[0].replace(cut, "|", 1).partition(" ")[2], 1)


def _tags(draft: _Draft, _: str) -> None:
    tags = []
    while found := draft.take(
        r"(?:\b(?:tagged|labell?ed)(?: as| with)?|\bwith (?:the )?(?:tag|label)|\btag|\blabel) ['\"]?#?([\w/-]+)['\"]?|(?<!\S)#([a-z][\w/-]*)"
    ):
        tags.append(found[1] or found[2])
        while further := re.search(r"\| *(?:,|and|&) *#?([\w/-]+)(?= *(?:,|and\b|&|\Z))", draft.text):
            if further[1] in NO_TAGS:
                break
            tags.append(further[1])
            draft.text = f"{draft.text[: further.start()]}|{draft.text[further.end() :]}"
    for phrases, tag in TAG_PHRASES.items():
        if draft.take(_any_of(phrases)):
            tags.append(tag)
    if tags:
        draft.values["tags"] = tuple(dict.fromkeys(tags))


def _project(draft: _Draft, question: str) -> None:
    found = draft.take(r"\b(?:in|for|of|from) (?:the )?project ['\"]?([\w./-]+)['\"]?") or draft.take(
        r"\b(?:in|for|of|from) (?:the )?['\"]?([\w./-]+)['\"]? project\b"
    )
    if found and found[1] not in ("this", "my", "our"):
        draft.values["project"] = _as_written(found[1], question)
    elif found:
        draft.values["project"] = "."


def _limit(draft: _Draft, _: str) -> None:
    number = rf"(\d{{1,3}}|{'|'.join(NUMBERS)})"
    found = draft.take(rf"\b(?:top|first) {number}\b") or draft.take(
        rf"\b(?:latest|newest|oldest|last|most recent) {number} (?=(?:[\w-]+ ){{0,2}}(?:tasks?|issues?|tickets?|bugs?|epics?|things|items))"
    )
    before = re.search(rf"\b{number} (?=(?:latest|newest|oldest|most recent|most urgent)\b)", draft.text)
    if before and not found:
        draft.text = draft.text.replace(before[0], "", 1)
        draft.values["limit"] = number_of(before[1])
    if found:
        draft.values["limit"] = number_of(found[1])
        if found[0].startswith(("latest", "newest", "last", "most recent")):
            draft.values["order"] = "newest"
        elif found[0].startswith("oldest"):
            draft.values["order"] = "oldest"


def _order(draft: _Draft, _: str) -> None:
    for order, pattern in (
        ("newest", r"\b(?:latest|newest|most recent(?:ly)?|recent)\b"),
        ("oldest", r"\b(?:oldest|longest(?: running)?)\b"),
        (
            "most_urgent",
            rf"{TO_DO_NOW}|\b(?:by priority|work on next|do next|should i do|start with|most pressing|focus on|(?:top |main |biggest )?priorities(?! (?:are|is) missing)|needs? (?:my|our|your) attention)\b",
        ),
    ):
        if draft.take(pattern):
            draft.values.setdefault("order", order)
            if order == "most_urgent":
                draft.values.setdefault("statuses", OPEN)


def _missing(draft: _Draft, _: str) -> None:
    found = []
    lacking = r"(?:without|with no|has no|have no|lack(?:s|ing)?|missing|don't have|doesn't have|do not have|does not have|that have no|no)"
    for name, phrases in MISSING_PHRASES.items():
        if draft.take(rf"\b{lacking} (?:any )?(?:{phrases})\b"):
            found.append(name)
    if draft.take(r"\b(?:orphan(?:ed|s)?|standalone)\b"):
        found.append("epic")
    if draft.take(r"\b(?:unassigned|not assigned|nobody is assigned)\b"):
        found.append("assignee")
    if draft.take(r"\b(?:unprioriti[sz]ed|not prioriti[sz]ed)\b"):
        found.append("priority")
    if draft.take(r"\b(?:untagged|unlabell?ed)\b"):
        found.append("tags")
    if draft.take(r"\b(?:undocumented)\b"):
        found.append("description")
    if found:
        draft.values["missing"] = tuple(dict.fromkeys(found))


def _stale(draft: _Draft, question: str) -> None:
    """What nobody changed since some time, which is up to the day before it."""
    if not draft.take(UNTOUCHED):
        return
    draft.text = re.sub(rf"\bin (?:the (?:last|past) )?(?=(?:\d{{1,4}}|{'|'.join(NUMBERS)}) )", "for ", draft.text)
    draft.values.pop("span", None)
    _time(draft, question)
    said = draft.values.get("span")
    until = draft.today - timedelta(days=STALE_DAYS)
    if isinstance(said, Span):
        until = said.until or until if said.since is None else said.since - timedelta(days=1)
    draft.values["span"] = Span("updated", None, until)
    draft.values.setdefault("statuses", OPEN)


def _time(draft: _Draft, _: str) -> None:
    if draft.values.get("span"):
        return
    draft.text, is_promised = DUE_BY.subn("due", draft.text)
    if is_promised:
        draft.values.setdefault("statuses", OPEN)
    for pattern, span in TIMES:
        found = re.search(pattern, draft.text)
        if found is None:
            continue
        since, until = span(found, draft.today)
        before = draft.text
        if _field(before) == "due":
            since, until = to_come((since, until), found[0], draft.today)
        draft.take(rf"{pattern}(?:'s)?")
        draft.values["span"] = Span(_field(before), since, until)
        draft.text = (
            _CREATED.sub("|", _DUE.sub("|", draft.text)) if _field(before) in ("created", "due") else draft.text
        )
        draft.text = _UPDATED.sub("|", draft.text) if _field(before) == "updated" else draft.text
        return


def _field(text: str) -> str:
    if _DUE.search(text):
        return "due"
    if re.search(
        r"\b(?:done|finish|finished|completed?|closed?|resolved?|ship(?:ped)?|fix(?:ed)?|accomplish(?:ed)?|deliver(?:ed)?|solved|achieved?|get done|got done|wrap(?:ped)?|ticked|crossed off|got through)\b",
        text,
    ):
        return "closed"
    return "created" if _CREATED.search(text) else "updated"


def _overdue(draft: _Draft, _: str) -> None:
    if draft.take(r"\b(?:overdue|past due|past (?:its|their|the) (?:deadline|due date)|late)\b"):
        draft.values["span"] = Span("due", None, draft.today - timedelta(days=1))
        draft.values.setdefault("statuses", OPEN)


def _assigned(draft: _Draft, _: str) -> None:
    draft.take(r"\b(?:assigned to me|on my list|mine)\b")


def _priorities(draft: _Draft, _: str) -> None:
    for phrase, numbers in _longest_first(PRIORITY_PHRASES):
        if draft.take(_any_of(phrase)):
            draft.values["priorities"] = tuple(sorted({*numbers, *draft.values.get("priorities", ())}))  # type: ignore[misc] # only this step writes it


def _statuses(draft: _Draft, _: str) -> None:
    found: list[str] = []
    excluded: list[str] = []
    draft.text = re.sub(r"\bneither (.{1,80}?) nor (?=\w)", r"not \1 not ", draft.text)
    for phrase, statuses in _longest_first(STATUS_PHRASES):
        taken = draft.take(rf"(?P<not>{_BUT} )?(?<![\w-]){re.escape(phrase)}(?![\w-])")
        if taken:
            (excluded if taken["not"] else found).extend(statuses)
    if excluded:
        found = [status for status in found or OPEN if status not in excluded]
    if found:
        draft.values["statuses"] = tuple(dict.fromkeys(found))
    elif draft.values.get("span") and draft.values["span"].field == "closed":  # type: ignore[attr-defined] # a Span
        draft.values["statuses"] = RESOLVED


def _types(draft: _Draft, _: str) -> None:
    found: list[str] = []
    for phrases, types in TYPE_PHRASES.items():
        if draft.take(_any_of(phrases)):
            found += types
    while any(draft.take(_any_of(phrases)) for phrases in TYPE_PHRASES):
        continue
    if found:
        draft.values["types"] = tuple(dict.fromkeys(found))


def _longest_first(table: Mapping[str, tuple[Any, ...]]) -> list[tuple[str, tuple[Any, ...]]]:
    """Every phrase of a table with what it stands for."""
    entries = ((phrase, value) for phrases, value in table.items() for phrase in phrases.split("|"))
    return sorted(entries, key=lambda entry: -len(entry[0]))


def _any_of(phrases: str) -> str:
    longest = sorted(phrases.split("|"), key=len, reverse=True)
    return rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest))})(?![\w-])"
