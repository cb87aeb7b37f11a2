"""Provide the filters of the templates: how values read on a page."""

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from functools import cache
from html import escape
from itertools import groupby
from typing import Any

from pastchats_memory.config import from_home
from pastchats_memory.episodes import list_recorded
from pastchats_memory.errors import UsageFault
from pastchats_memory.formats.registry import load_format
from pastchats_memory.text.display import format_priority, format_time, remove_controls, shorten_line
from pastchats_memory.views.page_markdown import render_line
from pastchats_memory.views.text import CITATION_NOTES

CITATION_LABELS = {**CITATION_NOTES, "holds": "still there"}
UNLISTED = {"specstory": "SpecStory", "chatgpt": "ChatGPT", "claude-ai": "Claude.ai"}
"""Names of programs whose formats name none."""
_DEEP_PATH = re.compile(r"(?<![\w.:/\\])(?:~|[A-Z]:)?(?:[/\\][^\s/\\'\"]+){2,}(?=(?:[/\\][^\s/\\'\"]+){2})")
"""The folders of a path before the last two names."""
SPEAKERS = {"user": "You", "assistant": "Agent", "tool": "Tool", "system": "Context", "note": "Note"}
"""Names of the roles; other roles of a file have their own."""


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Write a number with its noun, such as `1,204 turns`."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def describe_age(timestamp: str | None, now: datetime | None = None) -> str:
    """Write how long ago a time was, such as `3 days ago`; a date once it is more than four weeks."""
    if timestamp is None:
        return ""
    moment = datetime.fromisoformat(timestamp)
    age = (now or datetime.now(moment.tzinfo)) - moment
    steps = ((timedelta(days=28), timedelta(days=7), "week"), (timedelta(days=14), timedelta(days=1), "day"),
             (timedelta(days=1), timedelta(hours=1), "hour"), (timedelta(hours=1), timedelta(minutes=1), "minute"))  # fmt: skip
    if not timedelta() <= age < timedelta(days=28):
        return format_time(timestamp)[:10]
    unit, noun = next(((unit, noun) for end, unit, noun in reversed(steps) if age < end), (timedelta(days=7), "week"))
    number = age // unit
    return f"{count(number, noun)} ago" if number else "just now"


@cache
def name_agent(format_name: str) -> str:
    """Return the name of the program that writes a format, else the format's own."""
    try:
        return load_format(format_name).program.partition(",")[0] or UNLISTED.get(format_name, format_name)
    except UsageFault:
        return format_name


def name_outcome(verdict: str) -> str:
    """Return an outcome as people read it: one that nobody knows was at least answered."""
    return "answered" if verdict == "unknown" else verdict


def escape_text(text: str) -> str:
    """Return a text for HTML, without control characters."""
    return escape(remove_controls(text))


def name_status(status: str) -> str:
    """Write a task's status as a heading, such as `In progress`."""
    return status.replace("_", " ").capitalize()


FILTERS: Mapping[str, Callable[..., Any]] = {
    "age": describe_age,
    "agent": name_agent,
    "brief": lambda text: _DEEP_PATH.sub("…", text),
    "citation": lambda state: CITATION_LABELS[state],
    "clock": lambda time: time[11:],
    "count": count,
    "date": lambda day: f"{date.fromisoformat(day):%A, %d %B %Y}".replace(", 0", ", "),
    "day": lambda time: time[:10],
    "history": lambda states: " → ".join(name_status(status) for status, _ in groupby(one.status for one in states)),
    "home": from_home,
    "line": render_line,
    "outcome": name_outcome,
    "priority": format_priority,
    "recorded": list_recorded,
    "shorten": shorten_line,
    "speaker": lambda role: SPEAKERS.get(role, role),
    "status": name_status,
    "time": format_time,
}
