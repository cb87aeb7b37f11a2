"""What synchronising is told, and what it reports."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, NamedTuple

from pastchats_memory.fields import IF_ANY, As, At, Count, Shown, View, Warnings, answer
from pastchats_memory.text.encoding import utf8


class FolderAccess(NamedTuple):
    """How this machine opens a folder."""

    passphrase: Callable[[], str] | None = None
    """Asks for the passphrase, if the folder's key is needed and not known here yet."""
    key_file: Path | None = None
    """Of an age identity, instead of a passphrase."""
    is_plain: bool = False
    """Whether a new folder's files are not encrypted."""
    joins_again: bool = False
    """Whether a machine that was retired becomes a new one."""
    host: str = ""
    """Name of this computer for the others; empty for the system's."""


class Refused(NamedTuple):
    """A file that could not be taken, and why; the next run tries again."""

    path: str
    reason: str


class Machine(NamedTuple):
    """A machine that uses the folder."""

    id: str
    host: Annotated[str, "Name of the computer; empty if none of its files could be read."]
    is_this: bool
    is_known: Annotated[bool, "Whether its files are taken; else compare its code, and trust it."]
    is_retired: bool
    code: Annotated[str, "Of the key that signs its files; the machine itself shows the same one."]
    files: Count
    unread: Annotated[Count, "Files that were not read here yet."]
    missing: Annotated[tuple[int, ...], "Numbers of files that have not arrived."]
    last_at: Annotated[str | None, "When it wrote its newest file, ISO 8601 in UTC."]
    behind: Annotated[Count, "Runs of `forget` here that it has not applied yet."]


class SyncCountsView(View):
    """Numbers of records by kind."""

    turns: Annotated[Count, At("turn")]
    tasks: Annotated[Count, At("task")]
    judgements: Annotated[Count, At("judgement")]
    forgettings: Annotated[
        Count, "Runs of `forget`, and of `forget --undo`.", At("", lambda sent: sent["forgetting"] + sent["lifting"])
    ]


@answer("sync/1", title="Output of `sync --json`; the results are the machines.")
@dataclass(slots=True)
class SyncReport:
    """What was sent and what was taken, by kind of record."""

    folder: Annotated[str, At("folder", utf8)]
    sent: Annotated[Counter[str], As(SyncCountsView)] = field(default_factory=Counter)
    received: Annotated[Counter[str], As(SyncCountsView)] = field(default_factory=Counter)
    embedded: Annotated[Count, "Texts that came without a vector of the model in use here."] = 0
    deleted: Annotated[Count, "Rows that were forgotten here, since another machine had forgotten them."] = 0
    rewritten: Annotated[
        Count, "Own files that were replaced, since something in them was forgotten or became private."
    ] = 0
    held_back: Annotated[Count, "Turns and tasks that did not leave, since their project is private or excluded."] = 0
    left_out: Annotated[
        Count, "Turns and tasks of other machines that were not stored, since they are excluded here."
    ] = 0
    refused: Annotated[
        list[Refused],
        As(Warnings),
        At("refused", lambda refused: [f"{utf8(one.path)} {one.reason}; the next run tries again" for one in refused]),
        IF_ANY,
        Shown("warnings", after="results"),
    ] = field(default_factory=list)
    machines: Annotated[list[Machine], Shown("results")] = field(default_factory=list)
