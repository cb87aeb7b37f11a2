"""Find the block for a prompt that names something the memory knows.

Every function that reads the memory raises MemoryFault if it cannot be read.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING

from pastchats_memory.config import Config, private_among
from pastchats_memory.hooks import session
from pastchats_memory.hooks.prompt import find_own_words
from pastchats_memory.recall.by_words import build_block, recall_by_words
from pastchats_memory.recall.earlier_prompt import find_earlier_prompt
from pastchats_memory.recall.request import RecallRequest
from pastchats_memory.search.request import Request
from pastchats_memory.store import sources
from pastchats_memory.text.encoding import count_bytes, utf8
from pastchats_memory.text.recall_block import RECALL_PREAMBLE
from pastchats_memory.text.words import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from pastchats_memory.hooks.event import HookEvent
    from pastchats_memory.memory import Memory
    from pastchats_memory.model.episodes import RecallBlock
    from pastchats_memory.recall.word_evidence import WordEvidence
    from pastchats_memory.store.database import Database

    OpenMemory = Callable[[Config], AbstractContextManager[Memory]]

LIMIT = 3
"""Entries of a block."""
BUDGET_BYTES = 1500
"""Bytes of the context that a prompt gets."""


def make_request(event: HookEvent, query: str, project: str | None, state: Path | None) -> RecallRequest:
    """Return what to recall for a prompt, without what the session has already."""
    return RecallRequest(
        Request(query, limit=LIMIT),
        BUDGET_BYTES - len(RECALL_PREAMBLE) - 1,
        current_project=project,
        exclude_conversation=event.session and utf8(event.session),
        exclude_items=session.given(state, event.session) if state and event.session else frozenset(),
        is_unasked=True,
    )


def find_by_words(database: Database, evidence: WordEvidence, request: RecallRequest) -> RecallBlock | None:
    """Return the block of the conversation that leads by words; None if none does."""
    return recall_by_words(_hide_private(database, request), evidence, request, _count_all_bytes)


def find_repeated(database: Database, request: RecallRequest) -> RecallBlock | None:
    """Return the block of the newest turn in which the same was asked in this project; None if there is none."""
    if request.current_project is None:
        return None
    database = _hide_private(database, request)
    text = request.search.text
    hits = find_earlier_prompt(database, text, request.current_project, request.exclude_conversation, find_own_words)
    from pastchats_memory.episodes.successors import list_successors  # a prompt that is new needs none of it

    found = [*hits, *(one for hit in hits for one in list_successors(database, hit))]
    return build_block(database, found, dict.fromkeys(words(text), 1.0), request, _count_all_bytes)


def _hide_private(database: Database, request: RecallRequest) -> Database:
    private, unchecked = sources.private_projects(database)
    return database.hide((private | private_among(unchecked)) - {request.current_project})


def find_by_search(request: RecallRequest, config: Config, open_memory: OpenMemory | None = None) -> RecallBlock:
    """Return the block of a search by words and meaning."""
    with (open_memory or _open_for_one_question)(config) as memory:
        return memory.recall(
            request.search.text,
            request.budget,
            limit=request.search.limit,
            current_project=request.current_project,
            not_conversation=request.exclude_conversation,
            given=request.exclude_items,
            unasked=request.is_unasked,
            count_tokens=count_bytes,
        )


def give(block: RecallBlock, state: Path | None, session_id: str | None) -> str:
    """Return the text of a block, and remember for the session what it holds."""
    if state and session_id:
        with suppress(OSError):
            session.remember(state, session_id, frozenset().union(*(entry.ids for entry in block.entries)))
    return f"{RECALL_PREAMBLE}\n{block.text}"


def _open_for_one_question(config: Config) -> Memory:
    """Open the memory of a configuration, which brings NumPy; the model loads while the rest is imported."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy would start threads that nothing here has work for
    from pastchats_memory.embed.packaged import load_in_background

    load_in_background()
    from pastchats_memory.memory import Memory

    return Memory.open(config.database, create=False, config=config, is_urgent=True)


def _count_all_bytes(texts: Iterable[str]) -> list[int]:
    return [*map(count_bytes, texts)]
