"""From what two engines say of the same rows to one order. Pure; the contributions returned are the computation.

Textbook rank fusion throws away how sure each list is, and is worse than the better of its two lists on two of four
retrieval sets, by a hair on a third. So a third list enters the fusion, made of evidence on one scale: how much of the question stands in a
row, how far the row stands out by meaning, what is said around it, and who said it. `benchmarks/quality.py`
measures what each is worth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

RRF_K = 10
"""Reciprocal rank fusion's constant; the original 60 is for lists of a thousand, these are of a hundred."""
WORDS, MEANING, TOGETHER = "words", "meaning", "together"
READ = "read"
"""What a cross-encoder that reads question and row together adds: all of the score."""
MOST_SURE = 30.0
"""Of a cross-encoder's numbers, beyond which all are as good as certain."""
WEIGHTS = {WORDS: 1.0, MEANING: 1.0, TOGETHER: 32.0}
"""Of the three lists at even balance: the two plain ones settle what evidence leaves open."""
GOOD_MATCH = 4.0
"""What it would be worth, on the scale of `meant`, to match as well by words as the BEST_MATCHES do on average, of a question
whose words are as rare as words can be: a row that leads by far is worth many times as much as one of many alike.
This number and those below were fitted on all retrieval sets, then moved until hybrid search was as good as
the better of words and meaning there and on further sets that had no part in it, of code, tasks, questions and agents' transcripts."""
BEST_MATCHES = 50
"""Rows, the best by words, whose mean a match is held against."""
EMPHASIS = 1.25
"""Power that makes much of few rows that stand out far, and little of many that stand out somewhat."""
SURPRISE = 1.5
"""Power of how much farther the nearest row stands out than chance alone would have it among so many."""
PRESENCE = 0.9
"""Share of a word's weight that counts for standing in a row at all, however often and however long the row."""
PHRASE = 1.2
"""Share of the lesser one's weight that counts where two words stand side by side, as in the question."""
BESIDE = 0.5
"""Share that counts of the words which a row lacks and the rows around it have, and of how much nearer in meaning the
best of them is: an answer is found by its question."""
OTHER_ROLE = 0.5
"""Share of that for a row of another role: what an assistant answers says the question again, at length."""
CONVERSATION = 0.4
"""Share that counts of what the conversation's best rows have for them."""
BEST_ROWS = 3
"""So many of them, by their mean."""
DATED = 8.0
"""What it is worth that the row was said at the time which the question names, or soon after."""
AFTERWARDS, BEFOREHAND = 30.0, 3.0
"""Days in which that falls to 1/e after the time and before it: what happened is told of later."""
ALONE_PHRASE, ALONE_BESIDE, ALONE_CONVERSATION, ALONE_TYPED, ALONE_TOLD, ALONE_DATED = 0.2, 0.3, 0.2, 0.03, 0.4, 1.0
"""The same six where nothing but words is asked: the first four then settle near ties, and presence and roles only harm."""
FEWEST = 3
"""Rows that a corpus counts as at least, since of one nothing stands out."""
TOLD = 2.0
"""What it is worth that the row tells a time, where the question asks when."""
TYPED = 3.0
"""What it is worth that a person wrote the row: an answer says the question's words again, and many more."""
IMPERSONAL = 0.25
"""Share of that where the question does not speak of who asks: what one said oneself answers "what did I", less so "what did it say"."""
NAMED = 2.0
"""What it is worth that the row begins with the name of a speaker whom the question names."""

IN_WORDS = 0.4
"""What it adds to a cosine that all of the question's weight stands in the row; a half of it adds a sixteenth of that."""
IN_WORDS_POWER = 4
LARGER = 0.04
"""What a memory ten times as large takes away: the nearest of more rows is nearer to any question."""
MIDDLE, STEEPNESS = 0.34, 26.0
"""Of the logistic curve from there to 0 … 1, fitted to questions with and without an answer (`benchmarks/recall_floor.py`)."""


class Ranked(NamedTuple):
    """One row of the fused order."""

    id: int
    contributions: Mapping[str, float]
    """By list, what it adds; lists without the row are missing."""
    ranks: Mapping[str, int]
    """By list, the 1-based place in it."""

    @property
    def score(self) -> float:
        """The sum of the contributions."""
        return sum(self.contributions.values())


def reciprocal_rank(rank: int, weight: float, k: int = RRF_K) -> float:
    """Weight / (k + rank), with rank counted from 1 (Cormack, Clarke, Büttcher 2009)."""
    return weight / (k + rank)


def balanced(meaning: float) -> dict[str, float]:
    """The weights of the lists at a balance from 0 (words alone) to 1 (meaning alone); a half gives WEIGHTS."""
    return {
        WORDS: 2 * (1 - meaning) * WEIGHTS[WORDS],
        MEANING: 2 * meaning * WEIGHTS[MEANING],
        TOGETHER: 4 * meaning * (1 - meaning) * WEIGHTS[TOGETHER],
    }


def fuse(lists: Mapping[str, Sequence[int]], weights: Mapping[str, float]) -> list[Ranked]:
    """Weighted reciprocal rank fusion, highest score first, equal scores by id.

    Args:
        lists: ids by list name, best first.
        weights: by list name; a list of weight 0 still gives its ranks, but adds nothing and no rows of its own.
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


def continued(head: Sequence[Ranked], lists: Mapping[str, Sequence[int]], weights: Mapping[str, float]) -> list[Ranked]:
    """The head, then the other rows of longer lists in the order of their own fusion, below the head's last score.

    The head stays as it is however much is asked for, so that a later page goes on where the one before ended.
    """
    inside = {row.id for row in head}
    rest = [row for row in fuse(lists, weights) if row.id not in inside]
    if not head:
        return rest
    most = sum(reciprocal_rank(1, weights[name]) for name in lists) or 1.0
    return [*head, *_below(head[-1].score / most, rest)]


def _below(share: float, rows: Sequence[Ranked]) -> list[Ranked]:
    """The rows with each contribution a share of what it was."""
    return [Ranked(row.id, {name: part * share for name, part in row.contributions.items()}, row.ranks) for row in rows]


def read_again(rows: Sequence[Ranked], scores: Floats) -> list[Ranked]:
    """The first rows in the order of a cross-encoder's scores, the others behind them in the order they had.

    Args:
        rows: best first.
        scores: shape (m,), any numbers, of the first m rows.
    """
    likely = (1 / (1 + np.exp(-np.clip(scores, -MOST_SURE, MOST_SURE)))).tolist()
    read = [Ranked(row.id, {READ: share}, row.ranks) for row, share in zip(rows, likely, strict=False)]
    head = sorted(read, key=lambda row: (-row.score, row.id))
    rest = rows[len(head) :]
    return [*head, *_below(head[-1].score / rest[0].score, rest)] if rest else head


def standing_out(query: Floats, rows: Floats, background: Floats) -> Floats:
    """By how many standard deviations each row is nearer to the query than the rows of the corpus usually are.

    The mean of two views: of the vectors as they are, and centred on the background's mean, which takes out what all its
    texts share (Mu, Viswanath 2018, "All-but-the-top", its first step). Which of the two is better depends on the corpus.

    Args:
        query: shape (dim,).
        rows: shape (n, dim).
        background: shape (m, dim), m > 0: a sample of the searched corpus.

    Returns:
        Shape (n,).
    """
    centre = background.mean(axis=0)
    as_they_are = _deviations(query, rows, background)
    return np.asarray((as_they_are + _deviations(query - centre, rows - centre, background - centre)) / 2)


def _deviations(query: Floats, rows: Floats, background: Floats) -> Floats:
    direction = _normalised(query[None, :])[0]
    usual = _normalised(background) @ direction
    spread = float(usual.std()) or 1.0
    return np.asarray((_normalised(rows) @ direction - usual.mean()) / spread)


def emphasised(deviations: Floats) -> Floats:
    """sign(z) · |z| ^ EMPHASIS, the same shape."""
    return np.asarray(np.sign(deviations) * np.abs(deviations) ** EMPHASIS)


def meant(deviations: Floats, searched: int) -> Floats:
    """The deviations emphasised, and the more the farther the nearest row stands out beyond chance.

    The largest of n normal deviates is near √(2 ln n) (Gumbel 1958, "Statistics of Extremes"): a question that nothing is
    about has a nearest row too, and in a larger corpus a nearer one.

    Args:
        deviations: shape (n,), of `standing_out`, the nearest row among them.
        searched: rows of the corpus that it is the nearest of.

    Returns:
        Shape (n,).
    """
    farthest = max(float(deviations.max(initial=0.0)), 0.0)
    by_chance = math.sqrt(2 * math.log(max(searched, FEWEST)))
    return np.asarray((farthest / by_chance) ** SURPRISE * emphasised(deviations))


def rarity(weights: Sequence[float], corpus: int) -> float:
    """How rare a question's two rarest words are, 0 for none that is known to about 1 for such as stand in one row.

    Names and identifiers lead to the one row that is meant; common words stand in many others as well, however many of them
    the best row has.

    Args:
        weights: inverse document frequencies.
        corpus: rows that these were counted in.
    """
    rarest = sorted(weights)[-2:]
    return sum(rarest) / (len(rarest) or 1) / math.log(max(corpus, FEWEST))


def in_rows(weight: float, lengths: Floats) -> Floats:
    """What a piece counts that stands in rows, nobody knows how often: BM25 of once, with k₁ 1.2 and b .75; the same shape.

    Args:
        weight: its inverse document frequency.
        lengths: shape (n,), as multiples of the usual one.
    """
    return np.asarray(weight * 2.2 / (1 + 1.2 * (0.25 + 0.75 * lengths)))


def strengths(matches: Floats, weights: Floats) -> Floats:
    """How strongly each word stands in each row: its BM25 there, and PRESENCE of its weight for being there at all.

    Args:
        matches: shape (words, rows), BM25, 0 where the word is not.
        weights: shape (words,), inverse document frequency; 0 for a word whose presence tells nothing.
    """
    return np.asarray(matches + PRESENCE * weights[:, None] * (matches > 0))


def beside(strong: Floats, around: Places, shares: Floats | float) -> Floats:
    """What the rows around a row have of the words that it lacks, or has less of; each word once, where that counts most.

    Args:
        strong: shape (words, all rows), of `strengths`.
        around: shape (n, reach), for each of the first n rows the places of the rows around it; -1 where there is none.
        shares: shape (n, reach), how much of each of these counts; or one number for all.

    Returns:
        Shape (n,).
    """
    n = len(around)
    padded = np.concatenate([strong, np.zeros((len(strong), 1))], axis=1)  # which -1 points at
    ahead = np.maximum(padded[:, around] - strong[:, :n, None], 0.0)
    return np.asarray((ahead * shares).max(axis=2, initial=0.0).sum(axis=0))


def nearer_beside(own: Floats, around: Places, shares: Floats) -> Floats:
    """By how much the best of the rows around a row is ahead of it, 0 where none is.

    Args:
        own: shape (n,).
        around: as for `beside`; of rows behind the first n nothing is known, and they count for nothing.
        shares: as for `beside`.

    Returns:
        Shape (n,).
    """
    n = len(own)
    padded = np.append(own, -np.inf)
    ahead = np.maximum(padded[np.where((around >= 0) & (around < n), around, n)] - own[:, None], 0.0)
    return np.asarray((ahead * shares).max(axis=1, initial=0.0))


def timeliness(days: Floats) -> Floats:
    """1 within the time that a question names, less the more days after it (positive) or before it (negative)."""
    return np.asarray(np.where(days >= 0, np.exp(-np.abs(days) / AFTERWARDS), np.exp(-np.abs(days) / BEFOREHAND)))


def of_conversation(own: Floats, conversations: Places) -> Floats:
    """For each row the mean evidence of the BEST_ROWS best rows of its conversation; those that are fewer count as 0.

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
    """What is known of the n rows that may be shown, and of the rows around them."""

    matches: Floats
    """Shape (words, all rows), BM25 of each word, the n rows first."""
    weights: Floats
    """Shape (words,), what it tells that a word is there at all."""
    phrases: Floats
    """Shape (n,), weight of the question's pairs of words that stand there."""
    around: Places
    """Shape (n, reach), the places of the rows around each; -1 where there is none."""
    same_role: NDArray[np.bool_]
    """Shape (n, reach), whether it is of the row's own role."""
    deviations: Floats
    """Shape (n,), of `standing_out`; empty where nothing but words is asked."""
    conversations: Places
    """Shape (n,), a number for each conversation."""
    typed: Floats
    """Shape (n,), 1 where a person wrote it, or IMPERSONAL; else 0."""
    named: NDArray[np.bool_]
    """Shape (n,), whether it begins with the name of a speaker whom the question names."""
    timely: Floats
    """Shape (n,), of `timeliness`; 0 where the question names no time."""
    told: NDArray[np.bool_]
    """Shape (n,), whether it tells a time and the question asks for one."""
    searched: int
    """Rows of the corpus that these were found among; of no use where nothing but words is asked."""
    rarity: float
    """Of the question's words, as `rarity` has it; of no use there either."""


def evidence(signals: Signals, meaning: float) -> Floats:
    """All that speaks for each of the n rows, on one scale and summed; shape (n,).

    Args:
        signals: of the rows, n > 0.
        meaning: the balance, 0 (words) to 1 (meaning).
    """
    n = len(signals.deviations)
    strong = strengths(signals.matches, signals.weights)
    standing = strong[:, :n].sum(axis=0) + PHRASE * signals.phrases
    usual = float(np.sort(standing)[-BEST_MATCHES:].mean())
    scale = 2 * (1 - meaning) * GOOD_MATCH * signals.rarity / (usual or 1.0)
    near = 2 * meaning * meant(signals.deviations, signals.searched)
    own = scale * standing + near
    shares = np.where(signals.same_role, 1.0, OTHER_ROLE)
    context = scale * beside(strong, signals.around, shares) + nearer_beside(near, signals.around, shares)
    said = TYPED * signals.typed + NAMED * signals.named + DATED * signals.timely + TOLD * signals.told
    return np.asarray(own + BESIDE * context + CONVERSATION * of_conversation(own, signals.conversations) + said)


def evidence_of_words(signals: Signals) -> Floats:
    """What speaks for each of the n rows by words alone, in shares of the best match; shape (n,)."""
    n = len(signals.around)
    standing = signals.matches[:, :n].sum(axis=0) + ALONE_PHRASE * signals.phrases
    most = float(standing.max(initial=0.0)) or 1.0
    own = standing / most
    context = ALONE_BESIDE * beside(signals.matches, signals.around, 1.0) / most
    said = ALONE_TYPED * signals.typed + ALONE_DATED * signals.timely + ALONE_TOLD * signals.told
    return np.asarray(own + context + ALONE_CONVERSATION * of_conversation(own, signals.conversations) + said)


def relevance(similarities: Floats, shares: Floats, rows: int) -> Floats:
    """How likely it is, 0 to 1, that a memory whose best row is like this one has something to do with the question.

    At .5 as many questions with an answer have such a row as questions without one, where both are equally frequent.

    Args:
        similarities: shape (n,), cosines.
        shares: shape (n,), of the question's weight in words, how much stands in the row.
        rows: how many were searched.
    """
    fit = similarities + IN_WORDS * shares**IN_WORDS_POWER - LARGER * np.log10(max(rows, 1))
    return np.asarray(1 / (1 + np.exp(-STEEPNESS * (fit - MIDDLE))))


def _normalised(matrix: Floats) -> Floats:
    length = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / np.where(length > 0, length, 1.0))
