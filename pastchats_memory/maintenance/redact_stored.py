"""Find secrets in stored rows by the current rules, and remove them.

They are removed from rows, words, vectors and the bytes of the file.

A removed secret is not found again. So after an interruption, the next run does the rest.
"""

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import Annotated, Any, TypeVar

import orjson

from pastchats_memory.embed import Embedder
from pastchats_memory.embed.session import ModelSession
from pastchats_memory.episodes.derive import derive
from pastchats_memory.fields import Count, shown_as
from pastchats_memory.model import Progress
from pastchats_memory.redact import redact, redact_json, redact_path, redact_split
from pastchats_memory.redact.rules_version import rules_version
from pastchats_memory.store import redactions, scrub, sources, vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.redactions import OTHER_TEXTS, RULES, TASK_TEXTS, TURNS, StoredTexts, Texts
from pastchats_memory.store.sources import meta, set_meta
from pastchats_memory.store.tasks import LONGEST_TITLE, TaskTexts, chunks, encode_texts, task_text

BATCH = 64
"""Rows that one transaction writes."""
CACHED_LENGTH = 200
"""Characters up to which a redacted text is cached: projects, roles and conversation ids occur often."""
Key = tuple[Any, ...]
Values = dict[str, str | None]
"""New texts of a row by column; None empties the column."""
TableRow = tuple[Texts, Key]
"""A row by its table and key."""
T = TypeVar("T")


@dataclass(slots=True)
class StoredSecrets:
    """Rows in which the current rules find secrets, and the number of secrets of each kind."""

    turns: list[int] = field(default_factory=list)
    split: list[tuple[int, int]] = field(default_factory=list)
    """Pairs of consecutive turns that contain the two halves of a secret."""
    tasks: dict[int, list[TableRow]] = field(default_factory=dict)
    """Rows of each task by its row id: the task itself, comments, attachments, history."""
    others: list[TableRow] = field(default_factory=list)
    """Rows with names of files and folders, and with notes of runs."""
    secrets: Counter[str] = field(default_factory=Counter)
    looked_at: int = 0
    """Number of rows that were searched."""

    def __bool__(self) -> bool:
        """Return whether any row has a secret."""
        return bool(self.turns or self.split or self.tasks or self.others)

    def add(self, kind: Texts, row: StoredTexts) -> None:
        """Add a row of a table."""
        if kind is TURNS:
            self.turns.append(row.key[0])
        elif row.task is None:
            self.others.append((kind, row.key))
        else:
            self.tasks.setdefault(row.task, []).append((kind, row.key))


@shown_as("RedactedView")
@dataclass(frozen=True, slots=True)
class RedactReport:
    """Secrets in stored rows."""

    rules: Annotated[str, {"pattern": "^[0-9a-f]{12}$"}, "Version of the rules."]
    previous_rules: Annotated[str | None, "Version by which all rows were redacted before; null if unknown or several."]
    looked_at: Annotated[Count, "Rows."]
    turns: Annotated[Count, "Turns with a secret."]
    tasks: Annotated[Count, "Tasks with a secret in their text, comments, attachments or history."]
    others: Annotated[Count, "Names of files and folders, and notes of runs, with a secret."]
    secrets: Annotated[dict[str, Annotated[int, {"minimum": 1}]], "Number of secrets by kind."]
    """The most frequent kind comes first."""
    duration_s: Annotated[float, {"minimum": 0}]


def find_stored_secrets(
    database: Database, report_progress: Callable[[Progress], None] = lambda _: None
) -> StoredSecrets:
    """Return the rows in which the current rules find secrets; change nothing."""
    forget_cached()
    found, total = StoredSecrets(), redactions.count_rows(database)
    previous: tuple[int, str, int, str] | None = None
    for batch in redactions.turns(database):
        for id_, conversation, index, row in batch:
            values = _search_row(found, TURNS, row)
            if values:
                found.add(TURNS, row)
            content = values.get("content") or row.texts.get("content", "")
            if previous is not None and previous[1:3] == (conversation, index - 1):
                halves = redact_split(previous[3], content)
                if halves is not None:
                    found.split.append((previous[0], id_))
                    found.secrets.update(_count_marks(halves[1]) - _count_marks(content))
            previous = id_, conversation, index, content
        report_progress(Progress(found.looked_at, total))
    for kind in (*TASK_TEXTS, *OTHER_TEXTS):
        for row in redactions.rows(database, kind):
            if _search_row(found, kind, row):
                found.add(kind, row)
        report_progress(Progress(found.looked_at, total))
    return found


def _search_row(found: StoredSecrets, kind: Texts, row: StoredTexts) -> Values:
    """Count the secrets of a row, and return its texts without them."""
    values = remove_secrets(kind, row)
    found.looked_at += 1
    for column, text in values.items():
        found.secrets.update(_count_marks(text or "") - _count_marks(row.texts[column]))
    return values


def remove_secrets(kind: Texts, row: StoredTexts) -> Values:
    """Return the texts of a row that change if secrets are removed, by column."""
    cleaned = {column: _clean(kind, column, text) for column, text in row.texts.items()}
    return {column: text for column, text in cleaned.items() if text != row.texts[column]}


def _clean(kind: Texts, column: str, text: str) -> str | None:
    if column in kind.paths:
        return _clean_path(text)
    if column in kind.words:
        clean = (redact if len(text) > CACHED_LENGTH else _clean_short)(text).text
        return clean[:LONGEST_TITLE] if column == "title" else clean
    value = json.loads(text)
    clean_value: object = [_clean_path(path) for path in value] if column == "inputs" else redact_json(value)
    if clean_value == value:
        return text
    # Without the resume state, the next index run reads the whole file.
    return None if column == "resume" else orjson.dumps(clean_value).decode()


_clean_short = lru_cache(4096)(redact)
_clean_path = lru_cache(4096)(redact_path)


def forget_cached() -> None:
    """Clean short texts anew, since the known secrets may have changed."""
    _clean_short.cache_clear()
    _clean_path.cache_clear()


_MARK = re.compile(r"\[redacted:([a-z0-9\-]+)\]")


def _count_marks(text: str) -> Counter[str]:
    """Return the number of marks of each kind that stand for removed secrets."""
    return Counter(_MARK.findall(text))


def redact_stored(
    database: Database,
    embedder: Embedder,
    found: StoredSecrets,
    report_progress: Callable[[Progress], None] = lambda _: None,
) -> RedactReport:
    """Remove the secrets that were found, and overwrite them in the file.

    Each transaction writes a batch of rows with their words and vectors. Ids and identity hashes stay, so that a later
    index run recognizes its rows. The embedder is that of the database's vectors.

    Raises ModelChanged or StoreFault; the remaining rows are then unchanged. DeletionUnfinished says that only the file
    still has the secrets; the next command goes on.
    """
    start = time.monotonic()
    previous = meta(database).get(RULES) or None
    rewrite_rows(database, embedder, found, report_progress)
    with database.transaction():
        set_meta(database, {RULES: rules_version()})
    scrub.erase(database)
    return build_report(found, previous, duration_s=time.monotonic() - start)


def rewrite_rows(
    database: Database, embedder: Embedder, found: StoredSecrets, report_progress: Callable[[Progress], None]
) -> None:
    """Write the rows that were found without their secrets, and bring up to date what is derived of them."""
    session = sources.open_session(database, embedder)
    total = len(found.turns) + len(found.tasks) + len(found.others) + len(found.split)
    done = 0

    def run_batches(rows: Sequence[T], write: Callable[[Sequence[T]], None]) -> None:
        nonlocal done
        for first in range(0, len(rows), BATCH):
            batch = rows[first : first + BATCH]
            write(batch)
            done += len(batch)
            report_progress(Progress(done, total))

    run_batches(found.turns, lambda ids: _rewrite_turns(database, session, ids, []))
    run_batches(found.split, lambda pairs: _rewrite_turns(database, session, _list_ids(pairs), pairs))
    run_batches(
        list(found.tasks), lambda ids: _rewrite_tasks(database, session, {id_: found.tasks[id_] for id_ in ids})
    )
    run_batches(found.others, lambda rows: _rewrite_others(database, rows))
    derive(database)  # pending derivations contain the old names


def build_report(found: StoredSecrets, previous_rules: str | None, *, duration_s: float = 0.0) -> RedactReport:
    """Return the number of rows and secrets in a report."""
    return RedactReport(
        rules=rules_version(),
        previous_rules=previous_rules,
        looked_at=found.looked_at,
        turns=len({*found.turns, *_list_ids(found.split)}),
        tasks=len(found.tasks),
        others=len(found.others),
        secrets=dict(found.secrets.most_common()),
        duration_s=duration_s,
    )


def _list_ids(pairs: Iterable[tuple[int, int]]) -> list[int]:
    return sorted({id_ for pair in pairs for id_ in pair})


def _rewrite_turns(
    database: Database, session: ModelSession, ids: Sequence[int], split: Sequence[tuple[int, int]]
) -> None:
    """Write turns without their secrets; those that another process changes meanwhile are read and written again.

    `split` has the pairs of these turns that contain the halves of a secret.
    """
    remaining = list(ids)
    while remaining:
        read = {row.key[0]: row for row in redactions.rows(database, TURNS, [(id_,) for id_ in remaining])}
        changed = {id_: remove_secrets(TURNS, row) for id_, row in read.items()}
        for before, after in split:
            if before in read and after in read:
                _remove_split_secret(changed, read, before, after)
        changed = {id_: values for id_, values in changed.items() if values}
        contents = [values["content"] or "" for values in changed.values() if "content" in values]
        hashes = {content: sha256(content.encode()).digest() for content in contents}
        embedded = encode_texts(database, session, contents)
        with sources.vector_transaction(database, session):
            unchanged = {
                row.key[0]
                for row in redactions.rows(database, TURNS, [(id_,) for id_ in changed])
                if row == read[row.key[0]]
            }
            remaining = [id_ for id_ in changed if id_ not in unchanged]
            redactions.begin_rewrite(database, sorted(unchanged), (), read.values())
            for id_ in sorted(unchanged):
                hash_ = hashes.get(changed[id_].get("content") or "")
                content = None if hash_ is None else (hash_, session.name, embedded[hash_])
                redactions.rewrite_turn(database, id_, changed[id_], content)
            vectors.catch_up(database)
        remaining = [id_ for id_ in remaining if any(True for _ in redactions.rows(database, TURNS, [(id_,)]))]


def _remove_split_secret(
    changed: Mapping[int, Values], read: Mapping[int, StoredTexts], before: int, after: int
) -> None:
    """Remove a secret whose halves are in two consecutive turns."""
    first, second = (changed[id_].get("content") or read[id_].texts["content"] for id_ in (before, after))
    halves = redact_split(first, second)
    if halves is not None:
        changed[before]["content"], changed[after]["content"] = halves


def _rewrite_tasks(database: Database, session: ModelSession, tasks: dict[int, list[TableRow]]) -> None:
    """Write rows of tasks without their secrets.

    Rows that another process changes meanwhile are read and written again.
    """
    while tasks:
        read = {
            (kind.table, row.key): row
            for rows in tasks.values()
            for kind, key in rows
            for row in redactions.rows(database, kind, [key])
        }
        embedded = encode_texts(database, session, _texts_to_embed(tasks, read))
        remaining: dict[int, list[TableRow]] = {}
        with sources.vector_transaction(database, session):
            redactions.begin_rewrite(database, (), list(tasks), read.values())
            texts = TaskTexts(database, session, embedded)
            for task, rows in tasks.items():
                for kind, key in rows:
                    for current in redactions.rows(database, kind, [key]):
                        if read.get((kind.table, key)) != current:
                            remaining.setdefault(task, []).append((kind, key))
                        elif values := remove_secrets(kind, current):
                            redactions.rewrite(database, kind, key, values)
                texts.refresh(task)
            vectors.catch_up(database)
        tasks = remaining


def _texts_to_embed(
    tasks: Mapping[int, Sequence[TableRow]], read: Mapping[tuple[str, Key], StoredTexts]
) -> Iterator[str]:
    for rows in tasks.values():
        for kind, key in rows:
            row = read.get((kind.table, key))
            if row is None:
                continue
            texts = {**row.texts, **remove_secrets(kind, row)}
            if kind.table == "tasks":
                yield task_text(texts["title"] or "", texts["description"] or "")
                yield texts["title"] or ""
            elif kind.table == "task_comments":
                yield texts["content"] or ""
            elif kind.table == "task_attachments":
                yield from chunks(texts.get("content") or texts["name"] or "")


def _rewrite_others(database: Database, rows: Sequence[TableRow]) -> None:
    """Write rows of files, folders and runs without their secrets."""
    with database.transaction():
        read = {(kind, key): row for kind, key in rows for row in redactions.rows(database, kind, [key])}
        redactions.begin_rewrite(database, (), (), read.values())
        for (kind, key), row in read.items():
            if values := remove_secrets(kind, row):
                redactions.rewrite(database, kind, key, values)
