"""`check-prior-work` and `consult-episodic-memory`: before a task is created, and before a hard problem is tackled."""

from __future__ import annotations

from typing import Any

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.output import emit_json, warn
from pastchats_memory.cli.task_output import guide, near_json, near_line, task_json, whole
from pastchats_memory.excerpt import excerpt
from pastchats_memory.render import one_line, sanitised
from pastchats_memory.tasks.prior_work import PriorWork, Resolved

RESOLUTION_WIDTH = 700
"""Characters of a resolution that are shown; `--json` has all of it."""
SAID = {
    "done": "Done",
    "in_progress": "In progress",
    "failed_before": "Failed before",
    "superseded": "Superseded",
    "new": "New",
}


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
    """Was this done, is it in progress, did it fail before, was it superseded, or is it new? With the three best matches."""
    query = options.query_text(query_words, query_option)
    with options.open_memory(db) as memory:
        work = memory.check_prior_work(query)
    if as_json:
        emit_json(prior_work_json(work))
    else:
        click.echo(f"{SAID[work.verdict]}: {one_line(work.reason)}")
        for one in work.results:
            click.echo(f"  {near_line(one)}")
        click.echo(guide())
    return DONE if work.results else NOTHING


def prior_work_json(work: PriorWork) -> dict[str, Any]:
    """`check-prior-work/1`."""
    results = [near_json(one) for one in work.results]
    return {"schema": "check-prior-work/1", "verdict": work.verdict, "reason": work.reason, "results": results}


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
    """How were similar problems solved? Completed and archived tasks only, each with its comments and its resolution."""
    problem = options.query_text(query_words, query_option)
    with options.open_memory(db) as memory:
        found, warnings = memory.consult_episodic_memory(problem, limit)
    if as_json:
        body: dict[str, Any] = {"schema": "consult-episodic-memory/1", "results": [resolved_json(one) for one in found]}
        emit_json(body | ({"warnings": list(warnings)} if warnings else {}))
    elif found:
        click.echo("\n\n".join(_text(one) for one in found))
    else:
        click.echo("No solved task has to do with it.", err=True)
    warn(warnings)
    return DONE if found else NOTHING


def resolved_json(one: Resolved) -> dict[str, Any]:
    """A solved task with its resolution and where that was said."""
    source = None
    if one.source is not None:
        place = one.source.places[0] if one.source.places else None
        source = {
            "id": str(one.source.id),
            "source_path": one.source.source_path,
            "source_line": place.line if place else None,
            "conversation_id": one.source.conversation_id,
        }
    task = task_json(one.task)
    return task | {
        "score": one.score,
        "similarity": one.similarity,
        "resolution": one.resolution,
        "resolution_source": source,
    }


def _text(one: Resolved) -> str:
    lines = [whole(one.task)]
    if one.resolution:
        text = sanitised(excerpt(one.resolution, {}, RESOLUTION_WIDTH))
        lines += ["", "  Resolution:", *(f"  > {line}" for line in text.split("\n") if line.strip())]
    if one.source is not None:
        line = one.source.places[0].line if one.source.places else 1
        lines.append(
            f"  Source: {one_line(one.source.source_path)}:{line} (turn {one.source.turn_index}) · id {one.source.id}"
        )
    return "\n".join(lines)
