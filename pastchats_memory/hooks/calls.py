"""Record when each agent last called a hook, and what the hook did, without any text of a conversation.

This module imports little: a hook writes the record at every event.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import NamedTuple

FOLDER = "calls"
"""The folder of the records in the folder of the hooks' state: a file for each agent."""
LONGEST = 400
"""Bytes of a record that are read."""


class HookCall(NamedTuple):
    """The last call of an agent's hook."""

    agent: str
    seconds: float
    """When it was, since 1970."""
    event: str
    did: str
    """What the hook did; empty if it was killed as it wrote this."""


def note_call(state: str, agent: str, event: str, did: str) -> None:
    """Replace the record of an agent, if it can be written."""
    with suppress(OSError):
        os.makedirs(f"{state}/{FOLDER}", mode=0o700, exist_ok=True)  # noqa: PTH103 - pathlib is imported by few prompts
        file = os.open(f"{state}/{FOLDER}/{agent}", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        try:
            os.write(file, f"{event}\t{did}\n".encode())
        finally:
            os.close(file)


def list_calls(state: str) -> list[HookCall]:
    """Return the last call of each agent, by name."""
    calls = []
    with suppress(OSError):
        for entry in sorted(os.scandir(f"{state}/{FOLDER}"), key=lambda entry: entry.name):
            with open(entry.path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - as above
                event, _, did = file.read(LONGEST).strip().partition("\t")
            calls.append(HookCall(entry.name, entry.stat().st_mtime, event, did))
    return calls
