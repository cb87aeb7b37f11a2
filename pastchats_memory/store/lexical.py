"""Words: full-text queries over the contract's FTS5 table and that of tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

import apsw
import numpy as np
import orjson

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
    ids, scores = [np.empty(0, np.int64)], [np.empty(0)]
    for index, (word, weight) in product(indexes, weights.items()):
        # As two JSON arrays, since thousands of rows one by one take longer to hand over than to find; LIMIT keeps
        # SQLite from flattening the subquery, outside of which there is no bm25().
        rows, of_rows = database.run(
            "SELECT json_group_array(id), json_group_array(score) FROM "
            f"(SELECT rowid AS id, -bm25({index}) AS score FROM {index} WHERE {index} MATCH ? LIMIT -1)",
            (f'"{word}"',),
        )[0]
        ids.append(np.array(orjson.loads(rows), np.int64))
        scores.append(weight * np.array(orjson.loads(of_rows), np.float64))
    found, places = np.unique(np.concatenate(ids), return_inverse=True)
    totals = np.bincount(places, np.concatenate(scores), len(found))
    if filters != Filters():
        allowed = np.isin(found, allowed_ids(database, found.tolist(), filters))
        found, totals = found[allowed], totals[allowed]
    best_first = np.lexsort((found, -totals))
    return dict(zip(found[best_first].tolist(), totals[best_first].tolist(), strict=True))
