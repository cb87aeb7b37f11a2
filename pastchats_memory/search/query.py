"""Read a question: its text for each engine, its words and their weights."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from pastchats_memory.text.words import WORD, is_function_word


class QueryText(NamedTuple):
    """The text of a question, as each engine gets it."""

    full: str
    """Everything except our own recall blocks; the full-text index searches its words."""
    typed: str
    """The full text without pastes, but with the line of them that names an error; this text is embedded.

    One sentence below sixty lines of a log would be lost in a vector of both.
    """


def query_text(text: str) -> QueryText:
    """Return what a text asks; a paste without an error line and without other text asks all of itself."""
    if "\n" not in text:
        return QueryText(text, text)  # what a paste is shows by its lines
    from pastchats_memory.text.pasted import split_paste
    from pastchats_memory.text.recall_block import strip_recall_blocks

    own = strip_recall_blocks(text) or text
    return QueryText(own, "\n".join(part for part in split_paste(own) if part) or own)


MOST_ROWS = 30_000
"""Rows in which the words of one query are looked up, rarest words first.

A word in half of a large corpus carries hardly any information, and costs as much as all other words together."""
MOST_PAIRS = 12
"""Pairs of neighbouring words that are looked up for one query."""
FUNCTION_WORD = 0.5
"""Importance of a function word: at 0 search over code is worse ("if", "not"), at 1 search over conversations."""
PASTED_WORD = 0.25
"""Importance of a word that stands in a paste alone."""


class Term(NamedTuple):
    """A word of a query with its statistics in the corpus."""

    word: str
    """The word in lower case."""
    rows: int
    """Rows of the corpus in which it occurs."""
    importance: float
    """1, less for a function word or a word that only a paste has."""
    weight: float
    """Importance times inverse document frequency. A word that no row has weighs the most."""


def weigh_term(word: str, rows: int, corpus: int, *, pasted: bool = False) -> Term:
    """Return the term of a word that occurs in `rows` of the `corpus` rows.

    The inverse document frequency is that of Lucene's BM25: ln(1 + (N - n + ½) / (n + ½)).
    """
    importance = (FUNCTION_WORD if is_function_word(word) else 1.0) * (PASTED_WORD if pasted else 1.0)
    return Term(word, rows, importance, importance * math.log(1 + (corpus - rows + 0.5) / (rows + 0.5)))


def measure_coverage(terms: Sequence[Term]) -> float:
    """Return the share of the query's weight that occurs in the corpus, 0 to 1."""
    total = sum(term.weight for term in terms)
    return sum(term.weight for term in terms if term.rows) / total if total else 0.0


def select_words(terms: Sequence[Term]) -> dict[str, float]:
    """Return the importance of the words to look up, rarest first, up to MOST_ROWS rows; one word is always there."""
    chosen: dict[str, float] = {}
    rows = 0
    for term in sorted((term for term in terms if term.rows), key=lambda term: term.rows):
        rows += term.rows
        if chosen and rows > MOST_ROWS:
            break
        chosen[term.word] = term.importance
    return chosen


def word_pairs(text: str, terms: Sequence[Term]) -> dict[str, float]:
    """Return the heaviest MOST_PAIRS pairs of neighbouring important words, with the weight of the lesser word."""
    weights = {term.word: term.weight for term in terms if term.rows and term.importance == 1}
    row = [word.lower() for word in WORD.findall(text)]
    found = {
        f"{first} {second}": min(weights[first], weights[second])
        for first, second in pairwise(row)
        if first in weights and second in weights and first != second
    }
    return dict(sorted(found.items(), key=lambda pair: -pair[1])[:MOST_PAIRS])
