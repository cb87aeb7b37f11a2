"""Merge the lists of both engines into one order.

Pure; the returned contributions add up to the score.

Textbook rank fusion discards how sure each list is. On two of four retrieval sets it is worse than the better of its two
lists, on a third slightly worse. So the fusion takes a third list, made of evidence on one scale: how much of the question
occurs in a row, how far the row stands out by meaning, what its neighbours say, and who wrote it. `benchmarks/quality.py`
measures the worth of each.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pastchats_memory.arrays import Bools, Floats, Ids, np

RRF_K = 10
"""Constant of reciprocal rank fusion. The original 60 is for lists of a thousand rows, these have a hundred."""
WORDS, MEANING, EVIDENCE = "words", "meaning", "together"
RERANK = "read"
"""Name of the contribution of a cross-encoder, which is then the whole score."""
LOGIT_LIMIT = 30.0
"""Magnitude of a cross-encoder's number beyond which it counts as certain."""
WEIGHTS = {WORDS: 1.0, MEANING: 1.0, EVIDENCE: 32.0}
"""Weights of the three lists at even balance; the two plain lists settle what evidence leaves open."""
GOOD_MATCH = 4.0
"""Worth of matching words as well as the BEST_MATCHES do on average, on the scale of `semantic_evidence`, for a question
of the rarest possible words. A row that leads by far is worth many times as much as one of many equal rows.

This number and those below were fitted on all retrieval sets. Then they were moved until hybrid search was as good as the
better of words and meaning, there and on further sets of code, tasks, questions and agents' transcripts."""
BEST_MATCHES = 50
"""Rows with the best word scores; a match is compared with their mean."""
EMPHASIS = 1.25
"""Exponent that favours few rows standing out far over many standing out slightly."""
SURPRISE = 1.5
"""Exponent for how far the nearest row stands out beyond chance."""
CROWD = 10
"""Rank of the row that tells how many are near. In a memory of many subjects the rows on the question's own all stand out."""
PRESENCE = 0.9
"""Share of a word's weight that counts for occurring at all, however often and however long the row."""
PHRASE = 1.2
"""Share of the lesser word's weight that counts if two words are neighbours as in the question."""
SECOND_CHANCE = 1 / math.sqrt(math.pi)
"""Standard deviations by which the middle of a row has to lead its start and end: so much is the larger of two normal deviates
above one of them by chance."""
NEIGHBOURS = 0.5
"""Share that counts of words which only the neighbouring rows have, and of how much nearer in meaning the best of them is.
An answer is found by its question."""
OTHER_ROLE = 0.5
"""Share of that for a neighbour of another role; an assistant's answer repeats the question at length."""
CONVERSATION = 0.4
"""Share that counts of the evidence for the best rows of the conversation."""
BEST_ROWS = 3
"""Number of those rows, which count by their mean."""
DATED = 8.0
"""Worth of a row from the time that the question names, or soon after."""
DAYS_AFTER, DAYS_BEFORE = (7.0, 30.0), 3.0
"""Days in which that worth falls to 1/e, after the time and before it; people write about events afterwards. After the time it is
twice as long as the time itself, between these two: what happened on one day is told sooner than what a month brought."""
(
    WORDS_ONLY_PHRASE,
    WORDS_ONLY_NEIGHBOURS,
    WORDS_ONLY_CONVERSATION,
    WORDS_ONLY_TYPED,
    WORDS_ONLY_HAS_TIME,
    WORDS_ONLY_DATED,
) = 0.2, 0.3, 0.2, 0.03, 0.4, 1.0
"""The same six for a search by words alone. The first four then settle near ties; presence and roles only do harm."""
LEAST_ROWS = 3
"""Size that a corpus has at least in the formulas, because nothing stands out of one row."""
HAS_TIME = 2.0
"""Worth of a row that mentions a time, if the question asks for one."""
TYPED = 3.0
"""Worth of a row that a person wrote; an answer repeats the question's words among many others."""
IMPERSONAL = 0.25
"""Share of that for a question without the first person: own words answer "what did I", less so "what did it say"."""
NAMED = 2.0
"""Worth of a row that begins with the name of a speaker whom the question names."""

WORD_MATCH = 0.4
"""Added to the cosine of a row that has all of the question's weight; a half of the weight adds a sixteenth of it."""
WORD_MATCH_POWER = 4
SIZE_PENALTY = 0.04
"""Subtracted for each tenfold size of the memory; the nearest of more rows is nearer to any question."""
MIDDLE, STEEPNESS = 0.34, 26.0
"""The logistic curve from there to 0 … 1, fitted to questions with and without an answer (`benchmarks/recall.py`)."""


class Ranked(NamedTuple):
    """One row of the merged order."""

    id: int
    contributions: Mapping[str, float]
    """What each list adds to the score; lists without the row are missing."""
    ranks: Mapping[str, int]
    """Rank of the row in each list, counted from 1."""

    @property
    def score(self) -> float:
        """The sum of the contributions."""
        return sum(self.contributions.values())

    @property
    def lexical_rank(self) -> int | None:
        """The rank by words; None for a row that is not in that list."""
        return self.ranks.get(WORDS)

    @property
    def semantic_rank(self) -> int | None:
        """The rank by meaning; None for a row that is not in that list."""
        return self.ranks.get(MEANING)


def reciprocal_rank(rank: int, weight: float, k: int = RRF_K) -> float:
    """Return weight / (k + rank), with rank counted from 1 (Cormack, Clarke, Büttcher 2009)."""
    return weight / (k + rank)


def list_weights(meaning: float) -> dict[str, float]:
    """Return the weights of the lists at a balance from 0 (words) to 1 (meaning); 0.5 gives WEIGHTS."""
    return {
        WORDS: 2 * (1 - meaning) * WEIGHTS[WORDS],
        MEANING: 2 * meaning * WEIGHTS[MEANING],
        EVIDENCE: 4 * meaning * (1 - meaning) * WEIGHTS[EVIDENCE],
    }


def fuse(lists: Mapping[str, Sequence[int]], weights: Mapping[str, float]) -> list[Ranked]:
    """Merge lists by weighted reciprocal rank fusion: the highest score first, equal scores by id.

    Args:
        lists: ids by list name, best first.
        weights: weights by list name; a list of weight 0 gives ranks, but adds no score and no rows.
    """
    ranks: dict[int, dict[str, int]] = {}
    for name, ids in lists.items():
        for rank, id_ in enumerate(ids, start=1):
            ranks.setdefault(id_, {})[name] = rank
    fused = [
        Ranked(id_, {name: reciprocal_rank(rank, weights[name]) for name, rank in of.items() if weights[name]}, of)
        for id_, of in ranks.items()
    ]
    return sorted((row for row in fused if row.contributions), key=lambda row: (-row.score, row.id))


def extend(head: Sequence[Ranked], lists: Mapping[str, Sequence[int]], weights: Mapping[str, float]) -> list[Ranked]:
    """Append the other rows of longer lists, in the order of their own fusion, below the head's last score.

    The head does not depend on how much is asked for, so a later page continues where the one before ended.
    """
    shown = {row.id for row in head}
    rest = [row for row in fuse(lists, weights) if row.id not in shown]
    if not head:
        return rest
    most = sum(reciprocal_rank(1, weights[name]) for name in lists) or 1.0
    return [*head, *_scale(head[-1].score / most, rest)]


def _scale(factor: float, rows: Sequence[Ranked]) -> list[Ranked]:
    return [
        Ranked(row.id, {name: part * factor for name, part in row.contributions.items()}, row.ranks) for row in rows
    ]


def rerank(rows: Sequence[Ranked], scores: Floats) -> list[Ranked]:
    """Order the first rows by a cross-encoder's scores; the others keep their order behind them.

    Args:
        rows: ranked rows, best first.
        scores: shape (m,), any numbers, for the first m rows.
    """
    likely = (1 / (1 + np.exp(-np.clip(scores, -LOGIT_LIMIT, LOGIT_LIMIT)))).tolist()
    read = [Ranked(row.id, {RERANK: share}, row.ranks) for row, share in zip(rows, likely, strict=False)]
    head = sorted(read, key=lambda row: (-row.score, row.id))
    rest = rows[len(head) :]
    return [*head, *_scale(head[-1].score / rest[0].score, rest)] if rest else head


def standard_scores(query: Floats, rows: Floats, background: Floats) -> Floats:
    """Return how far each row stands out from usual rows in nearness to the query, in standard deviations.

    The score is the mean of two views: of the vectors as they are, and of vectors centred on the background's mean, which
    removes what all texts share (Mu, Viswanath 2018, "All-but-the-top", its first step). The corpus decides which is better.

    Args:
        query: shape (dim,).
        rows: shape (n, dim).
        background: shape (m, dim), m > 0: a sample of the searched corpus.

    Returns:
        Shape (n,).
    """
    centre = background.mean(axis=0)
    as_they_are = _measure_deviations(query, rows, background)
    return np.asarray((as_they_are + _measure_deviations(query - centre, rows - centre, background - centre)) / 2)


def _measure_deviations(query: Floats, rows: Floats, background: Floats) -> Floats:
    direction = _normalize(query[None, :])[0]
    usual = _normalize(background) @ direction
    spread = float(usual.std()) or 1.0
    return np.asarray((_normalize(rows) @ direction - usual.mean()) / spread)


def emphasize(scores: Floats) -> Floats:
    """Return sign(z) · |z| ^ EMPHASIS, the same shape."""
    return np.asarray(np.sign(scores) * np.abs(scores) ** EMPHASIS)


def semantic_evidence(scores: Floats, searched: int) -> Floats:
    """Return emphasised scores, scaled by the nearest row's lead over chance; shape (n,).

    A question that no row is about also has a nearest row, and a nearer one in a larger corpus. If even the row of rank CROWD
    is nearer than chance explains, all scores shrink until it is not: one of many near rows says little about the question.

    Args:
        scores: shape (n,), from `standard_scores`, including the nearest rows.
        searched: number of rows that were searched.
    """
    nearest = np.sort(scores)[-CROWD:]
    crowd = float(nearest.min(initial=math.inf))
    usual = _score_by_chance(searched, max(len(nearest), 1))
    alone = scores * (usual / crowd) if crowd > usual else scores
    farthest = max(float(alone.max(initial=0.0)), 0.0)
    return np.asarray((farthest / _score_by_chance(searched, 1)) ** SURPRISE * emphasize(alone))


def _score_by_chance(searched: int, rank: int) -> float:
    """Return the rank-th score by chance: the largest of n is near √(2 ln n) (Gumbel 1958, "Statistics of Extremes")."""
    return math.sqrt(2 * math.log(max(searched, LEAST_ROWS) / rank))


def rarity(weights: Sequence[float], corpus: int) -> float:
    """Return the rarity of a question's two rarest words: 0 without a known word, about 1 for words of one row.

    Names and identifiers lead to one row; common words occur in many other rows as well.

    Args:
        weights: inverse document frequencies.
        corpus: number of rows in which they were counted.
    """
    rarest = sorted(weights)[-2:]
    return sum(rarest) / (len(rarest) or 1) / math.log(max(corpus, LEAST_ROWS))


def score_one_occurrence(weight: float, lengths: Floats) -> Floats:
    """Return BM25 of a subword that occurs once in each row, with k₁ 1.2 and b 0.75; shape (n,).

    The index does not count how often a subword occurs.

    Args:
        weight: its inverse document frequency.
        lengths: shape (n,), as multiples of the usual length.
    """
    return np.asarray(weight * 2.2 / (1 + 1.2 * (0.25 + 0.75 * lengths)))


def word_strengths(matches: Floats, weights: Floats) -> Floats:
    """Return the BM25 of each word in each row, plus PRESENCE of its weight for occurring at all.

    Args:
        matches: shape (words, rows), BM25, 0 for a missing word.
        weights: shape (words,), inverse document frequency; 0 for a word whose presence carries no information.
    """
    return np.asarray(matches + PRESENCE * weights[:, None] * (matches > 0))


def neighbour_terms(strong: Floats, around: Ids, shares: Floats | float) -> Floats:
    """Return what neighbouring rows have of words that a row lacks or has less of, each word at its best; shape (n,).

    Args:
        strong: shape (words, all rows), from `word_strengths`.
        around: shape (n, reach), places of the neighbours of each of the first n rows; -1 for none.
        shares: shape (n, reach), how much each neighbour counts; or one number for all.
    """
    n = len(around)
    padded = np.concatenate([strong, np.zeros((len(strong), 1))], axis=1)  # -1 points at the zeros
    ahead = np.maximum(padded[:, around] - strong[:, :n, None], 0.0)
    return np.asarray((ahead * shares).max(axis=2, initial=0.0).sum(axis=0))


def neighbour_similarity(own: Floats, around: Ids, shares: Floats) -> Floats:
    """Return the lead of the best neighbour's evidence, 0 if none leads; shape (n,).

    Args:
        own: shape (n,).
        around: as for `neighbour_terms`; rows behind the first n are unknown and count for nothing.
        shares: as for `neighbour_terms`.
    """
    n = len(own)
    padded = np.append(own, -np.inf)
    ahead = np.maximum(padded[np.where((around >= 0) & (around < n), around, n)] - own[:, None], 0.0)
    return np.asarray((ahead * shares).max(axis=1, initial=0.0))


def time_decay(days: Floats, length: float) -> Floats:
    """Return 1 within a time of `length` days, and less for days after it (positive) or before it (negative)."""
    after = float(np.clip(2 * length, *DAYS_AFTER))
    return np.asarray(np.where(days >= 0, np.exp(-np.abs(days) / after), np.exp(-np.abs(days) / DAYS_BEFORE)))


def conversation_evidence(own: Floats, conversations: Ids) -> Floats:
    """Return the mean of the BEST_ROWS best rows of each row's conversation; missing rows count as 0.

    Args:
        own: shape (n,).
        conversations: shape (n,), a number from 0 for each conversation.
    """
    order = np.lexsort((-own, conversations))
    grouped = conversations[order]
    starts = np.searchsorted(grouped, grouped)
    counted = np.arange(len(order)) - starts < BEST_ROWS
    sums = np.zeros(int(conversations.max(initial=-1)) + 1)
    np.add.at(sums, grouped[counted], own[order][counted] / BEST_ROWS)
    return np.asarray(sums[conversations])


class Signals(NamedTuple):
    """What the ranking knows about the n rows of the pool and the rows around them."""

    matches: Floats
    """Shape (words, all rows), BM25 of each word, the n rows first."""
    weights: Floats
    """Shape (words,), weight of a word's presence."""
    phrases: Floats
    """Shape (n,), weight of the question's pairs of words that occur in the row."""
    around: Ids
    """Shape (n, reach), places of the neighbours of each row; -1 for none."""
    same_role: Bools
    """Shape (n, reach), whether a neighbour has the row's role."""
    standard_scores: Floats
    """Shape (n,), from `standard_scores`; empty for a search by words alone."""
    conversations: Ids
    """Shape (n,), a number for each conversation."""
    typed: Floats
    """Shape (n,), 1 or IMPERSONAL if a person wrote the row, else 0."""
    named: Bools
    """Shape (n,), whether the row begins with the name of a speaker whom the question names."""
    time_match: Floats
    """Shape (n,), from `time_decay`; 0 if the question names no time."""
    has_time: Bools
    """Shape (n,), whether the row mentions a time and the question asks for one."""
    searched: int
    """Number of searched rows; unused for a search by words alone."""
    rarity: float
    """Rarity of the question's words, from `rarity`; unused for a search by words alone."""


def evidence(signals: Signals, meaning: float) -> Floats:
    """Return the sum of all evidence for each row, on one scale; shape (n,).

    Args:
        signals: the rows, n > 0.
        meaning: the balance, 0 (words) to 1 (meaning).
    """
    n = len(signals.standard_scores)
    strong = word_strengths(signals.matches, signals.weights)
    standing = strong[:, :n].sum(axis=0) + PHRASE * signals.phrases
    usual = float(np.sort(standing)[-BEST_MATCHES:].mean())
    scale = 2 * (1 - meaning) * GOOD_MATCH * signals.rarity / (usual or 1.0)
    near = 2 * meaning * semantic_evidence(signals.standard_scores, signals.searched)
    own = scale * standing + near
    shares = np.where(signals.same_role, 1.0, OTHER_ROLE)
    context = scale * neighbour_terms(strong, signals.around, shares) + neighbour_similarity(
        near, signals.around, shares
    )
    further = TYPED * signals.typed + NAMED * signals.named + DATED * signals.time_match + HAS_TIME * signals.has_time
    return np.asarray(
        own + NEIGHBOURS * context + CONVERSATION * conversation_evidence(own, signals.conversations) + further
    )


def word_evidence(signals: Signals) -> Floats:
    """Return the evidence for each row by words alone, as shares of the best match; shape (n,)."""
    n = len(signals.around)
    standing = signals.matches[:, :n].sum(axis=0) + WORDS_ONLY_PHRASE * signals.phrases
    most = float(standing.max(initial=0.0)) or 1.0
    own = standing / most
    context = WORDS_ONLY_NEIGHBOURS * neighbour_terms(signals.matches, signals.around, 1.0) / most
    further = (
        WORDS_ONLY_TYPED * signals.typed
        + WORDS_ONLY_DATED * signals.time_match
        + WORDS_ONLY_HAS_TIME * signals.has_time
    )
    return np.asarray(
        own + context + WORDS_ONLY_CONVERSATION * conversation_evidence(own, signals.conversations) + further
    )


def relevance(similarities: Floats, matched: Floats, rows: int) -> Floats:
    """Return how likely a memory with such a best row is about the question, 0 to 1.

    At 0.5, as many questions with an answer have such a row as questions without one, if both are equally frequent.

    Args:
        similarities: shape (n,), cosines.
        matched: shape (n,), share of the question's weight that occurs in the row.
        rows: number of searched rows.
    """
    fit = similarities + WORD_MATCH * matched**WORD_MATCH_POWER - SIZE_PENALTY * np.log10(max(rows, 1))
    return np.asarray(1 / (1 + np.exp(-STEEPNESS * (fit - MIDDLE))))


def _normalize(matrix: Floats) -> Floats:
    length = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / np.where(length > 0, length, 1.0))
