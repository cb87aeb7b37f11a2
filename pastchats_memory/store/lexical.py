"""Words: full-text queries over the contract's FTS5 table and that of tasks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import apsw
import numpy as np
import orjson
from numpy.typing import NDArray

from pastchats_memory.model import Filters
from pastchats_memory.store.database import Database

Ids = NDArray[np.int64]
Scores = NDArray[np.float64]


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


class Postings(NamedTuple):
    """The rows that have a word."""

    ids: Ids
    """Ascending."""
    scores: Scores
    """BM25 of each."""


def postings(database: Database, words: Iterable[str], filters: Filters) -> dict[str, Postings]:
    """By word the rows that have it, each word quoted, so that nothing in it is syntax. Raises StoreFault.

    FTS5 ranks an OR by the sum of these, but knows no weights, and does not say which word a row has. Turns and texts of
    tasks are two indexes, each with its own lengths and frequencies. Of the filters only those are heeded that leave one
    of the two out.
    """
    return {word: _join([_postings(database, index, word) for index in _indexes(filters)]) for word in words}


def _postings(database: Database, index: str, word: str) -> Postings:
    # As two JSON arrays, since thousands of rows one by one take longer to hand over than to find; LIMIT keeps
    # SQLite from flattening the subquery, outside of which there is no bm25().
    ids, scores = database.run(
        "SELECT json_group_array(id), json_group_array(score) FROM "
        f"(SELECT rowid AS id, -bm25({index}) AS score FROM {index} WHERE {index} MATCH ? ORDER BY rowid LIMIT -1)",
        (quoted(word),),
    )[0]
    return Postings(np.array(orjson.loads(ids), np.int64), np.array(orjson.loads(scores), np.float64))


def _join(parts: list[Postings]) -> Postings:
    """Of indexes in the order of their ids, which do not overlap."""
    return Postings(
        np.concatenate([np.empty(0, np.int64), *(part.ids for part in parts)]),
        np.concatenate([np.empty(0), *(part.scores for part in parts)]),
    )


def having(database: Database, phrase: str, filters: Filters) -> Ids:
    """The rows that have these words side by side, ascending; filters as in `postings`. Raises StoreFault."""
    rows = [
        row
        for index in _indexes(filters)
        for row in database.run(f"SELECT rowid FROM {index} WHERE {index} MATCH ? ORDER BY rowid", (quoted(phrase),))
    ]
    return np.array([id_ for (id_,) in rows], dtype=np.int64)


def quoted(text: str) -> str:
    """A string of FTS5's query language."""
    return '"' + text.replace('"', '""') + '"'


def _indexes(filters: Filters) -> list[str]:
    """Turns' first, whose ids are the lower ones."""
    return [
        *([] if filters.of_tasks else ["prompts_fts"]),
        *([] if filters.of_turns else ["task_texts_fts"]),
    ]
