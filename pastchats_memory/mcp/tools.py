"""Define the MCP tools. Each makes one call to `Memory` and returns a brief view and a text.

The SDK calls tools in threads beside its event loop. One lock lets one call at a time use the memory.
"""

import functools
import inspect
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal, ParamSpec, TypeVar

from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, ContentBlock, ResourceLink, TextContent
from pydantic import Field

from pastchats_memory.config import Config
from pastchats_memory.episodes.judge import MAX_QUOTATION
from pastchats_memory.errors import MemoryFault, UsageFault
from pastchats_memory.memory import Memory, questions
from pastchats_memory.memory.indexing import find_histories
from pastchats_memory.memory.questions import QUERY, Argument, Question, list_arguments
from pastchats_memory.memory.reconnecting import ReconnectingMemory
from pastchats_memory.model.ids import canonical_id, leads_to_task
from pastchats_memory.text.display import escape_name, sanitise
from pastchats_memory.text.encoding import utf8
from pastchats_memory.text.recall_block import RECALL_PREAMBLE
from pastchats_memory.views import task_text
from pastchats_memory.views.answers import brief
from pastchats_memory.views.answers.search import complete_block, complete_hits
from pastchats_memory.views.text import (
    render_commands,
    render_hits,
    render_item,
    render_judgement,
    render_lessons,
    render_sheets,
)
from pastchats_memory.views.to_json import to_json

NOTHING = "Nothing found. Fewer words or another mode may find more."
ID_HINT = "Take ids from the answers of search and recall, such as 12 or t:KEY."

LONGEST_QUERY = 100_000
"""Characters of a query. A query of millions would keep all other calls waiting."""
ALL_PROJECTS = "*"
SHORT_HELP = {
    "query": "In any words; nothing is syntax.",
    "limit": "Results at most.",
    "project": "Only this one; `.` is the current one.",
    "role": "user, assistant, system, tool or note.",
    "since": "From then on: 2026-01-31, 7d, yesterday, 'last week'.",
    "until": "Up to then; a day means all of it.",
    "type": "`task` includes epics and subtasks.",
    "status": "Of tasks: pending, in_progress, todo, done, … or a tracker's own word.",
    "outcome": "worked, failed, mixed, stopped or unknown.",
    "team": "Search what your team shares instead.",
    "rerank": "Order 30 by a cross-encoder (slow).",
}
"""Descriptions of arguments in fewer bytes than the command line has for them."""
ALL = {"help": "Only this one; `.` is the current one, `*` all."}
FEW = {"most": 50}
TaskKey = Annotated[str | None, Field(description="A task's key instead, such as TREK-45.")]

Params = ParamSpec("Params")
Result = TypeVar("Result")
Values = TypeVar("Values", bound=Sequence[object])


def _lock_memory(tool: Callable[Params, Result]) -> Callable[Params, Result]:
    """Run one call of the tool at a time, and turn explained faults into errors that an agent can act on."""

    @functools.wraps(tool)
    def call(*args: Params.args, **kwargs: Params.kwargs) -> Result:
        with LOCK:
            try:
                # The first argument is a `Tools`.
                standing: ReconnectingMemory = args[0].standing  # type: ignore[attr-defined]
                with standing.connect(create=tool.__name__ in CREATING).explain_damage():
                    return tool(*args, **kwargs)
            except MemoryFault as fault:
                raise ToolError(sanitise(f"{fault.message}\n{fault.hint}").strip()) from fault

    return call


def _ask_for(
    question: Question, **changes: Mapping[str, Any]
) -> Callable[[Callable[Params, Result]], Callable[Params, Result]]:
    """Add the arguments of a question to a tool that takes them by name; `changes` are fields of these."""

    def add(tool: Callable[Params, Result]) -> Callable[Params, Result]:
        own = inspect.signature(tool, eval_str=True)
        first, *further = [one for one in own.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        offered = [one._replace(help=SHORT_HELP.get(one.name, one.help)) for one in list_arguments(question, "mcp")]
        wanted = [one._replace(**changes.get(one.name, {})) for one in offered]
        parameters = [first, *map(_make_parameter, wanted), *further]
        tool.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined] # the SDK reads it
        return tool

    return add


def _make_parameter(argument: Argument) -> inspect.Parameter:
    """Return a parameter with the range and the description that agents read."""
    kind: Any = Literal[argument.choices] if argument.choices else argument.kind
    if argument.kind in (int, float):
        limits: Mapping[str, Any] = {"ge": argument.least, "le": argument.most}
    else:
        limits = {"max_length": LONGEST_QUERY} if argument.shown == QUERY.shown else {}
    if argument.default is None and not argument.is_required:
        kind = kind | None
    annotation = Annotated[kind, Field(description=argument.help, **limits)]
    default = inspect.Parameter.empty if argument.is_required else argument.default
    return inspect.Parameter(argument.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


LOCK = threading.Lock()
"""Guards the one memory of this process: a connection serves one thread at a time."""
CREATING = ("store_turn", "index_paths")
"""Tools that make a missing database."""


class Tools:
    """The tools over one memory. Their docstrings are the descriptions that agents read."""

    def __init__(self, config: Config, *, allow_write: bool) -> None:
        self._allow_write = allow_write
        self.standing = ReconnectingMemory(config)

    @property
    def memory(self) -> Memory:
        """Return the open memory. Raises MemoryFault."""
        return self.standing.connect()

    @_lock_memory
    @_ask_for(questions.SEARCH, limit=FEW)
    def search(self, **given: Any) -> Annotated[CallToolResult, brief.SEARCH.view]:
        """Find turns, notes and tasks of earlier work by words and by meaning, best first, each with its source."""
        hits = self.memory.search(**given)
        return _answer(
            _quote(hits, render_hits, NOTHING),
            brief.SEARCH.build(complete_hits(hits, self.memory.resume_lines(hits)), hits.warnings),
            (hit.source_path for hit in hits),
        )

    @_lock_memory
    @_ask_for(questions.RECALL, budget={"most": 20_000})
    def recall(self, **given: Any) -> Annotated[CallToolResult, brief.RecallAnswer]:
        """Before starting work: recall what was tried before, what worked and what failed, or that nothing fits.

        If an outcome is unknown, judge by the user's next words, which are quoted with it.
        """
        memory = self.memory
        budget = given.get("budget") or memory.budget
        block = memory.recall(**{**given, "budget": budget}, current_project=".")
        body = to_json(complete_block(block, budget, memory.resume_lines(block.hits)), brief.RecallAnswer)
        return _answer(block.text, body, (hit.source_path for hit in block.hits))

    @_lock_memory
    def read(
        self,
        id: Annotated[str | None, Field(description="12 for a turn, t:KEY, c:5 or a:7 for a task.")] = None,  # noqa: A002 - the argument's name
        taskId: TaskKey = None,  # noqa: N803 - the name that agents know from trackers
        start: Annotated[int, Field(ge=1, description="First line of the item.")] = 1,
        end: Annotated[int | None, Field(ge=1, description="Last line; as many as fit without it.")] = None,
    ) -> Annotated[CallToolResult, brief.Page]:
        """Read the whole text of an item that another tool cut short, or some lines; a long one takes several calls."""
        memory = self.memory
        if end is not None and end < start:
            raise UsageFault("`end` lies before `start`", "Lines are counted from 1, both inclusive.")
        id = _choose_id(id, taskId)  # noqa: A001 - the argument's name
        if leads_to_task(id):
            task, attached = _require(memory.tasks.find_item(id), id)
            page = brief.cut_task(task, task_text.render_task(task) + task_text.render_attached(attached), start, end)
            return _answer(page.content, to_json(page), [page.source_path])
        items = memory.show(id, neighbours=1)
        item = _require(next((item for item in items if item.shown_id == canonical_id(id)), None), id)
        page = brief.cut_item(items, item, memory.outcome(item), start, end)
        return _answer(render_item(item, page.content), to_json(page), [page.source_path])

    @_lock_memory
    def find_similar(
        self,
        id: Annotated[str | None, Field(description="t:KEY, or 12 for the text of a turn.")] = None,  # noqa: A002 - the tool's parameter
        text: Annotated[
            str | None, Field(max_length=LONGEST_QUERY, description="What a task is about, instead.")
        ] = None,
        threshold: Annotated[float | None, Field(ge=0, le=1)] = None,
        taskId: TaskKey = None,  # noqa: N803 - the name that agents know from trackers
    ) -> Annotated[CallToolResult, brief.SIMILAR.view]:
        """Find the five tasks most similar to a task, a turn or a text, with score and label: is this a duplicate?"""
        tasks = self.memory.tasks
        if text is not None and (id, taskId) != (None, None):
            raise UsageFault("give either `id` or `text`", ID_HINT)
        if text is None:
            id = _choose_id(id, taskId)  # noqa: A001 - the argument's name
        if id is not None and id.isdecimal():
            near = tasks.find_duplicates(_require(next(iter(self.memory.show(id, neighbours=0)), None), id).content)
        else:
            near = tasks.find_similar(id.removeprefix("t:")) if id is not None else tasks.find_duplicates(text or "")
        found = [one for one in near if threshold is None or one.match.score >= threshold]
        lines = (
            [*(task_text.render_near(one) for one in found), task_text.render_guide()]
            if found
            else ["No task is like it."]
        )
        return _answer("\n".join(lines), brief.SIMILAR.build(found), (one.task.source_path for one in found))

    @_lock_memory
    @_ask_for(questions.PRIOR_WORK, query={"help": "What you are about to do."})
    def check_prior_work(self, **given: Any) -> Annotated[CallToolResult, brief.PriorWorkAnswer]:
        """Before creating a task: was this done, is it in progress, did it fail, was it superseded, or is it new?"""
        work = self.memory.check_prior_work(**given)
        paths = [*(one.source_path for one in work.episodes), *(one.task.source_path for one in work.results)]
        return _answer(task_text.render_prior_work(work), to_json(work, brief.PriorWorkAnswer), paths)

    @_lock_memory
    @_ask_for(questions.CONSULTATION, query={"name": "problem_context", "help": "The error or the problem."})
    def consult_episodic_memory(self, **given: Any) -> Annotated[CallToolResult, brief.CONSULT.view]:
        """Before solving a complex bug: find completed tasks about similar problems, each with its resolution."""
        found, warnings = self.memory.consult_episodic_memory(given["problem_context"])
        nothing = "No solved task has to do with it; `recall` looks in conversations, too."
        text = "\n\n".join(task_text.render_resolved(one) for one in found) or nothing
        return _answer(text, brief.CONSULT.build(found, warnings), (one.task.source_path for one in found))

    @_lock_memory
    @_ask_for(questions.LESSONS, project=ALL)
    def lessons(self, **given: Any) -> Annotated[CallToolResult, brief.LESSONS.view]:
        """List what failed more than once in this project, and what ended it."""
        arguments = _widen(given)
        found, warnings = self.memory.lessons(**arguments)
        nothing = f"Nothing is known that failed more than once and then worked{_hint_at_other_projects(arguments['project'])}"
        text = _quote(found, render_lessons, nothing)
        paths = (one.source_path for lesson in found for one in lesson.attempts)
        return _answer(text, brief.LESSONS.build(found, warnings), paths)

    @_lock_memory
    @_ask_for(questions.HOW, query={"is_required": False}, project=ALL)
    def how(
        self,
        *,
        task: Annotated[str | None, Field(max_length=LONGEST_QUERY, description="The same as `query`.")] = None,
        **given: Any,
    ) -> Annotated[CallToolResult, brief.HOW.view]:
        """List the commands that worked before in this project, for a task."""
        arguments = _widen(given)
        query = arguments.pop("query", None)
        wanted = query if task is None else task
        if wanted is None or None not in (query, task):
            raise UsageFault("give the task, once", "As `query`, such as: run the tests.")
        found, warnings = self.memory.how(wanted, **arguments)
        nothing = f"No command is known to have worked for it{_hint_at_other_projects(arguments['project'])}"
        text = _quote(found, render_commands, nothing)
        return _answer(text, brief.HOW.build(found, warnings), (one.episode.source_path for one in found))

    @_lock_memory
    @_ask_for(questions.UNJUDGED, project=ALL, limit=FEW)
    def unjudged(self, **given: Any) -> Annotated[CallToolResult, brief.SheetsAnswer]:
        """List the newest episodes with unknown outcome, for you to read and `judge`.

        With `outcome`, list those with that outcome by the rules.
        """
        arguments = _widen(given)
        found, warnings = self.memory.list_unjudged(**arguments)
        nothing = f"There is nothing to judge{_hint_at_other_projects(arguments['project'])}"
        text = _quote(found.sheets, render_sheets, nothing)
        body = to_json(brief.SheetsAnswer(found.left, found.sheets, warnings))
        return _answer(text, body, (sheet.source_path for sheet in found.sheets))

    @_lock_memory
    def judge(
        self,
        id: Annotated[str, Field(coerce_numbers_to_str=True, description="Id of any turn of the episode, such as 12.")],  # noqa: A002 - the argument's name
        outcome: Annotated[
            Literal["worked", "failed", "mixed", "stopped", "unknown"] | None,
            Field(description="The outcome; null takes a judgement back."),
        ],
        because: Annotated[
            str | None,
            Field(
                max_length=MAX_QUOTATION,
                description="The line that shows it, verbatim: of the answer, a result or the user's next words; not for unknown.",
            ),
        ] = None,
    ) -> Annotated[CallToolResult, brief.SheetsAnswer]:
        """Label the outcome of an earlier episode after reading it; your label replaces that of the rules.

        Worked: the result is there, and a check, a commit or the user's next words show it; these count more than the
        answer's own claim. Failed: the last check failed, the answer gives up, the work was undone, or the user's next
        words complain or repeat the request. Mixed: parts of both are shown. Stopped: it was cut off from outside (a limit, an error
        of the service, Esc without a complaint, the end of the session). Unknown: nothing shows it.
        """
        memory = self.memory
        found, warnings = memory.unjudge(id) if outcome is None else memory.judge(id, outcome, because)
        sheet = _require(found, id)
        body = to_json(brief.SheetsAnswer(None, [sheet], warnings))
        return _answer(f"{RECALL_PREAMBLE}\n{render_judgement(sheet)}", body, [sheet.source_path])

    @_lock_memory
    def status(self) -> Annotated[CallToolResult, brief.StatusAnswer]:
        """Show what the memory contains, and which model and engine answer."""
        state = self.memory.status()
        body = to_json({**asdict(state), "is_writable": self._allow_write}, brief.StatusAnswer)
        text = f"{state.turns:,} turns and {sum(state.tasks.values()):,} tasks of {state.projects:,} projects; model {state.model}, engine {state.engine}."
        return _answer(text, body)

    @_lock_memory
    def store_turn(
        self,
        role: Annotated[str, Field(description="user, assistant, system or tool.")],
        content: str,
        conversation_id: str | None = None,
        event_id: Annotated[
            str | None, Field(description="Your own id of the turn; a repeat then changes nothing.")
        ] = None,
        project: str | None = None,
        timestamp: Annotated[str | None, Field(description="ISO 8601; now by default.")] = None,
    ) -> Annotated[CallToolResult, brief.StoredAnswer]:
        """Store one turn of the present conversation. Its copy in a transcript will be the same item."""
        stored = self.memory.store_turn(role, content, conversation_id, event_id, project, timestamp, client="mcp")
        text = f"{'Stored' if stored.is_new else 'Known already'}: id {stored.id}"
        return _answer(text, to_json(stored, brief.StoredAnswer))

    @_lock_memory
    def index_paths(
        self, paths: Annotated[list[str], Field(min_length=1, description="Below the histories of this machine.")]
    ) -> Annotated[CallToolResult, brief.IndexAnswer]:
        """Index transcripts: files and folders in the usual places or below the configured `roots`."""
        body = to_json(self.memory.index(_check_paths(paths)), brief.IndexAnswer)
        return _answer(f"{body['turns_added']} turns added from {body['files_taken']} files.", body)


def _check_paths(paths: Iterable[str]) -> list[Path]:
    """Resolve the paths. Raises UsageFault for one that is not below a place that may be indexed."""
    roots = [history.path.resolve() for history in find_histories()]
    wanted = [Path(path).expanduser().resolve() for path in paths]
    for path in wanted:
        if not any(path.is_relative_to(root) for root in roots):
            raise UsageFault(
                f"{utf8(str(path))} is not below a place that may be indexed",
                "Ask the user to name its folder under `roots` in their own pastchats-memory.toml, or to run "
                "`pastchats-memory index` themselves.",
            )
    return wanted


def _choose_id(id_: str | None, key: str | None) -> str:
    """Return the id, or that of the task with a key. Raises UsageFault unless exactly one is given."""
    if id_ is not None and key is None:
        return id_
    if key is not None and id_ is None:
        return f"t:{key.removeprefix('t:')}"
    raise UsageFault("give either `id` or `taskId`", ID_HINT)


def _require(found: Result | None, id_: str) -> Result:
    """Return the item that an id names. Raises UsageFault if there is none."""
    if found is None:
        raise UsageFault(f"there is no item {id_}", ID_HINT)
    return found


def _quote(found: Values, render: Callable[[Values], str], nothing: str) -> str:
    """Return what was found as quoted text, or the sentence that there is nothing."""
    return f"{RECALL_PREAMBLE}\n{render(found)}" if found else nothing


def _widen(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with the project None where a caller names all."""
    project = given.get("project", ".")
    return {**given, "project": None if project == ALL_PROJECTS else project}


def _hint_at_other_projects(project: str | None) -> str:
    return "." if project is None else " there; with `project` `*` all projects are looked through."


def _answer(text: str, body: Mapping[str, object], paths: Iterable[str] = ()) -> CallToolResult:
    links = (
        ResourceLink(type="resource_link", uri=Path(path).as_uri(), name=escape_name(Path(path).name))
        for path in dict.fromkeys(paths)
        if Path(path).is_absolute()
    )
    content: list[ContentBlock] = [TextContent(type="text", text=text), *links]
    return CallToolResult(
        content=content, structured_content={name: _sanitise_value(value) for name, value in body.items()}
    )


def _sanitise_value(value: object) -> object:
    """Return a JSON value whose texts are sanitised: agents read the structured answer as a text."""
    if isinstance(value, str):
        return sanitise(value)
    if isinstance(value, Mapping):
        return {sanitise(name): _sanitise_value(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_sanitise_value(one) for one in value]
    return value
