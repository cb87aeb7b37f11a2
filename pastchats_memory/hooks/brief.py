"""Add memory to the prompt of a subagent, which has no other way to it: few subagents ever ask a memory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pastchats_memory.hooks.event import HookEvent
from pastchats_memory.hooks.prompt import is_worth_asking
from pastchats_memory.text.recall_block import RECALL_HEADING, RECALL_PREAMBLE

if TYPE_CHECKING:
    from pastchats_memory.hooks.block import OpenMemory


def brief_subagent(
    event: HookEvent, database: str | None, open_memory: OpenMemory | None = None
) -> Mapping[str, Any] | None:
    """Return the arguments of a call with a block behind its prompt; None if it has one, needs none, or nothing fits.

    A subagent knows nothing of what its session was given, so the same memory may go to both. Raises MemoryFault.
    """
    arguments = _parse_arguments(event.arguments)
    prompt = arguments.get("prompt")
    if not isinstance(prompt, str) or RECALL_HEADING in prompt or not is_worth_asking(prompt):
        return None
    from pastchats_memory.hooks.answers import find_block

    block = find_block(event._replace(prompt=prompt), database, open_memory=open_memory)
    if block is None or not block.entries:
        return None
    return {**arguments, "prompt": f"{prompt}\n\n{RECALL_PREAMBLE}\n{block.text}"}


def _parse_arguments(value: object) -> Mapping[str, Any]:
    """Return the input of a call: an object, or one as JSON text; an empty one for any other value."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}
