"""`similar`, `find-duplicates` and `duplicates`: find tasks that are alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.output import counted, emit_json, hanging
from pastchats_memory.errors import UsageFault
from pastchats_memory.memory.requests import resolve_project
from pastchats_memory.tasks.similarity import MIN_PAIR_SCORE, SimilarTask
from pastchats_memory.text.display import escape_name
from pastchats_memory.views.build_tasks import build_duplicates, build_find_duplicates, build_similar
from pastchats_memory.views.task_text import render_guide, render_near


def show(
    found: Sequence[SimilarTask],
    threshold: float | None,
    build: Callable[[Sequence[SimilarTask]], Mapping[str, object]],
    *,
    as_json: bool,
) -> int:
    """Print the nearest tasks with score and label.

    Return exit code 1 if none is related or better.
    """
    matching = [one for one in found if threshold is None or one.match.score >= threshold]
    if as_json:
        emit_json(build(matching))
    else:
        for one in matching:
            click.echo(hanging(render_near(one)))
        click.echo(hanging(render_guide()) if matching else "No task is like it.", err=not matching)
    return DONE if any(one.match.is_related for one in matching) else NOTHING


@click.command(
    "similar",
    epilog="""\b
Examples:
  pastchats-memory similar TREK-45
  pastchats-memory similar t:TREK-45 --threshold 0.8 --json
""",
)
@click.argument("key")
@click.option("--threshold", type=click.FloatRange(0, 1), metavar="X", help="Only scores of at least X.")
@click.option("--limit", type=click.IntRange(1, 40), default=5, show_default=True, help="Tasks at most.")
@options.database
@options.as_json
def similar(key: str, threshold: float | None, limit: int, db: str | None, as_json: bool) -> int:
    """List the tasks most similar to the task KEY, with score and label, and a guide to the scores."""
    with options.open_memory(db) as memory:
        found = memory.tasks.find_similar(key, limit)
    return show(found, threshold, build_similar, as_json=as_json)


# `find-duplicates`: the tasks most like a text.


@click.command(
    "find-duplicates",
    epilog="""\b
Examples:
  pastchats-memory find-duplicates 'Users cannot sign in'
  pastchats-memory find-duplicates 'dark mode' --threshold 0.8
""",
)
@click.argument("text", nargs=-1, required=True)
@click.option("--threshold", type=click.FloatRange(0, 1), metavar="X", help="Only scores of at least X.")
@click.option("--limit", type=click.IntRange(1, 40), default=5, show_default=True, help="Tasks at most.")
@options.database
@options.as_json
def find_duplicates(text: tuple[str, ...], threshold: float | None, limit: int, db: str | None, as_json: bool) -> int:
    """List the tasks most similar to TEXT, with score and label, and a guide to the scores."""
    with options.open_memory(db) as memory:
        found = memory.tasks.find_duplicates(" ".join(text), limit)
    return show(found, threshold, build_find_duplicates, as_json=as_json)


# `duplicates`: clusters among all tasks.


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
    default=MIN_PAIR_SCORE,
    show_default=True,
    metavar="X",
    help="Least score of a pair.",
)
@options.project
@options.database
@options.as_json
def duplicates(scan: bool, threshold: float, project: str | None, db: str | None, as_json: bool) -> int:
    """List clusters of similar tasks, each pair with its score. Tasks that programs wrote for each other are left out."""
    if not scan:
        raise UsageFault(
            "say what to compare", "`duplicates --scan` compares all tasks; `find-duplicates TEXT` one text."
        )
    with options.open_memory(db) as memory:
        clusters = memory.tasks.scan_duplicates(threshold, resolve_project(project))
    if as_json:
        emit_json(build_duplicates(clusters))
    elif clusters:
        for number, cluster in enumerate(clusters, start=1):
            click.echo(f"{number}. {counted(len(cluster.tasks), 'task')}")
            for task in cluster.tasks:
                click.echo(hanging(f"   {escape_name(task.key)}  {escape_name(task.title)} ({task.status})"))
            for pair in cluster.pairs:
                click.echo(
                    f"     [{pair.score:.2f}] {escape_name(pair.first)} = {escape_name(pair.second)} ({pair.label})"
                )
        click.echo(hanging(render_guide()))
    else:
        click.echo("No two tasks are that much alike.", err=True)
    return DONE if clusters else NOTHING
