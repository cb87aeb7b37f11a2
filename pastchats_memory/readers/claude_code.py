"""Claude Code transcripts to turns."""

from __future__ import annotations

from collections.abc import Iterator

from pastchats_memory.model import Turn, Unreadable
from pastchats_memory.readers.source import Source

FORMAT = "claude-code"
VERSION = 1


def recognise(source: Source) -> bool:
    """False for every file until the format is read."""
    del source
    return False


def read(source: Source) -> Iterator[Turn | Unreadable]:
    """Nothing until the format is read."""
    del source
    return iter(())
