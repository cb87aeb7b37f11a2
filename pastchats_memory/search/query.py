"""What a person typed, as the engines want it: words, an FTS5 expression, filters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from pastchats_memory.text.words import FUNCTION_WORDS, WORD

MOST_ROWS = 30_000
"""Rows that the words of one query may be looked up in, the rarest words first: a word in half of a large corpus tells
hardly anything and costs as much as all others together."""
MOST_PAIRS = 12
"""Pairs of neighbouring words of one query that are looked up."""
FUNCTION_WORD = 0.5
"""What a function word counts for: at 0 code loses ("if", "not", "with"), at 1 talk does."""
PASTED_WORD = 0.25
"""What a word counts for that stands in a paste alone."""


class Term(NamedTuple):
    """A word of a query and what the corpus makes of it."""

    word: str
    """As it was typed, lower-cased."""
    rows: int
    """In how many rows of the corpus it occurs."""
    importance: float
    """1, or FUNCTIONWORD."""
    weight: float
    """Importance times inverse document frequency; also of a word that does not occur, which weighs the most."""


def term(word: str, rows: int, corpus: int, *, pasted: bool = False) -> Term:
    """A word that occurs in `rows` of the `corpus` rows, weighed as Lucene's BM25 does: ln(1 + (N - n + ½) / (n + ½))."""
    importance = (FUNCTION_WORD if word in FUNCTION_WORDS else 1.0) * (PASTED_WORD if pasted else 1.0)
    return Term(word, rows, importance, importance * math.log(1 + (corpus - rows + 0.5) / (rows + 0.5)))


def coverage(terms: Sequence[Term]) -> float:
    """Share of the query's weight that occurs in the corpus, 0 to 1."""
    total = sum(term.weight for term in terms)
    return sum(term.weight for term in terms if term.rows) / total if total else 0.0


def looked_up(terms: Sequence[Term]) -> dict[str, float]:
    """The importance of the words worth looking up, rarest first, until their rows are too many; at least one."""
    chosen: dict[str, float] = {}
    rows = 0
    for term in sorted((term for term in terms if term.rows), key=lambda term: term.rows):
        rows += term.rows
        if chosen and rows > MOST_ROWS:
            break
        chosen[term.word] = term.importance
    return chosen


def pairs(text: str, terms: Sequence[Term]) -> dict[str, float]:
    """Words that stand side by side in a query, both of importance, with the weight of the lesser; the weightiest MOST_PAIRS."""
    weights = {term.word: term.weight for term in terms if term.rows and term.importance == 1}
    row = [word.lower() for word in WORD.findall(text)]
    found = {
        f"{first} {second}": min(weights[first], weights[second])
        for first, second in pairwise(row)
        if first in weights and second in weights and first != second
    }
    return dict(sorted(found.items(), key=lambda pair: -pair[1])[:MOST_PAIRS])


# What of a text is asked: its words of the one engine, what is said in it of the other.


class Asked(NamedTuple):
    """What of a text the two engines are asked."""

    words: str
    """All but our own blocks that it quotes."""
    said: str
    """Without what was pasted, but for the line of it that says what went wrong: a sentence below sixty lines of a log
    would be lost in one vector with them."""


def asked_in(text: str) -> Asked:
    """What is asked in a text; of a paste alone in which nothing went wrong, all of it."""
    if "\n" not in text:
        return Asked(text, text)  # what a paste is shows by its lines
    from pastchats_memory.text.pasted import parted
    from pastchats_memory.text.recall_block import without_echoes

    own = without_echoes(text) or text
    return Asked(own, "\n".join(part for part in parted(own) if part) or own)
