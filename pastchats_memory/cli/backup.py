"""`backup` copies the memory into a file, and `restore` puts such a copy in its place."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from pathlib import Path

import click

from pastchats_memory import cli
from pastchats_memory.cli import DONE, NOTHING, counted, emit_json, is_terminal
from pastchats_memory.config import load
from pastchats_memory.memory import Memory
from pastchats_memory.model import utf8
from pastchats_memory.render import one_line


@click.command(
    "backup",
    epilog="""\b
Examples:
  pastchats-memory backup ~/memory-backup.db
  pastchats-memory backup ~/memory-backup.db --force --json
""",
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Replace FILE where it is there already.")
@cli.database
@cli.as_json
def backup(file: Path, force: bool, db: str | None, as_json: bool) -> int:
    """Copy the memory into FILE, which only you can read.

    Other processes may read and index meanwhile; the copy is the memory as it is now. FILE gets its name only once it
    is complete.
    """
    cli.interrupt_in_order()
    with cli.open_memory(db) as memory:
        copied = memory.backup(file, force=force)
    if as_json:
        emit_json({"schema": "backup/1", "results": [{"file": utf8(str(file)), **asdict(copied)}]})
    else:
        holds = f"{counted(copied.turns, 'turn')} and {counted(copied.tasks, 'task')}"
        click.echo(f"{one_line(str(file))}: {holds}, {copied.bytes / 1e6:,.1f} MB")
    return DONE


@click.command(
    "restore",
    epilog="""\b
Examples:
  pastchats-memory backup ~/memory-backup.db
  pastchats-memory restore ~/memory-backup.db
  pastchats-memory restore ~/memory-backup.db --yes --json
""",
)
@click.argument("file", type=click.Path(path_type=Path))
@cli.yes
@cli.no
@cli.database
@cli.as_json
def restore(file: Path, yes: bool, no: bool, db: str | None, as_json: bool) -> int:
    """Put the memory in FILE in the place of the present one.

    FILE is checked first, and only read. The present memory stays until the new one is complete; a process that reads
    meanwhile sees one or the other. If there is a memory you are asked first; without a terminal, confirm with --yes.
    Everything that you forgot in the present memory stays forgotten.

    FILE may be a backup, or a database of an unreleased older build: its turns and tasks are copied.
    """
    cli.interrupt_in_order()
    path = load(db).database
    is_there = os.path.lexists(path)
    if is_there and not yes:
        ask = not no and is_terminal(sys.stdin) and not as_json
        if not (ask and click.confirm(f"Replace the memory in {path}?", err=True)):
            click.echo(f"{path} is as it was; --yes replaces it.", err=True)
            if as_json:
                emit_json({"schema": "restore/1", "results": []})
            return NOTHING
    restored, aside = Memory.restore(file, path)
    if as_json:
        about = {"file": utf8(str(file)), "database": utf8(str(path)), **asdict(restored)}
        emit_json({"schema": "restore/1", "results": [about | {"put_aside": aside and utf8(str(aside))}]})
    else:
        click.echo(f"{one_line(str(path))}: {counted(restored.turns, 'turn')} and {counted(restored.tasks, 'task')}")
    if aside:
        click.echo(f"The memory that was there is damaged; it is in {aside} now.", err=True)
        click.echo("Text that was forgotten in it since the backup is back: forget it again.", err=True)
    return DONE
