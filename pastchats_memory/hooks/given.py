"""Note what a hook gave to an agent, until it is stored: a file for each answer, which no kill loses.

The note has no prompt, and its text comes from the memory, without secrets. This module imports little.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pastchats_memory.memory import Memory

FOLDER = "given"
"""The folder of the notes in the folder of the hooks' state."""


def note_given(
    state: str | None, agent: str, kind: str, session: str | None, database: str | None, answer: bytes
) -> None:
    """Write down the answer of a hook, if that can be done."""
    if state is None:
        return
    now = time.time_ns()
    note = json.dumps([now, agent, kind, session, database, _find_text(json.loads(answer))]).encode()
    with suppress(OSError):
        os.makedirs(f"{state}/{FOLDER}", mode=0o700, exist_ok=True)  # noqa: PTH103 - pathlib is imported by few prompts
        file = os.open(f"{state}/{FOLDER}/{now}-{os.getpid()}.json", os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600)
        try:
            os.write(file, note)
        finally:
            os.close(file)


def store_notes(memory: Memory, state: Path | None) -> None:
    """Store the notes about a memory, and remove them.

    A note that is stored and not removed is stored once all the same. Raises MemoryFault.
    """
    from pastchats_memory.config import load
    from pastchats_memory.redact import redact
    from pastchats_memory.store.recalled import Given
    from pastchats_memory.text.encoding import utf8
    from pastchats_memory.text.timestamps import iso_utc

    found = {}
    for file in sorted((state / FOLDER).glob("*.json")) if state is not None else ():
        with suppress(
            OSError, ValueError, TypeError
        ):  # a process was killed as it wrote the note, or another one took it
            at, agent, kind, session, database, text = json.loads(file.read_bytes())
            if load(database).database == memory.path:
                redacted = redact(utf8(text)).text
                found[file] = Given(
                    file.stem, iso_utc(at / 1e9) or "", agent, kind, session and utf8(session), redacted
                )
    if found:
        memory.add_recalled(found.values())
    for file in found:
        file.unlink(missing_ok=True)


def _find_text(answer: object) -> str:
    """Return what a hook adds: the longest text of its answer, without a subagent's prompt in front of the block."""
    from pastchats_memory.text.recall_block import RECALL_PREAMBLE

    text = max(_list_texts(answer), key=len, default="")
    return text[max(0, text.rfind(RECALL_PREAMBLE)) :]


def _list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _list_texts(one)
