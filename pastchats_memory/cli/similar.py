"""`similar`: the tasks most like a task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.output import emit_json, hanging
from pastchats_memory.tasks.near import Near
from pastchats_memory.views.build_tasks import build_similar
from pastchats_memory.views.task_text import render_guide, render_near


def show(
    found: Sequence[Near],
    threshold: float | None,
    build: Callable[[Sequence[Near]], Mapping[str, object]],
    *,
    as_json: bool,
) -> int:
    """Print the nearest with score and label; exit code 1 when none of them is related or better."""
    kept = [one for one in found if threshold is None or one.likeness.score >= threshold]
    if as_json:
        emit_json(build(kept))
    else:
        for one in kept:
            click.echo(hanging(render_near(one)))
        click.echo(hanging(render_guide()) if kept else "No task is like it.", err=not kept)
    return DONE if any(one.likeness.is_related for one in kept) else NOTHING


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
def command(key: str, threshold: float | None, limit: int, db: str | None, as_json: bool) -> int:
    """The tasks most like the task KEY, with score and label, and what the scores mean."""
    with options.open_memory(db) as memory:
        found = memory.tasks.similar(key, limit)
    return show(found, threshold, build_similar, as_json=as_json)
