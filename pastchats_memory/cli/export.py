"""`export`: every turn and task as JSON Lines."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.output import counted, warn
from pastchats_memory.model import utf8
from pastchats_memory.text.display import escape_controls, one_line


class Exporting(Protocol):
    """What can be exported: the whole memory, or its tasks."""

    def export(self) -> Iterable[str]:
        """Its lines."""

    def export_to(self, file: Path, *, force: bool) -> int:
        """The same into a file; how many there are."""


def put_out(what: Exporting, noun: str, file: Path | None, *, force: bool) -> int:
    """The lines to FILE, or to stdout; how many there are."""
    if file is not None:
        number = what.export_to(file, force=force)
        click.echo(f"Wrote {counted(number, noun)} to {one_line(utf8(str(file)))}", err=True)
        return number
    number = 0
    for number, line in enumerate(what.export(), start=1):  # noqa: B007 - the count is needed after
        click.echo(escape_controls(line))
    return number


@click.command(
    "export",
    epilog="""\b
Examples:
  pastchats-memory export ~/memory.jsonl
  pastchats-memory export | jq -r 'select(.kind == "turn") | .content'
""",
)
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--force", is_flag=True, help="Replace FILE where it is there already.")
@options.database
def command(file: Path | None, force: bool, db: str | None) -> int:
    """Every turn and task, a line of JSON each, to FILE or to stdout; `index FILE` makes the same rows of it again.

    Nothing of private projects, unless you are in them. Vectors are not in it: they are made anew.
    """
    options.interrupt_in_order()
    with options.open_memory(db) as memory:
        number = put_out(memory, "line", file, force=force)
        turns, tasks = memory.unseen()
    if turns or tasks:
        left = f"{counted(turns, 'turn')} and {counted(tasks, 'task')} of private projects left out"
        warn([f"{left}: export from inside them"])
    return DONE if number else NOTHING
