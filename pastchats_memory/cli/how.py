"""`how`: list the commands that worked here before, for a task."""

from __future__ import annotations

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.output import emit_json, hanging, warn
from pastchats_memory.views.build import build_how
from pastchats_memory.views.text import render_commands


@click.command(
    "how",
    epilog="""\b
Examples:
  pastchats-memory how 'run the tests'
  pastchats-memory how 'deploy to staging' --project ledgerly
  pastchats-memory how 'build the docs' --all --json
""",
)
@options.query
@options.project
@click.option("--all", "everywhere", is_flag=True, help="All projects.")
@click.option("--limit", type=click.IntRange(1, 40), default=5, show_default=True, help="Commands at most.")
@options.database
@options.as_json
def command(
    query_words: tuple[str, ...],
    query_option: str | None,
    project: str | None,
    limit: int,
    db: str | None,
    *,
    everywhere: bool,
    as_json: bool,
) -> int:
    """List the commands that worked before for the task QUERY in your current project, each with its source.

    They are quoted from transcripts: read them before you run them.
    """
    task = options.query_text(query_words, query_option)
    with options.open_memory(db) as memory:
        found, warnings = memory.how(task, None if everywhere else project or ".", limit)
    if as_json:
        emit_json(build_how(found, warnings))
    elif found:
        click.echo(hanging(render_commands(found)), nl=False)
    else:
        further = "." if everywhere else " here; --all looks in every project."
        click.echo(hanging(f"No known command worked for it{further}", err=True), err=True)
    warn(warnings)
    return DONE if found else NOTHING
