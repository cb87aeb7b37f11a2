"""What can be saved of a damaged database, in a new one: rows by SQLite as far as it gets, further ones out of the pages.

All that is derived is made anew by what makes it when rows are written. The damaged file is only read.
"""

from __future__ import annotations

import hashlib
import mmap
import re
import shutil
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import apsw
import orjson

from pastchats_memory.errors import DatabaseCorrupt, StoreFault
from pastchats_memory.store.checks import TIMES, is_time
from pastchats_memory.store.database import Database, open_database, side_files
from pastchats_memory.store.errors import translate
from pastchats_memory.store.pending_deletes import PENDING_KEY
from pastchats_memory.store.redactions import RULES
from pastchats_memory.store.schema import schema

# Records out of the pages of an SQLite file that SQLite itself cannot read any more, by its published file format.
#
# Neither header nor schema nor the way from page to page is needed but for what flows over: each page is read for itself.
# https://www.sqlite.org/fileformat2.html

PAGE = 4096
"""Bytes of a page in every file that we make."""
HEADER = 100
"""Bytes of the file's header on the first page."""
TABLE_LEAF, INDEX_LEAF, INDEX_INNER = 13, 10, 2
"""Kinds of pages that hold records: those of an index, and of a table without rowids, also do above the leaves."""
FILLED = 35
"""Bytes of a page that no cell may use, which the format's thresholds are made of."""
CHILD = 4
"""Bytes of the number of a page further down, which stands in the head of an inner page and before each of its cells."""
LONGEST = 1 << 30
ROOM_TIMES = 4
"""As many bytes as the file has are read at most of what flows over: whole, each page of it belongs to one record; damaged, many may lead to one."""
MOST_COLUMNS = 64

Pages = bytes | mmap.mmap
Value = int | float | str | bytes | None


class Record(NamedTuple):
    """What a cell of a leaf holds."""

    rowid: int | None
    """None in a table without rowids, and in an index."""
    values: tuple[Value, ...]


def records(content: Pages) -> Iterator[Record]:
    """Every record that can be read of the pages of a file, in the order of the pages; broken ones are passed over."""
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
    """The pages, and what of them flows over to others."""

    def __init__(self, content: Pages) -> None:
        self.content = content
        self._room = ROOM_TIMES * len(content)

    def follow(self, page: int, left: int) -> bytes | None:
        """So many bytes of the chain that begins with a page; None where it leads nowhere, or too much was read already."""
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


def _record(chains: _Chains, place: int, end: int, kind: int) -> Record | None:
    content = chains.content
    size, place = _varint(content, place)
    rowid: int | None = None
    if kind == TABLE_LEAF:
        rowid, place = _varint(content, place)
        rowid -= (rowid >> 63) << 64
    payload = _payload(chains, place, end, size, kind)
    values = None if payload is None else _values(payload)
    return None if values is None else Record(rowid, values)


def _payload(chains: _Chains, place: int, end: int, size: int, kind: int) -> bytes | None:
    """The bytes of a record, with those that flowed over to further pages; None where that leads nowhere."""
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
    """Bytes of a value of a serial type."""
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
    """A number of one to nine bytes, and where it ends."""
    number = 0
    for length, byte in enumerate(content[place : place + 9], start=1):
        if length == 9:  # noqa: PLR2004 - of which all eight bits count
            return number << 8 | byte, place + 9
        number = number << 7 | byte & 0x7F
        if byte < 0x80:  # noqa: PLR2004 - the bit that says that there is more
            return number, place + length
    return number, place + 9


DURABLE = (
    "embedding_meta", "sources", "prompts", "prompt_embeddings", "sightings", "live_events", "project_folders", "runs",
    "tasks", "task_links", "task_states", "task_conversations", "task_comments", "task_attachments", "judgements",
    "judgement_reads", "forgettings", "forgotten",
)  # fmt: skip
"""Tables from which all others are made."""
DURABLE_KEYS = ("model_name", "model_version", "embedding_dim", "last_reindex_at", RULES, PENDING_KEY)
"""Keys of `embedding_meta` that say something of durable rows, or which of them go; the others say how far what is derived has come."""
FITTING = {"INTEGER": (int,), "TEXT": (str,), "BLOB": (bytes,), "REAL": (float, int)}
"""What a value of a column is in Python, by the column's type."""
OF_JSON: dict[str, tuple[tuple[str, type, str | None], ...]] = {
    "prompts": (("metadata_json", dict, None),),
    "sources": (("problems", list, None),),
    "tasks": (("metadata_json", dict, "{}"), ("tags_json", list, "[]")),
    "forgettings": (("selector", dict, "{}"),),
}
"""Columns of JSON: the kind of the value, and what stands for one that is broken."""
LONG_AGO = "1970-01-01T00:00:00Z"
"""Stands for a time that is needed and broken."""
_ROOTED = re.compile(r"/|\\\\|[A-Za-z]:[/\\]")
LENGTH_OF_EVENT = 64
"""Characters."""
ROWID = -1
"""Stands for it among the columns of an index."""
MOST_MISSING = 4
"""Columns that rows of older releases lack at their end."""


class Column(NamedTuple):
    """A column as the schema has it."""

    name: str
    type: str
    is_needed: bool
    """It is never NULL."""
    is_rowid: bool
    """It is another name for the rowid, and NULL in a record."""

    def takes(self, value: Value) -> bool:
        """Whether a record may have the value here."""
        if value is None:
            return self.is_rowid or not self.is_needed
        return not self.is_rowid and isinstance(value, FITTING[self.type])


class Saved(NamedTuple):
    """What was saved of a database."""

    rows: Mapping[str, int]
    """By durable table."""
    damaged: tuple[str, ...]
    """Tables of which SQLite could not read all rows; what is lacking is known only to them."""
    altered: int
    """Turns whose text is not what its hash says: a reading of their file mends them."""


def salvage(path: Path, to: Path) -> Saved:
    """Save what can be saved of a damaged database into a file that is there and empty.

    Files count as unread in it, so that the next index run brings back what transcripts still have. Vectors that were lost
    are still lacking.

    Raises:
        DatabaseCorrupt: nothing can be saved of it.
        StoreFault: the file cannot be read, or the new one cannot be written.
    """
    with _copied(path, to) as (content, old), open_database(to) as new:
        tables, indexes = _schema()
        damaged = []
        with new.transaction():
            new.run("PRAGMA defer_foreign_keys=ON")
            for table in DURABLE:
                columns = tables[table]
                if not _carry(old, new, table, columns):
                    damaged.append(table)
            if damaged:
                _pick_up(content, new, {table: tables[table] for table in damaged}, tables, indexes)
            altered = _mend_texts(new)
            _drop_entries_of_indexes(new)
            _drop_what_hangs_on_nothing(new)
            _drop_broken_vectors(new)
            new.run("UPDATE sources SET size = -1, mtime_ns = 0, resume = NULL, fingerprint = NULL")
        if not new.value("SELECT EXISTS (SELECT 1 FROM prompts) OR EXISTS (SELECT 1 FROM tasks)"):
            hint = "Move it away, and run `pastchats-memory index` on your transcripts again."
            raise DatabaseCorrupt(f"{path}: nothing can be saved of it", hint)
        counts = {table: int(new.value(f"SELECT count(*) FROM {table}")) for table in DURABLE}
    return Saved(counts, tuple(damaged), altered)


@contextmanager
def _copied(path: Path, to: Path) -> Iterator[tuple[bytes | mmap.mmap, apsw.Connection | None]]:
    """The pages of a copy of the file, with what stands in its log as far as SQLite takes it in, and a connection to it."""
    copy = to.with_name(f"{to.name}-damaged")
    here = (path, *side_files(path))
    copies = [copy.with_name(copy.name + each.name.removeprefix(path.name)) for each in here]
    try:
        for each, other in zip(here, copies, strict=True):
            if each.exists() and not each.name.endswith("-shm"):
                shutil.copyfile(each, other)
        connection = None
        with _as_far_as_it_is_whole():
            connection = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READWRITE)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        with copy.open("rb") as file:
            is_empty = copy.stat().st_size == 0
            yield b"" if is_empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), connection
        if connection is not None:
            with suppress(apsw.Error):
                connection.close()
    except OSError as fault:
        raise StoreFault(f"{path}: {fault.strerror}", "Check the disk, and that there is room for a copy.") from fault
    finally:
        for left in (*copies, *side_files(copy)):
            left.unlink(missing_ok=True)


@contextmanager
def _as_far_as_it_is_whole() -> Iterator[None]:
    """Pass over what damage explains. Raises StoreFault for a fault of the surroundings, which may be gone the next time."""
    try:
        yield
    except UnicodeDecodeError:
        pass
    except apsw.Error as fault:
        ours = translate(fault, "the copy of the damaged database")
        if ours is not None and not isinstance(ours, DatabaseCorrupt):
            raise ours from fault


def _schema() -> tuple[dict[str, list[Column]], list[list[Column]]]:
    """All tables of this release with their columns, and those of each index."""
    empty = apsw.Connection(":memory:")
    empty.execute(schema())
    names = [
        str(name) for (name,) in empty.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0")
    ]
    found = {}
    for name in names:
        rows = list(empty.execute(f"PRAGMA table_info({name})"))
        keys = [row for row in rows if row[5]]
        found[name] = [
            Column(
                row[1],
                row[2] or "BLOB",
                is_needed=bool(row[3] or row[5]),
                is_rowid=len(keys) == 1 and bool(row[5]) and row[2] == "INTEGER",
            )
            for row in rows
        ]
    indexes = [
        [column._replace(is_rowid=False) for column in _of_index(empty, str(index), found[name])]
        for name in names
        for _, index, *_ in empty.execute(f"PRAGMA index_list({name})").fetchall()
    ]
    empty.close()
    return found, indexes


def _of_index(empty: apsw.Connection, index: str, columns: Sequence[Column]) -> list[Column]:
    """What an entry of an index holds: its columns, and those by which a row is named."""
    rowid = Column("rowid", "INTEGER", is_needed=True, is_rowid=False)
    reckoned = Column("", "TEXT", is_needed=True, is_rowid=False)
    return [
        columns[place] if place >= 0 else rowid if place == ROWID else reckoned
        for _, place, *_ in empty.execute(f"PRAGMA index_xinfo({index})")
    ]


def _carry(old: apsw.Connection | None, new: Database, table: str, columns: Sequence[Column]) -> bool:
    """Whether SQLite could read all rows of a table, which are in the new database then; else those before the damage."""
    if old is None:
        return False
    with _as_far_as_it_is_whole():
        there = {row[1] for row in old.execute(f"PRAGMA table_info({table})")}
        if not there:
            return False
        names = [column.name for column in columns if column.name in there]
        for row in old.execute(f"SELECT {', '.join(names)} FROM {table}"):
            _put(new, table, columns, dict(zip(names, row, strict=True)))
        return True
    return False


def _pick_up(
    content: bytes | mmap.mmap,
    new: Database,
    damaged: Mapping[str, Sequence[Column]],
    tables: Mapping[str, Sequence[Column]],
    indexes: Sequence[Sequence[Column]],
) -> None:
    """Add the records of some tables that stand in the pages; those that may be of several tables are left."""
    for record in records(content):
        fitting = [name for name, columns in tables.items() if _fits(record, columns)]
        # One that lacks no column is not of a table to which columns were added since, as it would otherwise seem, nor is
        # an entry of an index.
        whole = [name for name in fitting if len(tables[name]) == len(record.values)]
        fitting = whole or ([] if _is_of_one(record, indexes) else fitting)
        if _is_folder(record):
            fitting = ["project_folders"]
        if len(fitting) == 1 and fitting[0] in damaged:
            columns = damaged[fitting[0]]
            values = dict(zip((column.name for column in columns), record.values, strict=False))
            for column in columns:
                if column.is_rowid:
                    values[column.name] = record.rowid
            _put(new, fitting[0], columns, values)


def _is_folder(record: Record) -> bool:
    """Whether it is a row of `project_folders`, which in columns is like `outcomes_due` and entries of several indexes."""
    match record:
        case Record(None, (str(folder), str(), -1 | 0 | 1)):
            return _ROOTED.match(folder) is not None
    return False


def _is_of_one(record: Record, indexes: Sequence[Sequence[Column]]) -> bool:
    return any(len(columns) == len(record.values) and _fits(record, columns) for columns in indexes)


def _fits(record: Record, columns: Sequence[Column]) -> bool:
    has_rowid = any(column.is_rowid for column in columns)
    if has_rowid != (record.rowid is not None) or not 0 <= len(columns) - len(record.values) <= MOST_MISSING:
        return False
    return all(column.takes(value) for column, value in zip(columns, record.values, strict=False))


def _put(new: Database, table: str, columns: Sequence[Column], values: Mapping[str, object]) -> None:
    """A row that is not there yet and that the schema takes, without what is made of it by reckoning."""
    kept = {
        column.name: values[column.name]
        for column in columns
        if column.name in values
        and column.name != "components"
        and (values[column.name] is None or isinstance(values[column.name], FITTING[column.type]))
    }
    for name, kind, empty in OF_JSON.get(table, ()):
        kept[name] = _json_or(kept.get(name), kind, empty)
    for column in columns:
        if column.name in TIMES.get(table, ()) and not is_time(kept.get(column.name)):
            kept[column.name] = LONG_AGO if column.is_needed else None
    marks = ", ".join("?" * len(kept))
    with suppress(DatabaseCorrupt):
        new.run(f"INSERT OR IGNORE INTO {table}({', '.join(kept)}) VALUES ({marks})", list(kept.values()))


def _json_or(text: object, kind: type, empty: str | None) -> object:
    try:
        return text if isinstance(orjson.loads(str(text)), kind) else empty
    except orjson.JSONDecodeError:
        return empty


def _mend_texts(new: Database) -> int:
    """Give turns whose text was altered the hash of what it is now, and no vector; how many there are."""
    altered = [
        (hash_, id_)
        for id_, content, stored in new.rows("SELECT id, content, text_hash FROM prompts")
        if (hash_ := hashlib.sha256(content.encode()).digest()) != stored
    ]
    new.run_many("DELETE FROM prompt_embeddings WHERE prompt_id = ?", [(id_,) for _, id_ in altered])
    new.run_many("UPDATE prompts SET text_hash = ? WHERE id = ?", altered)
    return len(altered)


def _drop_what_hangs_on_nothing(new: Database) -> None:
    for table in DURABLE:
        for _, _, parent, column, other, *_ in new.run(f"PRAGMA foreign_key_list({table})"):
            new.run(
                f"DELETE FROM {table} WHERE {column} IS NOT NULL "
                f"AND NOT EXISTS (SELECT 1 FROM {parent} x WHERE x.{other or 'id'} = {table}.{column})"
            )


def _drop_entries_of_indexes(new: Database) -> None:
    """An entry of an index on one column of texts has the columns of an event; an event is a digest that nothing else is known by."""
    new.run(
        f"DELETE FROM live_events WHERE length(event) != {LENGTH_OF_EVENT} OR event IN (SELECT content_hash FROM prompts "
        "UNION ALL SELECT echo_hash FROM prompts WHERE echo_hash IS NOT NULL UNION ALL SELECT identity FROM tasks)"
    )


def _drop_broken_vectors(new: Database) -> None:
    """Leave only vectors that are some, of the database's own model."""
    marks = ", ".join("?" * len(DURABLE_KEYS))
    new.run(f"DELETE FROM embedding_meta WHERE key NOT IN ({marks})", DURABLE_KEYS)
    new.run("DELETE FROM embedding_meta WHERE key = ? AND NOT json_valid(value)", (PENDING_KEY,))
    known = dict(new.run("SELECT key, value FROM embedding_meta"))
    model, dim = known.get("model_name"), known.get("embedding_dim")
    if model is None or dim is None or not dim.isdecimal():
        new.run("DELETE FROM prompt_embeddings")
        new.run("DELETE FROM embedding_meta")
        return
    new.run("DELETE FROM prompt_embeddings WHERE model != ? OR dim != ?", (model, int(dim)))
    new.run(
        "DELETE FROM prompt_embeddings WHERE NOT json_valid(vector_json) OR json_type(vector_json) != 'array' "
        "OR json_array_length(vector_json) != dim "
        "OR EXISTS (SELECT 1 FROM json_each(vector_json) WHERE type NOT IN ('real', 'integer') OR abs(value) > 1)"
    )
