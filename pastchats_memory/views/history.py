"""Render timelines and digests as Markdown, and build their JSON views."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import TYPE_CHECKING

from pastchats_memory.episodes.history import ConversationDay, Digest, DigestLine, Timeline
from pastchats_memory.model import Attempt
from pastchats_memory.text.display import escape_name, format_time
from pastchats_memory.views.build import add_warnings, build_attempt
from pastchats_memory.views.text import render_attempt_lines

if TYPE_CHECKING:
    from pastchats_memory.views.schema import history as views

HEADINGS = {"worked_on": "Worked on", "worked": "Worked", "open": "Failed or open", "decided": "Decided"}
"""Heading of each section of a digest."""
DAY = 10
"""Characters of an ISO date."""


def render_timeline(timeline: Timeline) -> str:
    """Render the conversations of a span, below a heading for each day and project."""
    parts = [f"# Timeline: {_describe_span(timeline.since, timeline.until)}\n"]
    for (day, project), group in groupby(timeline.days, key=lambda one: (one.day, one.project)):
        parts.append(f"\n## {day} · {escape_name(project)}\n")
        parts += ["\n".join(_render_day(one)) + "\n" for one in group]
    return "".join(parts)


def _render_day(one: ConversationDay) -> list[str]:
    number = sum(one.outcomes.values())
    span = f", until {format_time(one.until)[DAY + 1 :] or one.day}" if number > 1 else ""
    attempt, source = _render_attempt(one.first)
    return [attempt, f"  {number} prompt{'' if number == 1 else 's'}{span}: {_describe_outcomes(one.outcomes)}", source]


def render_digest(digest: Digest) -> str:
    """Render a digest as a page of Markdown; each line of it is followed by its source."""
    total = sum(digest.outcomes.values())
    parts = [f"# Digest: {_describe_span(digest.since, digest.until)}\n"]
    if total:
        parts.append(f"\n{total:,} prompt{'' if total == 1 else 's'}: {_describe_outcomes(digest.outcomes)}\n")
    for section, lines in groupby(digest.lines, key=lambda line: line.section):
        parts.append(f"\n## {HEADINGS[section]}\n")
        for project, group in groupby(lines, key=lambda line: line.project):
            parts.append(f"\n### {escape_name(project)}\n")
            parts += [_render_line(line) for line in group]
        if more := digest.more[section]:
            parts.append(f"\nand {more:,} older {'one' if more == 1 else 'ones'}\n")
    return "".join(parts)


def _render_line(line: DigestLine) -> str:
    attempt, source = _render_attempt(line.attempt)
    status = f"  Task, {line.status}\n" if line.status else ""
    return f"{attempt}\n{status}{source}\n"


def _render_attempt(attempt: Attempt) -> tuple[str, str]:
    """Render an episode as an item of a list, whose text cannot leave it or fetch a picture, and its source."""
    quotation, source = render_attempt_lines(attempt)
    if not attempt.source_path:
        source = f"Source: made by hand · id {escape_name(attempt.id)}"
    return f"- {escape_name(quotation.removeprefix('> '))}", f"  {source}"


def _describe_outcomes(outcomes: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {verdict}" for verdict, number in outcomes.items() if number)


def _describe_span(since: str | None, until: str | None) -> str:
    first, last = (format_time(bound)[:DAY] for bound in (since, until))
    return first if first == last else f"{first or 'the beginning'} to {last or 'now'}"


def build_timeline(timeline: Timeline) -> views.TimelineBody:
    """Build `timeline/1`."""
    body: views.TimelineBody = {
        "schema": "timeline/1",
        "since": timeline.since,
        "until": timeline.until,
        "more": timeline.more,
        "results": [
            {
                "day": one.day,
                "project": one.project,
                "conversation_id": one.conversation_id,
                "since": one.since,
                "until": one.until,
                "outcomes": _build_counts(one.outcomes),
                "first": build_attempt(one.first),
            }
            for one in timeline.days
        ],
    }
    return add_warnings(body, timeline.warnings)


def build_digest(digest: Digest) -> views.DigestBody:
    """Build `digest/1`."""
    body: views.DigestBody = {
        "schema": "digest/1",
        "since": digest.since,
        "until": digest.until,
        "outcomes": _build_counts(digest.outcomes),
        "more": {
            "worked_on": digest.more["worked_on"],
            "worked": digest.more["worked"],
            "open": digest.more["open"],
            "decided": digest.more["decided"],
        },
        "text": render_digest(digest),
        "results": list(_build_lines(digest.lines)),
    }
    return add_warnings(body, digest.warnings)


def _build_counts(outcomes: Mapping[str, int]) -> views.OutcomeCounts:
    return {
        "worked": outcomes["worked"],
        "failed": outcomes["failed"],
        "mixed": outcomes["mixed"],
        "unknown": outcomes["unknown"],
    }


def _build_lines(lines: Iterable[DigestLine]) -> Iterable[views.DigestLineView]:
    for line in lines:
        attempt = build_attempt(line.attempt)
        yield {"section": line.section, "project": line.project, "status": line.status or None, **attempt}
