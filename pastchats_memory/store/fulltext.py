"""Words: full-text queries over the contract's FTS5 table and that of tasks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import apsw
import numpy as np
import orjson
from numpy.typing import NDArray

from pastchats_memory.model import Filters
from pastchats_memory.store.database import Database
from pastchats_memory.store.filters import FIRST_TEXT
from pastchats_memory.store.ids import Ids, listed, runs

Scores = NDArray[np.float64]

K1, B = 1.2, 0.75
FREQUENT = 1000
"""Rows from which on it takes long enough to count them that their number is kept: there are not many such words."""
LEAST_IDF = 1e-6
"""Of a word that more than half of the rows have."""


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
    known: dict[str, int] = database.cache.get_or_make("document frequencies", dict)
    found = {token: known.get(token) or _document_frequency(database, token) for token in tokens}
    known.update((token, rows) for token, rows in found.items() if rows >= FREQUENT)
    return found


def _document_frequency(database: Database, token: str) -> int:
    return sum(
        database.value(f"SELECT doc FROM {vocabulary} WHERE term = ?", (token,)) or 0
        for vocabulary in ("prompts_vocabulary", "task_texts_vocabulary")
    )


class Scored(NamedTuple):
    """The rows that have what is looked for, and what each scores."""

    ids: Ids
    """Ascending."""
    ceilings: Scores
    """The scores."""

    def at(self, ids: Ids, sizes: Scores) -> Scores:  # noqa: ARG002 - as Counted
        """The score of each id, 0 where it does not have the word; shape (ids,)."""
        return _at(self.ids, ids, self.ceilings)


class Counted(NamedTuple):
    """The rows that have a word, to be scored by BM25 where that is asked for.

    FTS5's own `bm25()` looks up the length of every row; here those are looked up that can be among the best.
    """

    ids: Ids
    """Ascending."""
    counts: Scores
    """How often it stands in each."""
    idf: Scores
    """Of the index of each."""

    @property
    def ceilings(self) -> Scores:
        """More than the score of each, however short it is; shape (ids,)."""
        return _bm25(self.idf, self.counts, 0.0)

    def at(self, ids: Ids, sizes: Scores) -> Scores:
        """The score of each id with these `sizes`, 0 where it does not have the word; shape (ids,)."""
        if not len(self.ids):
            return np.zeros(len(ids))
        places = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return np.where(self.ids[places] == ids, _bm25(self.idf[places], self.counts[places], sizes), 0.0)


Postings = Scored | Counted


def _at(ascending: Ids, ids: Ids, values: Scores) -> Scores:
    if not len(ascending):
        return np.zeros(len(ids))
    places = np.minimum(np.searchsorted(ascending, ids), len(ascending) - 1)
    return np.where(ascending[places] == ids, values[places], 0.0)


def _bm25(idf: Scores, counts: Scores, sizes: Scores | float) -> Scores:
    """As FTS5 computes it (Robertson and Zaragoza 2009), in its order, so that not a bit differs."""
    return np.asarray(idf * ((counts * (K1 + 1.0)) / (counts + K1 * (1 - B + sizes))))


def postings(database: Database, words: Iterable[str], filters: Filters) -> dict[str, Postings]:
    """By word the rows that have it, each word quoted, so that nothing in it is syntax. Raises StoreFault.

    FTS5 ranks an OR by the sum of these, but knows no weights, and does not say which word a row has. Turns and texts of
    tasks are two indexes, each with its own lengths and frequencies. Of the filters only those are heeded that leave one
    of the two out.
    """
    tokens = stems(database, words)
    indexes = {index: _totals(database, index)[0] for index in _indexes(filters)}
    for index in indexes:  # for as long as the transaction lasts, so also in a database that is only read
        database.run(f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.{index}_places USING fts5vocab(main, {index}, instance)")
    return {
        word: _counted([_occurrences(database, index, of_word[0], of) for index, of in indexes.items()])
        if len(of_word) == 1
        else _scored([_as_fts5_scores(database, index, word) for index in indexes])
        for word, of_word in tokens.items()
    }


def _occurrences(database: Database, index: str, token: str, all_rows: int) -> tuple[Ids, Scores, float]:
    """The rows of an index with so many that have a token, ascending, how often, and its inverse document frequency."""
    found = database.value(f"SELECT group_concat(doc) FROM temp.{index}_places WHERE term = ?", (token,))
    places = listed(found)  # ascending, a row as often as it has the token
    ids, firsts = runs(places)
    idf = math.log((all_rows - len(ids) + 0.5) / (len(ids) + 0.5))
    return ids, np.diff(firsts, append=len(places)).astype(np.float64), idf if idf > 0 else LEAST_IDF


def _counted(parts: list[tuple[Ids, Scores, float]]) -> Counted:
    """Of indexes in the order of their ids, which do not overlap."""
    return Counted(
        np.concatenate([np.empty(0, np.int64), *(ids for ids, _, _ in parts)]),
        np.concatenate([np.empty(0), *(counts for _, counts, _ in parts)]),
        np.concatenate([np.empty(0), *(np.full(len(ids), idf) for ids, _, idf in parts)]),
    )


def _as_fts5_scores(database: Database, index: str, word: str) -> tuple[Ids, Scores]:
    """Of a word that the index splits at a mark: its parts side by side."""
    # As two JSON arrays, since thousands of rows one by one take longer to hand over than to find; LIMIT keeps
    # SQLite from flattening the subquery, outside of which there is no bm25().
    ids, scores = database.run(
        "SELECT json_group_array(id), json_group_array(score) FROM "
        f"(SELECT rowid AS id, -bm25({index}) AS score FROM {index} WHERE {index} MATCH ? ORDER BY rowid LIMIT -1)",
        (quoted(word),),
    )[0]
    return np.array(orjson.loads(ids), np.int64), np.array(orjson.loads(scores), np.float64)


def _scored(parts: list[tuple[Ids, Scores]]) -> Scored:
    return Scored(
        np.concatenate([np.empty(0, np.int64), *(ids for ids, _ in parts)]),
        np.concatenate([np.empty(0), *(scores for _, scores in parts)]),
    )


def sizes(database: Database, ids: Ids) -> Scores:
    """What BM25 makes of the length of each row against the average of its index, shape (ids,). Raises StoreFault."""
    found = np.zeros(len(ids))
    for index, of_index in (("prompts_fts", ids < FIRST_TEXT), ("task_texts_fts", ids > FIRST_TEXT)):
        if not of_index.any():
            continue
        found_ids, octets = database.run(
            "SELECT group_concat(d.id), group_concat(hex(d.sz), '') "
            f"FROM json_each(?) j CROSS JOIN {index}_docsize d ON d.id = j.value",
            (orjson.dumps(np.sort(ids[of_index]).tolist()).decode(),),
        )[0]
        there = listed(found_ids)
        if len(there):
            stored_rows, tokens = _totals(database, index)
            lengths = _varints(bytes.fromhex(octets)).reshape(len(there), -1).sum(axis=1)
            found[of_index] = _at(there, ids[of_index], B * lengths / (tokens / stored_rows))
    return found


def rows(database: Database) -> int:
    """How many there are, of turns and of texts of tasks: a bare `count(*)` looks at thousands of pages. Raises StoreFault."""
    return sum(_totals(database, index)[0] for index in _indexes(Filters()))


def _totals(database: Database, index: str) -> tuple[int, int]:
    """Rows of an index, and tokens in all of them: FTS5's own record of both, a number each, the tokens by column."""
    if database.is_writing:  # to open the vocabulary has FTS5 write down what it keeps in memory until then
        database.run(f"SELECT 1 FROM {index.removesuffix('_fts')}_vocabulary WHERE term = ''")
    numbers = _varints(database.value(f"SELECT block FROM {index}_data WHERE id = 1") or b"\0").tolist()
    return numbers[0], sum(numbers[1:])


def _varints(content: bytes) -> NDArray[np.int64]:
    """SQLite's numbers of variable length: seven bits a byte, the highest first, the eighth bit set in all but the last."""
    octets = np.frombuffer(content, np.uint8)
    ends = np.flatnonzero(octets < 0x80)  # noqa: PLR2004 - the eighth bit
    starts = np.concatenate([[0], ends[:-1] + 1])
    places = np.repeat(ends, ends - starts + 1) - np.arange(len(octets))
    return np.add.reduceat((octets & 0x7F).astype(np.int64) << (7 * places), starts)


def having(database: Database, phrase: str, filters: Filters) -> Ids:
    """The rows that have these words side by side, ascending; filters as in `postings`. Raises StoreFault."""
    found = [
        row
        for index in _indexes(filters)
        for row in database.run(f"SELECT rowid FROM {index} WHERE {index} MATCH ? ORDER BY rowid", (quoted(phrase),))
    ]
    return np.array([id_ for (id_,) in found], dtype=np.int64)


def quoted(text: str) -> str:
    """A string of FTS5's query language."""
    return '"' + text.replace('"', '""') + '"'


def _indexes(filters: Filters) -> list[str]:
    """Turns' first, whose ids are the lower ones."""
    return [
        *([] if filters.of_tasks else ["prompts_fts"]),
        *([] if filters.of_turns else ["task_texts_fts"]),
    ]


# The segments of the full-text indexes: FTS5 files what each transaction wrote by itself, and looks a word up in every one of them.

FULL_TEXT = ("prompts_fts", "task_texts_fts", "trigrams")
PAGES = 250
"""Of an index that one step writes anew: some 30 ms, so that no other writer waits for long."""
SCATTERED = 1 / 4
"""Share of an index outside of its largest segment above which it is merged: then a memory that grows step by step has
written anew some four times what it ends with."""


def gather(database: Database) -> None:
    """Merge each index of which more than SCATTERED lies about; in no transaction. Raises StoreFault."""
    for index in FULL_TEXT:
        pages = [count for (count,) in database.run(f"SELECT count(*) FROM {index}_idx GROUP BY segid")]
        if sum(pages) - max(pages, default=0) > SCATTERED * sum(pages):
            merge(database, index)


def merge(database: Database, index: str) -> None:
    """Write an index anew as one segment, in small steps; what was deleted is not in it. Raises StoreFault."""
    step = -PAGES  # which lets all segments take part, as `optimize` does; further steps go on with that
    written = 2
    while written > 1:
        before = database.connection.total_changes()
        database.run(f"INSERT INTO {index}({index}, rank) VALUES ('merge', ?)", (step,))
        written = database.connection.total_changes() - before
        step = PAGES
