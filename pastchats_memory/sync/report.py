"""What synchronising is told, and what it reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple


class FolderAccess(NamedTuple):
    """How this machine opens a folder."""

    passphrase: Callable[[], str] | None = None
    """Asks for the passphrase, if the folder's key is needed and not known here yet."""
    key_file: Path | None = None
    """Of an age identity, instead of a passphrase."""
    is_plain: bool = False
    """Whether a new folder's files are not encrypted."""
    host: str = ""
    """Name of this computer for the others; empty for the system's."""


class Refused(NamedTuple):
    """A file that could not be taken, and why; the next run tries again."""

    path: str
    reason: str


class Machine(NamedTuple):
    """A machine that uses the folder."""

    id: str
    host: str
    """Name of the computer, as it wrote it; empty if none of its files could be read."""
    is_this: bool
    files: int
    unread: int
    """Files that were not read here yet."""
    missing: tuple[int, ...]
    """Numbers of files that it names and that have not arrived."""
    last_at: str | None
    """When it wrote its newest file, ISO 8601 in UTC."""
    behind: int
    """Runs of `forget` here that it has not applied yet."""


@dataclass(slots=True)
class SyncReport:
    """What was sent and what was taken, by kind of record."""

    folder: str
    sent: Counter[str] = field(default_factory=Counter)
    received: Counter[str] = field(default_factory=Counter)
    embedded: int = 0
    """Texts that came without a vector of the model in use here."""
    deleted: int = 0
    """Rows that were forgotten here, since another machine had forgotten them."""
    rewritten: int = 0
    """Own files that were replaced, since something in them was forgotten or has become private."""
    held_back: int = 0
    """Turns and tasks that did not leave, since their project is private or excluded."""
    left_out: int = 0
    """Turns and tasks of other machines that were not stored, since their project or file is excluded here."""
    refused: list[Refused] = field(default_factory=list)
    machines: list[Machine] = field(default_factory=list)
