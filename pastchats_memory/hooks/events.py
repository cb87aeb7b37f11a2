"""Answer an agent's events: recall for a prompt, a line at a session's start."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from pastchats_memory.config import load
from pastchats_memory.hooks import BUDGET_BYTES, find_state, session
from pastchats_memory.hooks.event import Event
from pastchats_memory.hooks.prompt import query_for
from pastchats_memory.memory import Memory
from pastchats_memory.memory.requests import project_of_folder
from pastchats_memory.text.encoding import utf8
from pastchats_memory.text.recall_block import RECALL_PREAMBLE

LIMIT = 3
"""Entries of a block."""


def recall(event: Event, database: str | None) -> str | None:
    """Return the block for the event's prompt; None if it needs none or nothing fits.

    Raises MemoryFault.
    """
    query = query_for(event.prompt)
    if query is None:
        return None
    state = find_state(database) if event.session else None
    with _opened(event, database) as memory:
        block = memory.recall(
            query,
            BUDGET_BYTES - len(RECALL_PREAMBLE) - 1,
            limit=LIMIT,
            current_project=event.cwd and project_of_folder(event.cwd),
            not_conversation=event.session and utf8(event.session),
            given=session.given(state, event.session) if state and event.session else frozenset(),
            unasked=True,
            count_tokens=_count_bytes,
        )
    if not block.entries:
        return None
    if state and event.session:
        with suppress(OSError):
            session.remember(state, event.session, frozenset().union(*(entry.ids for entry in block.entries)))
    return f"{RECALL_PREAMBLE}\n{block.text}"


def greet(event: Event, database: str | None) -> str | None:
    """Return a line about the memory and the command that asks it.

    None if it is empty. Raises MemoryFault.
    """
    if (state := find_state(database)) is not None:
        session.forget_old(state)
    with _opened(event, database) as memory:
        turns = memory.status().turns
    if not turns:
        return None
    return (
        f"pastchats-memory holds {turns:,} turns of earlier conversations on this machine. "
        "Before new work: pastchats-memory recall 'the task in a few words' (one item whole: pastchats-memory show ID)."
    )


def _opened(event: Event, database: str | None) -> Memory:
    config = load(database, here=Path(event.cwd) if event.cwd else None)
    return Memory.open(config.database, create=False, config=config, is_urgent=True)


def _count_bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
