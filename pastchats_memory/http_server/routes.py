"""Every question that can be asked by GET: its path, its parameters, and the one call of `Memory` that answers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pastchats_memory.http_server import parameters as of
from pastchats_memory.http_server.answers import Refused
from pastchats_memory.http_server.parameters import Parameter
from pastchats_memory.memory import Memory
from pastchats_memory.memory.requests import task_filters
from pastchats_memory.model import Context, Hit
from pastchats_memory.render import citation, one_line
from pastchats_memory.render_json import (
    context_json,
    hit_json,
    how_json,
    item_json,
    lessons_json,
    recall_json,
    search_json,
    with_warnings,
)
from pastchats_memory.search import MOST_HITS
from pastchats_memory.task_render import task_json

NARROWER = "Narrow the search with project, since or role."
LEFT_OUT = frozenset({"content", "snippet", "metadata", "heading", "relevance", "lexical_rank", "semantic_rank"})
"""Of a hit, where its excerpt stands for it."""
Said = Mapping[str, Any]
Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Route:
    """A path and what stands behind it."""

    path: str
    summary: str
    schemas: tuple[str, ...]
    """That the answer may have, as `contracts/schemas` has them."""
    answer: Callable[[Memory, Said], Body | None]
    """None: there is no such thing."""
    parameters: Sequence[Parameter] = ()
    in_path: Parameter | None = None


def excerpt_json(hit: Hit, excerpt: str) -> Body:
    """A hit without its text: a short excerpt and its source instead."""
    row = {name: value for name, value in hit_json(hit).items() if name not in LEFT_OUT}
    return row | {"excerpt": one_line(excerpt), "source": citation(hit)}


def _semantic(memory: Memory, said: Said) -> Body:
    hits = memory.search(mode="semantic", **said)
    results = [excerpt_json(hit, hit.snippet) for hit in hits]
    return with_warnings({"schema": "semantic/1", "results": results}, hits.warnings)


def _search(memory: Memory, said: Said) -> Body:
    if said.get("limit", of.LIMIT.schema["default"]) * said.get("page", 1) > MOST_HITS:
        raise Refused(404, "not_found", f"there is no such page: limit × page is at most {MOST_HITS}", NARROWER)
    return search_json(memory.search(**said))


def _recall(memory: Memory, said: Said) -> Body:
    return recall_json(memory.recall(**said), said.get("budget", memory.budget))


def _lessons(memory: Memory, said: Said) -> Body:
    return lessons_json(*memory.lessons(said.get("project"), said.get("limit", 5)))


def _how(memory: Memory, said: Said) -> Body:
    return how_json(*memory.how(said["query"], said.get("project"), said.get("limit", 5)))


def context_of(memory: Memory, question: str, said: Said) -> Context:
    """What is remembered of the question, within what was said by the parameters `CONTEXT`."""
    further = {**said}
    width = further.pop("excerpt", of.EXCERPT.schema["default"])
    return memory.context(question, width=width, **further)


def _context(memory: Memory, said: Said) -> Body:
    further = {**said}
    context = context_of(memory, further.pop("query"), further)
    return context_json(context, said.get("budget", of.BUDGET.schema["default"]))


def _item(memory: Memory, said: Said) -> Body | None:
    if not said["id"].isdecimal():
        return _of_task(memory, said["id"])
    items = memory.show(said["id"], said.get("neighbours", 2))
    asked = str(int(said["id"]))
    results = [item_json(item, memory.outcome(item), is_asked=str(item.id) == asked) for item in items]
    return {"schema": "show/1", "results": results} if results else None


def _tasks(memory: Memory, said: Said) -> Body:
    further = {**said}
    limit, type_ = further.pop("limit", 50), further.pop("type", None)
    tasks = memory.tasks.list_tasks(task_filters(type_=type_, **further), limit)
    return {"schema": "task/1", "results": [task_json(task) for task in tasks]}


def _task(memory: Memory, said: Said) -> Body | None:
    return _of_task(memory, said["key"] if said["key"].startswith("t:") else f"t:{said['key']}")


def _of_task(memory: Memory, id_: str) -> Body | None:
    found = memory.tasks.find_item(id_)
    return {"schema": "task/1", "results": [task_json(found[0])]} if found else None


def _healthz(_: Memory, __: Said) -> Body:
    return {"schema": "healthz/1", "status": "ok"}


_WHERE = (of.PROJECT, of.SINCE, of.UNTIL)
CONTEXT = (of.BUDGET, of.FEW, of.EXCERPT, of.TYPE, of.STATUS, of.MIN_SIMILARITY, *_WHERE)
ID = Parameter(
    "id",
    "12 a turn or note, t:KEY a task, c:5 a comment, a:7 an attachment; the last two lead to their task.",
    {"type": "string", "pattern": "^([0-9]{1,18}|t:.+|[ca]:[0-9]+)$", "maxLength": 400},
)
KEY = Parameter("key", "Of a task, as results have it.", {"type": "string", "minLength": 1, "maxLength": 400})
TASK_TYPE = Parameter(
    "type", "Only this type; task means the three.", {"type": "string", "enum": ["epic", "task", "subtask"]}
)

ROUTES = (
    Route("/api/v1/search/semantic", "The nearest by meaning, with scores and short excerpts", ("semantic/1",), _semantic,
          (of.QUERY, of.LIMIT, of.STATUS, of.TYPE, of.PROJECT, of.MIN_SIMILARITY)),
    Route("/search", "Ranked turns, notes and tasks", ("search/1",), _search,
          (of.QUERY, of.MODE, of.LIMIT, of.PAGE, of.ROLE, of.TYPE, of.STATUS, of.PRIORITY, of.OUTCOME, of.THRESHOLD,
           of.MIN_SIMILARITY, of.MEANING, of.RERANK, *_WHERE)),
    Route("/recall", "The block before work starts", ("recall/1",), _recall,
          (of.QUERY, of.BUDGET, of.FEW, of.PROJECT, of.SINCE, of.OUTCOME)),
    Route("/lessons", "What failed repeatedly, and what ended it", ("lessons/1",), _lessons, (of.PROJECT, of.FEW)),
    Route("/how", "The commands that worked before, for a task", ("how/1",), _how, (of.QUERY, of.PROJECT, of.FEW)),
    Route("/context", "The best few items as excerpts within a token budget", ("context/1",), _context,
          (of.QUERY, *CONTEXT)),
    Route("/items/{id}", "A whole turn or note with its neighbours, or a task", ("show/1", "task/1"), _item, (of.NEIGHBOURS,), ID),
    Route("/tasks", "Tasks, the most urgent first", ("task/1",), _tasks,
          (Parameter("limit", "Tasks at most.", {**of.LIMIT.schema, "default": 50}), TASK_TYPE, of.STATUS, of.PRIORITY,
           *_WHERE)),
    Route("/tasks/{key}", "A task with its history, links, comments and attachments", ("task/1",), _task, (), KEY),
    Route("/healthz", "Whether the memory can be asked", ("healthz/1",), _healthz),
)  # fmt: skip
