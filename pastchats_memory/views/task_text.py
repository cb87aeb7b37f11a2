"""Render tasks, their similarity and the verdict on prior work as text."""

from collections.abc import Sequence

from pastchats_memory.model import RESOLVED, Attachment, Hits, StoredTask
from pastchats_memory.tasks.prior_work import PriorWork, ResolvedTask
from pastchats_memory.tasks.similarity import SCORE_LABELS, SimilarTask
from pastchats_memory.text.display import escape_name, format_priority, format_time, one_line, quote, sanitise
from pastchats_memory.text.excerpt import excerpt
from pastchats_memory.views.text import render_attempt_lines

RESOLUTION_WIDTH = 700
"""Most characters of a resolution; `--json` has all of it."""
VERDICTS = {
    "done": "Done",
    "in_progress": "In progress",
    "failed_before": "Failed before",
    "superseded": "Superseded",
    "asked_before": "Asked before",
    "new": "New",
}
UNFINISHED = {
    "pending": "Not started",
    "blocked": "Stuck",
    "review": "In review",
    "deferred": "Put off",
    "unknown": "Filed",
}
"""Words for the verdict on an unfinished task that nobody works on."""
BAR_WIDTH = 10
"""Columns of a score's bar."""


def render_score_bar(score: float) -> str:
    """Draw a score of 0 to 1 as a bar: `[|||||.....]` for 0.5. Scores outside are drawn as the nearer end."""
    filled = round(min(max(score, 0.0), 1.0) * BAR_WIDTH)
    return f"[{'|' * filled}{'.' * (BAR_WIDTH - filled)}]"


def render_guide() -> str:
    """Explain the similarity scores on one line."""
    return "Scores: " + " · ".join(f"{least:.2f} {label}" for least, label in SCORE_LABELS)


def render_near(near: SimilarTask) -> str:
    """Render a similar task on one line: `TREK-45  [0.89] Title (very similar, pending)`."""
    key, title = escape_name(near.task.key), escape_name(near.task.title)
    return f"{key}  [{near.match.score:.2f}] {title} ({near.match.label}, {near.task.status})"


def make_task_rows(tasks: Sequence[StoredTask]) -> list[list[str]]:
    """Return table rows of id, status, priority, project and title."""
    return [
        [
            escape_name(task.key),
            task.status,
            format_priority(task.priority),
            escape_name(task.project)[:24],
            escape_name(task.title),
        ]
        for task in tasks
    ]


def make_hit_rows(hits: Hits) -> list[list[str]]:
    """Return table rows of id, score, status and title.

    The score is the relevance; without a query vector it is 1 / rank.
    """
    rows = []
    for hit in hits:
        if hit.task is not None:
            score = hit.relevance if hit.relevance is not None else 1 / hit.rank
            bar = f"{render_score_bar(score)} {score:.2f}"
            rows.append([escape_name(hit.task.key), bar, hit.task.status, escape_name(hit.task.title)])
    return rows


def render_task(task: StoredTask) -> str:
    """Render a task with its facts, links, parts, history, comments and attachments."""
    raw = "" if task.status_raw in ("", task.status) else f" ({escape_name(task.status_raw)})"
    priority = "" if task.priority is None else f" · {format_priority(task.priority)}"
    source = f"{escape_name(task.source_path)}:{task.source_line or 1}" if task.source_path else "made by hand"
    facts = {
        "Project": escape_name(task.project), "Part of": escape_name(task.parent or ""), "Tags": ", ".join(map(escape_name, task.tags)),
        "Due": format_time(task.due_at), "Created": format_time(task.created_at), "Updated": format_time(task.updated_at),
        "Closed": format_time(task.closed_at), "Conversations": ", ".join(map(escape_name, task.conversations)), "Source": source,
    }  # fmt: skip
    lines = [
        f"{escape_name(task.key)} · {escape_name(task.title)}",
        f"  {task.type} · {task.status}{raw}{priority}",
        *(f"  {name}: {value}" for name, value in facts.items() if value),
        *(f"  {escape_name(link.kind)}: {escape_name(link.target)}" for link in task.links),
    ]
    if task.description:
        lines += ["", *_indent(task.description)]
    if task.parts:
        done = sum(part.status in RESOLVED for part in task.parts)
        lines += ["", f"  Parts ({done} of {len(task.parts)} done):"]
        lines += [f"    {escape_name(part.key)}  [{part.status}] {escape_name(part.title)}" for part in task.parts]
    if len(task.states) > 1:
        steps = (f"{state.status}" + (f" ({format_time(state.at)})" if state.at else "") for state in task.states)
        lines += ["", "  History: " + " → ".join(steps)]
    for comment in task.comments:
        head = (f"c:{comment.id}", escape_name(comment.author), format_time(comment.created_at))
        lines += ["", "  " + " · ".join(filter(None, head)), *_indent(comment.content)]
    lines += [""] if task.attachments else []
    lines += [f"  a:{one.id} · {escape_name(one.name)} · {one.size:,} bytes" for one in task.attachments]
    return "\n".join(lines)


def render_attached(attachment: Attachment | None) -> str:
    """Render the text of the attachment that was asked for, below its task; empty for none or a binary file."""
    if attachment is None or attachment.content is None:
        return ""
    return "\n".join(["\n", f"  {escape_name(attachment.name)}:", *_indent(attachment.content)])


def _indent(text: str) -> list[str]:
    return [f"    {line}" for line in sanitise(text).split("\n")]


def render_prior_work(work: PriorWork) -> str:
    """Render the verdict, the conversations it rests on, the best matching tasks and the guide to their scores."""
    status = work.results[0].task.status if work.verdict == "in_progress" else ""
    lines = [f"{UNFINISHED.get(status, VERDICTS[work.verdict])}: {one_line(work.reason)}"]
    lines += [line for one in work.episodes for line in render_attempt_lines(one)]
    return "\n".join([*lines, *(f"  {render_near(one)}" for one in work.results), render_guide()])


def render_resolved(resolved: ResolvedTask) -> str:
    """Render a solved task with its resolution and the source of the resolution."""
    lines = [render_task(resolved.task)]
    if resolved.resolution:
        text = quote(excerpt(resolved.resolution, {}, RESOLUTION_WIDTH))
        lines += ["", "  Resolution:", *(f"  {line}" for line in text.split("\n"))]
    if (source := resolved.source) is not None:
        line = source.places[0].line if source.places else 1
        lines.append(f"  Source: {escape_name(source.source_path)}:{line} (turn {source.turn_index}) · id {source.id}")
    return "\n".join(lines)
