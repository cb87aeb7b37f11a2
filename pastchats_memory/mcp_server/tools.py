"""The tools: each asks `Memory` once and answers typed values and, as text, what the command line says.

The SDK calls them in threads beside its event loop, so that it stays free; one lock lets one of them at a time use the
memory.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Literal, ParamSpec, TypeVar

from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, ContentBlock, ResourceLink, TextContent
from pydantic import BaseModel, Field

from pastchats_memory.config import Config
from pastchats_memory.episodes.judge import MAX_QUOTATION
from pastchats_memory.errors import MemoryFault, UsageFault
from pastchats_memory.mcp_server import results
from pastchats_memory.mcp_server.values import (
    alike,
    attempted,
    commanded,
    found,
    laid_out,
    learned,
    lines_of_item,
    lines_of_task,
    remembered,
    solved,
)
from pastchats_memory.memory import Memory, StandingMemory
from pastchats_memory.memory.requests import found_histories, project_here
from pastchats_memory.model import RECALL_PREAMBLE, leads_to_task, utf8
from pastchats_memory.render import (
    hits_text,
    how_text,
    item_text,
    judged_text,
    lessons_text,
    one_line,
    sanitised,
    sheets_text,
)
from pastchats_memory.task_render import guide, near_line, prior_work_text, resolved_text, whole

NOTHING = "Nothing found. Fewer words or another mode may find more."
ID_HINT = "Ids stand in the answers of search and recall, such as 12 or t:KEY."

LONGEST = 100_000
"""Characters of what is asked: a question of millions would keep all others waiting."""
Query = Annotated[
    str, Field(max_length=LONGEST, description="What to look for, in a few words; nothing in it is syntax.")
]
Since = Annotated[str | None, Field(description="Earliest ISO date or time, inclusive.")]
Project = Annotated[str | None, Field(description="Only of this project; `.` is the one of the working directory.")]
Outcomes = Annotated[str | None, Field(description="Only what ended so: worked,failed,mixed,unknown.")]
Here = Annotated[str | None, Field(description="`.` is the project of the working directory; null for all.")]
Threshold = Annotated[float | None, Field(ge=0, le=1)]

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")


def _one_at_a_time(tool: Callable[Asked, Answer]) -> Callable[Asked, Answer]:
    """The tool with its faults as errors that an agent can act on, and never two of them at once."""

    @functools.wraps(tool)
    def answered(*args: Asked.args, **kwargs: Asked.kwargs) -> Answer:
        with LOCK:
            try:
                with args[0].memory.explaining_damage():  # type: ignore[attr-defined] # of `Tools`, as all that are wrapped
                    return tool(*args, **kwargs)
            except MemoryFault as fault:
                raise ToolError(sanitised(f"{fault.message}\n{fault.hint}").strip()) from fault

    return answered


LOCK = threading.Lock()
"""Around the one memory of this process: a connection answers one thread at a time."""


class Tools:
    """The tools over one memory."""

    def __init__(self, config: Config, *, allow_write: bool) -> None:
        self._allow_write = allow_write
        self._standing = StandingMemory(config, create=allow_write)

    @property
    def memory(self) -> Memory:
        """Open. Raises MemoryFault."""
        return self._standing.opened()

    @_one_at_a_time
    def search(
        self,
        query: Query,
        mode: Literal["hybrid", "keyword", "semantic"] = "hybrid",
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
        project: Project = None,
        role: Annotated[str | None, Field(description="user, assistant, system, tool or note.")] = None,
        since: Since = None,
        until: Annotated[str | None, Field(description="Latest ISO date or time, a day meaning all of it.")] = None,
        type: Literal["prompt", "note", "task", "epic", "subtask", "comment", "attachment"] | None = None,  # noqa: A002 - the argument's name
        status: Annotated[str | None, Field(description="Only tasks of these, such as todo,in_progress.")] = None,
        outcome: Outcomes = None,
        threshold: Threshold = None,
        rerank: Annotated[
            bool,
            Field(description="The first thirty in the order of a cross-encoder, which has to be in the cache; slow."),
        ] = False,
    ) -> Annotated[CallToolResult, results.SearchResult]:
        """Find turns, notes and tasks of earlier work by words and by meaning, best first, each with its source."""
        hits = self.memory.search(
            query, mode=mode, limit=limit, project=project, role=role, since=since, until=until, type=type,
            status=status, outcome=outcome, threshold=threshold, rerank=rerank,
        )  # fmt: skip
        body = results.SearchResult(results=[found(hit) for hit in hits], warnings=list(hits.warnings))
        return _answer(f"{RECALL_PREAMBLE}\n{hits_text(hits)}" if hits else NOTHING, body, _paths(body.results))

    @_one_at_a_time
    def recall(
        self,
        query: Query,
        budget: Annotated[int | None, Field(ge=1, le=20_000, description="Tokens of the text.")] = None,
        project: Project = None,
        since: Since = None,
        outcome: Outcomes = None,
    ) -> Annotated[CallToolResult, results.RecallResult]:
        """Before starting work: what was tried before, what worked and what failed. Says so where nothing fits.

        Where an outcome is unknown, judge by what the person said next, which is quoted with it.
        """
        memory = self.memory
        budget = memory.budget if budget is None else budget
        block = memory.recall(
            query, budget, project=project, since=since, outcome=outcome, current_project=project_here()
        )
        body = results.RecallResult(
            tokens=block.tokens,
            budget=budget,
            results=[remembered(memory) for memory in block.memories],
            warnings=list(block.warnings),
        )
        return _answer(block.text, body, _paths(body.results))

    @_one_at_a_time
    def read(
        self,
        id: Annotated[str, Field(description="12 for a turn, t:KEY, c:5 or a:7 for a task.")],  # noqa: A002 - the argument's name
        start: Annotated[int, Field(ge=1, description="First line of the item.")] = 1,
        end: Annotated[int | None, Field(ge=1, description="Last line; as many as fit without it.")] = None,
    ) -> Annotated[CallToolResult, results.ReadResult]:
        """The whole text of an item that another tool cut short, or some of its lines; long ones in several calls."""
        memory = self.memory
        if end is not None and end < start:
            raise UsageFault("`end` lies before `start`", "Lines are counted from 1, both inclusive.")
        if leads_to_task(id):
            shown = memory.tasks.find_item(id)
            if shown is None:
                raise UsageFault(f"there is no item {id}", ID_HINT)
            task, attached = shown
            text = whole(task)
            if attached is not None and attached.content is not None:
                text += f"\n\n{sanitised(attached.content)}"
            body = lines_of_task(task, text, start, end)
            return _answer(body.content, body, [body.source_path])
        items = memory.show(id, neighbours=1)
        if not items:
            raise UsageFault(f"there is no item {id}", ID_HINT)
        item = next(item for item in items if item.id == int(id))
        body = lines_of_item(items, item, memory.outcome(item), start, end)
        return _answer(item_text(item, body.content), body, [body.source_path])

    @_one_at_a_time
    def find_similar(
        self,
        id: Annotated[str | None, Field(description="t:KEY, or 12 for what was said in a turn.")] = None,  # noqa: A002 - the tool's parameter
        text: Annotated[
            str | None, Field(max_length=LONGEST, description="Instead of an id: what a task is about.")
        ] = None,
        threshold: Threshold = None,
    ) -> Annotated[CallToolResult, results.SimilarResult]:
        """The five tasks most like a task, a turn or a text, with score and label: is this a duplicate?"""
        tasks = self.memory.tasks
        if (id is None) == (text is None):
            raise UsageFault("give either `id` or `text`", ID_HINT)
        if id is not None and id.isdecimal():
            said = [item.content for item in self.memory.show(id, neighbours=0)]
            if not said:
                raise UsageFault(f"there is no item {id}", ID_HINT)
            near = tasks.find_duplicates(said[0])
        else:
            near = tasks.find_similar(id.removeprefix("t:")) if id is not None else tasks.find_duplicates(text or "")
        kept = [one for one in near if threshold is None or one.match.score >= threshold]
        body = results.SimilarResult(results=[alike(one) for one in kept])
        lines = [*(near_line(one) for one in kept), guide()] if kept else ["No task is like it."]
        return _answer("\n".join(lines), body, _paths(body.results))

    @_one_at_a_time
    def check_prior_work(
        self, query: Annotated[str, Field(max_length=LONGEST, description="What you are about to do.")]
    ) -> Annotated[CallToolResult, results.PriorWorkResult]:
        """Before creating a task: was this done, is it in progress, did it fail, was it superseded, or is it new?"""
        work = self.memory.check_prior_work(query)
        body = results.PriorWorkResult(
            verdict=work.verdict,
            reason=work.reason,
            episodes=[attempted(one) for one in work.episodes],
            results=[alike(one) for one in work.results],
        )
        return _answer(prior_work_text(work), body, _paths([*body.episodes, *body.results]))

    @_one_at_a_time
    def consult_episodic_memory(
        self, problem_context: Annotated[str, Field(max_length=LONGEST, description="The error or the problem.")]
    ) -> Annotated[CallToolResult, results.EpisodesResult]:
        """Before solving a complex bug: completed tasks that had to do with it, each with its resolution."""
        episodes, warnings = self.memory.consult_episodic_memory(problem_context)
        body = results.EpisodesResult(results=[solved(one) for one in episodes], warnings=list(warnings))
        text = (
            "\n\n".join(resolved_text(one) for one in episodes)
            or "No solved task has to do with it; `recall` looks in conversations, too."
        )
        return _answer(text, body, _paths(body.results))

    @_one_at_a_time
    def lessons(self, project: Here = ".") -> Annotated[CallToolResult, results.LessonsResult]:
        """What failed more than once in this project, and what ended it."""
        found, warnings = self.memory.lessons(project)
        body = results.LessonsResult(results=[learned(one) for one in found], warnings=list(warnings))
        nothing = f"Nothing is known that failed more than once and then worked{_elsewhere(project)}"
        text = f"{RECALL_PREAMBLE}\n{lessons_text(found)}" if found else nothing
        return _answer(text, body, (one.source_path for lesson in found for one in lesson.attempts))

    @_one_at_a_time
    def how(
        self,
        query: Annotated[str | None, Field(max_length=LONGEST, description="The task, in a few words.")] = None,
        project: Here = ".",
        task: Annotated[str | None, Field(max_length=LONGEST, description="The same as `query`.")] = None,
    ) -> Annotated[CallToolResult, results.HowResult]:
        """The commands that worked before in this project, for a task."""
        wanted = query if task is None else task
        if wanted is None or None not in (query, task):
            raise UsageFault("give the task, once", "As `query`, such as: run the tests.")
        found, warnings = self.memory.how(wanted, project)
        body = results.HowResult(results=[commanded(one) for one in found], warnings=list(warnings))
        nothing = f"No command is known to have worked for it{_elsewhere(project)}"
        text = f"{RECALL_PREAMBLE}\n{how_text(found)}" if found else nothing
        return _answer(text, body, (one.episode.source_path for one in found))

    @_one_at_a_time
    def unjudged(
        self,
        project: Here = ".",
        outcome: Outcomes = None,
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
    ) -> Annotated[CallToolResult, results.SheetsResult]:
        """The newest episodes whose end no rule knows, for you to read and `judge`; with `outcome` those that ended so by the rules."""
        found, warnings = self.memory.unjudged(project, outcome, limit)
        told = [laid_out(one) for one in found.sheets]
        body = results.SheetsResult(left=found.left, results=told, warnings=list(warnings))
        nothing = f"There is nothing to judge{_elsewhere(project)}"
        text = f"{RECALL_PREAMBLE}\n{sheets_text(found.sheets)}" if told else nothing
        return _answer(text, body, _paths(body.results))

    @_one_at_a_time
    def judge(
        self,
        id: Annotated[str, Field(coerce_numbers_to_str=True, description="Of any turn of the episode, such as 12.")],  # noqa: A002 - the argument's name
        outcome: Annotated[
            Literal["worked", "failed", "mixed", "unknown"] | None,
            Field(description="How it ended; null takes a judgement back."),
        ],
        because: Annotated[
            str | None,
            Field(
                max_length=MAX_QUOTATION,
                description="A line of the answer, of a result or of what was said next that shows it, as it stands; not for unknown.",
            ),
        ] = None,
    ) -> Annotated[CallToolResult, results.SheetsResult]:
        """Say how an earlier episode ended, having read it: it stands in the place of what the rules say.

        Worked: what was asked for is there, and a check, the result itself or the person's next words say so, which beat what the
        answer says of itself. Failed: the last check failed, the answer gives up, the work was stopped or taken back, or the next words
        find fault or ask the same again. Mixed: a part of each is shown. Unknown: nothing shows it.
        """
        memory = self.memory
        sheet, warnings = memory.unjudge(id) if outcome is None else memory.judge(id, outcome, because)
        if sheet is None:
            raise UsageFault(f"there is no item {id}", ID_HINT)
        body = results.SheetsResult(results=[laid_out(sheet)], warnings=list(warnings))
        return _answer(f"{RECALL_PREAMBLE}\n{judged_text(sheet)}", body, _paths(body.results))

    @_one_at_a_time
    def status(self) -> Annotated[CallToolResult, results.StatusResult]:
        """What the memory holds, which model and engine answer."""
        state = self.memory.status()
        told = {name: getattr(state, name) for name in results.StatusResult.model_fields if hasattr(state, name)}
        body = results.StatusResult(**told, is_writable=self._allow_write)
        text = f"{state.turns:,} turns of {state.projects:,} projects; model {state.model}, engine {state.engine}."
        return _answer(text, body)

    @_one_at_a_time
    def store_turn(
        self,
        role: Annotated[str, Field(description="user, assistant, system or tool.")],
        content: str,
        conversation_id: str | None = None,
        event_id: Annotated[str | None, Field(description="Your own id of it: a repeat then changes nothing.")] = None,
        project: str | None = None,
        timestamp: Annotated[str | None, Field(description="ISO 8601; now without it.")] = None,
    ) -> Annotated[CallToolResult, results.StoredResult]:
        """Remember one turn of the present conversation. Its copy in a transcript will be the same item."""
        memory = self.memory
        stored = memory.store_turn(role, content, conversation_id, event_id, project, timestamp, client="mcp")
        text = f"{'Stored' if stored.is_new else 'Known already'}: id {stored.id}"
        return _answer(text, results.StoredResult(id=stored.id, is_new=stored.is_new))

    @_one_at_a_time
    def index_paths(
        self, paths: Annotated[list[str], Field(min_length=1, description="Below the histories of this machine.")]
    ) -> Annotated[CallToolResult, results.IndexResult]:
        """Bring transcripts into the memory: files and folders in the usual places or below the configured `roots`."""
        report = self.memory.index(_allowed(paths))
        counts = report.counts()
        body = results.IndexResult(
            files_scanned=report.files_scanned,
            files_taken=len(report.taken),
            turns_added=counts["turns_added"],
            turns_skipped=counts["turns_skipped"],
            unreadable=counts["unreadable"],
        )
        return _answer(f"{body.turns_added} turns added from {body.files_taken} files.", body)


def _allowed(paths: Iterable[str]) -> list[Path]:
    """The paths without their links, every one below a root. Raises UsageFault."""
    roots = [history.path.resolve() for history in found_histories()]
    wanted = [Path(path).expanduser().resolve() for path in paths]
    for path in wanted:
        if not any(path.is_relative_to(root) for root in roots):
            raise UsageFault(
                f"{utf8(str(path))} is not below a place that may be indexed",
                "Ask the person to name its folder under `roots` in their own pastchats-memory.toml, or to run "
                "`pastchats-memory index` themselves.",
            )
    return wanted


def _elsewhere(project: str | None) -> str:
    return "." if project is None else " there; with `project` null all projects are looked through."


def _answer(text: str, body: BaseModel, paths: Iterable[str] = ()) -> CallToolResult:
    links = (
        ResourceLink(type="resource_link", uri=Path(path).as_uri(), name=one_line(Path(path).name))
        for path in dict.fromkeys(paths)
        if path.startswith("/")
    )
    content: list[ContentBlock] = [TextContent(type="text", text=text), *links]
    return CallToolResult(content=content, structured_content=body.model_dump(mode="json"))


def _paths(
    about: Iterable[
        results.Found | results.Remembered | results.Attempted | results.Alike | results.Solved | results.Sheet
    ],
) -> list[str]:
    return [one.source_path for one in about]
