"""Declare the arguments of every question once, for the command line, HTTP and MCP.

To add an argument, add it to the method of `Memory` and to its question here. A test compares both with every edge.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from pastchats_memory.model import TYPES as TASK_TYPES
from pastchats_memory.search.request import EVEN_BALANCE, MODES, MOST_HITS

TYPES = ("prompt", "note", "task", "epic", "subtask", "comment", "attachment")

FILTERS = ("project", "role", "since", "until", "type", "status", "priority", "outcome", "format")
"""Arguments of `Memory.check_filters`."""

Edge = Literal["cli", "http", "mcp"]


class Argument(NamedTuple):
    """An argument of a question."""

    name: str
    help: str
    """A sentence for people and agents."""
    kind: type = str
    """`str`, `int`, `float` or `bool`."""
    default: Any = None
    choices: tuple[str, ...] = ()
    least: float = 0
    most: float | None = None
    shown: str | None = None
    """How the command line writes its value."""
    is_required: bool = False


class Question(NamedTuple):
    """A method of `Memory` and the arguments that people choose, in the order in which help lists them."""

    method: str
    arguments: tuple[Argument, ...]


QUERY = Argument("query", "What to look for, in any words; nothing in it is syntax.", shown="QUERY", is_required=True)
LIMIT = Argument("limit", "Entries at most.", int, 5, least=1, most=40)
PROJECT = Argument("project", "Only this project; `.` is the current one.", shown="NAME")
HERE = PROJECT._replace(default=".")
SINCE = Argument("since", "Only from this time on: 2026-01-31, 7d, yesterday, 'last week'.", shown="WHEN")
UNTIL = Argument("until", "Only up to this time, inclusive; a day means all of it.", shown="WHEN")
OUTCOME = Argument("outcome", "Only episodes that ended so: worked, failed, mixed, stopped, unknown.", shown="A,B")
TYPE = Argument("type", "Only items of this type; task includes epics and subtasks.", choices=TYPES)
STATUS = Argument(
    "status", "Only tasks with these: pending, in_progress, todo, done, … or a tracker's own words.", shown="A,B"
)
PRIORITY = Argument("priority", "Only tasks with these: 0 critical … 4 lowest.", shown="0,1")
MIN_SIMILARITY = Argument("min_similarity", "Least cosine, from -1 to 1.", float, least=-1, most=1, shown="X")
BUDGET = Argument("budget", "Most tokens of the text.", int, 1500, least=1, shown="TOKENS")
TEAM = Argument("team", "Search what your team shares instead of your own memory.", bool, default=False)

SEARCH = Question(
    "search",
    (
        QUERY,
        Argument("mode", "Words, meaning, or both.", default="hybrid", choices=MODES),
        LIMIT._replace(help=f"Results a page; limit × page is at most {MOST_HITS}.", default=10, most=MOST_HITS),
        Argument("page", "Which page.", int, 1, least=1, most=MOST_HITS),
        PROJECT,
        Argument("role", "Only user, assistant, system, tool or note.", shown="ROLE"),
        SINCE,
        UNTIL,
        TYPE,
        STATUS,
        PRIORITY,
        OUTCOME,
        Argument("format", "Only text from files of this format, such as claude-code.", shown="NAME"),
        Argument("threshold", "Least relevance, from 0 to 1.", float, most=1, shown="X"),
        MIN_SIMILARITY,
        Argument("meaning", "Semantic weight: 0 only words … 1 only meaning.", float, EVEN_BALANCE, most=1, shown="A"),
        TEAM,
        Argument("rerank", "Order the first 30 by a cross-encoder (slow).", bool, default=False),
    ),
)
RECALL = Question(
    "recall",
    (
        QUERY,
        BUDGET._replace(help="Most tokens of the block [default: 1500].", default=None),
        LIMIT,
        PROJECT,
        SINCE,
        OUTCOME,
        TEAM._replace(help="Also what your team shares; pulls it first.", default=None),
    ),
)
CONTEXT = Question(
    "context",
    (
        QUERY,
        BUDGET,
        LIMIT._replace(help="Items at most."),
        Argument("excerpt", "Characters of each excerpt.", int, 200, least=1),
        TYPE,
        STATUS,
        MIN_SIMILARITY,
        PROJECT,
        SINCE,
        UNTIL,
    ),
)
HOW = Question("how", (QUERY, HERE, LIMIT._replace(help="Commands at most.")))
LESSONS = Question("lessons", (HERE, LIMIT._replace(help="Lessons at most.", default=10, most=100)))
UNJUDGED = Question(
    "list_unjudged",
    (
        OUTCOME._replace(help="List episodes with these outcomes [default: unknown]."),
        Argument("judged", "List judged episodes.", bool, default=False),
        HERE,
        LIMIT._replace(help="Episodes at most.", default=10, most=100),
    ),
)
TIMELINE = Question(
    "timeline", (PROJECT, SINCE, UNTIL, LIMIT._replace(help="Conversations at most.", default=100, most=MOST_HITS))
)
DIGEST = Question(
    "digest", (PROJECT, SINCE, UNTIL, LIMIT._replace(help="Lines of each section at most.", default=20, most=MOST_HITS))
)
TASKS = Question(
    "list_tasks",
    (
        PROJECT,
        STATUS,
        PRIORITY,
        TYPE._replace(choices=TASK_TYPES),
        Argument("epic", "Only parts of this epic, named by key or title.", shown="KEY"),
        Argument("has_epic", "Only tasks without an epic.", bool, default=True),
        Argument("blocked", "Only tasks that are blocked, or wait for an unfinished task.", bool, default=False),
        Argument("depends_on", "Only tasks that wait for this one, named by key or title.", shown="KEY"),
        SINCE,
        UNTIL,
        LIMIT._replace(help="Tasks at most.", default=50, most=MOST_HITS),
    ),
)
TASK_SEARCH = Question(
    "search_tasks",
    (QUERY, STATUS, PRIORITY, PROJECT, SINCE, UNTIL, LIMIT._replace(help="Tasks at most.", default=10, most=250)),
)
PRIOR_WORK = Question("check_prior_work", (QUERY,))
CONSULTATION = Question("consult_episodic_memory", (QUERY, LIMIT._replace(help="Tasks at most.", most=20)))

FEW_BYTES = "each session of an agent reads the list of tools, so it has few bytes"
_ALONE = "the server answers from this machine alone"
LEFT_OUT: Mapping[tuple[Edge, Question], Mapping[str, str]] = {
    ("http", SEARCH): {"team": _ALONE},
    ("http", RECALL): {"team": _ALONE},
    ("mcp", SEARCH): dict.fromkeys(("page", "priority", "format", "min_similarity", "meaning"), FEW_BYTES),
    ("mcp", RECALL): {"limit": FEW_BYTES, "team": "the user chooses it, by `team = true`"},
    ("mcp", HOW): {"limit": FEW_BYTES},
    ("mcp", LESSONS): {"limit": FEW_BYTES},
    ("mcp", UNJUDGED): {"judged": FEW_BYTES},
    ("mcp", CONSULTATION): {"limit": FEW_BYTES},
}
"""Arguments that an edge does not offer, each with the reason."""


def list_arguments(question: Question, edge: Edge) -> list[Argument]:
    """Return the arguments of a question that an edge offers."""
    left_out = LEFT_OUT.get((edge, question), {})
    return [argument for argument in question.arguments if argument.name not in left_out]
