"""Describe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from pastchats_memory.model import NO_FILTERS
from pastchats_memory.search.rank import score_one_occurrence
from pastchats_memory.store import fulltext, trigrams
from pastchats_memory.store.database import Database
from pastchats_memory.store.filters import spread_ids
from pastchats_memory.store.ids import Ids, distinct
from pastchats_memory.text.identifiers import (
    LEAST_LENGTH,
    find_compounds,
    find_subword,
    ngrams,
    split_identifiers,
    subword,
    subword_text,
)
from pastchats_memory.text.words import FUNCTION_WORDS, words

MOST_SUBWORDS = 48
"""Of one question that are looked up: a pasted log has thousands."""


MOST_ROWS = 10_000
"""That a piece may be in: one in more tells hardly anything."""


NO_LIMIT = 1 << 40
"""Rows, where nothing else is asked for."""


LENGTH_SAMPLE = 256
"""Rows whose lengths tell what a long one is."""


def find_subword_rows(database: Database, text: str, typed: Iterable[str], unheard: Iterable[str]) -> dict[str, Ids]:
    """By piece the rows that have it, none for one that was looked for in vain; one that is in too many is left out.

    Args:
        database: whose index is asked.
        text: the question.
        typed: its words.
        unheard: those of them that no row has as a word.

    Raises:
        StoreFault: the database cannot be read.
    """
    of_script, made = ngrams(text), split_identifiers(text)
    # Words beside a script without spaces stand there without a blank, and are then no words to the index.
    beside_script = (word for word in typed if word not in FUNCTION_WORDS) if of_script else ()
    within = [word for word in (*made, *unheard, *beside_script) if len(word) >= LEAST_LENGTH]
    joined = ["".join(words(compound)) for compound in find_compounds(text)]
    sought = list(dict.fromkeys((*of_script, *map(subword, within), *map(subword, joined))))[:MOST_SUBWORDS]
    found = {term: rows for term in sought if (rows := _find_rows(database, term, made, MOST_ROWS)) is not None}
    found = {term: rows for term, rows in found.items() if len(rows) or term[1:-1] not in joined}
    if of_script and not found:
        found = {
            term: rows for term in of_script[:1] if (rows := _find_rows(database, term, made, NO_LIMIT)) is not None
        }
    return found


def _find_rows(database: Database, term: str, made: Mapping[str, tuple[str, ...]], most: int) -> Ids | None:
    """Those that have the piece; of one that is made of words also those in which these stand apart (`get_user_by_id`)."""
    text = subword_text(term) or ""
    rows = trigrams.containing(database, text, most, lambda content: any(True for _ in find_subword(content, text)))
    parts = made.get(text, ())
    if rows is None or not all(map(str.isalpha, parts)):
        return rows
    return distinct(np.concatenate([rows, fulltext.having(database, " ".join(parts), NO_FILTERS)])) if parts else rows


def subword_postings(
    database: Database, rows: Mapping[str, Ids], weights: Mapping[str, float]
) -> dict[str, fulltext.Scored]:
    """The rows of each piece with what it counts there: its weight, more in short rows than in long ones. Raises StoreFault."""
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
