"""Turn one question into ranked hits.

The way of a question: `query` reads its words and `times` its dates; `lexical` finds rows by words while a thread embeds
the question and finds the nearest vectors; `candidates` gathers evidence for the best rows of both; `rank` orders them.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from pastchats_memory.arrays import Floats, Ids, Vector, np
from pastchats_memory.embed import Embedder, is_unlearnt, is_unread
from pastchats_memory.embed.session import ModelSession
from pastchats_memory.errors import ModelChanged, ModelUnavailable
from pastchats_memory.model import Hit, Hits, Item, TaskText
from pastchats_memory.search import lexical
from pastchats_memory.search import rank as ranking
from pastchats_memory.search.background import BackgroundCall
from pastchats_memory.search.candidates import order_by_evidence, order_by_words
from pastchats_memory.search.hits import Fit, add_snippet, build_hit
from pastchats_memory.search.missing_rows import describe_running, explain_empty
from pastchats_memory.search.query import query_text
from pastchats_memory.search.request import EVEN_BALANCE, MOST_HITS, Request
from pastchats_memory.search.times import QueryTime, read_time
from pastchats_memory.store import sources, task_rows, turns, vectors
from pastchats_memory.store.database import Database
from pastchats_memory.text.identifiers import is_spaceless

DEPTH = 100
"""Rows of each list whose evidence is weighed. Later rows follow in the order of the plain lists."""
ASPECTS = 2
"""Near rows of a task, which are few beside the turns."""
MOST_UNREAD, MOST_UNLEARNT = 0.32, 0.36
"""Cosine that counts at most if the model cannot read the script of the question, or never learnt its language; words in common
raise it. Alone it is too little for recall."""
RERANKED = 30
"""Rows that a cross-encoder reads. Each costs about as much as embedding it."""
ENGLISH_ONLY = (
    "the model knows English only, so trust the words that match and not the meaning; "
    "`pastchats-memory reindex --embeddings --model sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2` "
    "takes one that knows fifty languages"
)

Rerank = Callable[[str, Sequence[str]], Floats]
"""A cross-encoder: takes a question and texts, returns a number for each text; larger is better."""


class _QueryVector(NamedTuple):
    """The question's vector and the candidates for its nearest neighbours."""

    vector: Vector
    candidates: BackgroundCall[vectors.Candidates | None] | None
    ceiling: float
    """Cosine that counts at most without words in common."""


def search(database: Database, embedder: Embedder, request: Request, rerank_texts: Rerank | None = None) -> Hits:
    """Return the hits of a request, best first.

    A cross-encoder, if there is one, orders the first RERANKED hits again. Without a usable model the hits are by words
    alone, and a warning says so. Raises ModelUnavailable if the cross-encoder cannot be loaded.
    """
    hits, terms = search_with_terms(database, embedder, request, rerank_texts)
    return Hits((add_snippet(hit, terms.weights) for hit in hits), hits.warnings, hits.time_read)


def _find_ceiling(model: str, text: str) -> float:
    """Return the cosine that counts at most for a question: 1 if the model has learnt its script and its language."""
    if not is_unlearnt(model, text):
        return 1.0
    return MOST_UNREAD if is_unread(model, text) else MOST_UNLEARNT


def search_with_terms(
    database: Database, embedder: Embedder, request: Request, rerank_texts: Rerank | None = None
) -> tuple[Hits, lexical.Terms]:
    """Return the hits of a request without snippets, and the terms of its question.

    `recall` looks at many more hits than it shows, and the snippet of a long text takes milliseconds. Raises
    ModelUnavailable if the cross-encoder cannot be loaded.
    """
    question = query_text(request.text)
    session = ModelSession.of(embedder)
    session.check()  # in this thread, which has the database
    embedding = BackgroundCall(partial(session.embed_query, question.typed)) if request.needs_vector else None
    time = read_time(database, question.typed, request.filters, request.today, may_filter=request.time_filters)
    request = replace(request, filters=time.filters)
    passing = None if embedding is None else vectors.passing_ids(database, request.filters)
    candidates = None if embedding is None else _start_candidates(database, request, embedding, passing)
    terms = lexical.weigh_terms(database, question)
    matches = lexical.find_matches(database, terms, request.filters, passing)
    by_words = lexical.top_rows(database, matches, max(request.last, DEPTH))  # while the question is embedded
    warnings = [*time.warnings, *describe_running(database)]
    query_vector: _QueryVector | None = None
    if embedding is not None:
        try:
            query_vector = _QueryVector(embedding.result(), candidates, _find_ceiling(embedder.name, question.typed))
            sources.require_model(database, embedder.name, embedder.version)
        except (ModelUnavailable, ModelChanged) as fault:
            query_vector = None
            warnings.append(f"{fault.message}; these results are by words alone. {fault.hint}".strip())
    if query_vector is not None and is_unread(embedder.name, question.typed):
        warnings.append(ENGLISH_ONLY)
        # Without a wish for meaning, the characters of a script without spaces find rows by themselves.
        uses_both = request.mode == "hybrid" and 0 < request.meaning <= EVEN_BALANCE
        if uses_both and len(matches.ids) > 0 and is_spaceless(question.typed):
            query_vector = None
    ranked = _rank_rows(database, request, matches, by_words, query_vector, time)
    if rerank_texts is not None and ranked:
        rows = _load_rows(database, [row.id for row in ranked[:RERANKED]])
        texts = [rows[row.id].content for row in ranked[:RERANKED]]
        ranked = ranking.rerank(ranked, rerank_texts(question.typed, texts))
    hits = _build_page(database, request, ranked, matches, query_vector)
    if not hits:
        warnings += explain_empty(database, request.filters)
    return Hits(hits, tuple(warnings), time.read), terms


def _start_candidates(
    database: Database, request: Request, embedding: BackgroundCall[Vector], passing: Ids | None
) -> BackgroundCall[vectors.Candidates | None] | None:
    """Look for the nearest neighbours among the cached vectors in a thread; return None if none are cached."""
    depth = DEPTH if request.mode == "hybrid" else max(request.last, DEPTH)
    depth *= _rows_per_hit(database)
    propose = vectors.prepare_scan(database, depth, passing) if request.ranks_meaning else None
    return None if propose is None else BackgroundCall(lambda: propose(embedding.result()))


def _rank_rows(
    database: Database,
    request: Request,
    matches: lexical.Matches,
    by_words: Sequence[int],
    query_vector: _QueryVector | None,
    time: QueryTime,
) -> list[ranking.Ranked]:
    """Return rows, best first.

    The first DEPTH rows of each list are ordered by evidence. Later rows follow if the request needs them.
    """
    last = request.last
    best_by_words = by_words[:DEPTH]
    if query_vector is None or not request.ranks_meaning:
        by_evidence = order_by_words(database, matches, sorted(best_by_words), time)
        fused = ranking.fuse({ranking.WORDS: best_by_words, ranking.EVIDENCE: by_evidence}, ranking.WEIGHTS)
        return ranking.extend(fused, {ranking.WORDS: by_words[:last]}, ranking.WEIGHTS)
    if request.mode == "semantic":
        by_meaning = _find_nearest(database, request, matches, query_vector, max(last, DEPTH))
        return ranking.fuse({ranking.MEANING: by_meaning}, {ranking.MEANING: 1.0})
    by_meaning = _find_nearest(database, request, matches, query_vector, DEPTH)
    pool = sorted({*best_by_words, *by_meaning})
    by_evidence = order_by_evidence(database, matches, query_vector.vector, pool, time, request.meaning)
    head = {ranking.WORDS: best_by_words, ranking.MEANING: by_meaning, ranking.EVIDENCE: by_evidence}
    fused = ranking.fuse(head, ranking.list_weights(request.meaning))
    if len(fused) >= last:
        return fused
    further = {
        ranking.WORDS: lexical.top_rows(database, matches, MOST_HITS),
        ranking.MEANING: _find_nearest(database, request, matches, query_vector, MOST_HITS),
    }
    return ranking.extend(fused, further, ranking.list_weights(request.meaning))


def _find_nearest(
    database: Database, request: Request, matches: lexical.Matches, query_vector: _QueryVector, k: int
) -> list[int]:
    """Return the ids of the k rows nearest to the question, best first; a task counts by its nearest aspect."""
    candidates = None if query_vector.candidates is None else query_vector.candidates.result()
    depth = k * _rows_per_hit(database)
    while True:
        nearest = vectors.nearest(database, query_vector.vector, depth, request.filters, matches.passing, candidates)
        ids = [row.id for row in nearest]
        owners = task_rows.aspect_owners(database, ids)
        found = list(dict.fromkeys(owners.get(id_, id_) for id_ in ids))
        if len(found) >= k or len(ids) < depth:
            return found[:k]
        depth *= 2


def _rows_per_hit(database: Database) -> int:
    """Return how many near rows a hit may have at first: a second look reads all vectors again."""
    return ASPECTS if task_rows.has_aspects(database) else 1


def _build_page(
    database: Database,
    request: Request,
    ranked: Sequence[ranking.Ranked],
    matches: lexical.Matches,
    query_vector: _QueryVector | None,
) -> tuple[Hit, ...]:
    """Return the hits of the requested page of those that pass the request's thresholds."""
    last = request.limit * request.page
    window = ranked if request.is_selective else ranked[:last]
    fits = {} if query_vector is None else _measure_fits(database, [row.id for row in window], matches, query_vector)
    if fits:
        window = [row for row in window if request.accepts(fits[row.id])]
    shown = window[last - request.limit : last]
    rows = _load_rows(database, [row.id for row in shown])
    first = last - request.limit + 1
    named = lexical.named_weight(matches, request.names, np.array([row.id for row in shown], dtype=np.int64)).tolist()
    return tuple(
        build_hit(rows[row.id], row, rank, fits.get(row.id), worth)
        for rank, (row, worth) in enumerate(zip(shown, named, strict=True), start=first)
    )


def _load_rows(database: Database, ids: Sequence[int]) -> dict[int, Item | TaskText]:
    items: dict[int, Item | TaskText] = {item.id: item for item in turns.items(database, ids)}
    return items | {text.id: text for text in task_rows.task_texts(database, ids)}


def _measure_fits(
    database: Database, ids: Sequence[int], matches: lexical.Matches, query_vector: _QueryVector
) -> dict[int, Fit]:
    """Return cosine and relevance by id, for a task of its nearest aspect; empty if no row has a vector.

    A row whose vector is pending has no cosine, and its relevance is that of a row as near as the others. Texts in a script
    or a language that the model never learnt are all alike to it, so nearness counts only with words in common.
    """
    owners = task_rows.aspect_owners(database, ids)
    similarities: dict[int, float] = {}
    for row in vectors.score(
        database, query_vector.vector, [*ids, *owners]
    ):  # the nearest aspect of a task comes first
        similarities.setdefault(owners.get(row.id, row.id), row.similarity)
    if not similarities:
        return {}
    usual = float(np.mean(list(similarities.values())))
    weight = lexical.matched_weight(matches, np.array(ids, dtype=np.int64))
    near = np.array([similarities.get(id_, usual) for id_ in ids])
    near = np.minimum(near, query_vector.ceiling + ranking.WORD_MATCH * weight)
    relevant = ranking.relevance(near, weight, matches.searched).tolist()
    return {id_: Fit(similarities.get(id_), round(value, 6)) for id_, value in zip(ids, relevant, strict=True)}
