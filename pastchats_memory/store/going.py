"""What is forgotten but still to be deleted: in steps, so that no other writer waits for long, and to the end whoever is killed.

The transaction that buries writes down which rows go; each step deletes some of them and crosses them off.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import orjson

from pastchats_memory.store.buried import GOING
from pastchats_memory.store.database import PAUSE, Database
from pastchats_memory.store.partial import is_alive
from pastchats_memory.store.sources import meta, set_meta

KINDS = ("turns", "tasks", "comments", "attachments")
FEW = 64
"""Rows that go at once, and with which the steps begin."""
MOST = 2048
SILENT = 60.0
"""Seconds after which a process that has deleted nothing counts as ended, since another one may have its number."""
SECONDS = 0.5
"""That a step may take, after which the next is smaller."""

Rows = dict[str, list[int]]
Delete = Callable[[Rows], None]


def begin(database: Database, rows: Rows) -> None:
    """Write down, inside the caller's transaction, which rows go. Raises StoreFault."""
    before = _left(database)
    left = {kind: sorted({*before[kind], *rows[kind]}) for kind in KINDS}
    set_meta(database, {GOING: orjson.dumps(_by() | left).decode()})


def is_left(database: Database) -> bool:
    """Whether a process that deleted has ended before it was done. Raises StoreFault."""
    written = meta(database).get(GOING)
    if written is None:
        return False
    by = orjson.loads(written)
    is_recent = abs(time.time() - by.get("at", 0)) < SILENT
    return by["pid"] == os.getpid() or not is_alive(by["pid"]) or not is_recent


def carry_out(database: Database, delete: Delete) -> None:
    """Delete all that is written down, in steps of about half a second, each a transaction that `delete` is called in.

    Raises:
        StoreFault: it cannot be written; the next call goes on.
    """
    most = FEW
    while True:
        start = time.monotonic()
        with database.transaction():
            if not _step(database, delete, most):
                return
        most = min(MOST, most * 2) if time.monotonic() - start < SECONDS else max(FEW, most // 2)
        time.sleep(PAUSE)


def _step(database: Database, delete: Delete, most: int) -> bool:
    """Whether there was something to delete."""
    left = _left(database)
    if not any(left.values()):
        database.run("DELETE FROM embedding_meta WHERE key = ?", (GOING,))
        return False
    delete({kind: left[kind][:most] for kind in KINDS})
    rest = {kind: left[kind][most:] for kind in KINDS}
    set_meta(database, {GOING: orjson.dumps(_by() | rest).decode()})
    return True


def _by() -> dict[str, Any]:
    return {"pid": os.getpid(), "at": time.time()}


def _left(database: Database) -> Rows:
    written = orjson.loads(meta(database).get(GOING, "{}"))
    return {kind: list(written.get(kind, ())) for kind in KINDS}
