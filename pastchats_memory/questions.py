"""A question in plain language to filters and the words that are left: a small grammar, no language model. Pure.

The question is read from left to right. At every place the longest phrase that the tables know is taken (a status, a
type, a priority, a span of time, a relation to another task, something that is missing); what no table knows, and is no
word of asking, is what the question is about.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, timedelta

from pastchats_memory.phrases import (
    ASKING_WORDS,
    MISSING_PHRASES,
    PRIORITY_PHRASES,
    RELATION_PATTERNS,
    STATUS_PHRASES,
    TAG_PHRASES,
    TYPE_PHRASES,
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
_DUE_BY = re.compile(
    r"\b(?:should|must|has to|have to|needs? to|to) be (?:done|finished|completed|closed|ready|delivered)(?= by\b)"
)
_CREATED = re.compile(r"(?:created|added|opened|filed|reported|new|captured|raised|came in|logged)\b")
_LOOKED_AT = re.compile(
    r"\b(?:(?:has|have|had|did|does|is|was) (?:any(?:one|body)|some(?:one|body)|we|i|they|you) (?:ever |already )?)"
    r"(?:look(?:ed|ing)? (?:in)?(?:to|at)|work(?:ed|ing)? on|deal(?:t|ing)? with|handled?|tackled?|run into|seen|discussed?|talk(?:ed)? about"
    r"|thought about|mentioned?)\b|\blast time\b"
)
"""Ways to ask whether there was something; what follows is what it is about."""
_UNTOUCHED = (
    r"\b(?:ha(?:ve|s)(?:n't| not)|nobody has|no one has|not|never)(?: been)? (?:touched|updated|changed|modified|moved|worked on)\b"
    r"|\b(?:stale|untouched|dormant|forgotten|neglected)\b"
)
STALE_DAYS = 30
"""Without a change after which a task is stale where the question says no time."""
_TO_DO_NOW = (
    r"\b(?:to|should (?:i|we)|shall (?:i|we)|can (?:i|we)) (?:do|work on|start(?: with)?|tackle|begin(?: with)?|pick up)"
    r"(?: right)? (?:now|today|first|this morning|this afternoon)\b"
)
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
    words = [word.strip("|,;:()\"'") for word in _LOOKED_AT.sub(" ", text).split()]
    kept = [word for word in words if any(map(str.isalnum, word)) and word not in ASKING_WORDS]
    return " ".join(kept)


def _count(draft: _Draft, _: str) -> None:
    if draft.take(r"\b(?:how many|number of|count(?: of)?)\b"):
        draft.values["is_count"] = True


def _relation(draft: _Draft, question: str) -> None:
    for relation, pattern in RELATION_PATTERNS:
        found = re.search(pattern, draft.text)
        if found and not re.fullmatch(
            r"(?:me|us|review|it|that|this|anything|something|the backlog|on|way|consideration|(?:any|some)(?:one|body)(?: else)?|other(?: people|s)|(?:my|our|your) attention)",
            found["of"],
        ):
            draft.values |= {
                "relation": relation,
                "of": _as_written(re.sub(r"\A(?:the )?(?:task|issue|ticket) ", "", found["of"]), question),
            }
            draft.text = (
                f"{draft.text[: found.start()]} | " if relation != "part_of" else re.split(pattern, draft.text)[0]
            )
            if relation == "part_of":
                draft.text = (
                    re.sub(r"\b(?:part of|belongs? to|under|falls? under).*", "|", found[0])
                    if "under" in found[0] or "part of" in found[0] or "belong" in found[0]
                    else "|"
                )
            return


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
    for phrases, tag in TAG_PHRASES.items():
        if draft.take(rf"\b(?:{phrases})\b"):
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
            rf"{_TO_DO_NOW}|\b(?:by priority|work on next|do next|should i do|start with|most pressing|focus on|needs? (?:my|our|your) attention)\b",
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
    if not draft.take(_UNTOUCHED):
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
    draft.text, is_promised = _DUE_BY.subn("due", draft.text)
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
    for phrases, numbers in sorted(PRIORITY_PHRASES.items(), key=lambda entry: -max(map(len, entry[0].split("|")))):
        if draft.take(_any_of(phrases)):
            draft.values["priorities"] = tuple(sorted({*numbers, *draft.values.get("priorities", ())}))  # type: ignore[misc] # only this step writes it


def _statuses(draft: _Draft, _: str) -> None:
    found: list[str] = []
    excluded: list[str] = []
    for phrase, statuses in sorted(
        ((phrase, statuses) for phrases, statuses in STATUS_PHRASES.items() for phrase in phrases.split("|")),
        key=lambda entry: -len(entry[0]),
    ):
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


def _any_of(phrases: str) -> str:
    longest = sorted(phrases.split("|"), key=len, reverse=True)
    return rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest))})(?![\w-])"
