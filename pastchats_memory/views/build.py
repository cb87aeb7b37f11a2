"""Build the JSON views of results from values.

`schema` has the shape of every view. Only the type checker imports it, so that a cold `recall` does not pay for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar, cast

from pastchats_memory.model import (
    Attempt,
    Citation,
    Command,
    Context,
    Evidence,
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
from pastchats_memory.text.display import one_line
from pastchats_memory.views.text import format_citation

if TYPE_CHECKING:
    from pastchats_memory.views.schema import search as views
    from pastchats_memory.views.schema.errors import ErrorBody
    from pastchats_memory.views.schema.fields import TaskFields, Warned

Body = TypeVar("Body", bound="Warned")
ResumeLines = Mapping[str, str]
"""Command lines that resume sessions, by the id of a turn."""
NO_LINES: ResumeLines = MappingProxyType({})


def add_warnings(body: Body, warnings: Sequence[str]) -> Body:
    """Append the warnings to a body if there are any, and return the body."""
    if warnings:
        body["warnings"] = list(warnings)
    return body


def get_citation_state(citation: Citation | None) -> str | None:
    """Return the state of a citation; None if no file is cited."""
    return None if citation is None else citation.state


# --- hits -------------------------------------------------------------------------------------------------------------


def build_hit(hit: Hit, resume_lines: ResumeLines, *, explain: bool = False) -> views.HitView:
    """Build a search result; with `explain` it has the contributions whose sum is the score."""
    fields = {**_build_hit_fields(hit), "resume": resume_lines.get(hit.id)}
    explained = {"contributions": dict(hit.contributions)} if explain else {}
    return cast("views.HitView", {**fields, **explained})  # mypy copies no dictionary into one with optional keys


def _build_hit_fields(hit: Hit) -> views.HitFields:
    fields: views.HitFields = {
        "rank": hit.rank,
        "relevance": hit.relevance,
        "score": hit.score,
        "lexical_rank": hit.lexical_rank,
        "semantic_rank": hit.semantic_rank,
        "similarity": hit.similarity,
        "id": hit.id,
        "type": hit.type,
        "content": hit.content,
        "snippet": hit.snippet,
        "role": hit.role,
        "source_path": hit.source_path,
        "source_line": hit.source_line,
        "citation": get_citation_state(hit.citation),
        "source_project": hit.source_project,
        "conversation_id": hit.conversation_id,
        "turn_index": hit.turn_index,
        "timestamp": hit.timestamp,
        "metadata": dict(hit.metadata),
    }
    if hit.author:
        fields["author"] = hit.author
    if hit.type == "note":
        fields["heading"] = cast("str | None", hit.metadata.get("heading"))
    if hit.task is not None:
        fields = {**fields, **build_task_fields(hit.task)}
    return fields


def build_excerpt(hit: Hit, excerpt: str) -> views.ExcerptView:
    """Build a hit with an excerpt and its citation instead of its text."""
    placed: views.PlacedHit = {
        "rank": hit.rank,
        "similarity": hit.similarity,
        "score": hit.score,
        "id": hit.id,
        "type": hit.type,
        "role": hit.role,
        "source_path": hit.source_path,
        "source_line": hit.source_line,
        "citation": get_citation_state(hit.citation),
        "source_project": hit.source_project,
        "conversation_id": hit.conversation_id,
        "turn_index": hit.turn_index,
        "timestamp": hit.timestamp,
    }
    if hit.task is not None:
        placed = {**placed, **build_task_fields(hit.task)}
    return {**placed, "excerpt": one_line(excerpt), "source": format_citation(hit)}


def build_search(hits: Hits, resume_lines: ResumeLines = NO_LINES, *, explain: bool = False) -> views.SearchBody:
    """Build `search/1`; with `explain` it also has the time that the query was found to name."""
    results = [build_hit(hit, resume_lines, explain=explain) for hit in hits]
    body: views.SearchBody = {"schema": "search/1", "results": results}
    if explain and (read := hits.time_read) is not None:
        time: views.TimeReadView = {
            "words": read.words,
            "since": read.since,
            "until": read.until,
            "is_filter": read.is_filter,
        }
        body = {"schema": "search/1", "time": time, "results": results}
    return add_warnings(body, hits.warnings)


def build_semantic(hits: Hits) -> views.SemanticBody:
    """Build `semantic/1`."""
    body: views.SemanticBody = {"schema": "semantic/1", "results": [build_excerpt(hit, hit.snippet) for hit in hits]}
    return add_warnings(body, hits.warnings)


# --- episodes ---------------------------------------------------------------------------------------------------------


def build_recall(block: RecallBlock, budget: int, resume_lines: ResumeLines) -> views.RecallBody:
    """Build `recall/1`."""
    body: views.RecallBody = {
        "schema": "recall/1",
        "budget": budget,
        "tokens": block.tokens,
        "text": block.text,
        "results": [_build_entry(memory, resume_lines) for memory in block.entries],
    }
    return add_warnings(body, block.warnings)


def _build_entry(memory: RecallEntry, resume_lines: ResumeLines) -> views.RecallView:
    return {
        **_build_hit_fields(memory.hit),
        "asked": memory.asked,
        "answered": memory.answered,
        "outcome": memory.outcome.verdict,
        "basis": memory.outcome.basis,
        "evidence": _build_evidence(memory.outcome),
        "done": list(memory.done),
        "failed_before": [build_attempt(attempt) for attempt in memory.before],
        "worked_later": build_optional_attempt(memory.after),
        "superseded_by": build_optional_attempt(memory.superseded_by),
        "commit": memory.commit or None,
        "reverted_by": memory.reverted_by or None,
        "current_project": memory.is_current,
        "question": None if memory.question is None else _build_question(memory.question),
        "source": format_citation(memory.hit),
        "resume": resume_lines.get(memory.hit.id),
    }


def _build_question(question: Hit) -> views.QuestionView:
    return {
        "id": question.id,
        "timestamp": question.timestamp,
        "source_path": question.source_path,
        "source_line": question.source_line,
        "citation": get_citation_state(question.citation),
    }


def _build_evidence(outcome: Outcome) -> list[views.EvidenceView]:
    return [_build_line(line) for line in outcome.evidence]


def _build_line(line: Evidence) -> views.EvidenceView:
    return {
        "quotation": line.quotation,
        "source_path": line.source_path,
        "source_line": line.source_line,
        "citation": get_citation_state(line.citation),
    }


def build_attempt(attempt: Attempt) -> views.AttemptView:
    """Build another episode about the same problem."""
    return {
        "id": attempt.id,
        "asked": attempt.asked,
        "answered": attempt.answered,
        "outcome": attempt.outcome,
        "basis": attempt.basis,
        "shown_by": attempt.shown_by,
        "timestamp": attempt.timestamp,
        "source_path": attempt.source_path,
        "source_line": attempt.source_line,
        "citation": get_citation_state(attempt.citation),
    }


def build_optional_attempt(attempt: Attempt | None) -> views.AttemptView | None:
    """Build another episode if there is one."""
    return None if attempt is None else build_attempt(attempt)


def build_context(context: Context, budget: int) -> views.ContextBody:
    """Build `context/1`."""
    body: views.ContextBody = {
        "schema": "context/1",
        "budget": budget,
        "tokens": context.tokens,
        "text": context.text,
        "results": [
            {**_build_hit_fields(item.hit), "excerpt": item.excerpt, "source": format_citation(item.hit)}
            for item in context.items
        ],
    }
    return add_warnings(body, context.warnings)


def build_lessons(lessons: Sequence[Lesson], warnings: Sequence[str]) -> views.LessonsBody:
    """Build `lessons/1`."""
    results = [build_lesson(lesson) for lesson in lessons]
    body: views.LessonsBody = {"schema": "lessons/1", "results": results}
    return add_warnings(body, warnings)


def build_lesson(lesson: Lesson) -> views.LessonView:
    """Build a repeated failure and what ended it."""
    return {
        "project": lesson.project,
        "times": lesson.times,
        "attempts": [build_attempt(attempt) for attempt in lesson.attempts],
        "ended_by": build_attempt(lesson.ended_by),
    }


def build_how(commands: Sequence[Command], warnings: Sequence[str]) -> views.HowBody:
    """Build `how/1`."""
    results: list[views.CommandView] = [
        {
            "project": one.project,
            "command": one.command,
            "times": one.times,
            "run": {**_build_line(one.run)},
            "episode": build_attempt(one.episode),
        }
        for one in commands
    ]
    body: views.HowBody = {"schema": "how/1", "results": results}
    return add_warnings(body, warnings)


def build_judge(sheets: Sequence[Sheet], left: int | None, warnings: Sequence[str]) -> views.JudgeBody:
    """Build `judge/1`.

    `left` is the number of further episodes, or None if one episode was judged.
    """
    results = [_build_sheet(sheet) for sheet in sheets]
    body: views.JudgeBody = {"schema": "judge/1", "results": results}
    if left is not None:
        body = {"schema": "judge/1", "left": left, "results": results}
    return add_warnings(body, warnings)


def _build_sheet(sheet: Sheet) -> views.SheetView:
    view: views.SheetView = {
        "id": sheet.id,
        "project": sheet.project,
        "timestamp": sheet.timestamp,
        "asked": sheet.asked,
        "answered": sheet.answered,
        "done": list(sheet.done),
        "results": list(sheet.results),
        "said_next": sheet.said_next,
        "outcome": sheet.outcome.verdict,
        "basis": sheet.outcome.basis,
        "evidence": _build_evidence(sheet.outcome),
        "source_path": sheet.source_path,
        "source_line": sheet.source_line,
        "citation": get_citation_state(sheet.citation),
    }
    if sheet.was:
        view["was"] = sheet.was
    return view


# --- items ------------------------------------------------------------------------------------------------------------


def build_show(items: Sequence[tuple[Item, Outcome]], id_: str) -> views.ShowBody:
    """Build `show/1` of turns with their outcomes.

    `id_` is the one that was asked for.
    """
    return {"schema": "show/1", "results": [_build_item(*item, is_selected=item[0].shown_id == id_) for item in items]}


def _build_item(item: Item, outcome: Outcome, *, is_selected: bool) -> views.ItemView:
    view: views.ItemView = {
        "id": item.shown_id,
        "type": "note" if item.role == "note" else "prompt",
        "is_asked": is_selected,
        "content": item.content,
        "role": item.role,
        "source_path": item.source_path,
        "source_line": item.places[0].line if item.places else None,
        "citation": get_citation_state(item.citation),
        "source_project": item.project,
        "conversation_id": item.conversation_id,
        "turn_index": item.turn_index,
        "timestamp": item.timestamp,
        "outcome": outcome.verdict,
        "basis": outcome.basis,
        "evidence": _build_evidence(outcome),
        "metadata": dict(item.metadata),
        "places": [{"path": place.path, "line": place.line, "end_line": place.end_line} for place in item.places],
    }
    if item.author:
        view["author"] = item.author
    return view


def build_task_fields(task: StoredTask) -> TaskFields:
    """Build the fields that every view of a task has."""
    return {
        "key": task.key,
        "title": task.title,
        "status": task.status,
        "status_raw": task.status_raw,
        "priority": task.priority,
        "tags": list(task.tags),
    }


# --- errors -----------------------------------------------------------------------------------------------------------


def build_error(kind: str, message: str, hint: str) -> ErrorBody:
    """Build `error/1`."""
    return {"schema": "error/1", "error": {"kind": kind, "message": message, "hint": hint}}
