"""Measure what each row has of the words of a prompt, without NumPy and without the model. Reads the full-text index alone."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from pastchats_memory.store.database import Database
from pastchats_memory.store.word_rows import find_parts, find_rows, last_turn
from pastchats_memory.text.identifiers import is_foreign
from pastchats_memory.text.topics import topic_words
from pastchats_memory.text.words import FUNCTION_WORDS, words

LEAST_NAMED = 0.2
"""Worth of the prompt's names that one row needs."""
LEAST_NAMED_SHARE = 0.2
"""Share of the worth of all names that it needs, unless it has as much as one whole name. On labelled prompts no right
answer had less than 0.23 (`benchmarks/hook_prompts.py`)."""
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

    @property
    def may_answer(self) -> bool:
        """Return whether a row has enough of the names."""
        needed = max(LEAST_NAMED, min(WHOLE_NAME, LEAST_NAMED_SHARE * self.topic))
        return max(self.named.values(), default=0.0) >= needed


def measure_words(database: Database, query: str) -> WordEvidence | None:
    """Return what the rows have of a prompt's words.

    Return None for a text of many names, or without spaces between its words: they need the search. Raises StoreFault.
    """
    names = topic_words(query)
    if len(names) > MOST_NAMES or is_foreign(query):
        return None
    corpus = max(LEAST_ROWS, last_turn(database))
    named: defaultdict[int, float] = defaultdict(float)
    shares: defaultdict[int, float] = defaultdict(float)
    weights: dict[str, float] = {}
    total = 0.0
    for word in dict.fromkeys([*names, *(word for word in words(query) if word not in FUNCTION_WORDS)]):
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
    return WordEvidence(sum(names.values()), named, {id_: share / total for id_, share in shares.items()}, weights)
