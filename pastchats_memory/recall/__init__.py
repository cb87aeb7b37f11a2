"""Before work starts: which episodes to remember, how much of each, and when to say nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import NamedTuple

from pastchats_memory.citations import cited_hits
from pastchats_memory.embed import Embedder
from pastchats_memory.episodes.around import episode_around, said
from pastchats_memory.episodes.done import FAILED, done_in
from pastchats_memory.episodes.threads import Thread, cited_attempts, thread_of
from pastchats_memory.errors import UsageFault
from pastchats_memory.model import RESOLVED, Block, Hit, Hits, Item, Outcome, Recollection, StoredTask
from pastchats_memory.recall.budget import within_budget
from pastchats_memory.recall.entries import _cited, _episodes, _solved_first
from pastchats_memory.recall.request import RecallRequest
from pastchats_memory.recall.selection import LEAST_RELEVANCE, _settle_near_ties, _without_weak_outputs, worth_saying
from pastchats_memory.search import search_terms
from pastchats_memory.search.hits import hit_at, with_snippet
from pastchats_memory.search.lexical import Terms
from pastchats_memory.search.request import MOST_HITS, Request
from pastchats_memory.store import outcomes, turns
from pastchats_memory.store.database import Database
from pastchats_memory.store.outcomes import Ending
from pastchats_memory.text.excerpt import excerpt, present
from pastchats_memory.text.key_sentences import decisive

CANDIDATES = 40
"""Hits that are looked at for a block; several of them may belong to one episode."""


def recall(database: Database, embedder: Embedder, request: RecallRequest, count_tokens: Callable[[str], int]) -> Block:
    """The block for a request, empty of memories where nothing fits.

    Raises:
        StoreFault: the database cannot be read.
    """
    here = request.not_conversation
    said_here = 0 if here is None else turns.turns_in(database, here)
    wide = replace(request.search, limit=min(MOST_HITS, CANDIDATES + said_here), page=1)
    found, terms = search_terms(database, embedder, wide)
    if said_here:
        found = Hits((hit for hit in found if hit.conversation_id != here), found.warnings)
    worth = _without_weak_outputs(worth_saying(found, terms, request.least_relevance))
    hits = _settle_near_ties(worth, request.current_project)
    others = _of_any_outcome(database, embedder, request, wide) if hits and wide.filters.outcomes else hits
    memories = _solved_first(_cited(database, _episodes(database, hits, others, terms, request)))
    block = within_budget(request.search.text, memories, terms.weights, request.budget, count_tokens)
    return block._replace(warnings=found.warnings)


def _of_any_outcome(database: Database, embedder: Embedder, request: RecallRequest, wide: Request) -> list[Hit]:
    """The hits of which threads are made: what failed before, and what took its place, does not pass a filter for what worked."""
    unfiltered = replace(wide, filters=wide.filters._replace(outcomes=()))
    found, terms = search_terms(database, embedder, unfiltered)
    worth = worth_saying(found, terms, request.least_relevance)
    here = request.not_conversation
    return [hit for hit in worth if here is None or hit.conversation_id != here]
