"""Before work starts: which episodes to remember, how much of each, and when to say nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pastchats_memory.embed import Embedder
from pastchats_memory.model import Hit, Hits, RecallBlock
from pastchats_memory.recall.budget import fit_budget
from pastchats_memory.recall.entries import build_entries, put_solutions_first, resolve_citations
from pastchats_memory.recall.request import RecallRequest
from pastchats_memory.recall.selection import above_threshold, drop_weak_outputs, settle_near_ties
from pastchats_memory.search import search_with_terms
from pastchats_memory.search.request import MOST_HITS, Request
from pastchats_memory.store import turns
from pastchats_memory.store.database import Database

CANDIDATES = 40
"""Hits that are looked at for a block; several of them may belong to one episode."""


def recall(
    database: Database, embedder: Embedder, request: RecallRequest, count_tokens: Callable[[str], int]
) -> RecallBlock:
    """The block for a request, empty of memories where nothing fits.

    Raises:
        StoreFault: the database cannot be read.
    """
    here = request.not_conversation
    said_here = 0 if here is None else turns.turns_in(database, here)
    wide = replace(request.search, limit=min(MOST_HITS, CANDIDATES + said_here), page=1)
    found, terms = search_with_terms(database, embedder, wide)
    if said_here:
        found = Hits((hit for hit in found if hit.conversation_id != here), found.warnings)
    worth = drop_weak_outputs(above_threshold(found, terms, request.least_relevance))
    hits = settle_near_ties(worth, request.current_project)
    others = _search_any_outcome(database, embedder, request, wide) if hits and wide.filters.outcomes else hits
    memories = put_solutions_first(resolve_citations(database, build_entries(database, hits, others, terms, request)))
    block = fit_budget(request.search.text, memories, terms.weights, request.budget, count_tokens)
    return block._replace(warnings=found.warnings)


def _search_any_outcome(database: Database, embedder: Embedder, request: RecallRequest, wide: Request) -> list[Hit]:
    """The hits of which threads are made: what failed before, and what took its place, does not pass a filter for what worked."""
    unfiltered = replace(wide, filters=wide.filters._replace(outcomes=()))
    found, terms = search_with_terms(database, embedder, unfiltered)
    worth = above_threshold(found, terms, request.least_relevance)
    here = request.not_conversation
    return [hit for hit in worth if here is None or hit.conversation_id != here]
