"""Log errors of hooks without any text of a conversation: time, agent, event, kind, milliseconds."""

import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

LARGEST = 64 * 1024
"""Bytes at which the log becomes the old log; the one before that is gone."""


def note(folder: Path, *facts: str) -> None:
    """Append a line to the log in the folder, if it can be written."""
    file = folder / "hooks.log"
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if file.exists() and file.stat().st_size > LARGEST:
            file.replace(folder / "hooks.log.1")
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with os.fdopen(os.open(file, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600), "a", encoding="utf-8") as log:
            # Names of agents and events are the caller's: none begins a line or moves a cursor.
            log.write("\t".join((now, *(fact if fact.isprintable() else ascii(fact) for fact in facts))) + "\n")
