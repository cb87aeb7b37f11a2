"""Read records from the pages of an SQLite file that SQLite itself cannot read any more, by its published file format.

Header, schema and the links between pages are not needed, except for records that overflow: each page is read by itself.
https://www.sqlite.org/fileformat2.html
"""

import mmap
import struct
from collections.abc import Iterator
from typing import NamedTuple

PAGE = 4096
"""Bytes of a page in every file that we make."""
HEADER = 100
"""Bytes of the file's header on the first page."""
TABLE_LEAF, TABLE_INNER, INDEX_LEAF, INDEX_INNER = 13, 5, 10, 2
"""Kinds of pages. All but TABLE_INNER hold records: an index, and a table without rowids, has records in inner pages too."""
FILLED = 35
"""Bytes of a page that no cell may use; the thresholds of the format follow from it."""
CHILD = 4
"""Bytes of a child page's number, in the head of an inner page and before each of its cells."""
LONGEST = 1 << 30
"""Bytes of a record."""
ROOM_TIMES = 4
"""Factor of the file's size up to which overflow pages are read: in a damaged file many records may lead to one page."""
MOST_COLUMNS = 64

Pages = bytes | mmap.mmap
Value = int | float | str | bytes | None


class CellContent(NamedTuple):
    """Content of a cell."""

    rowid: int | None
    """None in an index or a table without rowids."""
    values: tuple[Value, ...]


def records(content: Pages) -> Iterator[CellContent]:
    """Yield every readable record, in the order of the pages; skip broken ones."""
    chains = _Chains(content)
    for start in range(0, len(content) - PAGE + 1, PAGE):
        head = start + (HEADER if start == 0 else 0)
        kind, cells = content[head], int.from_bytes(content[head + 3 : head + 5])
        if kind not in (TABLE_LEAF, INDEX_LEAF, INDEX_INNER) or cells > PAGE // 4:
            continue
        child = CHILD if kind == INDEX_INNER else 0
        for number in range(cells):
            pointer = head + 8 + child + 2 * number
            offset = int.from_bytes(content[pointer : pointer + 2]) + child
            if child < offset < PAGE and (record := _record(chains, start + offset, start + PAGE, kind)) is not None:
                yield record


class _Chains:
    def __init__(self, content: Pages) -> None:
        self.content = content
        self._room = ROOM_TIMES * len(content)

    def follow(self, page: int, left: int) -> bytes | None:
        """Return `left` bytes of the chain that begins with a page.

        Return None if it is broken, or too much was read already.
        """
        pieces = []
        while left > 0:
            start, length = (page - 1) * PAGE, min(left, PAGE - 4)
            if start < PAGE or start + PAGE > len(self.content) or length > self._room:
                return None
            pieces.append(self.content[start + 4 : start + 4 + length])
            page = int.from_bytes(self.content[start : start + 4])
            left -= length
            self._room -= length
        return b"".join(pieces)


def _record(chains: _Chains, place: int, end: int, kind: int) -> CellContent | None:
    content = chains.content
    size, place = _varint(content, place)
    rowid: int | None = None
    if kind == TABLE_LEAF:
        rowid, place = _varint(content, place)
        rowid -= (rowid >> 63) << 64
    payload = _payload(chains, place, end, size, kind)
    values = None if payload is None else _values(payload)
    return None if values is None else CellContent(rowid, values)


def _payload(chains: _Chains, place: int, end: int, size: int, kind: int) -> bytes | None:
    """Return the bytes of a record with those of overflow pages. Return None if a chain is broken."""
    content = chains.content
    if not 0 < size < min(LONGEST, len(content)):
        return None
    most = PAGE - FILLED if kind == TABLE_LEAF else (PAGE - 12) * 64 // 255 - 23
    least = (PAGE - 12) * 32 // 255 - 23
    local = size
    if size > most:
        local = least + (size - least) % (PAGE - 4)
        local = local if local <= most else least
    if place + local + (4 if local < size else 0) > end:
        return None
    here = content[place : place + local]
    if local == size:
        return here
    rest = chains.follow(int.from_bytes(content[place + local : place + local + 4]), size - local)
    return None if rest is None else here + rest


def _values(payload: bytes) -> tuple[Value, ...] | None:
    size, place = _varint(payload, 0)
    if not place <= size <= len(payload):
        return None
    kinds: list[int] = []
    while place < size:
        kind, place = _varint(payload, place)
        kinds.append(kind)
    if not 0 < len(kinds) <= MOST_COLUMNS or place != size:
        return None
    values: list[Value] = []
    for kind in kinds:
        length = _length(kind)
        piece = payload[place : place + length]
        if len(piece) != length or kind in (10, 11):
            return None
        place += length
        try:
            values.append(_value(kind, piece))
        except UnicodeDecodeError:
            return None
    return tuple(values) if place == len(payload) else None


def _length(kind: int) -> int:
    return (0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0)[kind] if kind < 12 else (kind - 12) // 2  # noqa: PLR2004 - the first of a blob


def _value(kind: int, piece: bytes) -> Value:
    match kind:
        case 0:
            return None
        case 7:
            (number,) = struct.unpack(">d", piece)
            return float(number)
        case 8 | 9:
            return kind - 8
        case _ if kind < 12:  # noqa: PLR2004 - the first of a blob
            return int.from_bytes(piece, signed=True)
        case _:
            return piece.decode() if kind % 2 else piece


def _varint(content: Pages, place: int) -> tuple[int, int]:
    number = 0
    for length, byte in enumerate(content[place : place + 9], start=1):
        if length == 9:  # noqa: PLR2004 - of which all eight bits count
            return number << 8 | byte, place + 9
        number = number << 7 | byte & 0x7F
        if byte < 0x80:  # noqa: PLR2004 - the bit that says that there is more
            return number, place + length
    return number, place + 9
