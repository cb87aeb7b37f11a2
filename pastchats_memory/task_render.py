"""Tasks as text and as JSON, for every edge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pastchats_memory.model import RESOLVED, Hits, StoredTask
from pastchats_memory.render import local_time, one_line, sanitised, sourced
from pastchats_memory.render_json import attempt_json, task_fields
from pastchats_memory.tasks.prior_work import PriorWork, ResolvedTask
from pastchats_memory.tasks.similarity import SCORE_LABELS, SimilarTask
from pastchats_memory.text.excerpt import excerpt

RESOLUTION_WIDTH = 700
"""Characters of a resolution that are shown; `--json` has all of it."""
SAID = {
    "done": "Done",
    "in_progress": "In progress",
    "failed_before": "Failed before",
    "superseded": "Superseded",
    "new": "New",
}

BAR = 10
"""Columns of a score's bar."""


def bar(score: float) -> str:
    """`[|||||.....]` for 0.5; a score beyond 0 to 1 is shown as its nearest end."""
    filled = round(min(max(score, 0.0), 1.0) * BAR)
    return f"[{'|' * filled}{'.' * (BAR - filled)}]"


def shown_priority(number: int | None) -> str:
    """`P0` to `P4`, or nothing."""
    return "" if number is None else f"P{number}"


def source_of(task: StoredTask) -> str:
    """`path:line`, or that the task was made by hand."""
    return f"{one_line(task.source_path)}:{task.source_line or 1}" if task.source_path else "made by hand"


def near_line(one: SimilarTask) -> str:
    """`TREK-45  [0.89] Title`."""
    return f"{one_line(one.task.key)}  [{one.match.score:.2f}] {one_line(one.task.title)} ({one.match.label}, {one.task.status})"


def guide() -> str:
    """What the scores mean, in one line."""
    return "Scores: " + " · ".join(f"{least:.2f} {label}" for least, label in SCORE_LABELS)


def listed(tasks: Sequence[StoredTask]) -> list[list[str]]:
    """Rows of a table ID, status, priority, project, title."""
    return [
        [
            one_line(task.key),
            task.status,
            shown_priority(task.priority),
            one_line(task.project)[:24],
            one_line(task.title),
        ]
        for task in tasks
    ]


def recalled(hits: Hits) -> list[list[str]]:
    """Rows of a table ID, score, status, title; the score is the cosine, or the place where no vector was asked for."""
    rows = []
    for hit in hits:
        if hit.task is not None:
            score = hit.relevance if hit.relevance is not None else 1 / hit.rank
            rows.append(
                [one_line(hit.task.key), f"{bar(score)} {score:.2f}", hit.task.status, one_line(hit.task.title)]
            )
    return rows


def near_json(one: SimilarTask) -> dict[str, Any]:
    """A task with how like it is."""
    return task_json(one.task) | {
        "score": one.match.score,
        "label": one.match.label,
        "similarity": one.similarity,
    }


def task_json(task: StoredTask) -> dict[str, Any]:
    """A task, with all that belongs to it but the texts of attachments."""
    return {
        "id": f"t:{task.key}",
        "type": task.type,
        **task_fields(task),
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
            {"id": f"c:{said.id}", "author": said.author, "content": said.content, "created_at": said.created_at}
            for said in task.comments
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
    } | ({"parts": [part._asdict() for part in task.parts]} if task.parts else {})


def whole(task: StoredTask) -> str:
    """A task as text, with its history, comments and attachments."""
    lines = [
        f"{one_line(task.key)} · {one_line(task.title)}",
        f"  {task.type} · {task.status}" + _raw(task) + _urgent(task),
    ]
    facts = {
        "Project": one_line(task.project), "Part of": one_line(task.parent or ""), "Tags": ", ".join(map(one_line, task.tags)),
        "Due": local_time(task.due_at), "Created": local_time(task.created_at), "Updated": local_time(task.updated_at),
        "Closed": local_time(task.closed_at), "Conversations": ", ".join(map(one_line, task.conversations)), "Source": source_of(task),
    }  # fmt: skip
    lines += [f"  {name}: {value}" for name, value in facts.items() if value]
    lines += [f"  {link.kind}: {one_line(link.target)}" for link in task.links]
    if task.description:
        lines += ["", *(f"    {line}" for line in sanitised(task.description).split("\n"))]
    if task.parts:
        done = sum(part.status in RESOLVED for part in task.parts)
        lines += ["", f"  Parts ({done} of {len(task.parts)} done):"]
        lines += [f"    {one_line(part.key)}  [{part.status}] {one_line(part.title)}" for part in task.parts]
    if len(task.states) > 1:
        steps = (f"{state.status}" + (f" ({local_time(state.at)})" if state.at else "") for state in task.states)
        lines += ["", "  History: " + " → ".join(steps)]
    for said in task.comments:
        head = " · ".join(filter(None, (f"c:{said.id}", one_line(said.author), local_time(said.created_at))))
        lines += ["", f"  {head}", *(f"    {line}" for line in sanitised(said.content).split("\n"))]
    lines += [""] if task.attachments else []
    lines += [f"  a:{one.id} · {one_line(one.name)} · {one.size:,} bytes" for one in task.attachments]
    return "\n".join(lines)


def _raw(task: StoredTask) -> str:
    return "" if task.status_raw in ("", task.status) else f" ({one_line(task.status_raw)})"


def _urgent(task: StoredTask) -> str:
    return f" · {shown_priority(task.priority)}" if task.priority is not None else ""


def prior_work_text(work: PriorWork) -> str:
    """The verdict with what it rests on, the best matches among the tasks and what their scores mean."""
    lines = [f"{SAID[work.verdict]}: {one_line(work.reason)}"]
    lines += [line for one in work.episodes for line in sourced(one)]
    return "\n".join([*lines, *(f"  {near_line(one)}" for one in work.results), guide()])


def prior_work_json(work: PriorWork) -> dict[str, Any]:
    """`check-prior-work/2`."""
    results = [{"type": "prompt", **attempt_json(one)} for one in work.episodes]
    results += [near_json(one) for one in work.results]
    return {"schema": "check-prior-work/2", "verdict": work.verdict, "reason": work.reason, "results": results}


def resolved_json(one: ResolvedTask) -> dict[str, Any]:
    """A solved task with its resolution and where that was said."""
    source = None
    if one.source is not None:
        place = one.source.places[0] if one.source.places else None
        source = {
            "id": str(one.source.id),
            "source_path": one.source.source_path,
            "source_line": place.line if place else None,
            "conversation_id": one.source.conversation_id,
        }
    task = task_json(one.task)
    return task | {
        "score": one.score,
        "similarity": one.similarity,
        "resolution": one.resolution,
        "resolution_source": source,
    }


def resolved_text(one: ResolvedTask) -> str:
    """A solved task whole, with its resolution and where that was said."""
    lines = [whole(one.task)]
    if one.resolution:
        text = sanitised(excerpt(one.resolution, {}, RESOLUTION_WIDTH))
        lines += ["", "  Resolution:", *(f"  > {line}" for line in text.split("\n") if line.strip())]
    if one.source is not None:
        line = one.source.places[0].line if one.source.places else 1
        lines.append(
            f"  Source: {one_line(one.source.source_path)}:{line} (turn {one.source.turn_index}) · id {one.source.id}"
        )
    return "\n".join(lines)
