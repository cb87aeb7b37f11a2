"""Words: full-text queries over the contract's FTS5 table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import apsw

from pastchats_memory.model import Filters
from pastchats_memory.store.database import Database
from pastchats_memory.store.filters import conditions


def stems(database: Database, words: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """What the index keeps of each word: none for punctuation alone, several where it splits at a mark."""
    tokenize = database.connection.fts5_tokenizer("porter", ["unicode61"])
    found = {}
    for word in words:
        tokens = tokenize(word.encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False, include_colocated=False)
        found[word] = tuple(str(token) for token in tokens)
    return found


def document_frequencies(database: Database, tokens: Iterable[str]) -> dict[str, int]:
    """In how many rows each stemmed token occurs. Raises StoreFault."""
    return {
        token: database.value("SELECT doc FROM prompts_vocabulary WHERE term = ?", (token,)) or 0 for token in tokens
    }


def count(database: Database) -> int:
    """Rows of the corpus. Raises StoreFault."""
    return int(database.value("SELECT count(*) FROM prompts"))


def search(database: Database, expression: str, filters: Filters, limit: int) -> list[tuple[int, float]]:
    """Ids and BM25 scores (higher is better) of the rows that match an FTS5 expression, best first, equal ones by id.

    Raises:
        StoreFault: the database cannot be read.
    """
    where, values = conditions(filters)
    join = "" if filters == Filters() else f"JOIN prompts p ON p.id = prompts_fts.rowid AND {where} "
    rows: Sequence[tuple[int, float]] = database.run(
        f"SELECT prompts_fts.rowid, -bm25(prompts_fts) AS score FROM prompts_fts {join}"
        "WHERE prompts_fts MATCH ? ORDER BY score DESC, prompts_fts.rowid LIMIT ?",
        (*values, expression, limit),
    )
    return [(id_, score) for id_, score in rows]
