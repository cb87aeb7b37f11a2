"""One question to ranked hits: words and meaning side by side, fused by `rank`."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pastchats_memory.embed import Embedder, Vector
from pastchats_memory.errors import ModelChanged, ModelUnavailable, UsageFault
from pastchats_memory.excerpt import excerpt
from pastchats_memory.model import Filters, Hit, Hits, Item, Place, TaskText
from pastchats_memory.query import coverage, looked_up, pairs, term, words
from pastchats_memory.rank import (
    MEANING,
    TOGETHER,
    WORDS,
    Ranked,
    Signals,
    balanced,
    continued,
    evidence,
    fuse,
    relevance,
    standing_out,
)
from pastchats_memory.store import lexical, prompts, sources, task_rows, vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.filters import allowed_ids, count, spread_ids

NO_FILTERS = Filters()
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
MODES = ("hybrid", "keyword", "semantic")
MOST_HITS = 1000
DEPTH = 100
"""Rows of each list whose evidence is weighed; further ones follow in the order of the plain lists."""
REACH = 2
"""Turns on each side of a row whose words speak for it."""
TYPED_ROLES = frozenset({"user", "note"})
"""Of rows that a person wrote; texts of tasks count with them."""
SNIPPET_WIDTH = 240

SAMPLE = 256
"""Rows that stand for the searched corpus, whose mean and spread they give nearly as well as all of it."""


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
    meaning: float = 0.5
    """0 is words alone, 1 meaning alone."""

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
    def is_selective(self) -> bool:
        """Whether hits are kept by what they are worth, so that more have to be looked at than are shown."""
        return self.threshold is not None or self.min_similarity is not None


def search(database: Database, embedder: Embedder, request: Request) -> Hits:
    """The hits of a request, best first. Raises StoreFault."""
    hits, terms = search_terms(database, embedder, request)
    return Hits((with_snippet(hit, terms) for hit in hits), hits.warnings)


def search_terms(database: Database, embedder: Embedder, request: Request) -> tuple[Hits, Terms]:
    """The hits of a request, best first, without snippets, and what its words were taken for. Raises StoreFault.

    Of a text of some pages the snippet takes milliseconds, and recall looks at many more hits than it shows.
    """
    embedding = _Embedding(embedder, request.text) if request.needs_vector else None
    terms = _terms(database, request.text)
    matches = _matches(database, terms, request.filters)
    warnings: list[str] = []
    query_vector: Vector | None = None
    if embedding is not None:
        try:
            query_vector = embedding.vector()
            sources.require_model(database, embedder.name, embedder.version)
        except (ModelUnavailable, ModelChanged) as fault:
            query_vector = None
            warnings.append(f"{fault.message}; these results are by words alone. {fault.hint}".strip())
    fused = _fused(database, request, matches, query_vector)
    return Hits(_page(database, request, fused, matches, query_vector), tuple(warnings)), terms


def with_snippet(hit: Hit, terms: Terms) -> Hit:
    """The hit with the part of its text that is about the question, on one line."""
    return replace(hit, snippet=" ".join(excerpt(hit.content, terms.weights, SNIPPET_WIDTH).split()))


@dataclass(frozen=True, slots=True)
class Terms:
    """What the corpus makes of a query's words."""

    weights: dict[str, float]
    """Of each word that occurs: how much it tells."""
    looked_up: dict[str, float]
    """The importance of the words to look up."""
    pairs: dict[str, float]
    """Words that stand side by side, and how much it tells that they do."""
    coverage: float
    """Share of the query's weight that the corpus knows at all, 0 to 1."""


def _terms(database: Database, text: str) -> Terms:
    stems = lexical.stems(database, words(text))
    frequencies = lexical.document_frequencies(database, {stem for of_word in stems.values() for stem in of_word})
    corpus = count(database, NO_FILTERS)
    by_stems = {of_word: word for word, of_word in reversed(stems.items()) if of_word}
    terms = [
        term(word, min(frequencies[stem] for stem in of_word), corpus) for of_word, word in reversed(by_stems.items())
    ]
    chosen = looked_up(terms)
    return Terms(
        {term.word: term.weight for term in terms if term.rows},
        chosen,
        pairs(text, [term for term in terms if term.word in chosen]),
        coverage(terms),
    )


@dataclass(frozen=True, slots=True)
class _Matches:
    """The rows that a query's words lead to."""

    terms: Terms
    postings: Mapping[str, lexical.Postings]
    ids: list[int]
    """Those that the filters let through, best first, equal ones by id."""


def _matches(database: Database, terms: Terms, filters: Filters) -> _Matches:
    found = lexical.postings(database, terms.looked_up, filters)
    if not found:
        return _Matches(terms, {}, [])
    every = np.concatenate([rows.ids for rows in found.values()])
    scores = np.concatenate([terms.looked_up[word] * rows.scores for word, rows in found.items()])
    ids, places = np.unique(every, return_inverse=True)
    totals = np.bincount(places, scores)
    if filters != NO_FILTERS:
        allowed = np.isin(ids, allowed_ids(database, ids.tolist(), filters))
        ids, totals = ids[allowed], totals[allowed]
    return _Matches(terms, found, ids[np.lexsort((ids, -totals))].tolist())


def _fused(database: Database, request: Request, matches: _Matches, query_vector: Vector | None) -> list[Ranked]:
    """Rows best first: those of the first DEPTH places by what speaks for them, further ones where they are asked for."""
    last = MOST_HITS if request.is_selective else request.limit * request.page
    if query_vector is None or request.mode == "keyword":
        return fuse({WORDS: matches.ids[: max(last, DEPTH)]}, {WORDS: 1.0})
    if request.mode == "semantic":
        return fuse({MEANING: _near(database, request, query_vector, max(last, DEPTH))}, {MEANING: 1.0})
    by_meaning = _near(database, request, query_vector, DEPTH)
    pool = sorted({*matches.ids[:DEPTH], *by_meaning})
    together = _together(database, request, matches, query_vector, pool)
    head = {WORDS: matches.ids[:DEPTH], MEANING: by_meaning, TOGETHER: together}
    fused = fuse(head, balanced(request.meaning))
    if len(fused) >= last:
        return fused
    further = {WORDS: matches.ids[:MOST_HITS], MEANING: _near(database, request, query_vector, MOST_HITS)}
    return continued(fused, further, balanced(request.meaning))


def _near(database: Database, request: Request, query_vector: Vector, k: int) -> list[int]:
    return [neighbour.id for neighbour in vectors.nearest(database, query_vector, k, request.filters)]


def _together(
    database: Database, request: Request, matches: _Matches, query_vector: Vector, pool: Sequence[int]
) -> list[int]:
    """The pool by `rank.evidence`, best first."""
    if not pool:
        return []
    _, rows = vectors.matrix(database, pool)
    sampled, background = vectors.matrix(database, spread_ids(database, request.filters, SAMPLE))
    if not sampled:  # nearly all of a large corpus was deleted
        background = rows
    about = prompts.belongings(database, pool)
    beside = prompts.around(database, pool, REACH, request.filters)
    ids = np.array([*pool, *sorted({other for _, other in beside}.difference(pool))])
    numbers: dict[str | int, int] = {}
    conversations = [numbers.setdefault(about[id_][1] or id_ if id_ in about else id_, len(numbers)) for id_ in pool]
    terms = matches.terms
    signals = Signals(
        matches=np.array([terms.looked_up[word] * _at(rows, ids) for word, rows in matches.postings.items()]).reshape(
            -1, len(ids)
        ),
        weights=np.array([terms.weights[word] * (terms.looked_up[word] == 1) for word in matches.postings]),
        phrases=_phrases(database, terms.pairs, ids[: len(pool)], request.filters),
        around=_places(beside, pool, ids),
        deviations=standing_out(vectors.unit(query_vector), rows, background),
        conversations=np.array(conversations),
        typed=np.array([id_ not in about or about[id_][0] in TYPED_ROLES for id_ in pool]),
    )
    total = evidence(signals, request.meaning)
    return [id_ for _, id_ in sorted(zip((-total).tolist(), pool, strict=True))]


def _at(rows: lexical.Postings, ids: NDArray[np.int64]) -> NDArray[np.float64]:
    """The score of each id, 0 where it does not have the word."""
    if not len(rows.ids):
        return np.zeros(len(ids))
    places = np.minimum(np.searchsorted(rows.ids, ids), len(rows.ids) - 1)
    return np.where(rows.ids[places] == ids, rows.scores[places], 0.0)


def _phrases(
    database: Database, pairs: Mapping[str, float], ids: NDArray[np.int64], filters: Filters
) -> NDArray[np.float64]:
    """The weight of the pairs of words that stand in each row, shape (ids,)."""
    total = np.zeros(len(ids))
    for pair, weight in pairs.items():
        total += weight * np.isin(ids, lexical.having(database, pair, filters))
    return total


def _places(beside: Sequence[tuple[int, int]], pool: Sequence[int], ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each row of the pool where in `ids` the rows around it stand, shape (pool, most of them), -1 for none."""
    at = {id_: place for place, id_ in enumerate(ids.tolist())}
    of: dict[int, list[int]] = {id_: [] for id_ in pool}
    for id_, other in beside:
        of[id_].append(at[other])
    width = max(map(len, of.values()))
    return np.array([places + [-1] * (width - len(places)) for places in of.values()], dtype=np.int64)


class _Embedding:
    """The query's vector, made in a thread: loading the model and looking up words both leave Python's lock alone."""

    def __init__(self, embedder: Embedder, text: str) -> None:
        self._embedder = embedder
        self._text = text
        self._vector: Vector | None = None
        self._fault: ModelUnavailable | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._vector = self._embedder.embed_query(self._text)
        except ModelUnavailable as fault:
            self._fault = fault

    def vector(self) -> Vector:
        """Shape (dim,). Raises ModelUnavailable."""
        self._thread.join()
        if self._vector is None:
            raise self._fault or AssertionError("the embedding thread ended with a traceback of its own")
        return self._vector


def _page(
    database: Database, request: Request, fused: Sequence[Ranked], matches: _Matches, query_vector: Vector | None
) -> tuple[Hit, ...]:
    last = request.limit * request.page
    window = fused if request.is_selective else fused[:last]
    fits = {} if query_vector is None else _fits(database, request, [row.id for row in window], matches, query_vector)
    if fits:
        window = [row for row in window if fits[row.id].is_enough(request)]
    shown = window[last - request.limit : last]
    ids = [row.id for row in shown]
    found: dict[int, Item | TaskText] = {item.id: item for item in prompts.items(database, ids)}
    found |= {text.id: text for text in task_rows.task_texts(database, ids)}
    first = last - request.limit + 1
    return tuple(_hit(found[row.id], row, place, fits.get(row.id)) for place, row in enumerate(shown, start=first))


@dataclass(frozen=True, slots=True)
class _Fit:
    """How well a row fits the question, in itself rather than among others."""

    similarity: float
    relevance: float

    def is_enough(self, request: Request) -> bool:
        return (request.threshold is None or self.relevance >= request.threshold) and (
            request.min_similarity is None or self.similarity >= request.min_similarity
        )


def _fits(
    database: Database, request: Request, ids: Sequence[int], matches: _Matches, query_vector: Vector
) -> dict[int, _Fit]:
    scored = vectors.score(database, query_vector, ids)
    shares = _shares(matches, np.array([row.id for row in scored], dtype=np.int64))
    relevant = relevance(np.array([row.similarity for row in scored]), shares, count(database, request.filters))
    return {row.id: _Fit(row.similarity, round(value, 6)) for row, value in zip(scored, relevant.tolist(), strict=True)}


def _shares(matches: _Matches, ids: NDArray[np.int64]) -> NDArray[np.float64]:
    """How much of the question's weight stands in each row, 0 to 1; words that the corpus does not know count as absent."""
    weights = matches.terms.weights
    total = sum(weights.values()) / matches.terms.coverage if weights else 1.0
    found = np.zeros(len(ids))
    for word, rows in matches.postings.items():
        found += weights[word] * (_at(rows, ids) > 0)
    return found / total


def _hit(item: Item | TaskText, row: Ranked, place: int, fit: _Fit | None) -> Hit:
    hit = _task_hit(item) if isinstance(item, TaskText) else _turn_hit(item)
    return replace(
        hit,
        rank=place,
        score=row.score,
        relevance=None if fit is None else fit.relevance,
        lexical_rank=row.ranks.get(WORDS),
        semantic_rank=row.ranks.get(MEANING),
        similarity=None if fit is None else fit.similarity,
        contributions=row.contributions,
    )


def _turn_hit(item: Item) -> Hit:
    where = standing_place(item)
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


def standing_place(item: Item) -> Place:
    """Where the turn can be read: the first place whose file is still there, else the one it is filed under."""
    standing = (place for place in item.places if sources.is_there(place.path))
    return next(standing, item.places[0] if item.places else Place(item.source_path, 0, None))


def cited(item: Item) -> Item:
    """The item as filed under the place where it can be read now, that place first."""
    where = standing_place(item)
    return replace(item, source_path=where.path, places=tuple(sorted(item.places, key=lambda place: place != where)))
