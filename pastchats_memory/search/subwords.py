"""Find the rows that contain parts of words.

Subwords are characters of scripts without spaces, parts of identifiers, and unknown words.
"""

from collections.abc import Iterable, Mapping

from pastchats_memory.arrays import Ids, np
from pastchats_memory.model import NO_FILTERS
from pastchats_memory.search.rank import score_one_occurrence
from pastchats_memory.store import fulltext, trigrams
from pastchats_memory.store.database import Database
from pastchats_memory.store.ids import distinct, spread_ids
from pastchats_memory.text import identifiers
from pastchats_memory.text.words import FUNCTION_WORDS, words

MOST_SUBWORDS = 48
"""Subwords of one question that are looked up; a pasted log has thousands."""
MOST_ROWS = 10_000
"""Rows in which a subword may occur; a more frequent one carries hardly any information."""
NO_LIMIT = 1 << 40
"""Limit of rows for the only subword of a question."""
LENGTH_SAMPLE = 256
"""Rows whose lengths give the usual length."""


def find_subword_rows(database: Database, text: str, typed: Iterable[str], unmatched: Iterable[str]) -> dict[str, Ids]:
    """Return the rows with each subword of a question; `unmatched` are its words that no row has as a word."""
    script_ngrams, parts_of = identifiers.ngrams(text), identifiers.split_identifiers(text)
    # A word next to a script without spaces has no blank around it, so the index does not see it as a word.
    script_words = (word for word in typed if word not in FUNCTION_WORDS) if script_ngrams else ()
    within = [word for word in (*parts_of, *unmatched, *script_words) if len(word) >= identifiers.LEAST_LENGTH]
    joined = ["".join(words(compound)) for compound in identifiers.find_compounds(text)]
    sought = list(
        dict.fromkeys((*script_ngrams, *map(identifiers.subword, within), *map(identifiers.subword, joined)))
    )[:MOST_SUBWORDS]
    found = {term: rows for term in sought if (rows := _find_rows(database, term, parts_of, MOST_ROWS)) is not None}
    found = {term: rows for term, rows in found.items() if len(rows) or term[1:-1] not in joined}
    if script_ngrams and not found:
        found = {
            term: rows
            for term in script_ngrams[:1]
            if (rows := _find_rows(database, term, parts_of, NO_LIMIT)) is not None
        }
    return found


def _find_rows(database: Database, term: str, parts_of: Mapping[str, tuple[str, ...]], most: int) -> Ids | None:
    """Return the rows with a subword, or with its parts apart (`get_user_by_id`); None if they are too many."""
    text = identifiers.subword_text(term) or ""
    rows = trigrams.containing(
        database, text, most, lambda content: any(True for _ in identifiers.find_subword(content, text))
    )
    parts = parts_of.get(text, ())
    if rows is None or not all(map(str.isalpha, parts)):
        return rows
    return (
        distinct(np.concatenate([rows, fulltext.find_phrase(database, " ".join(parts), NO_FILTERS)])) if parts else rows
    )


def subword_postings(
    database: Database, rows: Mapping[str, Ids], weights: Mapping[str, float]
) -> dict[str, fulltext.Scored]:
    """Return the score of each subword in its rows: its weight, more in short rows than in long ones."""
    if not rows:
        return {}
    sampled = spread_ids(database, LENGTH_SAMPLE)
    usual = trigrams.lengths(database, np.array(sampled, np.int64))
    every = distinct(np.concatenate(list(rows.values())))
    sizes = trigrams.lengths(database, every) / (usual[usual > 0].mean() if usual.any() else 1.0)
    return {
        term: fulltext.Scored(ids, score_one_occurrence(weights[term], sizes[np.searchsorted(every, ids)]))
        for term, ids in rows.items()
    }
