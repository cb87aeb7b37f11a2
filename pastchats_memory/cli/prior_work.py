"""`check-prior-work` and `consult-episodic-memory`: look before a task is created or a hard problem is tackled."""

from __future__ import annotations

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.output import emit_json, hanging, warn
from pastchats_memory.views.build_tasks import build_consultation, build_prior_work
from pastchats_memory.views.task_text import render_prior_work, render_resolved


@click.command(
    "check-prior-work",
    epilog="""\b
Examples:
  pastchats-memory check-prior-work 'Fix the login bug'
  pastchats-memory check-prior-work 'retry webhooks' --json | jq -r .verdict
""",
)
@options.query
@options.database
@options.as_json
def check(query_words: tuple[str, ...], query_option: str | None, db: str | None, as_json: bool) -> int:
    """Check whether a task was done, is in progress, failed before, was superseded, or is new; show the best matches.

    Exit code 1 means new, even if similar tasks are listed.
    """
    query = options.query_text(query_words, query_option)
    with options.open_memory(db) as memory:
        work = memory.check_prior_work(query)
    if as_json:
        emit_json(build_prior_work(work))
    else:
        click.echo(hanging(render_prior_work(work)))
    return NOTHING if work.verdict == "new" else DONE


@click.command(
    "consult-episodic-memory",
    epilog="""\b
Examples:
  pastchats-memory consult-episodic-memory 'sessions expire at random behind the proxy'
  pastchats-memory consult-episodic-memory 'flaky login test' --limit 2 --json
""",
)
@options.query
@click.option("--limit", type=click.IntRange(1, 20), default=5, show_default=True, help="Tasks at most.")
@options.database
@options.as_json
def consult(query_words: tuple[str, ...], query_option: str | None, limit: int, db: str | None, as_json: bool) -> int:
    """Show how similar problems were solved: completed and archived tasks, with comments and resolution."""
    problem = options.query_text(query_words, query_option)
    with options.open_memory(db) as memory:
        found, warnings = memory.consult_episodic_memory(problem, limit)
    if as_json:
        emit_json(build_consultation(found, warnings))
    elif found:
        click.echo(hanging("\n\n".join(render_resolved(one) for one in found)))
    else:
        message = "No solved task has to do with it; `pastchats-memory recall` looks in conversations, too."
        click.echo(hanging(message, err=True), err=True)
    warn(warnings)
    return DONE if found else NOTHING
