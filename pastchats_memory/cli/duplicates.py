"""`duplicates`: clusters among all tasks."""

from __future__ import annotations

import click

from pastchats_memory.arguments import project_named
from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.output import counted, emit_json, hanging
from pastchats_memory.errors import UsageFault
from pastchats_memory.tasks.scan import LEAST_SCORE
from pastchats_memory.views.build import task_fields
from pastchats_memory.views.task_text import guide
from pastchats_memory.views.text import one_line


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
        results = [
            {
                "tasks": [{"id": f"t:{task.key}", **task_fields(task)} for task in cluster.tasks],
                "pairs": [
                    {"first": f"t:{pair.first}", "second": f"t:{pair.second}", "score": pair.score, "label": pair.label}
                    for pair in cluster.pairs
                ],
            }
            for cluster in clusters
        ]
        emit_json({"schema": "duplicates/1", "results": results})
    elif clusters:
        for number, cluster in enumerate(clusters, start=1):
            click.echo(f"{number}. {counted(len(cluster.tasks), 'task')}")
            for task in cluster.tasks:
                click.echo(hanging(f"   {one_line(task.key)}  {one_line(task.title)} ({task.status})"))
            for pair in cluster.pairs:
                click.echo(f"     [{pair.score:.2f}] {one_line(pair.first)} = {one_line(pair.second)} ({pair.label})")
        click.echo(hanging(guide()))
    else:
        click.echo("No two tasks are that much alike.", err=True)
    return DONE if clusters else NOTHING
