"""`lessons`: list what failed repeatedly in a project, and what ended it."""

from __future__ import annotations

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.output import emit_json, hanging, warn
from pastchats_memory.views.build import build_lessons
from pastchats_memory.views.text import render_lessons


@click.command(
    "lessons",
    epilog="""\b
Examples:
  pastchats-memory lessons
  pastchats-memory lessons --project ledgerly --limit 3
  pastchats-memory lessons --all --json
""",
)
@options.project
@click.option("--all", "everywhere", is_flag=True, help="All projects.")
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="Lessons at most.")
@options.database
@options.as_json
def command(project: str | None, limit: int, db: str | None, *, everywhere: bool, as_json: bool) -> int:
    """List what failed more than once in your current project, and what ended it, each with its source."""
    with options.open_memory(db) as memory:
        found, warnings = memory.lessons(None if everywhere else project or ".", limit)
    if as_json:
        emit_json(build_lessons(found, warnings))
    elif found:
        click.echo(hanging(render_lessons(found)), nl=False)
    else:
        further = "." if everywhere else " here; --all looks in every project."
        click.echo(hanging(f"Nothing failed more than once and then worked{further}", err=True), err=True)
    warn(warnings)
    return DONE if found else NOTHING
