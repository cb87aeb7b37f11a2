"""One question to ranked hits: words and meaning side by side, fused by `rank`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pastchats_memory.embed import Embedder, Vector, is_english
from pastchats_memory.errors import ModelChanged, ModelUnavailable, UsageFault
from pastchats_memory.model import Filters, Hit, Hits, Item, Place, TaskText
from pastchats_memory.search.background import _Beside
from pastchats_memory.search.candidates import by_evidence, by_words
from pastchats_memory.search.hits import Fit, hit_of, with_snippet
from pastchats_memory.search.lexical import NO_FILTERS, Matches, Terms, best, matches_of, shares, terms_of
from pastchats_memory.search.no_results import nothing_passes
from pastchats_memory.search.query import asked_in
from pastchats_memory.search.rank import (
    MEANING,
    TOGETHER,
    WEIGHTS,
    WORDS,
    Ranked,
    balanced,
    continued,
    fuse,
    read_again,
    relevance,
)
from pastchats_memory.search.request import EVEN, MOST_HITS, Request
from pastchats_memory.search.times import Times, times_of
from pastchats_memory.store import sources, tasks, vectors
from pastchats_memory.store import turns as turn_rows
from pastchats_memory.store.database import Database
from pastchats_memory.store.filters import is_any
from pastchats_memory.store.ids import Ids
from pastchats_memory.store.pending_deletes import without_buried
from pastchats_memory.text.excerpt import excerpt
from pastchats_memory.text.identifiers import is_spaceless

# A ranked row as the hit that callers are given, and where its text can be read now.


# Why nothing was found, where that is not for the question.


DEPTH = 100
"""Rows of each list whose evidence is weighed; further ones follow in the order of the plain lists."""
UNREAD = (
    "the model knows English only, so these results are by words alone; "
    "`pastchats-memory reindex --embeddings --model NAME` takes a model that knows more languages"
)
UNTIL_INDEXED = "until the next `pastchats-memory index`, which looks at their parts too"
UNFIT = Fit(0.0, 0.0)
"""Of a row that has lost its vector, in a damaged database."""
READ_AGAIN = 30
"""Rows that a cross-encoder reads: each costs it as much as to embed the row."""

Scoring = Callable[[str, Sequence[str]], NDArray[np.float64]]
"""Of a question and texts a number for each text, larger is better: a cross-encoder."""


def search(database: Database, embedder: Embedder, request: Request, scoring: Scoring | None = None) -> Hits:
    """The hits of a request, best first; of a `scoring`, the first READ_AGAIN by that. Raises StoreFault, ModelUnavailable."""
    hits, terms = search_terms(database, embedder, request, scoring)
    return Hits((with_snippet(hit, terms) for hit in hits), hits.warnings, hits.time_read)


def search_terms(
    database: Database, embedder: Embedder, request: Request, scoring: Scoring | None = None
) -> tuple[Hits, Terms]:
    """The hits of a request, best first, without snippets, and what its words were taken for. Raises StoreFault.

    Of a text of some pages the snippet takes milliseconds, and recall looks at many more hits than it shows.
    """
    asked = asked_in(request.text)
    request = replace(request, filters=without_buried(database, request.filters))
    embedding = _Beside(partial(embedder.embed_query, asked.said)) if request.needs_vector else None
    times = times_of(database, asked.said, request.filters, request.today, may_filter=request.time_filters)
    request = replace(request, filters=times.filters)
    passing = None if embedding is None else vectors.passing_ids(database, request.filters)
    proposal = None if embedding is None else _proposal(database, request, embedding, passing)
    terms = terms_of(database, asked)
    matches = matches_of(database, terms, request.filters, passing)
    near: _Near | None = None
    warnings = list(times.warnings)
    if embedding is not None:
        try:
            near = _Near(embedding.value(), proposal)
            sources.require_model(database, embedder.name, embedder.version)
        except (ModelUnavailable, ModelChanged) as fault:
            near = None
            warnings.append(f"{fault.message}; these results are by words alone. {fault.hint}".strip())
    if near is not None and _is_unread(request, asked.said, matches, embedder):
        near = None
        warnings.append(UNREAD)
    if terms.behind:
        warnings.append(f"{terms.behind} rows of an older release are searched for whole words only {UNTIL_INDEXED}")
    fused = _fused(database, request, matches, near, times)
    if scoring is not None and fused:
        found = _rows(database, [row.id for row in fused[:READ_AGAIN]], request.filters.hidden)
        texts = [found[row.id].content for row in fused[:READ_AGAIN]]
        fused = read_again(fused, scoring(asked.said, texts))
    hits = _page(database, request, fused, matches, near)
    if not hits:
        warnings += nothing_passes(database, request.filters)
    return Hits(hits, tuple(warnings), times.read), terms


def _is_unread(request: Request, said: str, matches: Matches, embedder: Embedder) -> bool:
    """Whether the question is in a script that the model never learnt, and its characters lead somewhere without it."""
    asks_both = request.mode == "hybrid" and 0 < request.meaning <= EVEN
    return asks_both and len(matches.ids) > 0 and is_english(embedder.name) and is_spaceless(said)


class _Near(NamedTuple):
    """The question's vector, and what was proposed beside the words."""

    vector: Vector
    proposal: _Beside[vectors.Proposed | None] | None


def _proposal(
    database: Database, request: Request, embedding: _Beside[Vector], passing: Ids | None
) -> _Beside[vectors.Proposed | None] | None:
    """The nearest neighbours' candidates, made as soon as there is a vector; None where that would take the database."""
    depth = DEPTH if request.mode == "hybrid" else max(request.last, DEPTH)
    propose = vectors.proposing(database, depth, passing) if request.asks_meaning else None
    return None if propose is None else _Beside(lambda: propose(embedding.value()))


def _fused(database: Database, request: Request, matches: Matches, near: _Near | None, times: Times) -> list[Ranked]:
    """Rows best first: those of the first DEPTH places by what speaks for them, further ones where they are asked for."""
    last = request.last
    if near is None or not request.asks_meaning:
        found = best(database, matches, max(last, DEPTH))
        by_evidence_of_words = by_words(database, matches, sorted(found[:DEPTH]), times)
        fused = fuse({WORDS: found[:DEPTH], TOGETHER: by_evidence_of_words}, WEIGHTS)
        return continued(fused, {WORDS: found[:last]}, WEIGHTS)
    if request.mode == "semantic":
        return fuse({MEANING: _nearest(database, request, matches, near, max(last, DEPTH))}, {MEANING: 1.0})
    found = best(database, matches, DEPTH)
    by_meaning = _nearest(database, request, matches, near, DEPTH)
    pool = sorted({*found, *by_meaning})
    together = by_evidence(database, matches, near.vector, pool, times, request.meaning)
    head = {WORDS: found, MEANING: by_meaning, TOGETHER: together}
    fused = fuse(head, balanced(request.meaning))
    if len(fused) >= last:
        return fused
    further = {
        WORDS: best(database, matches, MOST_HITS),
        MEANING: _nearest(database, request, matches, near, MOST_HITS),
    }
    return continued(fused, further, balanced(request.meaning))


def _nearest(database: Database, request: Request, matches: Matches, near: _Near, k: int) -> list[int]:
    proposed = None if near.proposal is None else near.proposal.value()
    found = vectors.nearest(database, near.vector, k, request.filters, matches.passing, proposed)
    return [one.id for one in found]


def _page(
    database: Database, request: Request, fused: Sequence[Ranked], matches: Matches, near: _Near | None
) -> tuple[Hit, ...]:
    last = request.limit * request.page
    window = fused if request.is_selective else fused[:last]
    fits = {} if near is None else _fits(database, [row.id for row in window], matches, near.vector)
    if fits:
        window = [row for row in window if request.takes(fits.get(row.id, UNFIT))]
    shown = window[last - request.limit : last]
    found = _rows(database, [row.id for row in shown], request.filters.hidden)
    first = last - request.limit + 1
    return tuple(hit_of(found[row.id], row, place, fits.get(row.id)) for place, row in enumerate(shown, start=first))


def _rows(database: Database, ids: Sequence[int], hidden: Sequence[str]) -> dict[int, Item | TaskText]:
    turns: dict[int, Item | TaskText] = {item.id: item for item in turn_rows.items(database, ids)}
    return turns | {text.id: text for text in tasks.task_texts(database, ids, hidden)}


def _fits(database: Database, ids: Sequence[int], matches: Matches, query_vector: Vector) -> dict[int, Fit]:
    scored = vectors.score(database, query_vector, ids)
    found = shares(matches, np.array([row.id for row in scored], dtype=np.int64))
    relevant = relevance(np.array([row.similarity for row in scored]), found, matches.searched)
    return {row.id: Fit(row.similarity, round(value, 6)) for row, value in zip(scored, relevant.tolist(), strict=True)}
