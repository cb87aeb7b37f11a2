"""Render timelines and digests as Markdown."""

import re
from collections.abc import Mapping
from itertools import groupby

from pastchats_memory.config import from_home
from pastchats_memory.episodes.history import Digest, DigestLine, Timeline
from pastchats_memory.model.episodes import Attempt
from pastchats_memory.text.display import counted, escape_name, format_time
from pastchats_memory.views.text import render_attempt_lines
from pastchats_memory.views.token_use import describe_agents, render_token_table

HEADINGS = {"worked_on": "Worked on", "worked": "Worked", "open": "Failed or open", "decided": "Decided"}
"""Heading of each section of a digest."""
DAY = 10
"""Characters of an ISO date."""
_TAG = re.compile(r"(?P<code>`[^`\n]{1,200}`)|</[A-Za-z][^<>\n]{0,200}>|(?<!\w)<[A-Za-z][^<>\n]{0,200}>")
_ANGLES = re.compile(r"<(?P<inner>[A-Za-z/!?|][^<>\n]{0,200})(?P<end>>?)")
LONG_PATH = 60
"""Characters of a path that is shortened."""
END_PARTS = 2
"""Parts of it that stay at each end."""


def render_timeline(timeline: Timeline) -> str:
    """Render the conversations of a span, below a heading for each day and project."""
    parts = [f"# Timeline: {_describe_span(timeline.since, timeline.until)}\n"]
    for (day, project), group in groupby(timeline.days, key=lambda one: (one.day, one.project)):
        parts.append(f"\n## {day} · {escape_name(project)}\n")
        for one in group:
            number = sum(one.outcomes.values())
            span = f", until {format_time(one.until)[DAY + 1 :] or one.day}" if number > 1 else ""
            prompts = f"{counted(number, 'prompt')}{span}: {_describe_outcomes(one.outcomes)}"
            attempt, source = _render_attempt(one.first, one.title)
            parts.append(f"{attempt}\n  {prompts}\n{source}\n")
    return "".join(parts)


def render_digest(digest: Digest) -> str:
    """Render a digest as a page of Markdown; each line of it is followed by its source."""
    total = sum(digest.outcomes.values())
    parts = [f"# Digest: {_describe_span(digest.since, digest.until)}\n"]
    if total:
        parts.append(f"\n{counted(total, 'prompt')}: {_describe_outcomes(digest.outcomes)}\n")
    for section, lines in groupby(digest.lines, key=lambda line: line.section):
        parts.append(f"\n## {HEADINGS[section]}\n")
        for project, group in groupby(lines, key=lambda line: line.project):
            parts.append(f"\n### {escape_name(project)}\n")
            parts += [_render_line(line) for line in group]
        if more := digest.more[section]:
            parts.append(f"\nand {more:,} older {'one' if more == 1 else 'ones'}\n")
    if digest.tokens:
        parts.append(f"\n## Tokens\n\n{describe_agents(digest.tokens)}\n\n{render_token_table(digest.tokens)}")
    return "".join(parts)


def _render_line(line: DigestLine) -> str:
    attempt, source = _render_attempt(line.attempt, line.title)
    status = f"  Task, {line.status}\n" if line.status else ""
    mark = f"  Superseded by: id {escape_name(line.replaced_by)}\n" if line.replaced_by else ""
    return f"{attempt}\n{status}{mark}{source}\n"


def _render_attempt(attempt: Attempt, title: str) -> tuple[str, str]:
    """Render an episode as an item of a list, whose text cannot leave it or fetch a picture, and its source."""
    shown = attempt._replace(
        source_path=_shorten_path(from_home(attempt.source_path)),
        asked=drop_markup(title),
        answered=drop_markup(attempt.answered),
        shown_by=drop_markup(attempt.shown_by),
    )
    quotation, source = render_attempt_lines(shown)
    if not attempt.source_path:
        source = f"Source: made by hand · id {escape_name(attempt.id)}"
    return f"- {escape_name(quotation.removeprefix('> '))}", f"  {source}"


def drop_markup(text: str) -> str:
    """Return a text without tags; one that the text talks about, in a code span or behind a word, stays as `‹time›`."""
    bare = _TAG.sub(lambda found: found["code"] or " ", text)
    return _ANGLES.sub(lambda found: f"‹{found['inner']}{'›' if found['end'] else ''}", bare).strip()


def _shorten_path(path: str) -> str:
    parts = re.split(r"(?<=[/\\])", path)
    is_long = len(path) > LONG_PATH and len(parts) > 2 * END_PARTS
    return "".join([*parts[:END_PARTS], "…/", *parts[-END_PARTS:]]) if is_long else path


def _describe_outcomes(outcomes: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {verdict}" for verdict, number in outcomes.items() if number)


def _describe_span(since: str | None, until: str | None) -> str:
    first, last = (format_time(bound)[:DAY] for bound in (since, until))
    return first if first == last else f"{first or 'the beginning'} to {last or 'now'}"
