"""A question in plain language to filters and the words that are left: a small grammar, no language model. Pure.

The question is read from left to right. At every place the longest phrase that the tables know is taken (a status, a
type, a priority, a span of time, a relation to another task, something that is missing); what no table knows, and is no
word of asking, is what the question is about.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, timedelta

from pastchats_memory.spans import TIMES
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

_STATUS_PHRASES: dict[str, tuple[str, ...]] = {
    "not blocked|unblocked|ready|ready to start|available|actionable|can i start|next": ("pending",),
    "not done|not finished|not completed|not closed|unfinished|incomplete|open|outstanding|remaining|left to do|left|unresolved|"
    "still to do|still open|still to be done|to be done|have to do|need to do|needs doing|yet to do|active": OPEN,
    "not started|not yet started|unstarted|todo|to do|to-do|todos|pending|queued|in the backlog|on the backlog": (
        "pending",
    ),
    "in progress|in-progress|doing|under way|underway|ongoing|being worked on|started|wip|working on|current|currently|"
    "happening|on my plate": ("in_progress",),
    "blocked|stuck|waiting|on hold|held up|stalled|impeded": ("blocked",),
    "in review|under review|reviewing|awaiting review|waiting for review|needs review|to review|reviewed": ("review",),
    "done|finished|finish|completed|complete|closed|close|resolved|resolve|shipped|ship|fixed|accomplished|accomplish|"
    "delivered|deliver|solved|achieved|achieve|get done|got done|wrapped up": RESOLVED,
    "archived": ("archived",),
    "cancelled|canceled|abandoned|dropped|rejected|won't do|wont do|won't fix|wontfix|gave up|given up|discarded|scrapped": (
        "cancelled",
    ),
    "deferred|postponed|put off|parked|snoozed|later|someday": ("deferred",),
}
_PRIORITY_PHRASES: dict[str, tuple[int, ...]] = {
    "critical|p0|blocker|blockers|showstopper|showstoppers|highest priority|top priority|priority 0": (0,),
    "urgent|most urgent|high priority or above|pressing|important|most important": (0, 1),
    "high priority|p1|high-priority|priority 1": (1,),
    "medium priority|p2|normal priority|medium-priority|priority 2": (2,),
    "low priority|p3|low-priority|minor|priority 3": (3,),
    "lowest priority|p4|trivial|priority 4": (4,),
}
_TYPE_PHRASES: dict[str, tuple[str, ...]] = {
    "epic|epics": ("epic",),
    "subtask|subtasks|sub-task|sub-tasks": ("subtask",),
    "task|tasks|ticket|tickets|issue|issues|item|items|work|things|story|stories|cards|card|todo items": (),
}
_TAG_PHRASES = {"bug|bugs|defect|defects": "bug", "feature|features": "feature", "chore|chores": "chore"}
_MISSING_PHRASES = {
    "epic": "an epic|epic|a parent|parent|parents|epics",
    "priority": "a priority|priority|priorities",
    "description": "a description|description|descriptions|details",
    "dependencies": "dependencies|a dependency|any dependencies|blockers",
    "comments": "comments|a comment|any comments|discussion",
    "due": "a due date|due date|due dates|a deadline|deadline",
    "tags": "tags|a tag|labels|a label|label|any tags",
    "subtasks": "subtasks|a subtask|children",
    "project": "a project|project",
    "assignee": "an assignee|assignee|an owner|owner",
}
_ASKING = frozenset(
    """am tried try anyone someone anybody somebody what what's whats which who when where how why is are was were be been being do does did done have has had we i you they it
    us me my our the a an of to on in at for by with that this these those there any all some every each show list give find get
    tell display see look looking please can could should would will need needs still yet now right just most more than currently
    about anything something everything nothing else and or if not ones one stuff so far up go going went our's let's lets know
    thing already ever recently been got as into from only also related regarding concerning around per me? into status state
    been work worked working happened happening next remind look'd kind sort""".split()  # noqa: SIM905 - as a list it would fill three pages
)
_ABOUT = re.compile(
    r"(?:about|regarding|concerning|related to|to do with|mention(?:s|ing)?|involv(?:es|ing)|on the topic of|around)\s+(.+)"
)
_DUE = re.compile(r"(?:due|deadline)\b")
_CREATED = re.compile(r"(?:created|added|opened|filed|reported|new|captured|raised|came in|logged)\b")
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
    words = [word.strip("|,;:()\"'") for word in text.split()]
    kept = [word for word in words if word and word not in _ASKING]
    return " ".join(kept)


def _count(draft: _Draft, _: str) -> None:
    if draft.take(r"\b(?:how many|number of|count(?: of)?)\b"):
        draft.values["is_count"] = True


_RELATION_PATTERNS = (
    ("dependencies_of", r"what (?:does|do|did|is|are) (?P<of>.+?) (?:depends? on|waiting (?:for|on)|blocked (?:by|on)|need)\Z"),
    ("dependencies_of", r"(?:dependencies|prerequisites|requirements) (?:of|for) (?P<of>.+)\Z"),
    ("dependencies_of", r"(?:what|which|who)(?:'s| is| are)?(?: \w+)? (?:block(?:s|ing)|holding up|holds up|in the way of)(?: tasks?)? (?P<of>.+)\Z"),
    ("dependencies_of", r"why is (?P<of>.+) (?:blocked|stuck)\Z"),
    ("depends_on", r"(?:depend(?:s|ing|ent)?(?: up)?on|depend(?:s|ing|ent)? (?:up)?on|waiting (?:for|on)|waits (?:for|on)|blocked (?:by|on)|needs?) (?P<of>(?!review)\S.*)\Z"),
    ("depends_on", r"(?:dependents|dependants) of (?P<of>.+)\Z"),
    ("depends_on", r"what (?:does|is) (?P<of>.+?) (?:block|blocking|hold up|holding up)\Z"),
    ("part_of", r"(?:subtasks|sub-tasks|children|child tasks|parts|steps|tasks|issues) (?:of|under|in|inside|within|belonging to) (?:the )?(?:epic )(?P<of>.+)\Z"),
    ("part_of", r"(?:subtasks|sub-tasks|children|child tasks|parts|steps) (?:of|under|in|inside|for) (?P<of>.+)\Z"),
    ("part_of", r"(?:what|which|tasks|everything|anything)?.*?\b(?:part of|belongs? to|under|falls? under) (?:the )?(?:epic )?(?P<of>.+)\Z"),
    ("parent_of", r"(?:parent|epic) (?:of|for) (?P<of>.+)\Z"),
    ("parent_of", r"(?:which|what) epic (?:does|is|has) (?P<of>.+?)(?: belongs? to| part of| in| under)?\Z"),
)  # fmt: skip


def _relation(draft: _Draft, question: str) -> None:
    for relation, pattern in _RELATION_PATTERNS:
        found = re.search(pattern, draft.text)
        if found and not re.fullmatch(r"(?:me|us|review|it|that|this|anything|something|the backlog|on)", found["of"]):
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
    for phrases, tag in _TAG_PHRASES.items():
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
    found = draft.take(r"\b(?:top|first) (\d{1,3})\b") or draft.take(
        r"\b(?:latest|newest|oldest|last) (\d{1,3}) (?=tasks?|issues?|tickets?|bugs?|epics?|things|items)"
    )
    if found:
        draft.values["limit"] = int(found[1])
        if found[0].startswith(("latest", "newest", "last")):
            draft.values["order"] = "newest"
        elif found[0].startswith("oldest"):
            draft.values["order"] = "oldest"


def _order(draft: _Draft, _: str) -> None:
    for order, pattern in (
        ("newest", r"\b(?:latest|newest|most recent(?:ly)?|recent)\b"),
        ("oldest", r"\b(?:oldest|longest)\b"),
        ("most_urgent", r"\b(?:by priority|work on next|do next|should i do|start with|most pressing|focus on)\b"),
    ):
        if draft.take(pattern):
            draft.values.setdefault("order", order)
            if order == "most_urgent":
                draft.values.setdefault("statuses", OPEN)


def _missing(draft: _Draft, _: str) -> None:
    found = []
    lacking = r"(?:without|with no|has no|have no|lack(?:s|ing)?|missing|don't have|doesn't have|do not have|does not have|that have no|no)"
    for name, phrases in _MISSING_PHRASES.items():
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


def _time(draft: _Draft, _: str) -> None:
    for pattern, span in TIMES:
        found = re.search(pattern, draft.text)
        if found is None:
            continue
        since, until = span(found, draft.today)
        before = draft.text
        draft.take(pattern)
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
        r"\b(?:done|finish|finished|completed?|closed?|resolved?|ship(?:ped)?|fix(?:ed)?|accomplish(?:ed)?|deliver(?:ed)?|solved|achieved?|get done|wrapped)\b",
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
    for phrases, numbers in sorted(_PRIORITY_PHRASES.items(), key=lambda entry: -max(map(len, entry[0].split("|")))):
        if draft.take(_any_of(phrases)):
            draft.values["priorities"] = tuple(sorted({*numbers, *draft.values.get("priorities", ())}))  # type: ignore[misc] # only this step writes it


def _statuses(draft: _Draft, _: str) -> None:
    found: list[str] = []
    for phrase, statuses in sorted(
        ((phrase, statuses) for phrases, statuses in _STATUS_PHRASES.items() for phrase in phrases.split("|")),
        key=lambda entry: -len(entry[0]),
    ):
        if draft.take(rf"(?<![\w-]){re.escape(phrase)}(?![\w-])"):
            found += statuses
    if found:
        draft.values["statuses"] = tuple(dict.fromkeys(found))
    elif draft.values.get("span") and draft.values["span"].field == "closed":  # type: ignore[attr-defined] # a Span
        draft.values["statuses"] = RESOLVED


def _types(draft: _Draft, _: str) -> None:
    found: list[str] = []
    for phrases, types in _TYPE_PHRASES.items():
        if draft.take(_any_of(phrases)):
            found += types
    while any(draft.take(_any_of(phrases)) for phrases in _TYPE_PHRASES):
        continue
    if found:
        draft.values["types"] = tuple(dict.fromkeys(found))


def _any_of(phrases: str) -> str:
    longest = sorted(phrases.split("|"), key=len, reverse=True)
    return rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest))})(?![\w-])"
