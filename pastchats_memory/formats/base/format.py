"""A format: how its files are detected and read, and what else is known about the program that writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pastchats_memory.formats.base.checkpoint import Checkpoint
from pastchats_memory.formats.base.source import Source
from pastchats_memory.model import Task, Turn, Unreadable

CERTAIN = 90
"""The confidence of a unique marker: no other format needs to be asked."""
HOLDS_CONVERSATIONS = frozenset({"conversation"})
HOLDS_NOTES = frozenset({"notes"})
HOLDS_TASKS = frozenset({"tasks"})


@dataclass(frozen=True, slots=True)
class Format:
    """One file format, in one place."""

    name: str
    """What `metadata.format` says, such as `claude-code`."""
    version: int
    """Raise it whenever the same file gives other turns; files read by a lower version are read again."""
    detect: Callable[[Source], int]
    """Return a confidence from 0 (not this format) to 100, from the file's head, sample or outline.

    Raises NotText, OSError.
    """
    read: Callable[[Source], Iterator[Turn | Task | Unreadable | Checkpoint]]
    """Yield the turns of each conversation in order, and the lines that cannot be read.

    A reader that can resume yields a Checkpoint after the last whole line, and resumes from `source.resumed`.
    Raises CannotResume before the first turn if appended lines change earlier turns; OSError.
    """
    kinds: frozenset[str] = HOLDS_CONVERSATIONS
    """What a file holds: conversations, notes or tasks."""
    keeps_mtime: bool = True
    """Whether the program changes a file's time with its content; otherwise the file is hashed to see a change."""
    is_specific: bool = True
    """Whether the format has marks of its own. A later release may know a file of another format better."""

    def __repr__(self) -> str:
        """Return the name: test ids and messages show it."""
        return f"Format({self.name!r})"


def certain(recognise: Callable[[Source], bool], confidence: int) -> Callable[[Source], int]:
    """Return a `detect` that is this confident about every file that a predicate recognises."""
    return lambda source: confidence if recognise(source) else 0
