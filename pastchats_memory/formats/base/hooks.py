"""How an agent calls hooks: its events, its settings file, and the form in which it takes context."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from pastchats_memory.formats.base.locations import Environment

HookAction = Literal["recall", "greet", "index"]
"""What we do at an event: recall for the prompt, say at a start what the memory holds, index what was said."""
TIMEOUT_S = 5
"""What an agent is told to wait at most; the hook itself ends after two seconds."""


class HookDialect(NamedTuple):
    """One agent's dialect."""

    name: str
    events: Mapping[str, HookAction]
    """Its own names of the events, in the order in which a session meets them."""
    settings: Callable[[Mapping[str, str]], str]
    """The person's own settings file for hooks, by the environment, which has HOME."""
    entry: Callable[[str], dict[str, Any]]
    """A command line as an entry among its hooks."""
    context: Callable[[str, str], dict[str, Any]]
    """What it reads on stdout at an event to take a context in."""
    begins: Mapping[str, Any] = {}
    """Keys that a settings file has besides hooks."""
    skills: Callable[[Mapping[str, str]], str] | None = None
    """The folder in which it looks for skills."""
    notes: tuple[str, ...] = ()
    """Sentences that the person has to know before our hooks run in it."""
    switches: str = ""
    """The file beside its settings whose `[features]` may switch hooks off."""
    find_transcript: Callable[[str, Environment], Path | None] | None = None
    """Find a session's transcript by its id and the environment, for an agent that does not name the file to its hooks."""


def command_group(line: str) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": line, "timeout": TIMEOUT_S}]}


def named_group(line: str) -> dict[str, Any]:
    """With the time in ms; versions to which that is seconds wait no longer either, since the hook ends by itself."""
    return {"hooks": [{"type": "command", "name": "pastchats-memory", "command": line, "timeout": TIMEOUT_S * 1000}]}


def specific_output(event: str, context: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}
