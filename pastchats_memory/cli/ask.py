"""`ask`: a question about tasks in plain language."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from pastchats_memory import cli
from pastchats_memory.cli import DONE, NOTHING, counted, emit_json, hanging, table, warn
from pastchats_memory.render_json import with_warnings
from pastchats_memory.task_render import listed, task_json
from pastchats_memory.tasks.ask import ParsedQuestion


@click.command(
    "ask",
    epilog="""\b
Examples:
  pastchats-memory ask 'what is blocked?'
  pastchats-memory ask 'what did we finish last week?'
  pastchats-memory ask 'anything about payments?' --json
""",
)
@click.argument("question", nargs=-1, required=True)
@cli.database
@cli.as_json
def command(question: tuple[str, ...], db: str | None, as_json: bool) -> int:
    """Answer a question about tasks. How it was read is shown first; no language model is asked."""
    with cli.open_memory(db) as memory:
        answer = memory.ask(" ".join(question))
    if as_json:
        body: dict[str, Any] = {"schema": "ask/1", "reading": reading_json(answer.question), "total": answer.total}
        body["results"] = [task_json(task) for task in answer.tasks]
        emit_json(with_warnings(body, answer.warnings))
    else:
        click.echo(hanging(f"Reading: {answer.question.describe()}"))
        if answer.question.is_count:
            click.echo(counted(answer.total, "task"))
        elif answer.tasks:
            click.echo(table(listed(answer.tasks), ["id", "status", "prio", "project", "title"], stretch=4))
            if answer.total > len(answer.tasks):
                click.echo(f"… and {counted(answer.total - len(answer.tasks), 'more task')}", err=True)
        else:
            said = "No task fits; `pastchats-memory task list` shows what there is."
            click.echo(hanging(said, err=True), err=True)
    warn(answer.warnings)
    return DONE if answer.tasks else NOTHING


def reading_json(reading: ParsedQuestion) -> dict[str, Any]:
    """The reading with its line for people."""
    body = asdict(reading)
    if reading.span is not None:
        body["span"] |= {
            "since": reading.span.since and reading.span.since.isoformat(),
            "until": reading.span.until and reading.span.until.isoformat(),
        }
    return body | {"described": reading.describe()}
