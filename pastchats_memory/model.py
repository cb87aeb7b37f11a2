"""The values that flow through the house: plain, frozen, without behaviour that needs anything else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

Metadata = Mapping[str, object]
EMPTY: Metadata = MappingProxyType({})

ROLES = ("user", "assistant", "system", "tool", "note")

OWN_BLOCK = "<!-- pastchats-memory recall -->"
"""First line of every block this program hands to an agent, so that its own echo is known again."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation as a reader understood it; a row of `prompts` before it has a number.

    Readers yield the turns of a conversation in the order in which they were said. Conversations of one file may be
    interleaved; the place within a conversation (`turn_index`) is counted by `ingest`.
    """

    role: str
    """`user`, `assistant`, `system`, `tool`, `note`, or another word of a generic file, lower-cased."""
    content: str
    """Visible text, never empty, without NUL bytes and lone surrogates, line ends as `\\n`."""
    line: int
    """1-based line in the source at which the message starts."""
    end_line: int | None = None
    """1-based last line, for parts of Markdown; None where the format has one line a message."""
    conversation_id: str | None = None
    """The native id exactly as the file has it."""
    timestamp: str | None = None
    """ISO 8601 in UTC with milliseconds, such as `2026-01-31T08:15:00.000Z`."""
    cwd: str | None = None
    """The working directory as recorded, a path; `ingest` makes the project of it."""
    project: str | None = None
    """A project's name where the file has one instead of a working directory."""
    native_id: str | None = None
    """The record's own id, where copies of the record keep it (`uuid`, `message.id`): the turn's identity."""
    branch: str = "main"
    """`main`, `abandoned` or `sidechain`."""
    kind: str = "prompt"
    """`prompt`, `command`, `answer`, `summary`, `error`, `result` or `note`."""
    metadata: Metadata = field(default_factory=lambda: EMPTY)
    """Further JSON-able keys, among them those of a generic message that were not understood."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line, or with line 0 a whole file, that was not understood."""

    path: str
    line: int
    reason: str
