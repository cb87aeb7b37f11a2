"""What the corpus makes of a question's words, and the rows that they lead to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pastchats_memory.model import Filters
from pastchats_memory.search.query import Asked, Term, coverage, looked_up, pairs, term
from pastchats_memory.search.rank import in_rows
from pastchats_memory.store import fulltext, trigrams
from pastchats_memory.store.database import Database
from pastchats_memory.store.filters import allowed_ids, spread_ids
from pastchats_memory.store.ids import Ids, among, distinct, runs
from pastchats_memory.text.identifiers import LEAST, compounds, grams, identifiers, inside, piece, places, spaced
from pastchats_memory.text.words import FIRST_PERSON, FUNCTION_WORDS, words

# A question's pieces and the rows that have them: what is no word of the index, looked up by its trigrams.

MOST_PIECES = 48
"""Of one question that are looked up: a pasted log has thousands."""
MOST_ROWS = 10_000
"""That a piece may be in: one in more tells hardly anything."""
EVERY = 1 << 40
"""Rows, where nothing else is asked for."""
SAMPLE = 256
"""Rows whose lengths tell what a long one is."""
NO_FILTERS = Filters()


def rows_of_pieces(database: Database, text: str, typed: Iterable[str], unheard: Iterable[str]) -> dict[str, Ids]:
    """By piece the rows that have it, none for one that was looked for in vain; one that is in too many is left out.

    Args:
        database: whose index is asked.
        text: the question.
        typed: its words.
        unheard: those of them that no row has as a word.

    Raises:
        StoreFault: the database cannot be read.
    """
    of_script, made = grams(text), identifiers(text)
    # Words beside a script without spaces stand there without a blank, and are then no words to the index.
    beside_script = (word for word in typed if word not in FUNCTION_WORDS) if of_script else ()
    within = [word for word in (*made, *unheard, *beside_script) if len(word) >= LEAST]
    joined = ["".join(words(compound)) for compound in compounds(text)]
    sought = list(dict.fromkeys((*of_script, *map(piece, within), *map(piece, joined))))[:MOST_PIECES]
    found = {term: rows for term in sought if (rows := _rows(database, term, made, MOST_ROWS)) is not None}
    found = {term: rows for term, rows in found.items() if len(rows) or term[1:-1] not in joined}
    if of_script and not found:
        found = {term: rows for term in of_script[:1] if (rows := _rows(database, term, made, EVERY)) is not None}
    return found


def _rows(database: Database, term: str, made: Mapping[str, tuple[str, ...]], most: int) -> Ids | None:
    """Those that have the piece; of one that is made of words also those in which these stand apart (`get_user_by_id`)."""
    text = inside(term) or ""
    rows = trigrams.containing(database, text, most, lambda content: any(True for _ in places(content, text)))
    parts = made.get(text, ())
    if rows is None or not all(map(str.isalpha, parts)):
        return rows
    return (
        distinct(np.concatenate([rows, fulltext.find_phrase(database, " ".join(parts), NO_FILTERS)])) if parts else rows
    )


def postings(database: Database, rows: Mapping[str, Ids], weights: Mapping[str, float]) -> dict[str, fulltext.Scored]:
    """The rows of each piece with what it counts there: its weight, more in short rows than in long ones. Raises StoreFault."""
    if not rows:
        return {}
    sampled = spread_ids(database, SAMPLE)
    usual = trigrams.lengths(database, np.array(sampled, np.int64))
    every = distinct(np.concatenate(list(rows.values())))
    sizes = trigrams.lengths(database, every) / (usual[usual > 0].mean() if usual.any() else 1.0)
    return {
        term: fulltext.Scored(ids, in_rows(weights[term], sizes[np.searchsorted(every, ids)]))
        for term, ids in rows.items()
    }


LIKELY = 15
"""Times as many rows as are wanted are scored first."""
ROUNDING = 1e-9
"""Share by which a sum may be off."""
IN_VAIN = 0.5
"""What an unknown piece counts for among what the corpus does not know: every other pair of characters joins two words."""


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
    pieces: Mapping[str, Ids]
    """The rows of those to look up that are no words of the index."""
    is_personal: bool
    """The query speaks of who asks."""
    corpus: int
    """All rows, whatever the filters."""


def terms_of(database: Database, asked: Asked) -> Terms:
    """The terms of a question's words, those that stand in a paste alone as less, and of its pieces. Raises StoreFault."""
    own = dict.fromkeys(words(spaced(asked.said)))
    corpus = fulltext.count_rows(database)
    terms = _of_words(database, own, words(spaced(asked.words)), corpus)
    unheard = [term.word for term in terms if not term.rows and term.word in own]
    pieces = rows_of_pieces(database, asked.said, own, unheard)
    terms = _with_pieces(terms, pieces, corpus)
    in_vain = {term.word for term in terms if not term.rows}
    parts = (part for word, of in identifiers(asked.said).items() if word in in_vain for part in of)
    terms += _of_words(database, dict.fromkeys(part for part in parts if part not in own and len(part) > 1), (), corpus)
    chosen = looked_up(terms)
    return Terms(
        {term.word: term.weight for term in terms if term.rows},
        chosen,
        pairs(spaced(asked.said), [term for term in terms if term.word in chosen]),
        coverage(terms),
        {piece: rows for piece, rows in pieces.items() if piece in chosen},
        not FIRST_PERSON.isdisjoint(own),
        corpus,
    )


def _of_words(database: Database, own: dict[str, None], pasted: Sequence[str], corpus: int) -> list[Term]:
    """Of words that the index takes for the same the first."""
    stems = fulltext.stems(database, own | dict.fromkeys(pasted))
    frequencies = fulltext.document_frequencies(database, {stem for of_word in stems.values() for stem in of_word})
    by_stems = {of_word: word for word, of_word in reversed(stems.items()) if of_word}
    return [
        term(word, min(frequencies[stem] for stem in of_word), corpus, pasted=word not in own)
        for of_word, word in reversed(by_stems.items())
    ]


def _with_pieces(terms: Sequence[Term], pieces: Mapping[str, Ids], corpus: int) -> list[Term]:
    """Words and pieces; a piece that more rows have than have its word takes the word's place."""
    by_text = {term.word: term for term in terms}
    for part, rows in pieces.items():
        text = inside(part) or ""
        if text not in by_text or len(rows) > by_text[text].rows:
            found = term(part, len(rows), corpus)
            by_text[text] = found if len(rows) else found._replace(weight=IN_VAIN * found.weight)
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


def matches_of(database: Database, terms: Terms, filters: Filters, passing: Ids | None) -> Matches:
    """The rows that have any of the words. Raises StoreFault.

    Args:
        database: whose rows they are.
        terms: the words.
        filters: what is let through.
        passing: that as a list, where there is one: it is looked for in thousands of pages, so once a question.
    """
    plain = [word for word in terms.looked_up if inside(word) is None]
    found = {
        **fulltext.postings(database, plain, filters),
        **postings(database, terms.pieces, terms.weights),
    }
    every = np.concatenate([np.empty(0, np.int64), *(rows.ids for rows in found.values())])
    ceilings = np.concatenate([np.empty(0), *(terms.looked_up[word] * rows.ceilings for word, rows in found.items())])
    order = np.argsort(every, kind="stable")
    ids, firsts = runs(every[order])
    most = np.add.reduceat(ceilings[order], firsts) if len(ids) else np.empty(0)
    if filters == NO_FILTERS:
        return Matches(terms, found, ids, most, None)
    let_through = allowed_ids(database, ids.tolist(), filters) if passing is None else passing
    allowed = among(ids, let_through)
    return Matches(terms, found, ids[allowed], most[allowed], passing)


def best(database: Database, matches: Matches, k: int) -> list[int]:
    """The k rows that score most, best first, equal ones by id. Raises StoreFault.

    What k rows reach, the others have to be able to reach: so most of those that have nothing but a frequent word are
    never scored.
    """
    first = LIKELY * k
    if len(matches.ids) <= first:
        return _highest(matches.ids, scores(database, matches, matches.ids), k)
    likely = np.argpartition(-matches.ceilings, first)[:first]
    scored = scores(database, matches, matches.ids[likely])
    further = matches.ceilings >= np.partition(scored, -k)[-k] * (1 - ROUNDING)
    further[likely] = False
    others = matches.ids[further]
    ids = np.concatenate([matches.ids[likely], others])
    return _highest(ids, np.concatenate([scored, scores(database, matches, others)]), k)


def _highest(ids: NDArray[np.int64], scored: NDArray[np.float64], k: int) -> list[int]:
    highest: list[int] = ids[np.lexsort((ids, -scored))][:k].tolist()
    return highest


def scores(database: Database, matches: Matches, ids: NDArray[np.int64]) -> NDArray[np.float64]:
    """What the question's words score in each row, shape (ids,). Raises StoreFault."""
    return np.asarray(by_word(database, matches, ids).sum(axis=0))


def by_word(database: Database, matches: Matches, ids: NDArray[np.int64]) -> NDArray[np.float64]:
    """What each of the question's words scores in each row, shape (words, ids). Raises StoreFault."""
    sizes = fulltext.sizes(database, ids)
    looked_up = matches.terms.looked_up
    found = [looked_up[word] * rows.at(ids, sizes) for word, rows in matches.postings.items()]
    return np.reshape(found, (len(found), len(ids)))


def shares(matches: Matches, ids: NDArray[np.int64]) -> NDArray[np.float64]:
    """How much of the question's weight stands in each row, 0 to 1; words that the corpus does not know count as absent."""
    weights = matches.terms.weights
    total = sum(weights.values()) / matches.terms.coverage if weights else 1.0
    found = np.zeros(len(ids))
    for word, rows in matches.postings.items():
        found += weights[word] * among(ids, rows.ids)
    return found / total
