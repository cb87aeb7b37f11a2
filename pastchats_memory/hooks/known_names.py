"""Decide by words alone whether a memory can have anything for a prompt.

Most prompts that get no block name nothing that one turn knows. For them neither NumPy nor the model is imported.
"""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

from pastchats_memory.config import load
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.store.word_rows import find_parts, find_rows, last_turn
from pastchats_memory.text.identifiers import is_foreign
from pastchats_memory.text.topics import topic_words

LEAST_NAMED = 0.2
"""Worth of the prompt's names that one row needs."""
LEAST_SHARE = 0.2
"""Share of the worth of all names that it needs, unless it has as much as one whole name. On labelled prompts no right
answer had less than 0.23 (`benchmarks/hook_prompts.py`)."""
WHOLE_NAME = 1.0
SUBWORD_NAME = 0.5
"""Worth of a name that stands within another word."""
LEAST_ROWS = 3
"""Size that a corpus has at least, because nothing stands out of one row."""
MOST_NAMES = 40
"""A longer prompt is left to the search."""


def is_any_known(query: str, cwd: str | None, database: str | None) -> bool:
    """Return whether the memory of a user may know what a prompt names.

    Args:
        query: the user's own words.
        cwd: the folder in which they were typed.
        database: the file; None for the configured one.

    Raises MemoryFault.
    """
    config = load(database, here=Path(cwd) if cwd else None)
    with open_database(config.database, create=False, vec0=False) as opened:
        return may_answer(opened, query)


def may_answer(database: Database, query: str) -> bool:
    """Return whether one row has enough of the names in a prompt.

    A text of many names, or without spaces between its words, is left to the search. Raises StoreFault.
    """
    names = topic_words(query)
    needed = max(LEAST_NAMED, min(WHOLE_NAME, LEAST_SHARE * sum(names.values())))
    return len(names) > MOST_NAMES or is_foreign(query) or measure_names(database, names) >= needed


def measure_names(database: Database, names: dict[str, float]) -> float:
    """Return the greatest worth of the names that one row has, each by its rarity. Raises StoreFault."""
    corpus = max(LEAST_ROWS, last_turn(database))
    worths: Counter[int] = Counter()
    for name, worth in names.items():
        rows, own = find_rows(database, name), worth
        if not rows:
            rows, own = find_parts(database, name), SUBWORD_NAME
        rarity = math.log(1 + (corpus - min(len(rows), corpus) + 0.5) / (len(rows) + 0.5)) / math.log(corpus)
        for id_ in rows:
            worths[id_] += own * min(1.0, rarity)  # type: ignore[assignment] # a counter of floats
    return max(worths.values(), default=0.0)
