"""Find bytes of deleted rows that SQLite left in its file.

`secure_delete` overwrites the rows themselves. When SQLite balances a tree it moves rows to other pages, and what they leave
between the pointers and the cells of a page stays there, also after the row is deleted.
https://www.sqlite.org/fileformat2.html#b_tree_pages
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import apsw

from pastchats_memory.store.database import Database
from pastchats_memory.store.errors import translate_errors
from pastchats_memory.store.sqlite_pages import HEADER, INDEX_INNER, INDEX_LEAF, PAGE, TABLE_INNER, TABLE_LEAF

RUN = 16
"""Bytes in a row that tell something of a text."""
BLOCK = RUN // 2
"""Bytes of a block: any RUN bytes contain a whole one."""
READ = 256 * PAGE


class PageBytes(NamedTuple):
    """Bytes of a page."""

    used: bytes
    unused: bytes
    """Between the pointers and the cells, without zeros around them."""


def has_remains(database: Database, removed: Iterable[bytes]) -> bool:
    """Return whether RUN bytes of removed values stand in unused parts of the file, and in no used part.

    The write-ahead log must be empty. Raises StoreFault.
    """
    with database.snapshot(), translate_errors(str(database.path)):
        database.run("SELECT count(*) FROM sqlite_schema")  # keeps others from writing to the file itself
        left = find_removed({page.unused for page in read_pages(database) if len(page.unused) >= RUN}, removed)
        for page in read_pages(database) if left else ():
            left = {run for run in left if run not in page.used}
            if not left:
                break
    return bool(left)


def find_removed(pieces: Iterable[bytes], removed: Iterable[bytes]) -> set[bytes]:
    """Return the runs of the pieces that removed values contain."""
    known: dict[bytes, set[bytes]] = {}
    for piece in pieces:
        for at in range(0, len(piece) - BLOCK + 1, BLOCK):
            known.setdefault(piece[at : at + BLOCK], set()).add(piece)
    found = set()
    for value in removed:
        blocks = {value[at : at + BLOCK] for at in range(len(value) - BLOCK + 1)} & known.keys()
        near = {piece for block in blocks for piece in known[block]}
        runs = (piece[at : at + RUN] for piece in near for at in range(len(piece) - RUN + 1))
        found |= {run for run in runs if run in value}
    return found


def read_pages(database: Database) -> Iterator[PageBytes]:
    """Yield all pages, read by SQLite's own layer: closing a file of our own would release its locks."""
    file = apsw.VFSFile("", str(database.path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
    try:
        size = file.xFileSize()
        for start in range(0, size, READ):
            content = file.xRead(min(READ, size - start), start)
            for at in range(0, len(content), PAGE):
                yield _split_page(content[at : at + PAGE], HEADER if start + at == 0 else 0)
    finally:
        file.xClose()


def _split_page(page: bytes, head: int) -> PageBytes:
    kind = page[head]
    if kind not in (INDEX_INNER, TABLE_INNER, INDEX_LEAF, TABLE_LEAF):
        return PageBytes(page, b"")
    child = 4 if kind in (INDEX_INNER, TABLE_INNER) else 0
    first = head + 8 + child + 2 * int.from_bytes(page[head + 3 : head + 5])
    last = int.from_bytes(page[head + 5 : head + 7])
    return PageBytes(page[:first] + page[last:], page[first:last].strip(b"\0"))
