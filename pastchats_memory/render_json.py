"""What the commands and the server say as JSON, by the schemas of `contracts/`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pastchats_memory.model import (
    Attempt,
    Command,
    Context,
    Evidence,
    Hit,
    Hits,
    Item,
    Lesson,
    Outcome,
    RecallBlock,
    Sheet,
    StoredTask,
)
from pastchats_memory.render import citation


def hit_json(hit: Hit, *, explain: bool = False) -> dict[str, Any]:
    """A result as `contracts/schemas/search.json` has it; with `explain` the contributions whose sum is the score."""
    row: dict[str, Any] = {
        "rank": hit.rank,
        "score": hit.score,
        "relevance": hit.relevance,
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
        "citation": hit.citation and hit.citation.state,
        "source_project": hit.source_project,
        "conversation_id": hit.conversation_id,
        "turn_index": hit.turn_index,
        "timestamp": hit.timestamp,
        "metadata": dict(hit.metadata),
    }
    if hit.type == "note":
        row["heading"] = hit.metadata.get("heading")
    if hit.task is not None:
        row |= task_fields(hit.task)
    if explain:
        row["contributions"] = dict(hit.contributions)
    return row


def task_fields(task: StoredTask) -> dict[str, Any]:
    """What a result says of its task."""
    return {
        "key": task.key,
        "title": task.title,
        "status": task.status,
        "status_raw": task.status_raw,
        "priority": task.priority,
        "tags": list(task.tags),
    }


def search_json(hits: Hits, *, explain: bool = False) -> dict[str, Any]:
    """`search/1`; with `explain` also what was taken for a time."""
    body: dict[str, Any] = {"schema": "search/1"}
    if explain and (read := hits.time_read) is not None:
        body["time"] = {"words": read.words, "since": read.since, "until": read.until, "is_filter": read.is_filter}
    return with_warnings(body | {"results": [hit_json(hit, explain=explain) for hit in hits]}, hits.warnings)


def recall_json(block: RecallBlock, budget: int) -> dict[str, Any]:
    """`recall/1`."""
    results = [
        {
            **hit_json(memory.hit),
            "asked": memory.asked,
            "answered": memory.answered,
            "outcome": memory.outcome.verdict,
            "basis": memory.outcome.basis,
            "evidence": [evidence_json(shown) for shown in memory.outcome.evidence],
            "done": list(memory.done),
            "failed_before": [attempt_json(attempt) for attempt in memory.before],
            "worked_later": memory.after and attempt_json(memory.after),
            "superseded_by": memory.superseded_by and attempt_json(memory.superseded_by),
            "current_project": memory.is_current,
            "question": memory.question
            and {
                "id": memory.question.id,
                "timestamp": memory.question.timestamp,
                "source_path": memory.question.source_path,
                "source_line": memory.question.source_line,
                "citation": memory.question.citation and memory.question.citation.state,
            },
            "source": citation(memory.hit),
        }
        for memory in block.entries
    ]
    return with_warnings(
        {"schema": "recall/1", "budget": budget, "tokens": block.tokens, "text": block.text, "results": results},
        block.warnings,
    )


def lessons_json(lessons: Sequence[Lesson], warnings: Sequence[str]) -> dict[str, Any]:
    """`lessons/1`."""
    results = [
        {
            "project": lesson.project,
            "times": lesson.times,
            "attempts": [attempt_json(attempt) for attempt in lesson.attempts],
            "ended_by": attempt_json(lesson.ended_by),
        }
        for lesson in lessons
    ]
    return with_warnings({"schema": "lessons/1", "results": results}, warnings)


def how_json(commands: Sequence[Command], warnings: Sequence[str]) -> dict[str, Any]:
    """`how/1`."""
    results = [
        {
            "project": one.project,
            "command": one.command,
            "times": one.times,
            "run": evidence_json(one.run),
            "episode": attempt_json(one.episode),
        }
        for one in commands
    ]
    return with_warnings({"schema": "how/1", "results": results}, warnings)


def judge_json(sheets: Sequence[Sheet], left: int | None, warnings: Sequence[str]) -> dict[str, Any]:
    """`judge/1`; `left` is how many more there are where episodes are listed."""
    results = [
        {
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
            "evidence": [evidence_json(shown) for shown in sheet.outcome.evidence],
            "source_path": sheet.source_path,
            "source_line": sheet.source_line,
            "citation": sheet.citation and sheet.citation.state,
            **({"was": sheet.was} if sheet.was else {}),
        }
        for sheet in sheets
    ]
    listed = {} if left is None else {"left": left}
    return with_warnings({"schema": "judge/1", **listed, "results": results}, warnings)


def evidence_json(shown: Evidence) -> dict[str, Any]:
    """A line that shows an outcome, with its source."""
    return {
        "quotation": shown.quotation,
        "source_path": shown.source_path,
        "source_line": shown.source_line,
        "citation": shown.citation and shown.citation.state,
    }


def attempt_json(attempt: Attempt) -> dict[str, Any]:
    """Another episode about the same problem."""
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
        "citation": attempt.citation and attempt.citation.state,
    }


def context_json(context: Context, budget: int) -> dict[str, Any]:
    """`context/1`."""
    results = [{**hit_json(item.hit), "excerpt": item.excerpt, "source": citation(item.hit)} for item in context.items]
    return with_warnings(
        {"schema": "context/1", "budget": budget, "tokens": context.tokens, "text": context.text, "results": results},
        context.warnings,
    )


def item_json(item: Item, outcome: Outcome, *, is_asked: bool) -> dict[str, Any]:
    """A stored turn, whole."""
    return {
        "id": str(item.id),
        "type": "note" if item.role == "note" else "prompt",
        "is_asked": is_asked,
        "content": item.content,
        "role": item.role,
        "source_path": item.source_path,
        "source_line": item.places[0].line if item.places else None,
        "citation": item.citation and item.citation.state,
        "source_project": item.project,
        "conversation_id": item.conversation_id,
        "turn_index": item.turn_index,
        "timestamp": item.timestamp,
        "outcome": outcome.verdict,
        "basis": outcome.basis,
        "evidence": [evidence_json(shown) for shown in outcome.evidence],
        "metadata": dict(item.metadata),
        "places": [{"path": place.path, "line": place.line, "end_line": place.end_line} for place in item.places],
    }


def with_warnings(body: dict[str, Any], warnings: Sequence[str]) -> dict[str, Any]:
    """The body with its warnings behind the results, where there are any."""
    return {**body, "warnings": list(warnings)} if warnings else body
