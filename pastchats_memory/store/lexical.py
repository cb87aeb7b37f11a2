"""Words: full-text queries over the contract's FTS5 table and that of tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

import apsw

from pastchats_memory.model import Filters
from pastchats_memory.store.database import Database
from pastchats_memory.store.filters import allowed_ids


def stems(database: Database, words: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """What the index keeps of each word: none for punctuation alone, several where it splits at a mark."""
    tokenize = database.connection.fts5_tokenizer("porter", ["unicode61"])
    found = {}
    for word in words:
        tokens = tokenize(word.encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False, include_colocated=False)
        found[word] = tuple(str(token) for token in tokens)
    return found


def document_frequencies(database: Database, tokens: Iterable[str]) -> dict[str, int]:
    """In how many rows, of turns and of texts of tasks, each stemmed token occurs. Raises StoreFault."""
    return {
        token: sum(
            database.value(f"SELECT doc FROM {vocabulary} WHERE term = ?", (token,)) or 0
            for vocabulary in ("prompts_vocabulary", "task_texts_vocabulary")
        )
        for token in tokens
    }


def count(database: Database) -> int:
    """Rows of the corpus: turns and texts of tasks. Raises StoreFault."""
    return int(database.value("SELECT (SELECT count(*) FROM prompts) + (SELECT count(*) FROM task_texts)"))


def search(database: Database, weights: Mapping[str, float], filters: Filters) -> dict[int, float]:
    """BM25 of every row that has one of the words, each word's part times its weight, best first, equal ones by id.

    The words are asked for one by one, each quoted, so that nothing in them is syntax: FTS5 ranks an OR by the same sum,
    but knows no weights. Turns and texts of tasks are two indexes, each with its own lengths and frequencies.

    Raises:
        StoreFault: the database cannot be read.
    """
    indexes = [
        *([] if filters.of_tasks else ["prompts_fts"]),
        *([] if filters.of_turns else ["task_texts_fts"]),
    ]
    scores: dict[int, float] = {}
    for index, (word, weight) in product(indexes, weights.items()):
        for id_, score in database.rows(
            f"SELECT rowid, -bm25({index}) FROM {index} WHERE {index} MATCH ?", (f'"{word}"',)
        ):
            scores[id_] = scores.get(id_, 0.0) + weight * score
    kept = (
        scores if filters == Filters() else {id_: scores[id_] for id_ in allowed_ids(database, list(scores), filters)}
    )
    return dict(sorted(kept.items(), key=lambda row: (-row[1], row[0])))
