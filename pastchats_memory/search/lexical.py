"""What the corpus makes of a question's words, and the rows that they lead to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pastchats_memory.model import NO_FILTERS, Filters
from pastchats_memory.search.query import QueryText, Term, measure_coverage, select_words, weigh_term, word_pairs
from pastchats_memory.search.subwords import find_subword_rows, subword_postings
from pastchats_memory.store import fulltext, trigrams
from pastchats_memory.store.database import Database
from pastchats_memory.store.filters import allowed_ids
from pastchats_memory.store.ids import Ids, among, runs
from pastchats_memory.text.identifiers import blank_spaceless, split_identifiers, subword_text
from pastchats_memory.text.words import FIRST_PERSON, words

# A question's pieces and the rows that have them: what is no word of the index, looked up by its trigrams.


OVERSAMPLING = 15
"""Times as many rows as are wanted are scored first."""
ROUNDING = 1e-9
"""Share by which a sum may be off."""
UNKNOWN_SUBWORD = 0.5
"""What an unknown piece counts for among what the corpus does not know: every other pair of characters joins two words."""


class Terms(NamedTuple):
    """What the corpus makes of a query's words."""

    weights: dict[str, float]
    """Of each word that occurs: how much it tells."""
    importances: dict[str, float]
    """The importance of the words to look up."""
    pairs: dict[str, float]
    """Words that stand side by side, and how much it tells that they do."""
    coverage: float
    """Share of the query's weight that the corpus knows at all, 0 to 1."""
    subwords: Mapping[str, Ids]
    """The rows of those to look up that are no words of the index."""
    unindexed: int
    """Rows in which pieces cannot be looked up yet; 0 where none are asked for."""
    is_personal: bool
    """The query speaks of who asks."""
    corpus: int
    """All rows, whatever the filters."""


def weigh_terms(database: Database, asked: QueryText) -> Terms:
    """The terms of a question's words, those that stand in a paste alone as less, and of its pieces. Raises StoreFault."""
    own = dict.fromkeys(words(blank_spaceless(asked.typed)))
    corpus = fulltext.rows(database)
    terms = _weigh_words(database, own, words(blank_spaceless(asked.full)), corpus)
    unheard = [term.word for term in terms if not term.rows and term.word in own]
    pieces = find_subword_rows(database, asked.typed, own, unheard)
    terms = _add_subwords(terms, pieces, corpus)
    in_vain = {term.word for term in terms if not term.rows}
    parts = (part for word, of in split_identifiers(asked.typed).items() if word in in_vain for part in of)
    terms += _weigh_words(
        database, dict.fromkeys(part for part in parts if part not in own and len(part) > 1), (), corpus
    )
    chosen = select_words(terms)
    return Terms(
        {term.word: term.weight for term in terms if term.rows},
        chosen,
        word_pairs(blank_spaceless(asked.typed), [term for term in terms if term.word in chosen]),
        measure_coverage(terms),
        {piece: rows for piece, rows in pieces.items() if piece in chosen},
        trigrams.behind(database) if pieces else 0,
        not FIRST_PERSON.isdisjoint(own),
        corpus,
    )


def _weigh_words(database: Database, own: dict[str, None], pasted: Sequence[str], corpus: int) -> list[Term]:
    """Of words that the index takes for the same the first."""
    stems = fulltext.stems(database, own | dict.fromkeys(pasted))
    frequencies = fulltext.document_frequencies(database, {stem for of_word in stems.values() for stem in of_word})
    by_stems = {of_word: word for word, of_word in reversed(stems.items()) if of_word}
    return [
        weigh_term(word, min(frequencies[stem] for stem in of_word), corpus, pasted=word not in own)
        for of_word, word in reversed(by_stems.items())
    ]


def _add_subwords(terms: Sequence[Term], pieces: Mapping[str, Ids], corpus: int) -> list[Term]:
    """Words and pieces; a piece that more rows have than have its word takes the word's place."""
    by_text = {term.word: term for term in terms}
    for part, rows in pieces.items():
        text = subword_text(part) or ""
        if text not in by_text or len(rows) > by_text[text].rows:
            found = weigh_term(part, len(rows), corpus)
            by_text[text] = found if len(rows) else found._replace(weight=UNKNOWN_SUBWORD * found.weight)
    return list(by_text.values())


class Matches(NamedTuple):
    """The rows that a query's words lead to."""

    terms: Terms
    postings: Mapping[str, fulltext.Postings]
    ids: NDArray[np.int64]
    """Those that the filters let through, ascending."""
    ceilings: NDArray[np.float64]
    """By row what its words score at most."""
    passing: NDArray[np.int64] | None
    """All rows that the filters let through, ascending; None without filters, or where nothing but words is asked."""

    @property
    def searched(self) -> int:
        """How many rows these were found among."""
        return self.terms.corpus if self.passing is None else len(self.passing)


def find_matches(database: Database, terms: Terms, filters: Filters, passing: Ids | None) -> Matches:
    """The rows that have any of the words. Raises StoreFault.

    Args:
        database: whose rows they are.
        terms: the words.
        filters: what is let through.
        passing: that as a list, where there is one: it is looked for in thousands of pages, so once a question.
    """
    plain = [word for word in terms.importances if subword_text(word) is None]
    found = {
        **fulltext.postings(database, plain, filters),
        **subword_postings(database, terms.subwords, terms.weights),
    }
    every = np.concatenate([np.empty(0, np.int64), *(rows.ids for rows in found.values())])
    ceilings = np.concatenate([np.empty(0), *(terms.importances[word] * rows.ceilings for word, rows in found.items())])
    order = np.argsort(every, kind="stable")
    ids, firsts = runs(every[order])
    most = np.add.reduceat(ceilings[order], firsts) if len(ids) else np.empty(0)
    if filters == NO_FILTERS:
        return Matches(terms, found, ids, most, None)
    let_through = allowed_ids(database, ids.tolist(), filters) if passing is None else passing
    allowed = among(ids, let_through)
    return Matches(terms, found, ids[allowed], most[allowed], passing)


def top_rows(database: Database, matches: Matches, k: int) -> list[int]:
    """The k rows that score most, best first, equal ones by id. Raises StoreFault.

    What k rows reach, the others have to be able to reach: so most of those that have nothing but a frequent word are
    never scored.
    """
    first = OVERSAMPLING * k
    if len(matches.ids) <= first:
        return _sort_top(matches.ids, score_rows(database, matches, matches.ids), k)
    likely = np.argpartition(-matches.ceilings, first)[:first]
    scored = score_rows(database, matches, matches.ids[likely])
    further = matches.ceilings >= np.partition(scored, -k)[-k] * (1 - ROUNDING)
    further[likely] = False
    others = matches.ids[further]
    ids = np.concatenate([matches.ids[likely], others])
    return _sort_top(ids, np.concatenate([scored, score_rows(database, matches, others)]), k)


def _sort_top(ids: NDArray[np.int64], scored: NDArray[np.float64], k: int) -> list[int]:
    highest: list[int] = ids[np.lexsort((ids, -scored))][:k].tolist()
    return highest


def score_rows(database: Database, matches: Matches, ids: NDArray[np.int64]) -> NDArray[np.float64]:
    """What the question's words score in each row, shape (ids,). Raises StoreFault."""
    return np.asarray(score_by_word(database, matches, ids).sum(axis=0))


def score_by_word(database: Database, matches: Matches, ids: NDArray[np.int64]) -> NDArray[np.float64]:
    """What each of the question's words scores in each row, shape (words, ids). Raises StoreFault."""
    sizes = fulltext.sizes(database, ids)
    looked_up = matches.terms.importances
    found = [looked_up[word] * rows.at(ids, sizes) for word, rows in matches.postings.items()]
    return np.reshape(found, (len(found), len(ids)))


def matched_weight(matches: Matches, ids: NDArray[np.int64]) -> NDArray[np.float64]:
    """How much of the question's weight stands in each row, 0 to 1; words that the corpus does not know count as absent."""
    weights = matches.terms.weights
    total = sum(weights.values()) / matches.terms.coverage if weights else 1.0
    found = np.zeros(len(ids))
    for word, rows in matches.postings.items():
        found += weights[word] * among(ids, rows.ids)
    return found / total
