"""Measure what each row has of the words of a prompt, without NumPy and without the model. Reads the full-text index alone."""

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from pastchats_memory.store.database import Database
from pastchats_memory.store.word_rows import find_parts, find_rows, last_turn, rows_of_project
from pastchats_memory.text.identifiers import is_foreign
from pastchats_memory.text.topics import ANY_PROJECT_TOPIC, topic_words
from pastchats_memory.text.words import is_function_word, words

LEAST_NAMED = 0.18
"""Worth of the prompt's names that one row needs."""
LEAST_NAMED_SHARE = 0.15
"""Share of the worth of all names that it needs, unless it has as much as one whole name."""
FREQUENT_NAMED, MOST_WORDS = 0.14, 0.5
"""Worth of the names that is enough if a row has most of the weight of the prompt's words."""
VAGUE_TOPIC, MEANING_SHARE = 0.5, 0.15
"""Topic and share for which the search is asked although no row has a name of the prompt: it may say the same in other words."""
LEAST_SHARE, MANY_ROWS = 0.4, 10_000
"""Share of the weight of all words that one row of a memory with so many rows needs; fewer rows need proportionally less, because
few of them share words by chance. With these numbers, words withheld no right answer to labelled prompts in a memory of 1,653
turns, and one of 89 in memories of 14,903 and 20,000 (`benchmarks/hook.py`)."""
WHOLE_NAME = 1.0
SUBWORD_NAME = 0.5
"""Worth of a name that stands within another word."""
LEAST_ROWS = 3
"""Size that a corpus has at least, because nothing stands out of one row."""
MOST_NAMES = 40
"""A longer prompt is left to the search."""
COMMON_ROWS = 5000
"""Rows of a word that is no name and from which on it is left out: it decides little, and its rows take long to list."""


class WordEvidence(NamedTuple):
    """What the rows of a memory have of a prompt's words."""

    topic: float
    """Worth of all names in the prompt."""
    named: Mapping[int, float]
    """Worth of the names in each row, each by its rarity."""
    shares: Mapping[int, float]
    """Share of the weight of the prompt's words in each row, 0 to 1; unknown words count as missing."""
    weights: Mapping[str, float]
    """Weight of each word that the memory knows: its inverse document frequency."""
    least_share: float
    """Share that a row needs in a memory of this size."""

    @property
    def may_answer(self) -> bool:
        """Return whether the rows have enough of the names, or most of the words."""
        named, share = (max(of_rows.values(), default=0.0) for of_rows in (self.named, self.shares))
        needed = max(LEAST_NAMED, min(WHOLE_NAME, LEAST_NAMED_SHARE * self.topic))
        has_words = self.topic >= ANY_PROJECT_TOPIC and named >= FREQUENT_NAMED and share >= MOST_WORDS
        may_mean_it = self.topic >= VAGUE_TOPIC and share >= MEANING_SHARE
        return share >= self.least_share and (named >= needed or has_words or may_mean_it)


def measure_words(database: Database, query: str, project: str | None) -> WordEvidence | None:
    """Return what the rows have of a prompt's words; for a vague prompt, those of the current project alone.

    Return None for a text of many names, or without spaces between its words: they need the search.
    """
    names = topic_words(query)
    if len(names) > MOST_NAMES or is_foreign(query):
        return None
    corpus = max(LEAST_ROWS, last_turn(database))
    named: defaultdict[int, float] = defaultdict(float)
    shares: defaultdict[int, float] = defaultdict(float)
    weights: dict[str, float] = {}
    total = 0.0
    for word in dict.fromkeys([*names, *(word for word in words(query) if not is_function_word(word))]):
        rows, part = find_rows(database, word), 1.0
        if word in names and not rows:
            rows, part = find_parts(database, word), SUBWORD_NAME
        elif word not in names and len(rows) > COMMON_ROWS:
            continue
        weight = math.log(1 + (corpus - min(len(rows), corpus) + 0.5) / (len(rows) + 0.5))
        total += weight
        if rows:
            weights[word] = weight
        worth = names.get(word, 0.0) * part * min(1.0, weight / math.log(corpus))
        for id_ in rows:
            shares[id_] += part * weight
            named[id_] += worth
    topic = sum(names.values())
    counted = list(shares) if topic >= ANY_PROJECT_TOPIC else rows_of_project(database, shares, project)
    return WordEvidence(
        topic,
        {id_: named[id_] for id_ in counted},
        {id_: shares[id_] / total for id_ in counted},
        weights,
        LEAST_SHARE * min(1.0, corpus / MANY_ROWS),
    )
