"""Define the answers of task memory."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, get_args

from pastchats_memory.fields import FIRST, IF_ANY, As, At, Count, Flat, Shown, View, Warnings, answer, one_of
from pastchats_memory.model import Attachment, Hit, StoredTask
from pastchats_memory.model.episodes import Attempt
from pastchats_memory.tasks.ask import ParsedQuestion, TaskAnswer
from pastchats_memory.tasks.capture import CaptureResult
from pastchats_memory.tasks.prior_work import PriorWork, ResolvedTask, Verdict
from pastchats_memory.tasks.similarity import DuplicateCluster, SimilarTask
from pastchats_memory.views.answers.listing import Listing
from pastchats_memory.views.answers.search import ResumeLines, complete_hits
from pastchats_memory.views.to_json import to_json

VerdictWord = Annotated[
    str, one_of(*get_args(Verdict)), "in_progress: a task for it is unfinished, whether started or not."
]
OptionalCount = Annotated[int | None, {"minimum": 0}, IF_ANY]


@answer("task/1")
class TaskBody(NamedTuple):
    """Output of `task … --json`: tasks that were made, changed, listed or shown (`task recall` prints search/1)."""

    deleted: Annotated[str, IF_ANY] = ""
    added: OptionalCount = None
    updated: OptionalCount = None
    unchanged: OptionalCount = None
    forgotten: Annotated[OptionalCount, "Tasks of an import that were left out because they are forgotten."] = None
    circles: Annotated[OptionalCount, "Links of an import that were left out because they would make a circle."] = None
    results: Sequence[StoredTask] = ()


def build_shown_task(task: StoredTask, attached: Attachment | None) -> dict[str, Any]:
    """Build `task/1` of one task, with the text of the attachment that was asked for."""
    body = to_json(TaskBody(results=[task]))
    for shown in body["results"][0]["attachments"]:
        if attached is not None and shown["id"] == attached.shown_id:
            shown["content"] = attached.content
    return body


class PlainTaskView(View):
    """A task without its parts."""

    task: Annotated[StoredTask, At(""), Flat(but=("parts",))]


SIMILAR = Listing("similar/1", "Output of `similar --json`: the nearest tasks, the most similar first.", SimilarTask)
FIND_DUPLICATES = Listing(
    "find-duplicates/1", "Output of `find-duplicates --json`: the nearest tasks, the most similar first.", SimilarTask
)
DUPLICATES = Listing(
    "duplicates/1", "Output of `duplicates --scan --json`: clusters, the most similar first.", DuplicateCluster
)


@answer("capture/1")
class CaptureBody(NamedTuple):
    """Output of `capture --json`."""

    outcome: Annotated[
        str, one_of("created", "commented", "found"), "found: there is a similar task, and nothing was written."
    ]
    similar: SimilarTask | None
    results: Annotated[
        Sequence[StoredTask],
        As(Sequence[PlainTaskView]),
        {"maxItems": 1},
        "The task that was created or got the comment.",
    ]


def build_capture(captured: CaptureResult) -> dict[str, Any]:
    """Build `capture/1`."""
    results = [] if captured.outcome == "found" else [captured.task]
    return to_json(CaptureBody(captured.outcome, captured.similar, results))


class PriorAttempt(NamedTuple):
    """A conversation that the verdict rests on, before the tasks; if it was superseded, also the one that replaced it."""

    attempt: Annotated[Attempt, Flat()]
    type: Annotated[Literal["prompt"], Shown(after=FIRST)] = "prompt"


@answer("check-prior-work/2")
class PriorWorkBody(NamedTuple):
    """Output of `check-prior-work --json`: a verdict and at most three conversations and tasks."""

    verdict: Annotated[VerdictWord, "The exit code of `new` is 1, even if similar tasks are among the results."]
    reason: Annotated[str, "One sentence."]
    results: Annotated[Sequence[PriorAttempt | SimilarTask], {"maxItems": 3}]
    warnings: Warnings


def build_prior_work(work: PriorWork) -> dict[str, Any]:
    """Build `check-prior-work/2`: the conversations before the tasks."""
    results: list[PriorAttempt | SimilarTask] = [*map(PriorAttempt, work.episodes), *work.results]
    return to_json(PriorWorkBody(work.verdict, work.reason, results, work.warnings))


CONSULT = Listing(
    "consult-episodic-memory/1",
    "Output of `consult-episodic-memory --json`: solved tasks, the best first.",
    ResolvedTask,
    warnings=Warnings,
)


@answer("ask/1")
class AskBody(NamedTuple):
    """Output of `ask --json`: how the question was understood, and what answers it: tasks, or parts of conversations."""

    reading: ParsedQuestion
    total: Annotated[Count, "Number of fitting tasks, even if fewer are listed."]
    results: Annotated[Sequence[StoredTask | Hit], As(Sequence[PlainTaskView | Hit])]
    warnings: Warnings
    reasons: Annotated[
        Mapping[str, str], "Why a task is worth starting, what it waits for, or how it was solved, by its id.", IF_ANY
    ]


def build_answer(answer: TaskAnswer, resume_lines: ResumeLines) -> dict[str, Any]:
    """Build `ask/1`."""
    results: list[StoredTask | Hit] = [*answer.tasks, *complete_hits(answer.hits, resume_lines)]
    reasons = {**answer.reasons, **{task.shown_id: text for task, text in answer.remarks}}
    return to_json(AskBody(answer.question, answer.total, results, answer.warnings, reasons))
