"""Answer an agent's events: recall for a prompt, a line at a session's start."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pastchats_memory.config import Config, load, private_among
from pastchats_memory.files.project import project_at
from pastchats_memory.hooks import BUDGET_BYTES, find_state, session
from pastchats_memory.hooks.event import Event
from pastchats_memory.hooks.prompt import query_for
from pastchats_memory.model import Filters
from pastchats_memory.recall.by_words import recall_by_words
from pastchats_memory.recall.request import RecallRequest
from pastchats_memory.search.request import Request
from pastchats_memory.store import sources
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.text.encoding import utf8
from pastchats_memory.text.recall_block import RECALL_PREAMBLE

if TYPE_CHECKING:
    from pastchats_memory.memory import Memory
    from pastchats_memory.model import RecallBlock

LIMIT = 3
"""Entries of a block."""


def recall(event: Event, database: str | None) -> str | None:
    """Return the block for the event's prompt; None if it needs none or nothing fits.

    Raises MemoryFault.
    """
    state = find_state(database) if event.session else None
    given = session.given(state, event.session) if state and event.session else frozenset()
    block = find_block(event, database, given)
    if block is None or not block.entries:
        return None
    if state and event.session:
        with suppress(OSError):
            session.remember(state, event.session, frozenset().union(*(entry.ids for entry in block.entries)))
    return f"{RECALL_PREAMBLE}\n{block.text}"


def find_block(event: Event, database: str | None, given: frozenset[str] = frozenset()) -> RecallBlock | None:
    """Return the block for the event's prompt, perhaps without entries; None if the prompt asks nothing.

    Words decide if they can. Only otherwise are NumPy and the model imported. Raises MemoryFault.

    Args:
        event: the prompt, with folder and session.
        database: the file; None for the configured one.
        given: ids of items that the session has already.
    """
    query = query_for(event.prompt)
    if query is None:
        return None
    config = load(database, here=Path(event.cwd) if event.cwd else None)
    project = event.cwd and utf8(project_at(event.cwd))
    with open_database(config.database, create=False, vec0=False) as opened, opened.snapshot():
        private, unchecked = sources.private_projects(opened)
        hidden = tuple(sorted((private | private_among(unchecked)) - {project}))
        request = RecallRequest(
            Request(utf8(query), limit=LIMIT, filters=Filters(hidden=hidden)),
            BUDGET_BYTES - len(RECALL_PREAMBLE) - 1,
            current_project=project,
            exclude_conversation=event.session and utf8(event.session),
            exclude_items=given,
            is_unasked=True,
        )
        block = recall_by_words(opened, request, _count_bytes)
        if block is not None and config.team and _may_team_answer(opened, config, request.search.text):
            block = None
    return _search_block(request, config) if block is None else block


def _may_team_answer(database: Database, config: Config, query: str) -> bool:
    """Check whether the copy of a team's memory has a row with enough of a prompt's names. Raises MemoryFault."""
    from pastchats_memory.recall.word_evidence import measure_words
    from pastchats_memory.store.copy_path import copy_path

    path = copy_path(database.path)
    if not config.team_endpoint or not path.is_file():
        return False
    with open_database(path, create=False, vec0=False) as copy:
        evidence = measure_words(copy, query)
    return evidence is None or evidence.may_answer


def _search_block(request: RecallRequest, config: Config) -> RecallBlock:
    """Return the block of a search by words and meaning; the model loads while the rest is imported."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy would start threads that nothing here has work for
    from pastchats_memory.embed.packaged import load_in_background

    load_in_background()
    with _opened(config) as memory:
        return memory.recall(
            request.search.text,
            request.budget,
            limit=request.search.limit,
            current_project=request.current_project,
            not_conversation=request.exclude_conversation,
            given=request.exclude_items,
            unasked=request.is_unasked,
            count_tokens=_count_bytes,
        )


def greet(event: Event, database: str | None) -> str | None:
    """Return a line about the memory and the command that asks it.

    None if it is empty. Raises MemoryFault.
    """
    if (state := find_state(database)) is not None:
        session.forget_old(state)
    config = load(database, here=Path(event.cwd) if event.cwd else None)
    with _opened(config) as memory:
        turns = memory.status().turns
    if not turns:
        return None
    return (
        f"pastchats-memory holds {turns:,} turns of earlier conversations on this machine. "
        "Before new work: pastchats-memory recall 'the task in a few words' (one item whole: pastchats-memory show ID)."
    )


def _opened(config: Config) -> Memory:
    from pastchats_memory.memory import Memory  # brings NumPy

    return Memory.open(config.database, create=False, config=config, is_urgent=True)


def _count_bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
