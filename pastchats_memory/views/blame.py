"""Render the episodes that changed a file as Markdown, and build their JSON view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pastchats_memory.ingest.blame import Blamed
from pastchats_memory.search.hits import cited_place
from pastchats_memory.text.display import escape_name
from pastchats_memory.views.build import ResumeLines, build_attempt, get_citation_state
from pastchats_memory.views.text import render_attempt_lines

if TYPE_CHECKING:
    from pastchats_memory.views.schema import history as views


def render_blame(found: Sequence[Blamed]) -> str:
    """Render episodes that changed a file: prompt, outcome, source, and the line of the change."""
    parts = []
    for place, one in enumerate(found, start=1):
        attempt, source = render_attempt_lines(one.episode)
        where = cited_place(one.turn)
        file = "" if where.path == one.episode.source_path else f"{escape_name(where.path)} "
        edit = f"; edit: {file}line {where.line} · id {one.turn.id}" if str(one.turn.id) != one.episode.id else ""
        parts.append(f"## {place}. {escape_name(one.project)}\n{attempt}\n{source}{edit}\n")
    return "\n".join(parts)


def build_blame(found: Sequence[Blamed], resume_lines: ResumeLines) -> views.BlameBody:
    """Build `blame/1`; the lines that resume a session have the ids of the turns that changed the file."""
    return {"schema": "blame/1", "results": [_build_blamed(one, resume_lines) for one in found]}


def _build_blamed(one: Blamed, resume_lines: ResumeLines) -> views.BlamedView:
    where = cited_place(one.turn)
    return {
        "project": one.project,
        "conversation_id": one.conversation_id,
        "episode": build_attempt(one.episode),
        "edit": {
            "id": str(one.turn.id),
            "source_path": where.path,
            "source_line": where.line or None,
            "citation": get_citation_state(one.turn.citation),
        },
        "resume": resume_lines.get(str(one.turn.id)),
    }
