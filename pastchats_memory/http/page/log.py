"""Show what the memory told agents, when, and whether they used it."""

import re
from itertools import groupby

from pastchats_memory.http.page.answers import PageRequest, WebPage
from pastchats_memory.memory import Memory
from pastchats_memory.store.recalled import list_ids
from pastchats_memory.text.display import format_time

SHOWN = 100
"""Memories on the page."""
_PIECE = re.compile(r"^## (?:\d+\. )?(.+)(?:\n(?!## ).*)*|^[^\n#].*\Z", re.MULTILINE)
"""A piece of a block with its heading, or a warning of one line."""


def show_log(memory: Memory, request: PageRequest) -> WebPage:
    """Show what hooks gave to all sessions, or to `session`, or what they gave of `source`."""
    session, source = request.query.get("session"), request.query.get("source")
    log = memory.log(session, SHOWN, source=source)
    days = groupby(log.results, key=lambda one: format_time(one.given_at)[:10])
    shown = [(day, [(one, list_pieces(one.content)) for one in group]) for day, group in days]
    return WebPage("log", {"log": log, "days": shown, "session": session, "source": source, "shown": SHOWN})


def list_pieces(content: str) -> list[tuple[str, str]]:
    """Return the title of each piece of a memory with the id of the last item that it names."""
    return [(found[1] or found[0], ids[-1]) for found in _PIECE.finditer(content) if (ids := list_ids(found[0]))]
