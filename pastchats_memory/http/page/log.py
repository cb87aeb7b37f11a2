"""Show what the memory told agents, when, and whether they used it."""

from __future__ import annotations

from pastchats_memory.http.page.answers import PageRequest, WebPage
from pastchats_memory.memory import Memory

SHOWN = 100
"""Memories on the page."""


def show_log(memory: Memory, request: PageRequest) -> WebPage:
    """Show what hooks gave to all sessions, or to `session`."""
    session = request.query.get("session")
    log = memory.log(session, SHOWN)
    return WebPage("log", {"log": log, "session": session, "most": max(log.weeks.values(), default=0), "shown": SHOWN})
