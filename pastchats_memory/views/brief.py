"""Build the brief views that agents get: texts are cut to what fits beside an item. The caller sanitises them.

`read` gives the whole text of an item, in pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pastchats_memory.errors import UsageFault
from pastchats_memory.model import (
    Command,
    Hit,
    Hits,
    Item,
    Lesson,
    Outcome,
    RecallBlock,
    RecallEntry,
    Sheet,
    StoredTask,
)
from pastchats_memory.tasks.prior_work import PriorWork, ResolvedTask
from pastchats_memory.tasks.similarity import SimilarTask
from pastchats_memory.text.excerpt import excerpt
from pastchats_memory.views.build import ResumeLines, build_attempt, get_citation_state

if TYPE_CHECKING:
    from pastchats_memory.views.schema import brief as views
    from pastchats_memory.views.schema.search import LessonView

TEXT_WIDTH = 600
"""Most characters of a text."""
PAGE_SIZE = 12_000
"""Most characters that one `read` gives."""
COMMENTS = 3
"""Most comments of a task, the last ones."""


def build_search_answer(hits: Hits, resume_lines: ResumeLines) -> views.SearchAnswer:
    """Build the answer of `search`."""
    return {"results": [_build_hit(hit, resume_lines) for hit in hits], "warnings": list(hits.warnings)}


def _build_hit(hit: Hit, resume_lines: ResumeLines) -> views.HitBrief:
    view: views.HitBrief = {
        "rank": hit.rank,
        "id": hit.id,
        "type": hit.type,
        "relevance": hit.relevance,
        "similarity": hit.similarity,
        "lexical_rank": hit.lexical_rank,
        "semantic_rank": hit.semantic_rank,
        "snippet": _shorten(hit.snippet),
        "role": hit.role,
        "project": hit.source_project,
        "timestamp": hit.timestamp,
        "conversation_id": hit.conversation_id,
        "source_path": hit.source_path,
        "source_line": hit.source_line,
        "citation": get_citation_state(hit.citation),
        "title": None if hit.task is None else _shorten(hit.task.title),
        "status": None if hit.task is None else hit.task.status,
        "resume": resume_lines.get(hit.id),
    }
    if hit.author:
        view["author"] = hit.author
    return view


# --- episodes ---------------------------------------------------------------------------------------------------------


def build_recall_answer(block: RecallBlock, budget: int, resume_lines: ResumeLines) -> views.RecallAnswer:
    """Build the answer of `recall`; the block's excerpts fit its budget already."""
    return {
        "tokens": block.tokens,
        "budget": budget,
        "results": [_build_entry(memory, resume_lines) for memory in block.entries],
        "warnings": list(block.warnings),
    }


def _build_entry(memory: RecallEntry, resume_lines: ResumeLines) -> views.RecallBrief:
    hit = memory.hit
    view: views.RecallBrief = {
        "id": hit.id,
        "outcome": memory.outcome.verdict,
        "basis": memory.outcome.basis,
        "shown_by": memory.outcome.shown_by,
        "asked": memory.asked,
        "answered": memory.answered,
        "done": list(memory.done),
        "failed_before": [build_attempt(one) for one in memory.before],
        "worked_later": None if memory.after is None else build_attempt(memory.after),
        "superseded_by": None if memory.superseded_by is None else build_attempt(memory.superseded_by),
        "project": hit.source_project,
        "current_project": memory.is_current,
        "timestamp": hit.timestamp,
        "source_path": hit.source_path,
        "source_line": hit.source_line,
        "citation": get_citation_state(hit.citation),
        "resume": resume_lines.get(hit.id),
    }
    if hit.author:
        view["author"] = hit.author
    return view


def build_sheets_answer(sheets: Sequence[Sheet], left: int | None, warnings: Sequence[str]) -> views.SheetsAnswer:
    """Build the answer of `unjudged`, and of `judge` (`left` is None)."""
    return {"left": left, "results": [_build_sheet(sheet) for sheet in sheets], "warnings": list(warnings)}


def _build_sheet(sheet: Sheet) -> views.SheetBrief:
    return {
        "id": sheet.id,
        "asked": sheet.asked,
        "answered": sheet.answered,
        "done": list(sheet.done),
        "results": list(sheet.results),
        "said_next": sheet.said_next,
        "outcome": sheet.outcome.verdict,
        "basis": sheet.outcome.basis,
        "shown_by": sheet.outcome.shown_by,
        "project": sheet.project,
        "timestamp": sheet.timestamp,
        "source_path": sheet.source_path,
        "source_line": sheet.source_line,
        "citation": get_citation_state(sheet.citation),
    }


def build_lessons_answer(lessons: Sequence[Lesson], warnings: Sequence[str]) -> views.LessonsAnswer:
    """Build the answer of `lessons`."""
    results: list[LessonView] = [
        {
            "project": lesson.project,
            "times": lesson.times,
            "attempts": [build_attempt(attempt) for attempt in lesson.attempts],
            "ended_by": build_attempt(lesson.ended_by),
        }
        for lesson in lessons
    ]
    return {"results": results, "warnings": list(warnings)}


def build_how_answer(commands: Sequence[Command], warnings: Sequence[str]) -> views.HowAnswer:
    """Build the answer of `how`."""
    results: list[views.CommandBrief] = [
        {
            "project": one.project,
            "command": _shorten(one.command),
            "times": one.times,
            "source_path": one.run.source_path,
            "source_line": one.run.source_line,
            "episode": build_attempt(one.episode),
        }
        for one in commands
    ]
    return {"results": results, "warnings": list(warnings)}


# --- tasks ------------------------------------------------------------------------------------------------------------


def build_similar_answer(found: Sequence[SimilarTask]) -> views.SimilarAnswer:
    """Build the answer of `find_similar`."""
    return {"results": [_build_near(near) for near in found]}


def _build_near(near: SimilarTask) -> views.NearBrief:
    task = near.task
    return {
        "id": f"t:{task.key}",
        "title": _shorten(task.title),
        "status": task.status,
        "score": near.match.score,
        "label": near.match.label,
        "similarity": near.similarity,
        "comments": _shorten_comments(task),
        "project": task.project,
        "source_path": task.source_path,
    }


def build_prior_work_answer(work: PriorWork) -> views.PriorWorkAnswer:
    """Build the answer of `check_prior_work`."""
    return {
        "verdict": work.verdict,
        "reason": work.reason,
        "episodes": [build_attempt(one) for one in work.episodes],
        "results": [_build_near(one) for one in work.results],
        "warnings": list(work.warnings),
    }


def build_consultation_answer(found: Sequence[ResolvedTask], warnings: Sequence[str]) -> views.ConsultAnswer:
    """Build the answer of `consult_episodic_memory`."""
    return {"results": [_build_resolved(one) for one in found], "warnings": list(warnings)}


def _build_resolved(resolved: ResolvedTask) -> views.ResolvedBrief:
    task = resolved.task
    return {
        "id": f"t:{task.key}",
        "title": _shorten(task.title),
        "status": task.status,
        "description": _shorten(task.description),
        "comments": _shorten_comments(task),
        "resolution": None if resolved.resolution is None else _shorten(resolved.resolution),
        "score": resolved.score,
        "similarity": resolved.similarity,
        "project": task.project,
        "source_path": task.source_path,
        "source_line": task.source_line,
    }


# --- pages of an item -------------------------------------------------------------------------------------------------


def build_item_page(
    items: Sequence[Item], item: Item, outcome: Outcome, start: int, end: int | None
) -> views.ReadAnswer:
    """Build the lines `start` to `end` of a turn, with the ids of its neighbours.

    Args:
        items: the turn among its neighbours, in order.
        item: the turn.
        outcome: of its episode.
        start: first line, counted from 1.
        end: last line; None for as many lines as fit.

    Raises:
        UsageFault: the item has fewer lines than `start`.
    """
    content, last, lines = _cut_page(item.content, start, end)
    place = items.index(item)
    return {
        "id": item.shown_id,
        "type": "note" if item.role == "note" else "prompt",
        "content": content,
        "start": start,
        "end": last,
        "lines": lines,
        "next_start": last + 1 if last < lines else None,
        "role": item.role,
        "outcome": outcome.verdict,
        "basis": outcome.basis,
        "shown_by": outcome.shown_by,
        "project": item.project,
        "timestamp": item.timestamp,
        "conversation_id": item.conversation_id,
        "before": items[place - 1].shown_id if place else None,
        "after": items[place + 1].shown_id if place + 1 < len(items) else None,
        "source_path": item.source_path,
        "source_line": item.places[0].line or None if item.places else None,
        "citation": get_citation_state(item.citation),
    }


def build_task_page(task: StoredTask, text: str, start: int, end: int | None) -> views.ReadAnswer:
    """Build the lines `start` to `end` of a task's text.

    Raises:
        UsageFault: the text has fewer lines than `start`.
    """
    content, last, lines = _cut_page(text, start, end)
    return {
        "id": f"t:{task.key}",
        "type": task.type,
        "content": content,
        "start": start,
        "end": last,
        "lines": lines,
        "next_start": last + 1 if last < lines else None,
        "role": "",
        "outcome": "unknown",
        "basis": "",
        "shown_by": "",
        "project": task.project,
        "timestamp": task.timestamp,
        "conversation_id": None,
        "before": None,
        "after": None,
        "source_path": task.source_path,
        "source_line": task.source_line,
        "citation": None,
    }


def _cut_page(text: str, start: int, end: int | None) -> tuple[str, int, int]:
    """Return the lines from `start` that fit a page, the number of the last one, and the number of all lines.

    A single line that is longer than a page is shortened.
    """
    lines = text.split("\n")
    if start > len(lines):
        raise UsageFault(f"the item has {len(lines)} lines", "Read it from a smaller `start`.")
    count = 0
    size = 0
    for line in lines[start - 1 : end]:
        size += len(line) + 1
        if size > PAGE_SIZE and count:
            break
        count += 1
    page = "\n".join(lines[start - 1 : start - 1 + count])
    return (page if len(page) <= PAGE_SIZE else excerpt(page, {}, PAGE_SIZE)), start - 1 + count, len(lines)


def _shorten_comments(task: StoredTask) -> list[str]:
    return [_shorten(comment.content) for comment in task.comments[-COMMENTS:]]


def _shorten(text: str) -> str:
    return excerpt(text, {}, TEXT_WIDTH)
