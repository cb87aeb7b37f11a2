"""Parameters of a query: what each may be, once, for the one who reads it and for the one who reads about it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pastchats_memory.errors import UsageFault
from pastchats_memory.memory.requests import TYPES
from pastchats_memory.search.request import MODES, MOST_HITS

TEXT = r"[^\s\u001c-\u001f]"
"""Something other than blanks."""
LONGEST_QUERY = 4000
"""Characters."""

_NOT = {"integer": "no whole number", "number": "no number", "boolean": "neither true nor false"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter."""

    name: str
    about: str
    schema: Mapping[str, Any]
    """JSON Schema of its value: `type`, and of `enum`, `pattern`, `minimum`, `maximum`, `maxLength` what there is."""
    required: bool = False

    def read(self, text: str) -> Any:
        """The value that a text stands for. Raises UsageFault."""
        kind = self.schema["type"]
        value: Any = text
        if kind == "integer" and re.fullmatch(r"-?[0-9]{1,18}", text):
            value = int(text)
        elif kind == "number" and re.fullmatch(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]{1,3})?", text):
            value = float(text)
        elif kind == "boolean" and text in ("true", "false"):
            return text == "true"
        elif kind != "string":
            raise self._fault(f"is {_NOT[kind]}")
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
            raise self._fault("says nothing" if schema["pattern"] == TEXT else "is not written as one")

    def _fault(self, what: str) -> UsageFault:
        return UsageFault(f"{self.name} {what}", self.about)


def _number(least: float, most: float) -> dict[str, Any]:
    return {"type": "number", "minimum": least, "maximum": most}


def _whole(least: int, most: int, usual: int | None = None) -> dict[str, Any]:
    default = {} if usual is None else {"default": usual}
    return {"type": "integer", "minimum": least, "maximum": most, **default}


_SOME_TEXT = {"type": "string", "pattern": TEXT, "maxLength": 400}
_WHEN = {"type": "string", "anyOf": [{"format": "date"}, {"format": "date-time"}], "maxLength": 40}

QUERY = Parameter(
    "query", "Any text; nothing in it is syntax.", {**_SOME_TEXT, "maxLength": LONGEST_QUERY}, required=True
)
LIMIT = Parameter("limit", f"Results a page; limit × page is at most {MOST_HITS}.", _whole(1, MOST_HITS, 10))
FEW = Parameter("limit", "Entries at most.", _whole(1, 40, 5))
PAGE = Parameter(
    "page",
    f"Which page; past the first {MOST_HITS:,} results there is none, and the answer is 404.",
    _whole(1, MOST_HITS, 1),
)
MODE = Parameter("mode", "Words, meaning, or both.", {"type": "string", "enum": list(MODES), "default": "hybrid"})
PROJECT = Parameter("project", "Only this project.", _SOME_TEXT)
ROLE = Parameter("role", "Only this role: user, assistant, system, tool, note, …", _SOME_TEXT)
SINCE = Parameter("since", "Only from this ISO date or time on, inclusive.", _WHEN)
UNTIL = Parameter("until", "Only up to this ISO date or time; a day means all of it.", _WHEN)
TYPE = Parameter("type", "Only this type; task means epics and subtasks, too.", {"type": "string", "enum": list(TYPES)})
STATUS = Parameter(
    "status",
    "Only tasks of these, with commas: a status, a synonym such as todo, or a tracker's own word.",
    {"type": "string", "pattern": r"[A-Za-z]", "maxLength": 400},
)
PRIORITY = Parameter(
    "priority", "Only tasks of these, with commas: 0 critical … 4 lowest.",
    {"type": "string", "pattern": "^[0-4](,[0-4]){0,4}$"},
)  # fmt: skip
OUTCOME = Parameter(
    "outcome", "Only of episodes that ended so, with commas: worked, failed, mixed, unknown.",
    {"type": "string", "pattern": "^(worked|failed|mixed|unknown)(,(worked|failed|mixed|unknown)){0,3}$"},
)  # fmt: skip
THRESHOLD = Parameter("threshold", "Least relevance.", _number(0, 1))
MIN_SIMILARITY = Parameter("min_similarity", "Least cosine.", _number(-1, 1))
MEANING = Parameter("meaning", "Balance: 0 words … 1 meaning.", {**_number(0, 1), "default": 0.5})
RERANK = Parameter(
    "rerank", "The first thirty in the order of a cross-encoder, which has to be in the cache.",
    {"type": "boolean", "default": False},
)  # fmt: skip
BUDGET = Parameter("budget", "Tokens of the text, never exceeded.", _whole(1, 100_000, 1500))
EXCERPT = Parameter("excerpt", "Characters of an item's text.", _whole(1, 10_000, 200))
NEIGHBOURS = Parameter("neighbours", "Turns on each side.", _whole(0, 100, 2))


def read_all(parameters: Sequence[Parameter], said: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """By name the values that were given. Raises UsageFault for one that is unknown, wrong, given twice or missing."""
    known = {parameter.name: parameter for parameter in parameters}
    values: dict[str, Any] = {}
    for name, text in said:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"There are {', '.join(known) or 'none'}."
            raise UsageFault(f"unknown parameter {name[:40]!r}", hint)
        if name in values:
            raise UsageFault(f"{name} is given twice", "Give it once.")
        values[name] = known[name].read(text)
    for parameter in parameters:
        if parameter.required and parameter.name not in values:
            raise UsageFault(f"{parameter.name} is missing", parameter.about)
    return values
