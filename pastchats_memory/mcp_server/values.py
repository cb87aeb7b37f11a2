"""Ours into the results that clients know; no text in them is longer than `read` would give."""

from __future__ import annotations

from collections.abc import Sequence

from pastchats_memory.errors import UsageFault
from pastchats_memory.mcp_server import results
from pastchats_memory.model import Attempt, Command, Hit, Item, Lesson, Outcome, Recollection, Sheet, StoredTask
from pastchats_memory.render import sanitised
from pastchats_memory.tasks.prior_work import ResolvedTask
from pastchats_memory.tasks.similarity import SimilarTask
from pastchats_memory.text.excerpt import excerpt

WIDTH = 600
"""Characters of a text beside its item."""
PAGE = 12_000
"""Characters of what one `read` gives."""
COMMENTS = 3


def found(hit: Hit) -> results.Found:
    """A hit."""
    return results.Found(
        rank=hit.rank,
        id=hit.id,
        type=hit.type,
        relevance=hit.relevance,
        similarity=hit.similarity,
        lexical_rank=hit.lexical_rank,
        semantic_rank=hit.semantic_rank,
        snippet=_short(hit.snippet),
        role=hit.role,
        project=hit.source_project,
        timestamp=hit.timestamp,
        conversation_id=hit.conversation_id,
        source_path=hit.source_path,
        source_line=hit.source_line,
        citation=hit.citation and hit.citation.state,
        title=_short(hit.task.title) if hit.task else None,
        status=hit.task.status if hit.task else None,
    )


def remembered(memory: Recollection) -> results.Remembered:
    """An entry of a block; its excerpts are within the block's budget."""
    hit = memory.hit
    return results.Remembered(
        id=hit.id,
        outcome=memory.outcome.verdict,
        basis=memory.outcome.basis,
        shown_by=sanitised(memory.outcome.shown_by),
        done=[sanitised(line) for line in memory.done],
        failed_before=[attempted(one) for one in memory.before],
        worked_later=None if memory.after is None else attempted(memory.after),
        superseded_by=None if memory.superseded_by is None else attempted(memory.superseded_by),
        asked=memory.asked and sanitised(memory.asked),
        answered=memory.answered and sanitised(memory.answered),
        project=hit.source_project,
        current_project=memory.is_current,
        timestamp=hit.timestamp,
        source_path=hit.source_path,
        source_line=hit.source_line,
        citation=hit.citation and hit.citation.state,
    )


def attempted(one: Attempt) -> results.Attempted:
    """Another episode about the same problem."""
    return results.Attempted(
        id=one.id,
        asked=sanitised(one.asked),
        answered=sanitised(one.answered),
        outcome=one.outcome,
        basis=one.basis,
        shown_by=sanitised(one.shown_by),
        timestamp=one.timestamp,
        source_path=one.source_path,
        source_line=one.source_line,
        citation=one.citation and one.citation.state,
    )


def laid_out(one: Sheet) -> results.Sheet:
    """An episode for who judges how it ended."""
    return results.Sheet(
        id=one.id,
        asked=sanitised(one.asked),
        answered=sanitised(one.answered),
        done=[sanitised(line) for line in one.done],
        results=[sanitised(text) for text in one.results],
        said_next=sanitised(one.said_next),
        outcome=one.outcome.verdict,
        basis=one.outcome.basis,
        shown_by=sanitised(one.outcome.shown_by),
        project=one.project,
        timestamp=one.timestamp,
        source_path=one.source_path,
        source_line=one.source_line,
        citation=one.citation and one.citation.state,
    )


def learned(one: Lesson) -> results.Lesson:
    """What failed repeatedly."""
    attempts = [attempted(attempt) for attempt in one.attempts]
    return results.Lesson(project=one.project, times=one.times, attempts=attempts, ended_by=attempted(one.ended_by))


def commanded(one: Command) -> results.Command:
    """A command that worked."""
    return results.Command(
        project=one.project,
        command=_short(one.command),
        times=one.times,
        source_path=one.run.source_path,
        source_line=one.run.source_line,
        episode=attempted(one.episode),
    )


def alike(one: SimilarTask) -> results.Alike:
    """A task with how like it is."""
    task = one.task
    return results.Alike(
        id=f"t:{task.key}",
        title=_short(task.title),
        status=task.status,
        score=one.match.score,
        label=one.match.label,
        similarity=one.similarity,
        comments=_comments(task),
        project=task.project,
        source_path=task.source_path,
    )


def solved(one: ResolvedTask) -> results.Solved:
    """A solved task."""
    task = one.task
    return results.Solved(
        id=f"t:{task.key}",
        title=_short(task.title),
        status=task.status,
        description=_short(task.description),
        comments=_comments(task),
        resolution=one.resolution and _short(one.resolution),
        score=one.score,
        similarity=one.similarity,
        project=task.project,
        source_path=task.source_path,
        source_line=task.source_line,
    )


def lines_of_item(
    items: Sequence[Item], item: Item, outcome: Outcome, start: int, end: int | None
) -> results.ReadResult:
    """Some lines of a turn, with the ids of its neighbours. Raises UsageFault."""
    content, last, lines = _page(sanitised(item.content), start, end)
    place = items.index(item)
    return results.ReadResult(
        id=str(item.id),
        type="note" if item.role == "note" else "prompt",
        content=content,
        start=start,
        end=last,
        lines=lines,
        next_start=last + 1 if last < lines else None,
        role=item.role,
        outcome=outcome.verdict,
        basis=outcome.basis,
        shown_by=sanitised(outcome.shown_by),
        project=item.project,
        timestamp=item.timestamp,
        conversation_id=item.conversation_id,
        before=str(items[place - 1].id) if place else None,
        after=str(items[place + 1].id) if place + 1 < len(items) else None,
        source_path=item.source_path,
        source_line=item.places[0].line or None if item.places else None,
        citation=item.citation and item.citation.state,
    )


def lines_of_task(task: StoredTask, text: str, start: int, end: int | None) -> results.ReadResult:
    """Some lines of a task as it is shown, with its comments. Raises UsageFault."""
    content, last, lines = _page(text, start, end)
    return results.ReadResult(
        id=f"t:{task.key}",
        type=task.type,
        content=content,
        start=start,
        end=last,
        lines=lines,
        next_start=last + 1 if last < lines else None,
        role="",
        project=task.project,
        timestamp=task.timestamp,
        conversation_id=None,
        source_path=task.source_path,
        source_line=task.source_line,
    )


def _page(text: str, start: int, end: int | None) -> tuple[str, int, int]:
    """Lines from `start` on as far as they fit, the last of them, and how many there are; one that is too long is cut."""
    lines = text.split("\n")
    if start > len(lines):
        raise UsageFault(f"the item has {len(lines)} lines", "Read it from a smaller `start`.")
    taken = 0
    size = 0
    for line in lines[start - 1 : end]:
        size += len(line) + 1
        if size > PAGE and taken:
            break
        taken += 1
    page = "\n".join(lines[start - 1 : start - 1 + taken])
    return (page if len(page) <= PAGE else excerpt(page, {}, PAGE)), start - 1 + taken, len(lines)


def _comments(task: StoredTask) -> list[str]:
    return [_short(comment.content) for comment in task.comments[-COMMENTS:]]


def _short(text: str) -> str:
    return excerpt(sanitised(text), {}, WIDTH)
