"""Note what a hook gave to an agent, until it is stored: a file for each answer, which no kill loses.

The note has no prompt, and its text comes from the memory, without secrets. This module imports little.
"""

import json
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from pastchats_memory.files.folders import GIVEN_FOLDER
from pastchats_memory.hooks.state import write_small


def note_given(
    state: str | None, agent: str, kind: str, session: str | None, database: str | None, answer: bytes
) -> None:
    """Write down what a hook adds, which is the longest text of its answer, if that can be done."""
    if state is None:
        return
    from pastchats_memory.text.recall_block import RECALL_PREAMBLE

    longest = max(_list_texts(json.loads(answer)), key=len, default="")
    given = longest[max(0, longest.rfind(RECALL_PREAMBLE)) :]  # without a subagent's prompt in front of the block
    now = time.time_ns()
    note = json.dumps([now, agent, kind, session, database, given])
    with suppress(OSError):
        write_small(state, GIVEN_FOLDER, f"{now}-{os.getpid()}.json", note)


def _list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _list_texts(one)
