"""Look words up in the FTS5 indexes of turns and of tasks' texts, and merge the segments of the indexes."""

import math
from collections.abc import Iterable
from typing import NamedTuple

import apsw
import orjson

from pastchats_memory.arrays import Floats, Ids, np
from pastchats_memory.model import Filters
from pastchats_memory.store.database import Database
from pastchats_memory.store.filters import FIRST_TEXT
from pastchats_memory.store.ids import listed, runs
from pastchats_memory.store.word_rows import quote

K1, B = 1.2, 0.75
FREQUENT = 1000
"""Rows from which on the document frequency of a word is cached; few words have as many."""
CALLED = 0.5
"""Occurrences in a text that a word in the turn's tool calls is worth."""
MOST_CALLED = 1000
"""Turns whose tool calls have a word; a more frequent one, such as `src`, names nothing."""
LEAST_IDF = 1e-6
"""Inverse document frequency of a word that more than half of the rows have."""


def stems(database: Database, words: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the tokens of each word: none for punctuation, several if a mark splits the word."""
    tokenize = database.connection.fts5_tokenizer("porter", ["unicode61"])
    found = {}
    for word in words:
        tokens = tokenize(word.encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False, include_colocated=False)
        found[word] = tuple(str(token) for token in tokens)
    return found


def document_frequencies(database: Database, tokens: Iterable[str]) -> dict[str, int]:
    """Return the number of rows in which each token occurs, of turns and tasks' texts; else of tool calls."""
    known: dict[str, int] = database.cache.get_or_make("document frequencies", dict)
    found = {token: known.get(token) or _document_frequency(database, token) for token in tokens}
    known.update((token, rows) for token, rows in found.items() if rows >= FREQUENT)
    return found


def _document_frequency(database: Database, token: str) -> int:
    in_texts, in_tasks, in_calls = (
        database.value(f"SELECT doc FROM {vocabulary} WHERE term = ?", (token,)) or 0
        for vocabulary in ("prompts_vocabulary", "task_texts_vocabulary", "tool_calls_vocabulary")
    )
    return in_texts + in_tasks or (in_calls if in_calls <= MOST_CALLED else 0)


class Scored(NamedTuple):
    """Rows that match, with their scores."""

    ids: Ids
    """Ascending."""
    ceilings: Floats
    """The scores."""

    def at(self, ids: Ids, sizes: Floats) -> Floats:  # noqa: ARG002 - as Counted
        """Return the score of each id, 0 for one that does not match; shape (ids,)."""
        return _at(self.ids, ids, self.ceilings)


class Counted(NamedTuple):
    """Rows that have a word, to be scored by BM25 on demand.

    FTS5's own `bm25()` looks up the length of every row. Here only rows that can be among the best are looked up.
    """

    ids: Ids
    """Ascending."""
    counts: Floats
    """Occurrences of the word in each row."""
    idf: Floats
    """Inverse document frequency in the index of each row."""

    @property
    def ceilings(self) -> Floats:
        """Upper bounds of the scores, for rows of any length; shape (ids,)."""
        return _bm25(self.idf, self.counts, 0.0)

    def at(self, ids: Ids, sizes: Floats) -> Floats:
        """Return the score of each id with its size (`sizes`), 0 for one without the word; shape (ids,)."""
        if not len(self.ids):
            return np.zeros(len(ids))
        places = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return np.where(self.ids[places] == ids, _bm25(self.idf[places], self.counts[places], sizes), 0.0)


Postings = Scored | Counted


def _at(ascending: Ids, ids: Ids, values: Floats) -> Floats:
    if not len(ascending):
        return np.zeros(len(ids))
    places = np.minimum(np.searchsorted(ascending, ids), len(ascending) - 1)
    return np.where(ascending[places] == ids, values[places], 0.0)


def _bm25(idf: Floats, counts: Floats, sizes: Floats | float) -> Floats:
    """Return BM25 as FTS5 computes it (Robertson and Zaragoza 2009), in its order, so that no bit differs."""
    return np.asarray(idf * ((counts * (K1 + 1.0)) / (counts + K1 * (1 - B + sizes))))


def postings(database: Database, words: Iterable[str], filters: Filters) -> dict[str, Postings]:
    """Return the rows of each word.

    Words are quoted, so that nothing in them is syntax.

    FTS5 ranks an OR by the sum of these scores, but it has no weights, and does not tell which words a row has. Turns and
    texts of tasks are two indexes, each with its own lengths and frequencies. Of the filters only those apply that leave
    one of the two out.
    """
    tokens = stems(database, words)
    indexes = {index: _totals(database, index)[0] for index in _indexes(filters)}
    for index in indexes:  # temporary tables work in a read-only database too
        database.run(f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.{index}_places USING fts5vocab(main, {index}, instance)")
    return {
        word: _counted([_occurrences(database, index, word, of_word[0], of) for index, of in indexes.items()])
        if len(of_word) == 1
        else _scored([_as_fts5_scores(database, index, word, of) for index, of in indexes.items()])
        for word, of_word in tokens.items()
    }


def _calling_rows(database: Database, index: str, word: str) -> Ids:
    """Return the turns whose tool calls have a word, ascending; none for another index, or for a frequent word."""
    if index != "prompts_fts":
        return np.empty(0, np.int64)
    rows = database.value(
        "SELECT group_concat(rowid) FROM (SELECT rowid FROM tool_calls_fts WHERE tool_calls_fts MATCH ? "
        f"ORDER BY rowid LIMIT {MOST_CALLED + 1})",
        (quote(word),),
    )
    found = listed(rows)
    return found if len(found) <= MOST_CALLED else found[:0]


def _with_calls(ids: Ids, values: Floats, calling: Ids, value: float) -> tuple[Ids, Floats]:
    """Add the rows that have a word in tool calls alone, each with the same value."""
    alone = np.setdiff1d(calling, ids, assume_unique=True)
    if not len(alone):
        return ids, values
    every = np.concatenate([ids, alone])
    order = np.argsort(every)
    return every[order], np.concatenate([values, np.full(len(alone), value)])[order]


def _occurrences(database: Database, index: str, word: str, token: str, all_rows: int) -> tuple[Ids, Floats, float]:
    """Return the rows with a word, ascending, its occurrences in each, and its inverse document frequency."""
    found = database.value(f"SELECT group_concat(doc) FROM temp.{index}_places WHERE term = ?", (token,))
    places = listed(found)  # ascending; a row once for each occurrence
    ids, firsts = runs(places)
    counts = np.diff(firsts, append=len(places)).astype(np.float64)
    calling = _calling_rows(database, index, word)
    idf = _inverse_frequency(len(ids) or len(calling), all_rows)
    return *_with_calls(ids, counts, calling, CALLED), idf


def _inverse_frequency(rows: int, all_rows: int) -> float:
    return max(math.log((all_rows - rows + 0.5) / (rows + 0.5)), LEAST_IDF)


def _counted(parts: list[tuple[Ids, Floats, float]]) -> Counted:
    """Join the rows of indexes in the order of their ids, which do not overlap."""
    return Counted(
        np.concatenate([np.empty(0, np.int64), *(ids for ids, _, _ in parts)]),
        np.concatenate([np.empty(0), *(counts for _, counts, _ in parts)]),
        np.concatenate([np.empty(0), *(np.full(len(ids), idf) for ids, _, idf in parts)]),
    )


def _as_fts5_scores(database: Database, index: str, word: str, all_rows: int) -> tuple[Ids, Floats]:
    """Return the rows and scores of a word that a mark splits: its parts as a phrase."""
    # Two JSON arrays, since fetching thousands of rows one by one takes longer than finding them. LIMIT keeps SQLite
    # from flattening the subquery, outside of which there is no bm25().
    ids, scores = database.run(
        "SELECT json_group_array(id), json_group_array(score) FROM "
        f"(SELECT rowid AS id, -bm25({index}) AS score FROM {index} WHERE {index} MATCH ? ORDER BY rowid LIMIT -1)",
        (quote(word),),
    )[0]
    found, of_found = np.array(orjson.loads(ids), np.int64), np.array(orjson.loads(scores), np.float64)
    calling = _calling_rows(database, index, word)
    return _with_calls(found, of_found, calling, CALLED * _inverse_frequency(len(calling), all_rows))


def _scored(parts: list[tuple[Ids, Floats]]) -> Scored:
    return Scored(
        np.concatenate([np.empty(0, np.int64), *(ids for ids, _ in parts)]),
        np.concatenate([np.empty(0), *(scores for _, scores in parts)]),
    )


def sizes(database: Database, ids: Ids) -> Floats:
    """Return BM25's factor of each row's length relative to the average of its index; shape (ids,)."""
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


def count_rows(database: Database) -> int:
    """Return the number of turns and tasks' texts. A plain `count(*)` would read thousands of pages."""
    return sum(_totals(database, index)[0] for index in _indexes(Filters()))


def _totals(database: Database, index: str) -> tuple[int, int]:
    """Return the rows of an index and the tokens in all of them, from FTS5's own record of both."""
    if database.is_writing:  # opening the vocabulary makes FTS5 write its pending rows
        database.run(f"SELECT 1 FROM {index.removesuffix('_fts')}_vocabulary WHERE term = ''")
    numbers = _varints(database.value(f"SELECT block FROM {index}_data WHERE id = 1") or b"\0").tolist()
    return numbers[0], sum(numbers[1:])


def _varints(content: bytes) -> Ids:
    """Decode SQLite's varints: seven bits a byte, the highest first, the eighth bit set in all but the last byte."""
    octets = np.frombuffer(content, np.uint8)
    ends = np.flatnonzero(octets < 0x80)  # noqa: PLR2004 - the eighth bit
    starts = np.concatenate([[0], ends[:-1] + 1])
    places = np.repeat(ends, ends - starts + 1) - np.arange(len(octets))
    return np.add.reduceat((octets & 0x7F).astype(np.int64) << (7 * places), starts)


def find_phrase(database: Database, phrase: str, filters: Filters) -> Ids:
    """Return the rows with a phrase, ascending; filters as in `postings`."""
    found = [
        row
        for index in _indexes(filters)
        for row in database.run(f"SELECT rowid FROM {index} WHERE {index} MATCH ? ORDER BY rowid", (quote(phrase),))
    ]
    return np.array([id_ for (id_,) in found], dtype=np.int64)


def _indexes(filters: Filters) -> list[str]:
    """Return the names of the indexes; turns come first, since their ids are lower."""
    return [*([] if filters.of_tasks else ["prompts_fts"]), *([] if filters.of_turns else ["task_texts_fts"])]


FULL_TEXT = ("prompts_fts", "tool_calls_fts", "task_texts_fts", "trigrams")
STRUCTURE = 10
"""Id of the list of an index's segments: level by level, each with two numbers before those of its segments."""
PAGES = 250
"""Pages of an index that one step rewrites: some 30 ms, so that no other writer waits for long."""
SCATTERED = 1 / 4
"""Share of an index outside its largest segment above which it is merged. A memory that grows step by step then writes
about four times its final size."""


def merge_scattered(database: Database) -> None:
    """Merge each index with more than SCATTERED outside its largest segment.

    Call it outside a transaction.

    FTS5 writes a segment for each transaction, and looks every word up in all segments.
    """
    for index in FULL_TEXT:
        pages = database.column(f"SELECT count(*) FROM {index}_idx GROUP BY segid")
        if sum(pages) - max(pages, default=0) > SCATTERED * sum(pages):
            merge(database, index)


def merge(database: Database, index: str) -> None:
    """Rewrite an index as one segment without deleted rows, in small steps."""
    step = -PAGES  # a negative number merges all segments, as `optimize` does; further steps continue that
    written = 2
    while written > 1:
        before = database.connection.total_changes()
        database.run(f"INSERT INTO {index}({index}, rank) VALUES ('merge', ?)", (step,))
        written = database.connection.total_changes() - before
        step = PAGES


def drop_deleted(database: Database, index: str) -> None:
    """Write an index anew without the words of deleted rows.

    FTS5 drops their marks only where nothing older may stand below. With an empty level there it keeps them, and the index is
    built again: this happens when much of it is deleted at once.
    """
    merge(database, index)
    levels, _, _, *segments = _varints(
        database.value(f"SELECT block FROM {index}_data WHERE id = {STRUCTURE}")[4:]
    ).tolist()
    if any(segments[: 2 * (levels - 1)]):
        database.run(f"INSERT INTO {index}({index}) VALUES ('rebuild')")
