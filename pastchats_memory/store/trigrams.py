"""Pieces of text: runs of characters wherever they stand, within words, across marks, in scripts without spaces.

The index keeps of every row which runs of three characters it has, in whatever case, and neither where nor how often: a
tenth of what it would keep else. A shorter piece is the beginning of such runs; a longer one has several, and rows that
have them all are read to see whether they stand in a row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import apsw
import numpy as np
import orjson
from numpy.typing import NDArray

from pastchats_memory.store.database import Database
from pastchats_memory.store.fulltext import quoted
from pastchats_memory.store.ids import Ids, distinct, listed

LENGTH = 3
"""Characters of a trigram."""
LONGEST = 100
"""Characters by which a longer piece is known: of a pasted log nothing else has the first hundred."""
LAST = chr(0x10FFFF)
"""Greater than whatever follows the beginning of a trigram."""


def containing(database: Database, piece: str, most: int, stands: Callable[[str], bool] | None = None) -> Ids | None:
    """The rows that have the piece, in whatever case, ascending; None where they may be more than `most`.

    Args:
        database: whose index is asked.
        piece: at least one character.
        most: rows.
        stands: whether it stands in a text where it may; None: it may stand anywhere.

    Raises:
        StoreFault: the database cannot be read.
    """
    piece = piece[:LONGEST]
    trigrams = _trigrams(database, piece)
    if not trigrams:  # a zero byte, behind which SQLite reads no text
        return np.empty(0, np.int64)
    if len(piece) <= LENGTH:
        beginning = trigrams[0][: len(piece)]
        statement = "SELECT doc AS id FROM trigrams_vocabulary WHERE term >= ? AND term < ?"
        found = _ids(database, statement, (beginning, beginning + LAST), most)
    else:
        statement = "SELECT rowid AS id FROM trigrams WHERE trigrams MATCH ?"
        found = _ids(database, statement, (" AND ".join(map(quoted, trigrams)),), most)
    if len(found) > most:
        return None
    return found if len(piece) <= LENGTH and stands is None else _in_a_row(database, found, piece, stands)


def _trigrams(database: Database, piece: str) -> list[str]:
    """The piece's runs of three characters as the index has them, each once; of a shorter one what it begins."""
    tokens = database.connection.fts5_tokenizer("trigram")(
        piece.ljust(LENGTH).encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False, include_colocated=False
    )
    return list(dict.fromkeys(str(token) for token in tokens))


def _ids(database: Database, statement: str, values: Sequence[str], most: int) -> Ids:
    """Ascending, each once; a few too many where they are more than `most`."""
    return distinct(listed(database.value(f"SELECT group_concat(id) FROM ({statement} LIMIT {most + 1})", values)))


def lengths(database: Database, ids: Ids) -> NDArray[np.float64]:
    """Bytes of each row's text, shape (ids,), ids ascending; 0 for one that is gone. Raises StoreFault."""
    rows = database.run(
        "SELECT json_group_array(id), json_group_array(size) FROM ("
        "SELECT id, octet_length(content) AS size FROM prompts WHERE id IN (SELECT value FROM json_each(?1)) "
        "UNION ALL SELECT id, octet_length(content) FROM task_texts WHERE id IN (SELECT value FROM json_each(?1)))",
        (orjson.dumps(ids.tolist()).decode(),),
    )
    there, sizes = (np.array(orjson.loads(column)) for column in rows[0])
    found = np.zeros(len(ids))
    if len(there):
        found[np.searchsorted(ids, there)] = sizes
    return found


def _in_a_row(database: Database, ids: Ids, piece: str, stands: Callable[[str], bool] | None) -> Ids:
    """Those of the rows in whose text the piece stands, and stands where it may."""
    sought = piece.lower()
    is_there = stands or (lambda content: sought in content.lower())
    rows = database.rows(  # one by one: thousands of long texts do not belong in memory
        "SELECT id, content FROM prompts WHERE id IN (SELECT value FROM json_each(?1)) "
        "UNION ALL SELECT id, content || ' ' || labels FROM task_texts WHERE id IN (SELECT value FROM json_each(?1))",
        (orjson.dumps(ids.tolist()).decode(),),
    )
    return np.array(sorted(id_ for id_, content in rows if is_there(content)), np.int64)
