"""`find-duplicates`: the tasks most like a text."""

from __future__ import annotations

import click

from pastchats_memory.cli import options
from pastchats_memory.cli.similar import show
from pastchats_memory.views.build_tasks import build_find_duplicates


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
def command(text: tuple[str, ...], threshold: float | None, limit: int, db: str | None, as_json: bool) -> int:
    """The tasks most like TEXT, with score and label, and what the scores mean."""
    with options.open_memory(db) as memory:
        found = memory.tasks.find_duplicates(" ".join(text), limit)
    return show(found, threshold, build_find_duplicates, as_json=as_json)
