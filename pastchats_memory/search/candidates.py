"""Gather the evidence for each row of the pool, the best rows of both lists."""

import re
from collections.abc import Sequence

from pastchats_memory.arrays import Bools, Floats, Ids, Vector, np
from pastchats_memory.embed import is_english
from pastchats_memory.search import rank
from pastchats_memory.search.lexical import Matches, score_by_word
from pastchats_memory.search.times import QueryTime, has_time, match_time
from pastchats_memory.store import fulltext, sources, task_rows, vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.ids import among, spread_among, spread_ids
from pastchats_memory.store.middles import read_middles
from pastchats_memory.store.turn_context import find_neighbours, turn_contexts
from pastchats_memory.text.identifiers import is_spaceless
from pastchats_memory.text.words import words

REACH = 2
"""Turns on each side of a row whose words count for it."""
TYPED_ROLES = frozenset({"user", "note"})
"""Roles of rows that a person wrote; texts of tasks count as well."""
SPEAKER = re.compile(r"\s*([^\W\d_][\w'-]*(?: [^\W\d_][\w'-]*){0,2}): ")
"""The name before an utterance in a transcript of several people."""
BACKGROUND_SAMPLE = 256
"""Rows whose mean and spread stand for those of the searched corpus."""


def order_by_evidence(
    database: Database, matches: Matches, query_vector: Vector, pool: Sequence[int], time: QueryTime, meaning: float
) -> list[int]:
    """Return the pool's rows, ordered by `rank.evidence`, then by id.

    A row whose vector is pending is as near to the question as rows usually are.
    """
    owners = task_rows.aspect_owners(database, pool)
    ids, rows = vectors.matrix(database, [*pool, *owners])
    if not ids:
        return []
    # Without filters the sample is always the same.
    passing = matches.passing
    sampled, background = (
        database.cache.get_or_make(
            "background", lambda: vectors.matrix(database, spread_ids(database, BACKGROUND_SAMPLE))
        )
        if passing is None
        else vectors.matrix(database, spread_among(passing, BACKGROUND_SAMPLE))
    )
    if not sampled:  # nearly all of a large corpus was deleted
        background = rows
    with_middle, middles = read_middles(database, ids)
    scores = rank.standard_scores(vectors.unit(query_vector), np.concatenate([rows, middles]), background)
    scores[len(ids) :] -= rank.SECOND_CHANCE
    best: dict[int, float] = {}
    for id_, score in zip([*ids, *with_middle], scores.tolist(), strict=True):
        own = owners.get(id_, id_)
        best[own] = max(score, best.get(own, score))
    pool = sorted({*pool})
    of_pool = np.array([best.get(id_, 0.0) for id_ in pool])
    return _order(pool, rank.evidence(_gather_signals(database, matches, pool, time, of_pool), meaning))


def order_by_words(database: Database, matches: Matches, pool: Sequence[int], time: QueryTime) -> list[int]:
    """Return the pool, which is in ascending order, by `rank.word_evidence`, equal ones by id."""
    if not pool:
        return []
    return _order(pool, rank.word_evidence(_gather_signals(database, matches, pool, time, np.empty(0))))


def _order(pool: Sequence[int], total: Floats) -> list[int]:
    return [id_ for _, id_ in sorted(zip((-total).tolist(), pool, strict=True))]


def _gather_signals(
    database: Database, matches: Matches, pool: Sequence[int], time: QueryTime, scores: Floats
) -> rank.Signals:
    """Return what the ranking needs to know about the pool and the rows around it."""
    filters = time.filters
    about = turn_contexts(database, pool)
    neighbours = find_neighbours(database, pool, REACH, filters)
    ids = np.array([*pool, *sorted({other for _, other, _ in neighbours}.difference(pool))])
    numbers: dict[str | int, int] = {}
    conversations = [
        numbers.setdefault((about[id_].conversation or id_) if id_ in about else id_, len(numbers)) for id_ in pool
    ]
    terms = matches.terms
    if len(scores) and is_english(sources.meta(database).get("model_name", "")):
        # Rows in a script that the model never learnt stand out by it, and mean nothing.
        is_unread = [id_ in about and is_spaceless(about[id_].opening) for id_ in pool]
        scores = np.where(is_unread, np.minimum(scores, 0.0), scores)
    speakers = [SPEAKER.match(about[id_].opening) if id_ in about else None for id_ in pool]
    named = [one is not None and not set(words(one[1])).isdisjoint(terms.importances) for one in speakers]
    phrases = np.zeros(len(pool))
    for pair, weight in terms.pairs.items():
        phrases += weight * among(ids[: len(pool)], fulltext.find_phrase(database, pair, filters))
    places, same_role = _place_neighbours(neighbours, pool, ids)
    return rank.Signals(
        matches=score_by_word(database, matches, ids),
        weights=np.array([terms.weights[word] * (terms.importances[word] == 1) for word in matches.postings]),
        phrases=phrases,
        around=places,
        same_role=same_role,
        standard_scores=scores,
        conversations=np.array(conversations),
        typed=np.array([id_ not in about or about[id_].role in TYPED_ROLES for id_ in pool])
        * (1.0 if terms.is_personal else rank.IMPERSONAL),
        named=np.array(named),
        time_match=match_time(time.read, [about[id_].timestamp if id_ in about else None for id_ in pool]),
        has_time=has_time(database, time, pool),
        searched=matches.searched,
        rarity=rank.rarity(list(terms.weights.values()), terms.corpus),
    )


def _place_neighbours(neighbours: Sequence[tuple[int, int, bool]], pool: Sequence[int], ids: Ids) -> tuple[Ids, Bools]:
    """Return the places in `ids` of each row's neighbours, and whether roles match.

    Both arrays have the shape (pool, most neighbours). A missing neighbour has the place -1.
    """
    at = {id_: place for place, id_ in enumerate(ids.tolist())}
    of: dict[int, list[tuple[int, bool]]] = {id_: [] for id_ in pool}
    for id_, other, is_same in neighbours:
        of[id_].append((at[other], is_same))
    width = max(map(len, of.values()))
    filled = [found + [(-1, False)] * (width - len(found)) for found in of.values()]
    places, same_role = np.moveaxis(np.array(filled, dtype=np.int64).reshape(len(of), width, 2), 2, 0)
    return places, same_role > 0
