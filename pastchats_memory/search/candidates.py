"""What speaks for each row of the pool, the best of both lists, beyond its place in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pastchats_memory.embed import Vector, is_english
from pastchats_memory.model import Filters
from pastchats_memory.search.lexical import Matches, by_word
from pastchats_memory.search.rank import IMPERSONAL, Signals, evidence, evidence_of_words, rarity, standing_out
from pastchats_memory.search.times import Times, timely, told
from pastchats_memory.store import fulltext, sources, vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.filters import spread_among, spread_ids
from pastchats_memory.store.ids import Ids, among
from pastchats_memory.store.turn_context import neighbours, turn_contexts
from pastchats_memory.text.identifiers import is_spaceless
from pastchats_memory.text.words import words

REACH = 2
"""Turns on each side of a row whose words speak for it."""
TYPED_ROLES = frozenset({"user", "note"})
"""Of rows that a person wrote; texts of tasks count with them."""
SPEAKER = re.compile(r"\s*([^\W\d_][\w'-]*(?: [^\W\d_][\w'-]*){0,2}): ")
"""The name before what was said, in a transcript of several people."""
SAMPLE = 256
"""Rows that stand for the searched corpus, whose mean and spread they give nearly as well as all of it."""


def by_evidence(
    database: Database, matches: Matches, query_vector: Vector, pool: Sequence[int], times: Times, meaning: float
) -> list[int]:
    """Those of the pool that have a vector, by `rank.evidence`, best first; equal ones by id. Raises StoreFault.

    All have one but in a damaged database, whose other rows keep their places in the list of words.
    """
    pool, rows = vectors.matrix(database, pool)
    if not pool:
        return []
    sampled, background = _background(database, matches.passing)
    if not sampled:  # nearly all of a large corpus was deleted
        background = rows
    deviations = standing_out(vectors.unit(query_vector), rows, background)
    return _ordered(pool, evidence(_signals(database, matches, pool, times, deviations), meaning))


def _background(database: Database, passing: Ids | None) -> tuple[list[int], NDArray[np.float64]]:
    """Some of the rows that were searched, all over them, and their vectors; of the whole memory the same for every question."""
    if passing is not None:
        return vectors.matrix(database, spread_among(passing, SAMPLE))
    return database.cache.get_or_make("background", lambda: vectors.matrix(database, spread_ids(database, SAMPLE)))


def by_words(database: Database, matches: Matches, pool: Sequence[int], times: Times) -> list[int]:
    """The pool, ids in ascending order, by `rank.evidence_of_words`, best first; equal ones by id. Raises StoreFault."""
    if not pool:
        return []
    return _ordered(pool, evidence_of_words(_signals(database, matches, pool, times, np.empty(0))))


def _ordered(pool: Sequence[int], total: NDArray[np.float64]) -> list[int]:
    return [id_ for _, id_ in sorted(zip((-total).tolist(), pool, strict=True))]


def _signals(
    database: Database, matches: Matches, pool: Sequence[int], times: Times, deviations: NDArray[np.float64]
) -> Signals:
    filters = times.filters
    about = turn_contexts(database, pool)
    beside = neighbours(database, pool, REACH, filters)
    ids = np.array([*pool, *sorted({other for _, other, _ in beside}.difference(pool))])
    numbers: dict[str | int, int] = {}
    conversations = [
        numbers.setdefault((about[id_].conversation or id_) if id_ in about else id_, len(numbers)) for id_ in pool
    ]
    terms = matches.terms
    places, same_role = _places(beside, pool, ids)
    return Signals(
        matches=by_word(database, matches, ids),
        weights=np.array([terms.weights[word] * (terms.looked_up[word] == 1) for word in matches.postings]),
        phrases=_phrases(database, terms.pairs, ids[: len(pool)], filters),
        around=places,
        same_role=same_role,
        deviations=_as_read(database, deviations, [about[id_].opening if id_ in about else "" for id_ in pool]),
        conversations=np.array(conversations),
        typed=np.array([id_ not in about or about[id_].role in TYPED_ROLES for id_ in pool])
        * (1.0 if terms.is_personal else IMPERSONAL),
        named=np.array([id_ in about and _is_named(about[id_].opening, terms.looked_up) for id_ in pool]),
        timely=timely(times.read, [about[id_].timestamp if id_ in about else None for id_ in pool]),
        told=told(database, times, pool),
        searched=matches.searched,
        rarity=rarity(list(terms.weights.values()), terms.corpus),
    )


def _as_read(database: Database, deviations: NDArray[np.float64], openings: Sequence[str]) -> NDArray[np.float64]:
    """Of rows in a script that the model never learnt none: they stand out from all others by that alone."""
    if not len(deviations) or not is_english(sources.meta(database).get("model_name", "")):
        return deviations
    return np.where([is_spaceless(opening) for opening in openings], np.minimum(deviations, 0.0), deviations)


def _is_named(opening: str, asked: Iterable[str]) -> bool:
    """Whether a text begins with the name of a speaker that stands in the question."""
    speaker = SPEAKER.match(opening)
    return speaker is not None and not set(words(speaker[1])).isdisjoint(asked)


def _phrases(
    database: Database, pairs: Mapping[str, float], ids: NDArray[np.int64], filters: Filters
) -> NDArray[np.float64]:
    """The weight of the pairs of words that stand in each row, shape (ids,)."""
    total = np.zeros(len(ids))
    for pair, weight in pairs.items():
        total += weight * among(ids, fulltext.find_phrase(database, pair, filters))
    return total


def _places(
    beside: Sequence[tuple[int, int, bool]], pool: Sequence[int], ids: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """For each row of the pool where in `ids` the rows around it stand, -1 for none, and whether they are of its role.

    Both are of shape (pool, most of them).
    """
    at = {id_: place for place, id_ in enumerate(ids.tolist())}
    of: dict[int, list[tuple[int, bool]]] = {id_: [] for id_ in pool}
    for id_, other, is_same in beside:
        of[id_].append((at[other], is_same))
    width = max(map(len, of.values()))
    filled = [found + [(-1, False)] * (width - len(found)) for found in of.values()]
    places, same_role = np.moveaxis(np.array(filled, dtype=np.int64).reshape(len(of), width, 2), 2, 0)
    return places, same_role > 0
