"""Show what the memory told agents, when, and whether they used it."""

from itertools import groupby

from pastchats_memory.http.page.answers import PageRequest, WebPage
from pastchats_memory.memory import Memory
from pastchats_memory.text.display import format_time

SHOWN = 100
"""Memories on the page."""


def show_log(memory: Memory, request: PageRequest) -> WebPage:
    """Show what hooks gave to all sessions, or to `session`, or what they gave of `source`."""
    session, source = request.query.get("session"), request.query.get("source")
    log = memory.log(session, SHOWN, source=source)
    days = groupby(log.results, key=lambda one: format_time(one.given_at)[:10])
    return WebPage(
        "log",
        {
            "log": log,
            "days": [(day, list(group)) for day, group in days],
            "session": session,
            "source": source,
            "shown": SHOWN,
        },
    )
