"""One question to ranked hits: words and meaning side by side, fused by `rank`."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pastchats_memory.embed import Embedder, Vector
from pastchats_memory.errors import ModelUnavailable, UsageFault
from pastchats_memory.excerpt import excerpt
from pastchats_memory.model import Filters, Hit, Hits, Item, Place
from pastchats_memory.query import coverage, expression, telling, weights, words
from pastchats_memory.rank import Ranked, fuse
from pastchats_memory.store import lexical, prompts, vectors
from pastchats_memory.store.database import Database

NO_FILTERS = Filters()
MODES = ("hybrid", "keyword", "semantic")
MOST_HITS = 1000
DEPTH = 200
"""Rows of each list that are fused, so that the second page continues the first; more only where more are asked for."""
SNIPPET_WIDTH = 240

WORDS, MEANING = "words", "meaning"
"""The lists, by the names that `--explain` shows."""


@dataclass(frozen=True, slots=True)
class Request:
    """A search, checked: what cannot be asked is refused when it is made. Raises UsageFault."""

    text: str
    mode: str = "hybrid"
    limit: int = 10
    page: int = 1
    filters: Filters = NO_FILTERS
    threshold: float | None = None
    """Least relevance."""
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
    def weights(self) -> dict[str, float]:
        """Of the two lists in the fusion."""
        if self.mode == "hybrid":
            return {WORDS: 1 - self.meaning, MEANING: self.meaning}
        return {WORDS: float(self.mode == "keyword"), MEANING: float(self.mode == "semantic")}

    @property
    def needs_vector(self) -> bool:
        """Whether the model has to be asked."""
        return bool(self.weights[MEANING]) or self.threshold is not None or self.min_similarity is not None


def search(database: Database, embedder: Embedder, request: Request) -> Hits:
    """The hits of a request, best first. Raises StoreFault."""
    return search_terms(database, embedder, request)[0]


def search_terms(database: Database, embedder: Embedder, request: Request) -> tuple[Hits, Terms]:
    """The hits of a request, best first, and what its words were taken for. Raises StoreFault."""
    embedding = _Embedding(embedder, request.text) if request.needs_vector else None
    terms = _terms(database, request.text)
    lists: dict[str, Sequence[int]] = {}
    if request.mode != "semantic":
        lists[WORDS] = _by_words(database, terms, request)
    query_vector: Vector | None = None
    warnings: list[str] = []
    if embedding is not None:
        try:
            query_vector = embedding.vector()
        except ModelUnavailable as fault:
            warnings.append(f"{fault.message}; these results are by words alone. {fault.hint}".strip())
            lists[WORDS] = _by_words(database, terms, request)
    if query_vector is not None and request.weights[MEANING]:
        near = vectors.nearest(database, query_vector, _depth(request), request.filters)
        lists[MEANING] = [neighbour.id for neighbour in near]
    fused = fuse(lists, {WORDS: 1.0} if query_vector is None else request.weights)
    return Hits(_page(database, request, fused, query_vector, terms.weights), tuple(warnings)), terms


@dataclass(frozen=True, slots=True)
class Terms:
    """What the corpus makes of a query's words."""

    weights: dict[str, float]
    """Of each word as it was typed: how much it tells, 0 where no row has it."""
    chosen: tuple[str, ...]
    """The stemmed words to look up, rarest first."""
    coverage: float
    """Share of the query's weight that the corpus knows at all, 0 to 1."""


def _terms(database: Database, text: str) -> Terms:
    stems = lexical.stems(database, words(text))
    frequencies = lexical.document_frequencies(database, {token for of_word in stems.values() for token in of_word})
    rows = lexical.count(database)
    idf = weights(frequencies, rows)
    of_words = {word: sum(idf[token] for token in of_word) for word, of_word in stems.items()}
    return Terms(of_words, tuple(telling(frequencies, rows)), coverage(frequencies, rows))


def _by_words(database: Database, terms: Terms, request: Request) -> list[int]:
    if not terms.chosen:
        return []
    found = lexical.search(database, expression(terms.chosen), request.filters, _depth(request))
    return [id_ for id_, _ in found]


class _Embedding:
    """The query's vector, made in a thread: loading the model and looking up words both leave Python's lock alone."""

    def __init__(self, embedder: Embedder, text: str) -> None:
        self._embedder = embedder
        self._text = text
        self._vector: Vector | None = None
        self._fault: ModelUnavailable | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
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


def _depth(request: Request) -> int:
    return max(DEPTH, request.limit * request.page)


def _page(
    database: Database,
    request: Request,
    fused: Sequence[Ranked],
    query_vector: Vector | None,
    word_weights: dict[str, float],
) -> tuple[Hit, ...]:
    least = _least(request)
    last = request.limit * request.page
    window = fused if least is not None else fused[:last]
    similarities = {}
    if query_vector is not None:
        scored = vectors.score(database, query_vector, [row.id for row in window])
        similarities = {neighbour.id: neighbour.similarity for neighbour in scored}
    if least is not None and query_vector is not None:
        window = [row for row in window if similarities[row.id] >= least]
    shown = window[last - request.limit : last]
    found = {item.id: item for item in prompts.items(database, [row.id for row in shown])}
    first = last - request.limit + 1
    return tuple(
        _hit(found[row.id], row, place, similarities.get(row.id), word_weights)
        for place, row in enumerate(shown, start=first)
    )


def _least(request: Request) -> float | None:
    """Until relevance is calibrated it equals the similarity, so the two thresholds are one."""
    given = [value for value in (request.threshold, request.min_similarity) if value is not None]
    return max(given) if given else None


def _hit(item: Item, row: Ranked, place: int, similarity: float | None, word_weights: dict[str, float]) -> Hit:
    where = standing_place(item)
    return Hit(
        rank=place,
        score=row.score,
        relevance=similarity,
        lexical_rank=row.ranks.get(WORDS),
        semantic_rank=row.ranks.get(MEANING),
        similarity=similarity,
        id=str(item.id),
        type="note" if item.role == "note" else "prompt",
        content=item.content,
        snippet=" ".join(excerpt(item.content, word_weights, SNIPPET_WIDTH).split()),
        role=item.role,
        source_path=where.path,
        source_line=where.line or None,
        source_project=item.project,
        conversation_id=item.conversation_id,
        turn_index=item.turn_index,
        timestamp=item.timestamp,
        metadata=item.metadata,
        contributions=row.contributions,
    )


def standing_place(item: Item) -> Place:
    """Where the turn can be read: the first place whose file is still there, else the one it is filed under."""
    standing = (place for place in item.places if Path(place.path).exists())
    return next(standing, item.places[0] if item.places else Place(item.source_path, 0, None))
