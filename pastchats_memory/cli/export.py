"""`export`: write every turn and task as JSON Lines."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.output import counted, echo_json, warn
from pastchats_memory.text.display import escape_path
from pastchats_memory.text.encoding import utf8


class Exporting(Protocol):
    """Something that can be exported: the whole memory, or its tasks."""

    def export(self) -> Iterable[str]:
        """Yield its lines."""

    def export_to(self, file: Path, *, force: bool) -> int:
        """Write the lines into a file, and return their number."""


def put_out(what: Exporting, noun: str, file: Path | None, *, force: bool) -> int:
    """Write the lines to FILE, or to stdout, and return their number."""
    if file is not None:
        number = what.export_to(file, force=force)
        click.echo(f"Wrote {counted(number, noun)} to {escape_path(utf8(str(file)))}", err=True)
        return number
    number = 0
    for number, line in enumerate(what.export(), start=1):  # noqa: B007 - the count is needed after
        echo_json(line)
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
@click.option("--force", is_flag=True, help="Replace an existing FILE.")
@options.database
def command(file: Path | None, force: bool, db: str | None) -> int:
    """Write every turn and task as a line of JSON, to FILE or to stdout; `index FILE` reads the rows back.

    Private projects are left out, unless you are in them. Vectors are left out; `index` makes them again.
    """
    options.interrupt_in_order()
    with options.open_memory(db) as memory:
        number = put_out(memory, "line", file, force=force)
        turns, tasks = memory.count_hidden()
    if turns or tasks:
        left = f"{counted(turns, 'turn')} and {counted(tasks, 'task')} of private projects left out"
        warn([f"{left}: export from inside them"])
    return DONE if number else NOTHING
