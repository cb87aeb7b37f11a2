"""`timeline` and `digest`: show what was worked on in a span of time."""

from __future__ import annotations

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.output import emit_json, hanging, warn
from pastchats_memory.views.history import build_digest, build_timeline, render_digest, render_timeline

when = click.argument("when", metavar="[WHEN]", nargs=-1)
NOTHING_FOUND = "No conversation is known of that time."


@click.command(
    "timeline",
    epilog="""\b
Examples:
  pastchats-memory timeline
  pastchats-memory timeline yesterday
  pastchats-memory timeline 2026-02 --project ledgerly
  pastchats-memory timeline --since 'last monday' --json
""",
)
@when
@options.project
@options.since
@options.until
@click.option("--limit", type=click.IntRange(1, 1000), default=100, show_default=True, help="Conversations at most.")
@options.database
@options.as_json
def command(
    when: tuple[str, ...],
    project: str | None,
    since: str | None,
    until: str | None,
    limit: int,
    db: str | None,
    as_json: bool,
) -> int:
    """List the conversations of a time by day and project, with first prompt and outcome, as Markdown.

    WHEN is today, yesterday, 7d, 'last week', 2026-02, 2026-02-17 or 2026-02-01..2026-02-17; the last 7 days by default.
    """
    with options.open_memory(db) as memory:
        found = memory.timeline(" ".join(when) or None, since=since, until=until, project=project, limit=limit)
    if as_json:
        emit_json(build_timeline(found))
    elif found.days:
        click.echo(hanging(render_timeline(found)), nl=False)
        if found.more:
            click.echo(f"… and {found.more:,} older; --limit or another time shows them", err=True)
    else:
        click.echo(NOTHING_FOUND, err=True)
    warn(found.warnings)
    return DONE if found.days else NOTHING


@click.command(
    "digest",
    epilog="""\b
Examples:
  pastchats-memory digest
  pastchats-memory digest 'last week' --project .
  pastchats-memory digest 2026-02 > february.md
""",
)
@when
@options.project
@options.since
@options.until
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="Lines of each section at most."
)
@options.database
@options.as_json
def digest(
    when: tuple[str, ...],
    project: str | None,
    since: str | None,
    until: str | None,
    limit: int,
    db: str | None,
    as_json: bool,
) -> int:
    """Write a page of Markdown: what was worked on, what worked, what failed or is open, and what was decided.

    Every line has its source. No language model is used. WHEN is as for `timeline`.
    """
    with options.open_memory(db) as memory:
        found = memory.digest(" ".join(when) or None, since=since, until=until, project=project, limit=limit)
    if as_json:
        emit_json(build_digest(found))
    elif found.lines:
        click.echo(hanging(render_digest(found)), nl=False)
    else:
        click.echo(NOTHING_FOUND, err=True)
    warn(found.warnings)
    return DONE if found.lines else NOTHING
