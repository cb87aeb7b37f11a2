"""`duplicates`: clusters among all tasks."""

from __future__ import annotations

import click

from pastchats_memory.arguments import project_named
from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.output import counted, emit_json, hanging
from pastchats_memory.errors import UsageFault
from pastchats_memory.tasks.scan import LEAST_SCORE
from pastchats_memory.text.display import one_line
from pastchats_memory.views.build_tasks import build_duplicates
from pastchats_memory.views.task_text import render_guide


@click.command(
    "duplicates",
    epilog="""\b
Examples:
  pastchats-memory duplicates --scan
  pastchats-memory duplicates --scan --project . --threshold 0.95 --json
""",
)
@click.option("--scan", is_flag=True, help="Compare all tasks with each other.")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    default=LEAST_SCORE,
    show_default=True,
    metavar="X",
    help="Least score of a pair.",
)
@options.project
@options.database
@options.as_json
def command(scan: bool, threshold: float, project: str | None, db: str | None, as_json: bool) -> int:
    """Clusters of tasks that are alike, each pair with its score. Tasks that programs wrote for each other are left out."""
    if not scan:
        raise UsageFault(
            "say what to compare", "`duplicates --scan` compares all tasks; `find-duplicates TEXT` one text."
        )
    with options.open_memory(db) as memory:
        clusters = memory.tasks.duplicates(threshold, project_named(project))
    if as_json:
        emit_json(build_duplicates(clusters))
    elif clusters:
        for number, cluster in enumerate(clusters, start=1):
            click.echo(f"{number}. {counted(len(cluster.tasks), 'task')}")
            for task in cluster.tasks:
                click.echo(hanging(f"   {one_line(task.key)}  {one_line(task.title)} ({task.status})"))
            for pair in cluster.pairs:
                click.echo(f"     [{pair.score:.2f}] {one_line(pair.first)} = {one_line(pair.second)} ({pair.label})")
        click.echo(hanging(render_guide()))
    else:
        click.echo("No two tasks are that much alike.", err=True)
    return DONE if clusters else NOTHING
