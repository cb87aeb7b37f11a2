"""`backup` and `restore`: copy the memory into a file, and back."""

import os
from pathlib import Path

import click

from pastchats_memory.cli import options
from pastchats_memory.cli.asking import CommandResult, ask_memory, give_result
from pastchats_memory.cli.output import notify
from pastchats_memory.config import load
from pastchats_memory.errors import InputMissing
from pastchats_memory.memory import Memory
from pastchats_memory.store.backup import Counts
from pastchats_memory.text.display import counted, escape_path
from pastchats_memory.text.encoding import utf8
from pastchats_memory.views.answers.database import BACKUP, RESTORE, Backup, Restored


@ask_memory("backup")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Replace an existing FILE.")
def command(memory: Memory, file: Path, force: bool) -> CommandResult:
    """Copy the memory into FILE, which only you can read; other processes may index meanwhile.

    The copy holds the memory as of now. FILE gets its name only once it is complete.
    """
    options.interrupt_in_order()
    copied = memory.backup(file, force=force)
    return CommandResult(
        lambda: BACKUP.build([Backup(utf8(str(file)), copied)]),
        lambda: f"{escape_path(str(file))}: {_count_rows(copied)}, {copied.bytes / 1e6:,.1f} MB",
        is_folded=True,
    )


@give_result("restore")
@click.argument("file", type=click.Path(path_type=Path))
@options.yes_or_no
def restore(db: str | None, file: Path) -> CommandResult:
    """Replace the memory by the one in FILE.

    FILE is checked first, and only read. The old memory stays until the new one is complete; a process that reads
    meanwhile sees one or the other. If there is a memory already you are asked; without a terminal, --yes agrees.
    Everything that you forgot in the present memory stays forgotten.
    """
    options.interrupt_in_order()
    if not os.path.lexists(file):
        raise InputMissing(f"{file}: no such file", "Name a file that `pastchats-memory backup` wrote.")
    path = load(db).database
    if os.path.lexists(path) and not options.agree(f"Replace the memory in {path}?"):
        notify(f"{path} is as it was; --yes replaces it.")
        return CommandResult(lambda: RESTORE.build([]), lambda: "", is_found=False)
    restored, aside = Memory.restore(file, path)
    if aside:
        notify(f"The memory that was there is damaged; it is in {aside} now.")
        notify("Text that was forgotten in it since the backup is back: forget it again.")
    put_aside = None if aside is None else utf8(str(aside))
    return CommandResult(
        lambda: RESTORE.build([Restored(Backup(utf8(str(file)), restored), utf8(str(path)), put_aside)]),
        lambda: f"{escape_path(str(path))}: {_count_rows(restored)}",
        is_folded=True,
    )


def _count_rows(counts: Counts) -> str:
    return f"{counted(counts.turns, 'turn')} and {counted(counts.tasks, 'task')}"
