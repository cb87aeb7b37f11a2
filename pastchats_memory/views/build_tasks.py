"""Build the JSON views of tasks, their similarity and the verdict on prior work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from pastchats_memory.model import Attachment, Item, StoredTask
from pastchats_memory.tasks.ask import ParsedQuestion, TaskAnswer
from pastchats_memory.tasks.capture import CaptureResult
from pastchats_memory.tasks.prior_work import PriorWork, ResolvedTask
from pastchats_memory.tasks.similarity import DuplicateCluster, SimilarTask
from pastchats_memory.views.build import ResumeLines, add_warnings, build_attempt, build_hit, build_task_fields

if TYPE_CHECKING:
    from pastchats_memory.views.schema import tasks as views


def build_tasks(tasks: Sequence[StoredTask]) -> views.TaskBody:
    """Build `task/1`."""
    return {"schema": "task/1", "results": [build_task(task) for task in tasks]}


def build_shown_task(task: StoredTask, attached: Attachment | None) -> views.TaskBody:
    """Build `task/1` of one task, with the text of the attachment that was asked for."""
    view = build_task(task)
    for attachment in view["attachments"]:
        if attached is not None and attachment["id"] == f"a:{attached.id}":
            attachment["content"] = attached.content
    return {"schema": "task/1", "results": [view]}


def build_deletion(key: str) -> views.TaskBody:
    """Build `task/1` of a deleted task."""
    return {"schema": "task/1", "deleted": key, "results": []}


def build_import(added: int, updated: int, unchanged: int, forgotten: int, circles: int) -> views.TaskBody:
    """Build `task/1` of an import, from the number of tasks.

    `circles` counts links that were left out.
    """
    return {
        "schema": "task/1",
        "added": added,
        "updated": updated,
        "unchanged": unchanged,
        "forgotten": forgotten,
        "circles": circles,
        "results": [],
    }


def build_task(task: StoredTask) -> views.TaskView:
    """Build a task with all that belongs to it, except the texts of attachments."""
    plain = _build_plain_task(task)
    if task.parts:
        parts: list[views.PartView] = [
            {"key": part.key, "title": part.title, "status": part.status} for part in task.parts
        ]
        return {**plain, "parts": parts}
    return cast("views.TaskView", plain)  # mypy copies no dictionary into one with further optional keys


def _build_plain_task(task: StoredTask) -> views.PlainTaskView:
    return {
        "id": f"t:{task.key}",
        "type": task.type,
        **build_task_fields(task),
        "description": task.description,
        "source_project": task.project,
        "parent": task.parent,
        "links": [{"kind": link.kind, "target": link.target} for link in task.links],
        "source_path": task.source_path,
        "source_line": task.source_line,
        "created_at": task.created_at,
        "updated_at": task.updated_at,
        "closed_at": task.closed_at,
        "due_at": task.due_at,
        "conversations": list(task.conversations),
        "history": [{"status": state.status, "status_raw": state.raw, "at": state.at} for state in task.states],
        "comments": [
            {"id": f"c:{one.id}", "author": one.author, "content": one.content, "created_at": one.created_at}
            for one in task.comments
        ],
        "attachments": [
            {
                "id": f"a:{one.id}",
                "name": one.name,
                "size": one.size,
                "sha256": one.sha256,
                "created_at": one.created_at,
            }
            for one in task.attachments
        ],
        "metadata": dict(task.metadata),
    }


# --- similarity -------------------------------------------------------------------------------------------------------


def build_near(near: SimilarTask) -> views.NearView:
    """Build a task with its similarity."""
    return {
        **_build_plain_task(near.task),
        "score": near.match.score,
        "label": near.match.label,
        "similarity": near.similarity,
    }


def build_similar(found: Sequence[SimilarTask]) -> views.SimilarBody:
    """Build `similar/1`."""
    return {"schema": "similar/1", "results": [build_near(near) for near in found]}


def build_find_duplicates(found: Sequence[SimilarTask]) -> views.FindDuplicatesBody:
    """Build `find-duplicates/1`."""
    return {"schema": "find-duplicates/1", "results": [build_near(near) for near in found]}


def build_duplicates(clusters: Sequence[DuplicateCluster]) -> views.DuplicatesBody:
    """Build `duplicates/1`."""
    results: list[views.ClusterView] = [
        {
            "tasks": [{"id": f"t:{task.key}", **build_task_fields(task)} for task in cluster.tasks],
            "pairs": [
                {"first": f"t:{pair.first}", "second": f"t:{pair.second}", "score": pair.score, "label": pair.label}
                for pair in cluster.pairs
            ],
        }
        for cluster in clusters
    ]
    return {"schema": "duplicates/1", "results": results}


def build_capture(captured: CaptureResult) -> views.CaptureBody:
    """Build `capture/1`."""
    return {
        "schema": "capture/1",
        "outcome": captured.outcome,
        "similar": None if captured.similar is None else build_near(captured.similar),
        "results": [] if captured.outcome == "found" else [_build_plain_task(captured.task)],
    }


# --- prior work and questions -----------------------------------------------------------------------------------------


def build_prior_work(work: PriorWork) -> views.PriorWorkBody:
    """Build `check-prior-work/2`: the conversations before the tasks."""
    attempts: list[views.PriorAttemptView] = [{"type": "prompt", **build_attempt(one)} for one in work.episodes]
    body: views.PriorWorkBody = {
        "schema": "check-prior-work/2",
        "verdict": work.verdict,
        "reason": work.reason,
        "results": [*attempts, *(build_near(near) for near in work.results)],
    }
    return add_warnings(body, work.warnings)


def build_consultation(found: Sequence[ResolvedTask], warnings: Sequence[str]) -> views.ConsultBody:
    """Build `consult-episodic-memory/1`."""
    body: views.ConsultBody = {
        "schema": "consult-episodic-memory/1",
        "results": [
            {
                **_build_plain_task(one.task),
                "score": one.score,
                "similarity": one.similarity,
                "resolution": one.resolution,
                "resolution_source": None if one.source is None else _build_resolution_source(one.source),
            }
            for one in found
        ],
    }
    return add_warnings(body, warnings)


def _build_resolution_source(item: Item) -> views.ResolutionSourceView:
    return {
        "id": str(item.id),
        "source_path": item.source_path,
        "source_line": item.places[0].line if item.places else None,
        "conversation_id": item.conversation_id,
    }


def build_answer(answer: TaskAnswer, resume_lines: ResumeLines) -> views.AskBody:
    """Build `ask/1`."""
    body: views.AskBody = {
        "schema": "ask/1",
        "reading": _build_reading(answer.question),
        "total": answer.total,
        "results": [
            *(_build_plain_task(task) for task in answer.tasks),
            *(build_hit(hit, resume_lines) for hit in answer.hits),
        ],
    }
    return add_warnings(body, answer.warnings)


def _build_reading(reading: ParsedQuestion) -> views.ReadingView:
    span: views.SpanView | None = None
    if reading.span is not None:
        since, until = reading.span.since, reading.span.until
        span = {
            "field": reading.span.field,
            "since": None if since is None else since.isoformat(),
            "until": None if until is None else until.isoformat(),
        }
    return {
        "statuses": list(reading.statuses),
        "types": list(reading.types),
        "priorities": list(reading.priorities),
        "tags": [*reading.tags, *reading.kinds],
        "project": reading.project,
        "span": span,
        "missing": list(reading.missing),
        "present": list(reading.present),
        "relation": reading.relation,
        "of": reading.of,
        "order": reading.order,
        "limit": reading.limit,
        "is_count": reading.is_count,
        "concept": reading.concept,
        "described": reading.describe(),
    }
