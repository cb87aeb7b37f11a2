"""Show lessons: what failed repeatedly, and what ended it."""

from pastchats_memory.http.page.answers import PageRequest, WebPage
from pastchats_memory.memory import Memory

SHOWN = 25
"""Lessons on the page."""


def show_lessons(memory: Memory, request: PageRequest) -> WebPage:
    """Show the lessons of all projects, or of `project`."""
    project = request.query.get("project")
    lessons, warnings = memory.lessons(project, SHOWN)
    known = memory.list_known_failures(project)
    return WebPage("lessons", {"lessons": lessons, "known": known, "warnings": warnings, "project": project or ""})
