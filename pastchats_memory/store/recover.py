"""Recover the rows of a damaged database into a new one: by SQLite as far as it reads, then from the file's pages.

Triggers derive the rest again. The damaged file is only read.
"""

import hashlib
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import NamedTuple

import apsw
import orjson

from pastchats_memory.errors import DatabaseCorrupt, StoreFault
from pastchats_memory.store.checks import TIMES
from pastchats_memory.store.database import Database, open_database, side_files
from pastchats_memory.store.errors import translate
from pastchats_memory.store.redactions import RULES
from pastchats_memory.store.schema import schema
from pastchats_memory.store.sqlite_pages import CellContent, Value, records
from pastchats_memory.store.visible import PENDING_KEY
from pastchats_memory.text.wire import is_time

DURABLE = (
    "embedding_meta", "sources", "prompts", "prompt_embeddings", "sightings", "live_events", "project_folders", "runs",
    "tasks", "task_links", "task_states", "task_conversations", "task_comments", "task_attachments", "judgements",
    "judgement_reads", "forgettings", "forgotten", "team_members", "team_projects",
)  # fmt: skip
"""Tables from which all others are derived; a row comes after the rows that it refers to."""
DURABLE_KEYS = ("model_name", "model_version", "embedding_dim", "last_reindex_at", RULES, PENDING_KEY)
"""Keys of `embedding_meta` about durable rows or pending deletes; the others are about derived tables."""
NEVER_GUESSED = ("team_projects", "recalled_sources", "sync_growths")
"""Tables that get no rows from pages whose table is unknown.

A wrong row would share a project. The other two are not rescued, and have the columns of tables that are.
"""
FITTING = {"INTEGER": (int,), "TEXT": (str,), "BLOB": (bytes,), "REAL": (float, int)}
"""Python types of values, by the type of their column."""
OF_JSON: dict[str, tuple[tuple[str, type, str | None], ...]] = {
    "prompts": (("metadata_json", dict, None),),
    "sources": (("problems", list, None),),
    "tasks": (("metadata_json", dict, "{}"), ("tags_json", list, "[]")),
    "forgettings": (("selector", dict, "{}"),),
}
"""JSON columns of each table: name, Python type, and the replacement of a broken value."""
LONG_AGO = "1970-01-01T00:00:00Z"
"""Replaces a broken time that may not be NULL."""
_ROOTED = re.compile(r"/|\\\\|[A-Za-z]:[/\\]")
LENGTH_OF_EVENT = 64
"""Characters of a digest in `live_events`."""
ROWID = -1
"""Number of the rowid among the columns of an index."""
MOST_MISSING = 4
"""Columns that a row may lack at its end, since they were added to the table later."""


class Column(NamedTuple):
    """A column of the schema."""

    name: str
    type: str
    is_needed: bool
    """Whether it is never NULL."""
    is_rowid: bool
    """Whether it is an alias of the rowid, which a record stores as NULL."""

    def accepts(self, value: Value) -> bool:
        """Return whether a record may have the value in this column."""
        if value is None:
            return self.is_rowid or not self.is_needed
        return not self.is_rowid and isinstance(value, FITTING[self.type])


class Recovered(NamedTuple):
    """Result of a recovery."""

    rows: Mapping[str, int]
    """Number of rows by durable table."""
    damaged: tuple[str, ...]
    """Tables that SQLite could not read completely; rows may be missing."""
    altered: int
    """Turns whose text differs from its hash; indexing their file again repairs them."""


def recover(path: Path, to: Path) -> Recovered:
    """Copy all readable rows of a damaged database into an empty file.

    Files count as unread in the result, so that the next index run brings back lost rows that transcripts still have. Lost
    vectors are still missing. Raises DatabaseCorrupt if no turn and no task can be recovered, and StoreFault.
    """
    with _copied(path, to) as (content, old), open_database(to) as new:
        tables, indexes = _schema()
        damaged = []
        with new.transaction():
            new.run("PRAGMA defer_foreign_keys=ON")
            for table in DURABLE:
                columns = tables[table]
                if not _copy_table(old, new, table, columns):
                    damaged.append(table)
            if damaged:
                _copy_records(content, new, {table: tables[table] for table in damaged}, tables, indexes)
            altered = _repair_hashes(new)
            _drop_index_entries(new)
            _drop_orphans(new)
            _drop_broken_vectors(new)
            new.run("UPDATE sources SET size = -1, mtime_ns = 0, resume = NULL, fingerprint = NULL")
        if not new.value("SELECT EXISTS (SELECT 1 FROM prompts) OR EXISTS (SELECT 1 FROM tasks)"):
            hint = "Move it away, and run `pastchats-memory index` on your transcripts again."
            raise DatabaseCorrupt(f"{path}: nothing can be saved of it", hint)
        counts = {table: int(new.value(f"SELECT count(*) FROM {table}")) for table in DURABLE}
    return Recovered(counts, tuple(damaged), altered)


@contextmanager
def _copied(path: Path, to: Path) -> Iterator[tuple[bytes | mmap, apsw.Connection | None]]:
    """Copy the file, and give the pages of the copy with a connection to it.

    The log is applied as far as SQLite reads it.
    """
    copy = to.with_name(f"{to.name}-damaged")
    here = (path, *side_files(path))
    copies = [copy.with_name(copy.name + each.name.removeprefix(path.name)) for each in here]
    connection = None
    try:
        for each, other in zip(here, copies, strict=True):
            if each.exists() and not each.name.endswith("-shm"):
                shutil.copyfile(each, other)
        with _ignore_damage():
            connection = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READWRITE)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        size = copy.stat().st_size
        with copy.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) if size else nullcontext(b"") as pages:
            yield pages, connection
    except OSError as fault:
        raise StoreFault(f"{path}: {fault.strerror}", "Check the disk, and that there is room for a copy.") from fault
    finally:
        if connection is not None:
            connection.close(force=True)
        for left in (*copies, *side_files(copy)):
            left.unlink(missing_ok=True)


@contextmanager
def _ignore_damage() -> Iterator[None]:
    """Ignore errors that damage explains.

    Raises StoreFault for a fault of the environment, which may be gone the next time.
    """
    try:
        yield
    except UnicodeDecodeError:
        pass
    except apsw.Error as fault:
        ours = translate(fault, "the copy of the damaged database")
        if ours is not None and not isinstance(ours, DatabaseCorrupt):
            raise ours from fault


def _schema() -> tuple[dict[str, list[Column]], list[list[Column]]]:
    """Return the columns of all tables by name, and those of each index."""
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
        [column._replace(is_rowid=False) for column in _index_columns(empty, str(index), found[name])]
        for name in names
        for _, index, *_ in empty.execute(f"PRAGMA index_list({name})").fetchall()
    ]
    empty.close()
    return found, indexes


def _index_columns(empty: apsw.Connection, index: str, columns: Sequence[Column]) -> list[Column]:
    """Return the columns of an index entry, and those of the key of its row."""
    rowid = Column("rowid", "INTEGER", is_needed=True, is_rowid=False)
    computed = Column("", "TEXT", is_needed=True, is_rowid=False)
    return [
        columns[place] if place >= 0 else rowid if place == ROWID else computed
        for _, place, *_ in empty.execute(f"PRAGMA index_xinfo({index})")
    ]


def _copy_table(old: apsw.Connection | None, new: Database, table: str, columns: Sequence[Column]) -> bool:
    """Copy the rows of a table up to the damage; return whether SQLite could read all of them."""
    if old is None:
        return False
    with _ignore_damage():
        there = {row[1] for row in old.execute(f"PRAGMA table_info({table})")}
        if not there:
            return False
        names = [column.name for column in columns if column.name in there]
        for row in old.execute(f"SELECT {', '.join(names)} FROM {table}"):
            _insert(new, table, columns, dict(zip(names, row, strict=True)))
        return True
    return False


def _copy_records(
    content: bytes | mmap,
    new: Database,
    damaged: Mapping[str, Sequence[Column]],
    tables: Mapping[str, Sequence[Column]],
    indexes: Sequence[Sequence[Column]],
) -> None:
    """Add records of damaged tables from the pages; leave out records that may belong to several tables."""
    for record in records(content):
        fitting = [name for name, columns in tables.items() if name not in NEVER_GUESSED and _fits(record, columns)]
        # A record with all columns of a table belongs to it rather than to one that it lacks columns of, or to an index.
        whole = [name for name in fitting if len(tables[name]) == len(record.values)]
        is_entry = any(len(columns) == len(record.values) and _fits(record, columns) for columns in indexes)
        fitting = whole or ([] if is_entry else fitting)
        if _is_folder(record):
            fitting = ["project_folders"]
        if len(fitting) == 1 and fitting[0] in damaged:
            columns = damaged[fitting[0]]
            values = dict(zip((column.name for column in columns), record.values, strict=False))
            for column in columns:
                if column.is_rowid:
                    values[column.name] = record.rowid
            _insert(new, fitting[0], columns, values)


def _is_folder(record: CellContent) -> bool:
    """Return whether it is a row of `project_folders`.

    `outcomes_due` and some indexes have columns of the same types.
    """
    match record:
        case CellContent(None, (str(folder), str(), -1 | 0 | 1)):
            return _ROOTED.match(folder) is not None
    return False


def _fits(record: CellContent, columns: Sequence[Column]) -> bool:
    has_rowid = any(column.is_rowid for column in columns)
    if has_rowid != (record.rowid is not None) or not 0 <= len(columns) - len(record.values) <= MOST_MISSING:
        return False
    return all(column.accepts(value) for column, value in zip(columns, record.values, strict=False))


def _insert(new: Database, table: str, columns: Sequence[Column], values: Mapping[str, object]) -> None:
    """Insert a row that is not there yet, without derived values, if the schema accepts it."""
    fields = {
        column.name: values[column.name]
        for column in columns
        if column.name in values
        and (values[column.name] is None or isinstance(values[column.name], FITTING[column.type]))
    }
    for name, kind, empty in OF_JSON.get(table, ()):
        fields[name] = _json_or(fields.get(name), kind, empty)
    for column in columns:
        if column.name in TIMES.get(table, ()) and not is_time(fields.get(column.name)):
            fields[column.name] = LONG_AGO if column.is_needed else None
    marks = ", ".join("?" * len(fields))
    with suppress(DatabaseCorrupt):
        new.run(f"INSERT OR IGNORE INTO {table}({', '.join(fields)}) VALUES ({marks})", list(fields.values()))


def _json_or(text: object, kind: type, empty: str | None) -> object:
    try:
        return text if isinstance(orjson.loads(str(text)), kind) else empty
    except orjson.JSONDecodeError:
        return empty


def _repair_hashes(new: Database) -> int:
    """Give turns with an altered text its present hash and no vector; return their number."""
    altered = [
        (hash_, id_)
        for id_, content, stored in new.rows("SELECT id, content, text_hash FROM prompts")
        if (hash_ := hashlib.sha256(content.encode()).digest()) != stored
    ]
    new.run_many("DELETE FROM prompt_embeddings WHERE prompt_id = ?", [(id_,) for _, id_ in altered])
    new.run_many("UPDATE prompts SET text_hash = ? WHERE id = ?", altered)
    return len(altered)


def _drop_orphans(new: Database) -> None:
    for table in DURABLE:
        for _, _, parent, column, other, *_ in new.run(f"PRAGMA foreign_key_list({table})"):
            new.run(
                f"DELETE FROM {table} WHERE {column} IS NOT NULL "
                f"AND NOT EXISTS (SELECT 1 FROM {parent} x WHERE x.{other or 'id'} = {table}.{column})"
            )


def _drop_index_entries(new: Database) -> None:
    """Drop rows of `live_events` that are entries of an index on one text column: an event is no digest of a row."""
    new.run(
        f"DELETE FROM live_events WHERE length(event) != {LENGTH_OF_EVENT} OR event IN (SELECT content_hash FROM prompts "
        "UNION ALL SELECT echo_hash FROM prompts WHERE echo_hash IS NOT NULL UNION ALL SELECT identity FROM tasks)"
    )


def _drop_broken_vectors(new: Database) -> None:
    """Keep only well-formed vectors of the database's own model."""
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
        "OR EXISTS (SELECT 1 FROM json_each(vector_json) WHERE type != 'integer' OR abs(value) > 127) "
        "OR vector_json NOT GLOB '*[1-9]*'"
    )
