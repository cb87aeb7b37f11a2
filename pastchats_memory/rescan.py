"""What is stored, looked through again for secrets: found, shown, and taken out of rows, words, vectors and the file.

A secret that is gone is not found again, so a run that was stopped is gone on with by the next one.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import Any

import orjson

from pastchats_memory.embed import Embedder
from pastchats_memory.episodes.derive import derive
from pastchats_memory.redact import redact, redact_json, redact_path, redact_split
from pastchats_memory.redact.rules_version import rules_version
from pastchats_memory.store import deletion, redactions, sources, turns, vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.redactions import AROUND, OF_TASKS, RULES, TURNS, Row, Texts
from pastchats_memory.store.sources import meta, set_meta
from pastchats_memory.store.tasks import LONGEST_TITLE, TaskTexts, chunks, encoded, task_text

BATCH = 64
"""Rows that are written in one transaction."""
Key = tuple[Any, ...]
Values = dict[str, str | None]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far it is: rows."""

    done: int
    total: int


@dataclass(slots=True)
class Found:
    """The rows in which the rules of today find secrets, and how many of each kind."""

    turns: list[int] = field(default_factory=list)
    seams: list[tuple[int, int]] = field(default_factory=list)
    """Turns that follow each other, between which a secret is cut in two."""
    tasks: dict[int, list[tuple[Texts, Key]]] = field(default_factory=dict)
    """By the task's number its rows: it itself, comments, attachments, history."""
    around: list[tuple[Texts, Key]] = field(default_factory=list)
    """Names of files and folders, notes of runs."""
    secrets: Counter[str] = field(default_factory=Counter)
    looked_at: int = 0
    """Rows."""

    def __bool__(self) -> bool:
        return bool(self.turns or self.seams or self.tasks or self.around)


@dataclass(frozen=True, slots=True)
class Rescanned:
    """What was found, or taken out."""

    rules: str
    previous_rules: str | None
    """By which all was redacted before; None where that is not known, or were several."""
    looked_at: int
    turns: int
    tasks: int
    others: int
    """Names of files and folders, notes of runs."""
    secrets: dict[str, int]
    """How many of each kind, the most frequent first."""
    erased: bool
    """Nothing of them is in the file any more; else they are still there, or a process that is reading keeps them in the log for now."""
    duration_s: float


# --- finding ----------------------------------------------------------------------------------------------------------


def find(database: Database, progress: Callable[[Progress], None] = lambda _: None) -> Found:
    """What the rules of today would take out, and nothing is. Raises StoreFault."""
    found, total = Found(), redactions.counted(database)
    before: tuple[int, str, int, str] | None = None
    for some in redactions.turns(database):
        for id_, conversation, index, row in some:
            content = _look(found, TURNS, row, lambda key: found.turns.append(key[0]))
            if before is not None and before[1:3] == (conversation, index - 1):
                parts = redact_split(before[3], content)
                if parts is not None:
                    found.seams.append((before[0], id_))
                    found.secrets.update(_marks(parts[1]) - _marks(content))
            before = id_, conversation, index, content
        progress(Progress(found.looked_at, total))
    tasks: defaultdict[int, list[tuple[Texts, Key]]] = defaultdict(list)
    for kind in (*OF_TASKS, *AROUND):
        for row in redactions.rows(database, kind):
            there = found.around if row.task is None else tasks[row.task]
            _look(found, kind, row, lambda key, kind=kind, there=there: there.append((kind, key)))  # type: ignore[misc] # mypy knows no defaults of a lambda
        progress(Progress(found.looked_at, total))
    found.tasks = {task: rows for task, rows in tasks.items() if rows}
    return found


def _look(found: Found, kind: Texts, row: Row, remember: Callable[[Key], None]) -> str:
    """Note what a row has; what its content would be."""
    values = without_secrets(kind, row)
    found.looked_at += 1
    if values:
        remember(row.key)
        for column, text in values.items():
            found.secrets.update(_marks(text or "") - _marks(row.texts[column]))
    return values.get("content") or row.texts.get("content", "")


def without_secrets(kind: Texts, row: Row) -> Values:
    """The texts of a row that change when secrets are taken out, by column."""
    cleaned = {column: _cleaned(kind, column, text) for column, text in row.texts.items()}
    return {column: text for column, text in cleaned.items() if text != row.texts[column]}


def _cleaned(kind: Texts, column: str, text: str) -> str | None:
    if column in kind.paths:
        return _path(text)
    if column in kind.words:
        safe = redact(text).text if len(text) > SHORT else _short(text)
        return safe[:LONGEST_TITLE] if column == "title" else safe
    said = json.loads(text)
    if column == "inputs":
        safe_said: object = [_path(path) for path in said]
    else:
        safe_said = redact_json(said)
    if safe_said == said:
        return text
    return None if column == "resume" else orjson.dumps(safe_said).decode()  # the file is read as a whole then


SHORT = 200
"""Characters up to which a text is often said again: a project, a role, a conversation's id."""


@lru_cache(4096)
def _short(text: str) -> str:
    return redact(text).text


@lru_cache(4096)
def _path(path: str) -> str:
    return redact_path(path)


_MARK = re.compile(r"\[redacted:([a-z0-9\-]+)\]")


def _marks(text: str) -> Counter[str]:
    return Counter(_MARK.findall(text))


# --- taking out -------------------------------------------------------------------------------------------------------


def rescan(
    database: Database, embedder: Embedder, found: Found, progress: Callable[[Progress], None] = lambda _: None
) -> Rescanned:
    """Take out what was found, some rows in a transaction with their words and vectors, and overwrite it in the file.

    Ids and hashes of identity stay, so that what is read again meets its row.

    Raises:
        ModelUnavailable, ModelChanged: what changed cannot be embedded; what was not reached is as it was.
        StoreFault: it cannot be written; what was not reached is as it was.
    """
    start = time.monotonic()
    previous = meta(database).get(RULES) or None
    total = len(found.turns) + len(found.tasks) + len(found.around) + len(found.seams)
    done = 0
    steps: list[tuple[Sequence[Any], Callable[[Sequence[Any]], None]]] = [
        (found.turns, lambda ids: _turns(database, embedder, ids, [])),
        (found.seams, lambda seams: _turns(database, embedder, sorted({id_ for pair in seams for id_ in pair}), seams)),
        (list(found.tasks), lambda ids: _tasks(database, embedder, {id_: found.tasks[id_] for id_ in ids})),
        (found.around, lambda rows: _around(database, rows)),
    ]
    for rows, write in steps:
        for first in range(0, len(rows), BATCH):
            write(rows[first : first + BATCH])
            done += len(rows[first : first + BATCH])
            progress(Progress(done, total))
    with database.transaction():
        set_meta(database, {RULES: rules_version()})
    vectors.pack_all(database)
    derive(database)  # what is marked as due bears the old names
    return report(found, previous, erased=deletion.finish_scrub(database), duration_s=time.monotonic() - start)


def report(found: Found, previous: str | None, *, erased: bool = False, duration_s: float = 0.0) -> Rescanned:
    """What was found, in numbers."""
    turns = len({*found.turns, *(id_ for pair in found.seams for id_ in pair)})
    secrets = dict(found.secrets.most_common())
    return Rescanned(
        rules_version(),
        previous,
        found.looked_at,
        turns,
        len(found.tasks),
        len(found.around),
        secrets,
        erased,
        duration_s,
    )


def _turns(database: Database, embedder: Embedder, ids: Sequence[int], seams: Sequence[tuple[int, int]]) -> None:
    """Write turns anew; what another process changes meanwhile is looked at again."""
    left = list(ids)
    while left:
        read = {row.key[0]: row for row in redactions.rows(database, TURNS, [(id_,) for id_ in left])}
        changed = {id_: without_secrets(TURNS, row) for id_, row in read.items()}
        for before, after in seams:
            if before in read and after in read:
                _part(changed, read, before, after)
        changed = {id_: values for id_, values in changed.items() if values}
        contents = [values["content"] or "" for values in changed.values() if "content" in values]
        hashes = {content: sha256(content.encode()).digest() for content in contents}
        ready = turns.vectors_of(database, hashes.values(), embedder.name)
        ready |= _encoded(embedder, (content for content in hashes if hashes[content] not in ready))
        with sources.vectors_of(database, embedder.name, embedder.version):
            same = {
                row.key[0]
                for row in redactions.rows(database, TURNS, [(id_,) for id_ in changed])
                if row == read[row.key[0]]
            }
            left = [id_ for id_ in changed if id_ not in same]
            redactions.begin(database, sorted(same), ())
            for id_ in sorted(same):
                hash_ = hashes.get(changed[id_].get("content") or "")
                content = None if hash_ is None else (hash_, embedder.name, ready[hash_])
                redactions.rewrite_turn(database, id_, changed[id_], content)
            vectors.catch_up(database)
        left = [id_ for id_ in left if any(True for _ in redactions.rows(database, TURNS, [(id_,)]))]


def _part(changed: dict[int, Values], read: dict[int, Row], before: int, after: int) -> None:
    """Take a secret that is cut in two out of both turns."""
    first, second = (changed[id_].get("content") or read[id_].texts["content"] for id_ in (before, after))
    parts = redact_split(first, second)
    if parts is not None:
        changed[before]["content"], changed[after]["content"] = parts


def _encoded(embedder: Embedder, contents: Iterable[str]) -> dict[bytes, str]:
    texts = list(contents)
    made = zip(texts, map(vectors.encode, embedder.embed(texts)), strict=True)
    return {sha256(text.encode()).digest(): vector for text, vector in made}


def _tasks(database: Database, embedder: Embedder, tasks: dict[int, list[tuple[Texts, Key]]]) -> None:
    """Write tasks anew with all that belongs to them; what another process changes meanwhile is looked at again."""

    def embed(texts: Sequence[str]) -> Iterable[str]:
        return map(vectors.encode, embedder.embed(texts))

    while tasks:
        read = {
            (kind.table, row.key): row
            for rows in tasks.values()
            for kind, key in rows
            for row in redactions.rows(database, kind, [key])
        }
        ready = encoded(database, _searched(tasks, read), embedder.name, embed)
        left: dict[int, list[tuple[Texts, Key]]] = {}
        with sources.vectors_of(database, embedder.name, embedder.version):
            redactions.begin(database, (), list(tasks))
            texts = TaskTexts(database, embedder.name, embed, ready)
            for task, rows in tasks.items():
                for kind, key in rows:
                    for now in redactions.rows(database, kind, [key]):
                        row = read.get((kind.table, key))
                        if row != now:
                            left.setdefault(task, []).append((kind, key))
                        elif values := without_secrets(kind, now):
                            redactions.rewrite(database, kind, key, values)
                texts.refresh(task)
            vectors.catch_up(database)
        tasks = left


def _searched(tasks: dict[int, list[tuple[Texts, Key]]], read: dict[tuple[str, Key], Row]) -> Iterator[str]:
    """The texts that will be embedded."""
    for rows in tasks.values():
        for kind, key in rows:
            row = read.get((kind.table, key))
            if row is None:
                continue
            said = {**row.texts, **without_secrets(kind, row)}
            if kind.table == "tasks":
                yield task_text(said["title"] or "", said["description"] or "")
                yield said["title"] or ""
            elif kind.table == "task_comments":
                yield said["content"] or ""
            elif kind.table == "task_attachments":
                yield from chunks(said.get("content") or said["name"] or "")


def _around(database: Database, rows: Sequence[tuple[Texts, Key]]) -> None:
    with database.transaction():
        redactions.begin(database, (), ())
        for kind, key in rows:
            for row in redactions.rows(database, kind, [key]):
                if values := without_secrets(kind, row):
                    redactions.rewrite(database, kind, key, values)
