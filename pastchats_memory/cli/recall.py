"""`recall`: print the block that an agent reads before work."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.output import emit_json, hanging, is_terminal, name_ways_back, notify, warn
from pastchats_memory.errors import TeamUnavailable
from pastchats_memory.memory.requests import find_current_project
from pastchats_memory.views.build import build_recall

if TYPE_CHECKING:
    from pastchats_memory.memory import Memory


@click.command(
    "recall",
    epilog="""\b
Examples:
  pastchats-memory recall 'build webhook retries'
  pastchats-memory recall --query 'flaky login test' --budget 800 --project .
  pastchats-memory recall 'database migration' --since 2026-01-01 --json
  pastchats-memory recall 'flaky login test' --outcome worked,failed
  pastchats-memory recall --team 'flaky login test'
""",
)
@options.query
@click.option("--budget", type=click.IntRange(1), metavar="TOKENS", help="Most tokens of the block [default: 1500].")
@click.option("--limit", type=click.IntRange(1, 40), default=5, show_default=True, help="Entries at most.")
@options.project
@options.since
@options.outcome
@click.option("--team", is_flag=True, help="Also what your team shares; pulls it first.")
@options.model
@options.database
@options.as_json
def command(
    query_words: tuple[str, ...],
    query_option: str | None,
    budget: int | None,
    limit: int,
    project: str | None,
    since: str | None,
    outcome: str | None,
    team: bool,
    model: str | None,
    db: str | None,
    as_json: bool,
) -> int:
    """Print what is worth remembering before the work in QUERY, within a token budget, each entry with its source.

    Searches all projects; your current one wins near ties and is marked. The block is empty if nothing fits.
    """
    query = options.query_text(query_words, query_option)
    with options.open_memory(db, model=model) as memory:
        budget = memory.budget if budget is None else budget
        if team:
            _refresh_copy(memory)
        block = memory.recall(
            query,
            budget,
            limit=limit,
            project=project,
            since=since,
            outcome=outcome,
            current_project=find_current_project(),
            team=team or None,
        )
        lines = memory.resume_lines(block.hits) if as_json else {}
    if as_json:
        emit_json(build_recall(block, budget, lines))
    else:
        click.echo(hanging(block.text), nl=False)
        if not block.text:
            warn([f"a budget of {budget} tokens is too small for any entry; --budget {block.least} is enough"])
    warn(block.warnings)
    if block.entries and not as_json:
        name_ways_back()
    if not block.entries and is_terminal(sys.stderr):
        notify("`pastchats-memory search` lists what is nearest, whether it fits or not.")
    return DONE if block.entries else NOTHING


def _refresh_copy(memory: Memory) -> None:
    """Pull what the team shares; without an answer, the copy has to do. Raises TeamUnavailable if there is none."""
    team = memory.team
    try:
        team.pull()
    except TeamUnavailable as fault:
        if not team.has_copy:
            raise
        warn([f"{fault.message}; the team's part is from the last `team pull`"])
