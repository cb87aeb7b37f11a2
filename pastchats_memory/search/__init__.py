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
from pastchats_memory.search.candidates import by_evidence, by_words
from pastchats_memory.search.lexical import NO_FILTERS, Matches, Terms, best, matches_of, shares, terms_of
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
from pastchats_memory.search.times import Times, times_of
from pastchats_memory.store import sources, tasks, vectors
from pastchats_memory.store import turns as turn_rows
from pastchats_memory.store.database import Database
from pastchats_memory.store.filters import is_any
from pastchats_memory.store.ids import Ids
from pastchats_memory.store.pending_deletes import exclude_pending
from pastchats_memory.text.excerpt import excerpt
from pastchats_memory.text.identifiers import is_spaceless

# A ranked row as the hit that callers are given, and where its text can be read now.

NOT_RANKED: Any = {
    "rank": 0,
    "score": 0.0,
    "relevance": None,
    "lexical_rank": None,
    "semantic_rank": None,
    "similarity": None,
    "snippet": "",
}
"""The fields of a hit that say how it was found."""


class Fit(NamedTuple):
    """How well a row fits the question, in itself rather than among others."""

    similarity: float
    """Cosine."""
    relevance: float
    """0 to 1."""


def hit_of(item: Item | TaskText, row: Ranked, place: int, fit: Fit | None) -> Hit:
    """The hit at a place, counted from 1; without a fit where the question has no vector."""
    hit = _task_hit(item) if isinstance(item, TaskText) else _turn_hit(item)
    return hit._replace(
        rank=place,
        score=row.score,
        relevance=None if fit is None else fit.relevance,
        lexical_rank=row.ranks.get(WORDS),
        semantic_rank=row.ranks.get(MEANING),
        similarity=None if fit is None else fit.similarity,
        contributions=row.contributions,
    )


def _turn_hit(item: Item) -> Hit:
    """At the place that it is filed under; whether that holds is asked of the few hits that are shown (`citations`)."""
    where = filed_place(item)
    return Hit(
        **NOT_RANKED,
        id=str(item.id),
        type="note" if item.role == "note" else "prompt",
        content=item.content,
        role=item.role,
        source_path=where.path,
        source_line=where.line or None,
        source_project=item.project,
        conversation_id=item.conversation_id,
        turn_index=item.turn_index,
        timestamp=item.timestamp,
        metadata=item.metadata,
    )


def hit_at(hit: Hit, item: Item) -> Hit:
    """The hit, found as it was, of another turn."""
    if hit.id == str(item.id):
        return hit
    other = _turn_hit(item)
    return other._replace(**{name: getattr(hit, name) for name in NOT_RANKED}, contributions=hit.contributions)


def _task_hit(text: TaskText) -> Hit:
    task = text.task
    return Hit(
        **NOT_RANKED,
        id=text.shown_id,
        type=task.type if text.kind == "task" else text.kind,
        content=text.content,
        role="task",
        source_path=task.source_path,
        source_line=task.source_line,
        source_project=task.project,
        conversation_id=task.conversations[0] if task.conversations else None,
        turn_index=0,
        timestamp=text.timestamp,
        metadata={"format": "by-hand", **task.metadata, "branch": "main", "kind": text.kind},
        task=task,
    )


def filed_place(item: Item) -> Place:
    """Where the turn is cited."""
    return item.places[0] if item.places else Place(item.source_path, 0, None)


# Why nothing was found, where that is not for the question.

ALIKE = 3
"""Projects that are named in the place of one that is not there."""


def nothing_passes(database: Database, filters: Filters) -> tuple[str, ...]:
    """A warning where the filters would let nothing through whatever was asked. Raises StoreFault."""
    if is_any(database, filters):
        return ()
    if not is_any(database, NO_FILTERS):
        return ("the memory is empty; `pastchats-memory index --all` fills it, or `index PATH`",)
    of_project = Filters(project=filters.project, hidden=filters.hidden)
    if filters.since and filters.until and filters.since > filters.until:
        return ("no row passes the filters: `since` names a later time than `until`",)
    if filters.project is None or is_any(database, of_project):
        return ("no row passes the filters, whatever is asked",)
    from difflib import get_close_matches

    named = {name.lower(): name for name in sources.project_names(database) if name not in filters.hidden}
    alike = [named[name] for name in get_close_matches(filters.project.lower(), named, ALIKE)]
    others = f"; there is {', '.join(alike)}" if alike else ""
    return (f"nothing is stored of the project {filters.project}{others}",)


Value = TypeVar("Value")

MODES = ("hybrid", "keyword", "semantic")
MOST_HITS = 1000
DEPTH = 100
"""Rows of each list whose evidence is weighed; further ones follow in the order of the plain lists."""
SNIPPET_WIDTH = 240
EVEN = 0.5
"""Balance of words and meaning."""
UNREAD = (
    "the model knows English only, so these results are by words alone; "
    "`pastchats-memory reindex --embeddings --model NAME` takes a model that knows more languages"
)
UNFIT = Fit(0.0, 0.0)
"""Of a row that has lost its vector, in a damaged database."""
READ_AGAIN = 30
"""Rows that a cross-encoder reads: each costs it as much as to embed the row."""

Scoring = Callable[[str, Sequence[str]], NDArray[np.float64]]
"""Of a question and texts a number for each text, larger is better: a cross-encoder."""


@dataclass(frozen=True, slots=True)
class Request:
    """A search, checked: what cannot be asked is refused when it is made. Raises UsageFault."""

    text: str
    mode: str = "hybrid"
    limit: int = 10
    page: int = 1
    filters: Filters = NO_FILTERS
    threshold: float | None = None
    """Least relevance, 0 to 1."""
    min_similarity: float | None = None
    """Least cosine."""
    meaning: float = EVEN
    """0 is words alone, 1 meaning alone."""
    today: date = field(default_factory=date.today)
    """What "last week" in the text counts from."""
    time_filters: bool = False
    """Whether a time in the text may leave rows out, rather than only speak for what was said then."""

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise UsageFault("the query is empty", "Say what to look for: pastchats-memory search 'retry strategy'.")
        if self.mode not in MODES:
            raise UsageFault(f"unknown mode {self.mode!r}", f"Use one of {', '.join(MODES)}.")
        if self.limit < 1 or self.page < 1:
            raise UsageFault("limit and page start at 1", "Leave them out for the first ten results.")
        if self.limit * self.page > MOST_HITS:
            raise UsageFault(
                f"limit × page is at most {MOST_HITS}", "Narrow the search with --project, --since or --role."
            )
        if any(least is not None and not -1 <= least <= 1 for least in (self.threshold, self.min_similarity)):
            raise UsageFault("a threshold runs from -1 to 1", "Leave it out for all results.")
        if not 0 <= self.meaning <= 1:
            raise UsageFault("meaning runs from 0 (words) to 1 (meaning)", "Leave it out for the usual balance.")

    @property
    def needs_vector(self) -> bool:
        """Whether the model has to be asked."""
        return self.mode != "keyword" or self.is_selective

    @property
    def asks_meaning(self) -> bool:
        """Whether the nearest neighbours are among what is ranked."""
        return self.mode != "keyword" and self.meaning > 0

    @property
    def is_selective(self) -> bool:
        """Whether hits are kept by what they are worth, so that more have to be looked at than are shown."""
        return self.threshold is not None or self.min_similarity is not None

    @property
    def last(self) -> int:
        """Place of the last hit that is looked at."""
        return MOST_HITS if self.is_selective else self.limit * self.page

    def takes(self, fit: Fit) -> bool:
        """Whether a row that fits so well is a hit."""
        return (self.threshold is None or fit.relevance >= self.threshold) and (
            self.min_similarity is None or fit.similarity >= self.min_similarity
        )


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
    request = replace(request, filters=exclude_pending(database, request.filters))
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


def with_snippet(hit: Hit, terms: Terms) -> Hit:
    """The hit with the part of its text that is about the question, on one line."""
    return hit._replace(snippet=" ".join(excerpt(hit.content, terms.weights, SNIPPET_WIDTH).split()))


class _Beside(Generic[Value]):
    """What a call says, made in a thread: models, NumPy and SQLite all leave Python's lock alone."""

    def __init__(self, call: Callable[[], Value]) -> None:
        self._call = call
        self._said: list[Value] = []
        self._fault: ModelUnavailable | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._said.append(self._call())
        except ModelUnavailable as fault:
            self._fault = fault

    def value(self) -> Value:
        """Wait for it. Raises ModelUnavailable."""
        self._thread.join()
        if not self._said:
            raise self._fault or AssertionError("the thread ended with a traceback of its own")
        return self._said[0]


class _Near(NamedTuple):
    """The question's vector, and what was proposed beside the words."""

    vector: Vector
    proposal: _Beside[vectors.Candidates | None] | None


def _proposal(
    database: Database, request: Request, embedding: _Beside[Vector], passing: Ids | None
) -> _Beside[vectors.Candidates | None] | None:
    """The nearest neighbours' candidates, made as soon as there is a vector; None where that would take the database."""
    depth = DEPTH if request.mode == "hybrid" else max(request.last, DEPTH)
    propose = vectors.prepare_scan(database, depth, passing) if request.asks_meaning else None
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
