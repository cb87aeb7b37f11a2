"""`backup`: the whole memory in one file."""

from __future__ import annotations

from pathlib import Path

import click

from pastchats_memory.cli import DONE, options
from pastchats_memory.cli.output import counted, emit_json
from pastchats_memory.model import utf8
from pastchats_memory.text.display import one_line
from pastchats_memory.views.build_upkeep import build_backup


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
@options.database
@options.as_json
def command(file: Path, force: bool, db: str | None, as_json: bool) -> int:
    """Copy the memory into FILE, which only you can read; while other processes index, too.

    What is copied is the memory as it is now. FILE has its name only once it is whole.
    """
    options.interrupt_in_order()
    with options.open_memory(db) as memory:
        copied = memory.backup(file, force=force)
    if as_json:
        emit_json(build_backup(utf8(str(file)), copied))
    else:
        holds = f"{counted(copied.turns, 'turn')} and {counted(copied.tasks, 'task')}"
        click.echo(f"{one_line(str(file))}: {holds}, {copied.bytes / 1e6:,.1f} MB")
    return DONE
