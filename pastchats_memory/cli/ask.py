"""`ask`: answer a plain question."""

from __future__ import annotations

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.output import counted, emit_json, hanging, table, warn
from pastchats_memory.views.build_tasks import build_answer
from pastchats_memory.views.task_text import make_task_rows
from pastchats_memory.views.text import render_hits


@click.command(
    "ask",
    epilog="""\b
Examples:
  pastchats-memory ask 'what is blocked?'
  pastchats-memory ask 'what did we finish last week?'
  pastchats-memory ask 'which queue did we choose?'
  pastchats-memory ask 'anything about payments?' --json
""",
)
@click.argument("question", nargs=-1, required=True)
@options.database
@options.as_json
def command(question: tuple[str, ...], db: str | None, as_json: bool) -> int:
    """Answer a question from tasks, or from conversations if it is not about tasks.

    Shows first how the question was read; no language model is used.
    """
    with options.open_memory(db) as memory:
        answer = memory.ask(" ".join(question))
        lines = memory.resume_lines(answer.hits) if as_json else {}
    if as_json:
        emit_json(build_answer(answer, lines))
    else:
        is_count = answer.question.is_count and not answer.hits
        reading = answer.question.describe() if answer.tasks or not answer.hits else "what conversations say"
        click.echo(hanging(f"Reading: {reading}"))
        if is_count:
            click.echo(counted(answer.total, "task"))
        elif answer.tasks:
            click.echo(table(make_task_rows(answer.tasks), ["id", "status", "prio", "project", "title"], stretch=4))
            if answer.total > len(answer.tasks):
                click.echo(f"… and {counted(answer.total - len(answer.tasks), 'more task')}", err=True)
        if answer.tasks and answer.hits:
            click.echo("\nConversations:")
        if answer.hits:
            click.echo(hanging(render_hits(answer.hits)), nl=False)
        elif not answer.tasks and not is_count:
            message = (
                "Nothing fits; `pastchats-memory task list --all` shows all tasks, `search` looks in conversations."
            )
            click.echo(hanging(message, err=True), err=True)
    warn(answer.warnings)
    return DONE if answer.tasks or answer.hits else NOTHING
