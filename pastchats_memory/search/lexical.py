"""Search by words: weigh words, find their rows, score the rows by BM25."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pastchats_memory.arrays import Floats, Ids, np
from pastchats_memory.model import Filters
from pastchats_memory.search.query import QueryText, Term, measure_coverage, select_words, weigh_term, word_pairs
from pastchats_memory.search.rank import LEAST_ROWS
from pastchats_memory.search.subwords import find_subword_rows, subword_postings
from pastchats_memory.store import fulltext
from pastchats_memory.store.database import Database
from pastchats_memory.store.filters import is_restricted
from pastchats_memory.store.ids import allowed_ids, among, runs
from pastchats_memory.text.identifiers import blank_spaceless, split_identifiers, subword_text
from pastchats_memory.text.words import FIRST_PERSON, words

OVERSAMPLING = 15
"""Rows that are scored first, as a multiple of the wanted number."""
ROUNDING = 1e-9
"""Relative error that a sum may have."""
UNKNOWN_SUBWORD = 0.5
"""Share of its weight that an unknown subword has; every other pair of characters joins two words."""

SUBWORD_NAME = 0.5
"""Worth of a part of a name; scripts without spaces have no others."""


class Terms(NamedTuple):
    """The words of a query, weighed by the corpus."""

    weights: dict[str, float]
    """Weight of each word that occurs in the corpus."""
    importances: dict[str, float]
    """Importance of each word to look up."""
    pairs: dict[str, float]
    """Weight of each pair of neighbouring words."""
    coverage: float
    """Share of the query's weight that occurs in the corpus, 0 to 1."""
    subwords: Mapping[str, Ids]
    """Rows of each subword to look up."""
    is_personal: bool
    """Whether the query uses the first person."""
    corpus: int
    """Number of all rows, without filters."""


def weigh_terms(database: Database, question: QueryText) -> Terms:
    """Return the terms of a question: its words, its subwords, and at a lower weight words of its pastes."""
    own = dict.fromkeys(words(blank_spaceless(question.typed)))
    corpus = fulltext.count_rows(database)
    terms = _weigh_words(database, own, words(blank_spaceless(question.full)), corpus)
    unmatched = [term.word for term in terms if not term.rows and term.word in own]
    subwords = find_subword_rows(database, question.typed, own, unmatched)
    terms = _add_subwords(terms, subwords, corpus)
    unknown = {term.word for term in terms if not term.rows}
    parts = (part for word, of in split_identifiers(question.typed).items() if word in unknown for part in of)
    terms += _weigh_words(
        database, dict.fromkeys(part for part in parts if part not in own and len(part) > 1), (), corpus
    )
    chosen = select_words(terms)
    return Terms(
        {term.word: term.weight for term in terms if term.rows},
        chosen,
        word_pairs(blank_spaceless(question.typed), [term for term in terms if term.word in chosen]),
        measure_coverage(terms),
        {part: rows for part, rows in subwords.items() if part in chosen},
        not FIRST_PERSON.isdisjoint(own),
        corpus,
    )


def _weigh_words(database: Database, own: dict[str, None], pasted: Sequence[str], corpus: int) -> list[Term]:
    """Return the terms of words; among words with equal stems the first one counts."""
    stems = fulltext.stems(database, own | dict.fromkeys(pasted))
    frequencies = fulltext.document_frequencies(database, {stem for of_word in stems.values() for stem in of_word})
    by_stems = {of_word: word for word, of_word in reversed(stems.items()) if of_word}
    return [
        weigh_term(word, min(frequencies[stem] for stem in of_word), corpus, pasted=word not in own)
        for of_word, word in reversed(by_stems.items())
    ]


def _add_subwords(terms: Sequence[Term], subwords: Mapping[str, Ids], corpus: int) -> list[Term]:
    """Return words and subwords; a subword replaces its word if it occurs in more rows."""
    by_text = {term.word: term for term in terms}
    for part, rows in subwords.items():
        text = subword_text(part) or ""
        if text not in by_text or len(rows) > by_text[text].rows:
            found = weigh_term(part, len(rows), corpus)
            by_text[text] = found if len(rows) else found._replace(weight=UNKNOWN_SUBWORD * found.weight)
    return list(by_text.values())


class Matches(NamedTuple):
    """The rows that contain words of a query."""

    terms: Terms
    postings: Mapping[str, fulltext.Postings]
    ids: Ids
    """Ids that pass the filters, in ascending order."""
    ceilings: Floats
    """Upper bound of each row's score."""
    passing: Ids | None
    """Ids of all rows that pass the filters, in ascending order; None without filters, or for a search by words alone."""

    @property
    def searched(self) -> int:
        """Number of rows that were searched."""
        return self.terms.corpus if self.passing is None else len(self.passing)


def find_matches(database: Database, terms: Terms, filters: Filters, passing: Ids | None) -> Matches:
    """Return the rows that contain any of the words and pass the filters.

    Finding all rows that pass (`passing`) reads thousands of pages, so they may be unknown.
    """
    plain = [word for word in terms.importances if subword_text(word) is None]
    found = {**fulltext.postings(database, plain, filters), **subword_postings(database, terms.subwords, terms.weights)}
    every = np.concatenate([np.empty(0, np.int64), *(rows.ids for rows in found.values())])
    ceilings = np.concatenate([np.empty(0), *(terms.importances[word] * rows.ceilings for word, rows in found.items())])
    order = np.argsort(every, kind="stable")
    ids, firsts = runs(every[order])
    most = np.add.reduceat(ceilings[order], firsts) if len(ids) else np.empty(0)
    if not is_restricted(database, filters):
        return Matches(terms, found, ids, most, None)
    let_through = allowed_ids(database, ids.tolist(), filters) if passing is None else passing
    allowed = among(ids, let_through)
    return Matches(terms, found, ids[allowed], most[allowed], passing)


def top_rows(database: Database, matches: Matches, k: int) -> list[int]:
    """Return the ids of the k best rows, best first, equal ones by id.

    Rows are scored only if their ceiling reaches the k-th best score found so far. So most rows that have only a frequent
    word are never scored.
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


def _sort_top(ids: Ids, scored: Floats, k: int) -> list[int]:
    highest: list[int] = ids[np.lexsort((ids, -scored))][:k].tolist()
    return highest


def score_rows(database: Database, matches: Matches, ids: Ids) -> Floats:
    """Return the score of each row, shape (ids,)."""
    return np.asarray(score_by_word(database, matches, ids).sum(axis=0))


def score_by_word(database: Database, matches: Matches, ids: Ids) -> Floats:
    """Return the score of each word in each row, shape (words, ids)."""
    sizes = fulltext.sizes(database, ids)
    importances = matches.terms.importances
    found = [importances[word] * rows.at(ids, sizes) for word, rows in matches.postings.items()]
    return np.reshape(found, (len(found), len(ids)))


def named_weight(matches: Matches, names: Mapping[str, float], ids: Ids) -> Floats:
    """Return the worth of the names in each row, shape (ids,): fully if one row has it, hardly if most rows do."""
    found = np.zeros(len(ids))
    rarest = math.log(max(matches.terms.corpus, LEAST_ROWS))
    for word, rows in matches.postings.items():
        part = subword_text(word)
        worth = names.get(word, 0.0) if part is None else SUBWORD_NAME * any(part in name for name in names)
        if worth:
            found += worth * min(1.0, matches.terms.weights[word] / rarest) * among(ids, rows.ids)
    return found


def matched_weight(matches: Matches, ids: Ids) -> Floats:
    """Return the share of the question's weight in each row, 0 to 1; unknown words count as missing."""
    weights = matches.terms.weights
    total = sum(weights.values()) / matches.terms.coverage if weights else 1.0
    found = np.zeros(len(ids))
    for word, rows in matches.postings.items():
        found += weights[word] * among(ids, rows.ids)
    return found / total
