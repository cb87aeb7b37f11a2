"""Record when each agent last called a hook, and what the hook did, without any text of a conversation.

This module imports little: a hook writes the record at every event.
"""

import os
from contextlib import suppress
from typing import NamedTuple

from pastchats_memory.hooks.state import write_small

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
        write_small(state, FOLDER, agent, f"{event}\t{did}\n")


def list_calls(state: str) -> list[HookCall]:
    """Return the last call of each agent, by name."""
    calls = []
    with suppress(OSError):
        for entry in sorted(os.scandir(f"{state}/{FOLDER}"), key=lambda entry: entry.name):
            with open(entry.path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - pathlib is imported by few prompts
                event, _, did = file.read(LONGEST).strip().partition("\t")
            calls.append(HookCall(entry.name, entry.stat().st_mtime, event, did))
    return calls
