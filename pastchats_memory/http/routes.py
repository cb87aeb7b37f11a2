"""Define every GET request: its path, its parameters, and the one call of `Memory` that answers it.

The same table reads requests and describes them (`openapi`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pastchats_memory.errors import UsageFault
from pastchats_memory.http.answers import RequestError
from pastchats_memory.memory import Memory
from pastchats_memory.memory.requests import TYPES, task_filters
from pastchats_memory.model import Context, canonical_id, leads_to_task
from pastchats_memory.search.request import MODES, MOST_HITS
from pastchats_memory.views.answers.errors import HealthBody
from pastchats_memory.views.answers.search import (
    HOW,
    LESSONS,
    build_context,
    build_recall,
    build_search,
    build_semantic,
    build_show,
)
from pastchats_memory.views.answers.tasks import TaskBody, build_shown_task
from pastchats_memory.views.to_json import to_json

LONGEST_QUERY = 4000
"""Characters."""
NON_BLANK = r"[^\s\u001c-\u001f]"
"""A character that is not blank."""
NARROWER = "Narrow the search with project, since or role."

Arguments = Mapping[str, Any]
"""Values of parameters by name, each of the type that its parameter has."""
Body = Mapping[str, object]
"""One of the views."""


# --- parameters -------------------------------------------------------------------------------------------------------

_TYPE_FAULTS = {"integer": "no whole number", "number": "no number", "boolean": "neither true nor false"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a request."""

    name: str
    description: str
    schema: Mapping[str, Any]
    """JSON Schema of its value: `type`, and any of `enum`, `pattern`, `minimum`, `maximum`, `maxLength`."""
    required: bool = False

    def read(self, text: str) -> Any:
        """Return the value that a text stands for.

        Raises UsageFault for a text that does not fit the schema.
        """
        kind = self.schema["type"]
        value: Any = text
        if kind == "integer" and re.fullmatch(r"-?[0-9]{1,18}", text):
            value = int(text)
        elif kind == "number" and re.fullmatch(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]{1,3})?", text):
            value = float(text)
        elif kind == "boolean" and text in ("true", "false"):
            return text == "true"
        elif kind != "string":
            raise self._fault(f"is {_TYPE_FAULTS[kind]}")
        self._check(value)
        return value

    def _check(self, value: Any) -> None:
        schema = self.schema
        if not isinstance(value, str):
            if not schema["minimum"] <= value <= schema["maximum"]:
                raise self._fault(f"is not between {schema['minimum']} and {schema['maximum']}")
            return
        if len(value) > schema.get("maxLength", len(value)):
            raise self._fault(f"is longer than {schema['maxLength']} characters")
        if "enum" in schema and value not in schema["enum"]:
            raise self._fault(f"is none of {', '.join(schema['enum'])}")
        if "pattern" in schema and not re.search(schema["pattern"], value):
            raise self._fault("says nothing" if schema["pattern"] == NON_BLANK else "is not written as one")

    def _fault(self, what: str) -> UsageFault:
        return UsageFault(f"{self.name} {what}", self.description)


def read_arguments(parameters: Sequence[Parameter], query: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return the given values by name; an optional one that is blank counts as absent.

    Raises UsageFault if one is unknown, wrong, given twice or missing.
    """
    known = {parameter.name: parameter for parameter in parameters}
    values: dict[str, Any] = {}
    seen = set()
    for name, text in query:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"There are {', '.join(known) or 'none'}."
            raise UsageFault(f"unknown parameter {name[:40]!r}", hint)
        if name in seen:
            raise UsageFault(f"{name} is given twice", "Give it once.")
        seen.add(name)
        if text.strip() or known[name].required:
            values[name] = known[name].read(text)
    for parameter in parameters:
        if parameter.required and parameter.name not in values:
            raise UsageFault(f"{parameter.name} is missing", parameter.description)
    return values


def _limit_number(least: float, most: float) -> dict[str, Any]:
    return {"type": "number", "minimum": least, "maximum": most}


def _limit_integer(least: int, most: int, default: int | None = None) -> dict[str, Any]:
    defaults = {} if default is None else {"default": default}
    return {"type": "integer", "minimum": least, "maximum": most, **defaults}


_TEXT = {"type": "string", "pattern": NON_BLANK, "maxLength": 400}
_DATE = {
    "type": "string",
    "anyOf": [
        {"format": "date"},
        {"format": "date-time"},
        {"pattern": "^[1-9][0-9]{0,2}[hdw]$"},
        {"enum": ["today", "yesterday", "last week", "last month"]},
    ],
    "maxLength": 40,
}
"""More words are understood; these are enough for a program."""

QUERY = Parameter("query", "Any text; nothing in it is syntax.", {**_TEXT, "maxLength": LONGEST_QUERY}, required=True)
LIMIT = Parameter("limit", f"Results a page; limit × page is at most {MOST_HITS}.", _limit_integer(1, MOST_HITS, 10))
FEW = Parameter("limit", "Entries at most.", _limit_integer(1, 40, 5))
PAGE = Parameter(
    "page",
    f"Number of the page. After the first {MOST_HITS:,} results there is none, and the answer is 404.",
    _limit_integer(1, MOST_HITS, 1),
)
MODE = Parameter("mode", "Words, meaning, or both.", {"type": "string", "enum": list(MODES), "default": "hybrid"})
PROJECT = Parameter("project", "Only this project.", _TEXT)
ROLE = Parameter("role", "Only this role: user, assistant, system, tool, note, …", _TEXT)
SINCE = Parameter(
    "since", "Only from this time on: an ISO date or time, or words such as 7d, yesterday, last week.", _DATE
)
UNTIL = Parameter("until", "Only up to this time; a day means all of it.", _DATE)
TYPE = Parameter("type", "Only this type; task means epics and subtasks, too.", {"type": "string", "enum": list(TYPES)})
STATUS = Parameter(
    "status",
    "Only tasks with these statuses, separated by commas: a status, a synonym such as todo, or a tracker's own word.",
    {"type": "string", "pattern": r"[A-Za-z]", "maxLength": 400},
)
PRIORITY = Parameter(
    "priority", "Only tasks with these priorities, separated by commas: 0 critical … 4 lowest.",
    {"type": "string", "pattern": "^[0-5](,[0-5]){0,5}$"},
)  # fmt: skip
OUTCOME = Parameter(
    "outcome", "Only episodes with these outcomes, separated by commas: worked, failed, mixed, unknown.",
    {"type": "string", "pattern": "^(worked|failed|mixed|unknown)(,(worked|failed|mixed|unknown)){0,3}$"},
)  # fmt: skip
THRESHOLD = Parameter("threshold", "Least relevance.", _limit_number(0, 1))
MIN_SIMILARITY = Parameter("min_similarity", "Least cosine.", _limit_number(-1, 1))
MEANING = Parameter("meaning", "Semantic weight: 0 words … 1 meaning.", {**_limit_number(0, 1), "default": 0.5})
RERANK = Parameter(
    "rerank", "Sort the first thirty by a cross-encoder, which has to be in the cache.",
    {"type": "boolean", "default": False},
)  # fmt: skip
BUDGET = Parameter("budget", "Most tokens of the text.", _limit_integer(1, 100_000, 1500))
EXCERPT = Parameter("excerpt", "Characters of an item's text.", _limit_integer(1, 10_000, 200))
NEIGHBOURS = Parameter("neighbours", "Turns on each side.", _limit_integer(0, 100, 2))
ID = Parameter(
    "id",
    "12 is a turn or note, t:KEY a task, c:5 a comment, a:7 an attachment; the last two lead to their task. team:3f2a… is a turn of the team.",
    {"type": "string", "pattern": "^([0-9]{1,18}|t:.+|[ca]:[0-9]+|team:[0-9a-f]{12})$", "maxLength": 400},
)
KEY = Parameter("key", "Key of the task, as results show it.", {"type": "string", "minLength": 1, "maxLength": 400})
TASKS = Parameter("limit", "Tasks at most.", {**LIMIT.schema, "default": 50})
TASK_TYPE = Parameter(
    "type", "Only this type; task means the three.", {"type": "string", "enum": ["epic", "task", "subtask"]}
)
EPIC = Parameter("epic", "Only parts of this epic, named by key or title.", _TEXT)
HAS_EPIC = Parameter("has_epic", "False: only tasks without an epic.", {"type": "boolean", "default": True})
DEPENDS_ON = Parameter("depends_on", "Only tasks that wait for this one, named by key or title.", _TEXT)
BLOCKED = Parameter(
    "blocked", "Only tasks that are blocked, or wait for an unfinished task.", {"type": "boolean", "default": False}
)
_WHERE = (PROJECT, SINCE, UNTIL)
CONTEXT = (BUDGET, FEW, EXCERPT, TYPE, STATUS, MIN_SIMILARITY, *_WHERE)


# --- routes -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Route:
    """A path and what answers it."""

    path: str
    summary: str
    schemas: tuple[str, ...]
    """Names of the schemas that the answer can have."""
    answer: Callable[[Memory, Arguments], Body | None]
    """Returns None if there is no such item."""
    parameters: Sequence[Parameter] = ()
    in_path: Parameter | None = None


def _answer_semantic(memory: Memory, given: Arguments) -> Body:
    return build_semantic(memory.search(mode="semantic", **given))


def _answer_search(memory: Memory, given: Arguments) -> Body:
    if given.get("limit", LIMIT.schema["default"]) * given.get("page", 1) > MOST_HITS:
        message = f"there is no such page: limit × page is at most {MOST_HITS}"
        raise RequestError(404, "not_found", message, NARROWER)
    hits = memory.search(**given)
    return build_search(hits, memory.resume_lines(hits))


def _answer_recall(memory: Memory, given: Arguments) -> Body:
    block = memory.recall(**given)
    return build_recall(block, given.get("budget", memory.budget), memory.resume_lines(block.hits))


def _answer_lessons(memory: Memory, given: Arguments) -> Body:
    return LESSONS.build(*memory.lessons(given.get("project"), given.get("limit", 5)))


def _answer_how(memory: Memory, given: Arguments) -> Body:
    return HOW.build(*memory.how(given["query"], given.get("project"), given.get("limit", 5)))


def make_context(memory: Memory, question: str, given: Arguments) -> Context:
    """Assemble the context of a question with the values of the parameters `CONTEXT`."""
    further = {**given}
    width = further.pop("excerpt", EXCERPT.schema["default"])
    return memory.context(question, width=width, **further)


def _answer_context(memory: Memory, given: Arguments) -> Body:
    further = {**given}
    context = make_context(memory, further.pop("query"), further)
    return build_context(context, given.get("budget", BUDGET.schema["default"]))


def _answer_item(memory: Memory, given: Arguments) -> Body | None:
    if leads_to_task(given["id"]):
        return _show_task(memory, given["id"])
    items = memory.show(given["id"], given.get("neighbours", 2))
    shown = [(item, memory.outcome(item)) for item in items]
    return build_show(shown, canonical_id(given["id"])) if shown else None


def _answer_tasks(memory: Memory, given: Arguments) -> Body:
    further = {**given}
    limit, type_ = further.pop("limit", TASKS.schema["default"]), further.pop("type", None)
    relations = {name: further.pop(name) for name in ("epic", "has_epic", "depends_on", "blocked") if name in further}
    return to_json(TaskBody(results=memory.tasks.list_tasks(task_filters(type_=type_, **further), limit, **relations)))


def _answer_task(memory: Memory, given: Arguments) -> Body | None:
    return _show_task(memory, given["key"] if given["key"].startswith("t:") else f"t:{given['key']}")


def _show_task(memory: Memory, id_: str) -> Body | None:
    found = memory.tasks.find_item(id_)
    return build_shown_task(*found) if found else None


def _answer_health(_: Memory, __: Arguments) -> Body:
    return to_json(HealthBody())


ROUTES = (
    Route("/api/v1/search/semantic", "The nearest by meaning, with scores and short excerpts", ("semantic/1",), _answer_semantic,
          (QUERY, LIMIT, STATUS, TYPE, PROJECT, MIN_SIMILARITY)),
    Route("/search", "Ranked turns, notes and tasks", ("search/1",), _answer_search,
          (QUERY, MODE, LIMIT, PAGE, ROLE, TYPE, STATUS, PRIORITY, OUTCOME, THRESHOLD, MIN_SIMILARITY, MEANING, RERANK,
           *_WHERE)),
    Route("/recall", "The block before work starts", ("recall/1",), _answer_recall, (QUERY, BUDGET, FEW, PROJECT, SINCE, OUTCOME)),
    Route("/lessons", "What failed repeatedly, and what ended it", ("lessons/1",), _answer_lessons, (PROJECT, FEW)),
    Route("/how", "The commands that worked before, for a task", ("how/1",), _answer_how, (QUERY, PROJECT, FEW)),
    Route("/context", "The best few items as excerpts within a token budget", ("context/1",), _answer_context, (QUERY, *CONTEXT)),
    Route("/items/{id}", "A whole turn or note with its neighbours, or a task", ("show/1", "task/1"), _answer_item, (NEIGHBOURS,), ID),
    Route("/tasks", "Tasks, the most urgent first", ("task/1",), _answer_tasks, (TASKS, TASK_TYPE, STATUS, PRIORITY, EPIC, HAS_EPIC, DEPENDS_ON, BLOCKED, *_WHERE)),
    Route("/tasks/{key}", "A task with its history, links, comments and attachments", ("task/1",), _answer_task, (), KEY),
    Route("/healthz", "Whether the memory can be asked", ("healthz/1",), _answer_health),
)  # fmt: skip
