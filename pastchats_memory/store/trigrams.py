"""Find substrings anywhere in a text: within words, across marks, in scripts without spaces.

The index stores which runs of three characters a row has, in any case, but neither positions nor counts: a tenth of the
size. A shorter substring is the beginning of such runs. A longer one has several; rows that have all of them are read to
check it.
"""

from collections.abc import Callable, Sequence

import apsw
import orjson

from pastchats_memory.arrays import Floats, Ids, np
from pastchats_memory.store.database import Database
from pastchats_memory.store.ids import distinct, listed
from pastchats_memory.store.word_rows import quote

LENGTH = 3
"""Characters of a trigram."""
LONGEST = 100
"""Characters of a substring that are looked up: no two pasted logs have the same first hundred."""
LAST = chr(0x10FFFF)
"""Sorts after every continuation of a trigram's beginning."""


def containing(database: Database, piece: str, most: int, stands: Callable[[str], bool] | None = None) -> Ids | None:
    """Return the rows with a substring in any case, ascending; None if there may be more than `most`.

    `stands` checks whether a text has it at an allowed position; None allows any.
    """
    piece = piece[:LONGEST]
    trigrams = _trigrams(database, piece)
    if not trigrams:  # SQLite reads no text after a zero byte
        return np.empty(0, np.int64)
    if len(piece) <= LENGTH:
        beginning = trigrams[0][: len(piece)]
        statement = "SELECT doc AS id FROM trigrams_vocabulary WHERE term >= ? AND term < ?"
        found = _ids(database, statement, (beginning, beginning + LAST), most)
    else:
        statement = "SELECT rowid AS id FROM trigrams WHERE trigrams MATCH ?"
        found = _ids(database, statement, (" AND ".join(map(quote, trigrams)),), most)
    if len(found) > most:
        return None
    return found if len(piece) <= LENGTH and stands is None else _check_texts(database, found, piece, stands)


def _trigrams(database: Database, piece: str) -> list[str]:
    """Return the distinct trigrams of a substring as the index has them; of a shorter one, padded with blanks."""
    tokens = database.connection.fts5_tokenizer("trigram")(
        piece.ljust(LENGTH).encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False, include_colocated=False
    )
    return list(dict.fromkeys(str(token) for token in tokens))


def _ids(database: Database, statement: str, values: Sequence[str], most: int) -> Ids:
    """Return distinct ids, ascending; up to `most` + 1."""
    return distinct(listed(database.value(f"SELECT group_concat(id) FROM ({statement} LIMIT {most + 1})", values)))


def lengths(database: Database, ids: Ids) -> Floats:
    """Return the bytes of each row's text, shape (ids,); 0 for a missing row. `ids` are ascending."""
    rows = database.run(
        "SELECT json_group_array(id), json_group_array(size) FROM ("
        "SELECT id, octet_length(content) AS size FROM visible_prompts WHERE id IN (SELECT value FROM json_each(?1)) "
        "UNION ALL SELECT id, octet_length(content) FROM visible_task_texts WHERE id IN (SELECT value FROM json_each(?1)))",
        (orjson.dumps(ids.tolist()).decode(),),
    )
    there, sizes = (np.array(orjson.loads(column)) for column in rows[0])
    found = np.zeros(len(ids))
    if len(there):
        found[np.searchsorted(ids, there)] = sizes
    return found


def _check_texts(database: Database, ids: Ids, piece: str, stands: Callable[[str], bool] | None) -> Ids:
    """Return the rows whose text has the substring at an allowed position."""
    sought = piece.lower()
    is_there = stands or (lambda content: sought in content.lower())
    rows = database.rows(  # one by one: thousands of long texts do not belong in memory
        "SELECT id, content FROM visible_prompts WHERE id IN (SELECT value FROM json_each(?1)) "
        "UNION ALL SELECT id, content || ' ' || labels FROM visible_task_texts WHERE id IN (SELECT value FROM json_each(?1))",
        (orjson.dumps(ids.tolist()).decode(),),
    )
    return np.array(sorted(id_ for id_, content in rows if is_there(content)), np.int64)
