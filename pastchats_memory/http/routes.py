"""Define every GET request: its path, its parameters, and the one call of `Memory` that answers it.

The same table reads requests and describes them (`openapi`).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pastchats_memory.errors import UsageFault
from pastchats_memory.fields import OUTCOMES
from pastchats_memory.http.answers import RequestError
from pastchats_memory.memory import Memory, questions
from pastchats_memory.memory.questions import Argument, Question, list_arguments
from pastchats_memory.model.ids import leads_to_task
from pastchats_memory.search.request import MOST_HITS
from pastchats_memory.views.answers import search
from pastchats_memory.views.answers.errors import HealthBody
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
        """Return the value that a text stands for. Raises UsageFault for a text that does not fit the schema."""
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
    """Return the values by name, given or by default; an optional one that is blank counts as absent.

    Raises UsageFault if one is unknown, wrong, given twice or missing.
    """
    known = {parameter.name: parameter for parameter in parameters}
    values = {one.name: one.schema["default"] for one in parameters if "default" in one.schema}
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
_OUTCOME = f"({'|'.join(OUTCOMES)})"
_SCHEMAS: Mapping[str, Mapping[str, Any]] = {
    "query": {**_TEXT, "maxLength": LONGEST_QUERY},
    "since": _DATE,
    "until": _DATE,
    "status": {"type": "string", "pattern": r"[A-Za-z]", "maxLength": 400},
    "priority": {"type": "string", "pattern": "^[0-5](,[0-5]){0,5}$"},
    "outcome": {"type": "string", "pattern": f"^{_OUTCOME}(,{_OUTCOME}){{0,3}}$"},
}
"""JSON Schemas of arguments by name, where not every text will do."""
LARGEST = 100_000
"""Most of a number that has no limit of its own."""
_JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def make_parameter(argument: Argument) -> Parameter:
    """Return the parameter of an argument."""
    schema: dict[str, Any] = {"type": _JSON_TYPES[argument.kind]}
    if argument.choices:
        schema["enum"] = list(argument.choices)
    elif argument.kind is str:
        schema.update(_SCHEMAS.get(argument.name, _TEXT))
    elif argument.kind is not bool:
        schema.update(minimum=argument.least, maximum=argument.most or LARGEST)
    if argument.default is not None:
        schema["default"] = argument.default
    description = f"False: {argument.help}" if argument.default is True else argument.help
    return Parameter(argument.name, description, schema, argument.is_required)


def ask_for(question: Question, **defaults: Any) -> tuple[Parameter, ...]:
    """Return the parameters of a question, with other defaults than people have."""
    return tuple(
        make_parameter(one._replace(default=defaults.get(one.name, one.default)))
        for one in list_arguments(question, "http")
    )


NEIGHBOURS = Parameter(
    "neighbours", "Turns on each side.", {"type": "integer", "minimum": 0, "maximum": 100, "default": 2}
)
ID = Parameter(
    "id",
    "12 is a turn or note, t:KEY a task, c:5 a comment, a:7 an attachment; the last two lead to their task. team:3f2a… is a turn of the team.",
    {"type": "string", "pattern": "^([0-9]{1,18}|t:.+|[ca]:[0-9]+|team:[0-9a-f]{12})$", "maxLength": 400},
)
KEY = Parameter("key", "Key of the task, as results show it.", {"type": "string", "minLength": 1, "maxLength": 400})
_SEMANTIC = ("query", "limit", "status", "type", "project", "min_similarity")
EVERYWHERE = {"project": None}
"""The default of `/lessons` and `/how`: the server has no project of its own."""
CHAT_CONTEXT = tuple(parameter for parameter in ask_for(questions.CONTEXT) if not parameter.required)
"""Parameters of a chat request, whose question is the last message."""


OPEN_PATHS = frozenset({"/healthz"})
"""Paths that a stranger may ask."""


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


def _answer_search(memory: Memory, given: Arguments) -> Body:
    if given["limit"] * given["page"] > MOST_HITS:
        raise RequestError(404, "not_found", f"there is no such page: limit × page is at most {MOST_HITS}", NARROWER)
    hits = memory.search(**given)
    return search.build_search(hits, memory.resume_lines(hits))


def _answer_recall(memory: Memory, given: Arguments) -> Body:
    block = memory.recall(**given)
    return search.build_recall(block, given.get("budget", memory.budget), memory.resume_lines(block.hits))


def _answer_item(memory: Memory, given: Arguments) -> Body | None:
    if leads_to_task(given["id"]):
        return _show_task(memory, given["id"])
    shown = memory.show_with_outcomes(given["id"], given["neighbours"])
    return search.SHOW.build(shown) if shown else None


def _show_task(memory: Memory, id_: str) -> Body | None:
    found = memory.tasks.find_item(id_)
    return build_shown_task(*found) if found else None


ROUTES = (
    Route(
        "/api/v1/search/semantic",
        "The nearest by meaning, with scores and short excerpts",
        ("semantic/1",),
        lambda memory, given: search.build_semantic(memory.search(mode="semantic", **given)),
        tuple(parameter for name in _SEMANTIC for parameter in ask_for(questions.SEARCH) if parameter.name == name),
    ),
    Route("/search", "Ranked turns, notes and tasks", ("search/1",), _answer_search, ask_for(questions.SEARCH)),
    Route("/recall", "The block before work starts", ("recall/1",), _answer_recall, ask_for(questions.RECALL)),
    Route(
        "/lessons",
        "What failed repeatedly, and what ended it",
        ("lessons/1",),
        lambda memory, given: search.LESSONS.build(*memory.lessons(**{**EVERYWHERE, **given})),
        ask_for(questions.LESSONS, limit=5, **EVERYWHERE),
    ),
    Route(
        "/how",
        "The commands that worked before, for a task",
        ("how/1",),
        lambda memory, given: search.HOW.build(*memory.how(**{**EVERYWHERE, **given})),
        ask_for(questions.HOW, **EVERYWHERE),
    ),
    Route(
        "/context",
        "The best few items as excerpts within a token budget",
        ("context/1",),
        lambda memory, given: search.build_context(memory.context(**given), given["budget"]),
        ask_for(questions.CONTEXT),
    ),
    Route(
        "/items/{id}",
        "A whole turn or note with its neighbours, or a task",
        ("show/1", "task/1"),
        _answer_item,
        (NEIGHBOURS,),
        ID,
    ),
    Route(
        "/tasks",
        "Tasks, the most urgent first",
        ("task/1",),
        lambda memory, given: to_json(TaskBody(results=memory.list_tasks(**given))),
        ask_for(questions.TASKS),
    ),
    Route(
        "/tasks/{key}",
        "A task with its history, links, comments and attachments",
        ("task/1",),
        lambda memory, given: _show_task(memory, f"t:{given['key'].removeprefix('t:')}"),
        in_path=KEY,
    ),
    Route("/healthz", "Whether the memory can be asked", ("healthz/1",), lambda _, __: to_json(HealthBody())),
)
