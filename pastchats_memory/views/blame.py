"""Render the episodes that changed a file as Markdown."""

from collections.abc import Sequence

from pastchats_memory.ingest.blame import Blamed
from pastchats_memory.search.hits import cited_place
from pastchats_memory.text.display import escape_name
from pastchats_memory.views.text import render_attempt_lines


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
