"""`how`: the commands that worked here before, for a task."""

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
@click.option("--all", "everywhere", is_flag=True, help="In every project.")
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
    """The commands that worked before in the project you are in, for the task QUERY, each with where that is said.

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
        click.echo(hanging(f"No command is known to have worked for it{further}", err=True), err=True)
    warn(warnings)
    return DONE if found else NOTHING
