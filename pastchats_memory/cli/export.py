"""`export`: every turn and task as JSON Lines."""

from __future__ import annotations

from pathlib import Path

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.output import counted, warn
from pastchats_memory.render import escaped


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
    number = 0
    with options.open_memory(db) as memory:
        if file is None:
            for number, line in enumerate(memory.export(), start=1):  # noqa: B007 - the count is needed after
                click.echo(escaped(line))
        else:
            number = memory.export_to(file, force=force)
            click.echo(f"Wrote {counted(number, 'line')} to {file}", err=True)
        turns, tasks = memory.unseen()
    if turns or tasks:
        left = f"{counted(turns, 'turn')} and {counted(tasks, 'task')} of private projects left out"
        warn([f"{left}: export from inside them"])
    return DONE if number else NOTHING
