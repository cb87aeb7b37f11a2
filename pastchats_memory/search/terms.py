"""What the corpus makes of a question's words, and the rows that they lead to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pastchats_memory.model import Filters
from pastchats_memory.query import coverage, looked_up, pairs, term, words
from pastchats_memory.search.asked import Asked
from pastchats_memory.store import lexical
from pastchats_memory.store.database import Database
from pastchats_memory.store.filters import Counts, allowed_ids, count

NO_FILTERS = Filters()


class Terms(NamedTuple):
    """What the corpus makes of a query's words."""

    weights: dict[str, float]
    """Of each word that occurs: how much it tells."""
    looked_up: dict[str, float]
    """The importance of the words to look up."""
    pairs: dict[str, float]
    """Words that stand side by side, and how much it tells that they do."""
    coverage: float
    """Share of the query's weight that the corpus knows at all, 0 to 1."""


def terms_of(database: Database, asked: Asked) -> Terms:
    """The terms of a question's words, those that stand in a paste alone as less. Raises StoreFault."""
    own = dict.fromkeys(words(asked.said))
    stems = lexical.stems(database, own | dict.fromkeys(words(asked.words)))
    frequencies = lexical.document_frequencies(database, {stem for of_word in stems.values() for stem in of_word})
    corpus = count(database, NO_FILTERS).rows
    by_stems = {of_word: word for word, of_word in reversed(stems.items()) if of_word}
    terms = [
        term(word, min(frequencies[stem] for stem in of_word), corpus, pasted=word not in own)
        for of_word, word in reversed(by_stems.items())
    ]
    chosen = looked_up(terms)
    return Terms(
        {term.word: term.weight for term in terms if term.rows},
        chosen,
        pairs(asked.said, [term for term in terms if term.word in chosen]),
        coverage(terms),
    )


class Matches(NamedTuple):
    """The rows that a query's words lead to."""

    terms: Terms
    postings: Mapping[str, lexical.Postings]
    ids: list[int]
    """Those that the filters let through, best first, equal ones by id."""
    searched: Counts
    """The rows among which they were found; none are counted where nothing but words is asked."""


def matches_of(database: Database, terms: Terms, filters: Filters, *, counted: bool) -> Matches:
    """The rows that have any of the words, and whether all rows that were searched are counted. Raises StoreFault."""
    found = lexical.postings(database, terms.looked_up, filters)
    searched = count(database, filters) if counted else Counts()
    if not found:
        return Matches(terms, {}, [], searched)
    every = np.concatenate([rows.ids for rows in found.values()])
    scores = np.concatenate([terms.looked_up[word] * rows.scores for word, rows in found.items()])
    ids, places = np.unique(every, return_inverse=True)
    totals = np.bincount(places, scores)
    if filters != NO_FILTERS:
        allowed = np.isin(ids, allowed_ids(database, ids.tolist(), filters))
        ids, totals = ids[allowed], totals[allowed]
    return Matches(terms, found, ids[np.lexsort((ids, -totals))].tolist(), searched)


def shares(matches: Matches, ids: NDArray[np.int64]) -> NDArray[np.float64]:
    """How much of the question's weight stands in each row, 0 to 1; words that the corpus does not know count as absent."""
    weights = matches.terms.weights
    total = sum(weights.values()) / matches.terms.coverage if weights else 1.0
    found = np.zeros(len(ids))
    for word, rows in matches.postings.items():
        found += weights[word] * (scores_at(rows, ids) > 0)
    return found / total


def scores_at(rows: lexical.Postings, ids: NDArray[np.int64]) -> NDArray[np.float64]:
    """The score of each id, 0 where it does not have the word."""
    if not len(rows.ids):
        return np.zeros(len(ids))
    places = np.minimum(np.searchsorted(rows.ids, ids), len(rows.ids) - 1)
    return np.where(rows.ids[places] == ids, rows.scores[places], 0.0)
