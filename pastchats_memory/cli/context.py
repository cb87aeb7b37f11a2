"""`context`: print the best few items for a question, within a token budget."""

from __future__ import annotations

import click

from pastchats_memory.cli import DONE, NOTHING, options
from pastchats_memory.cli.output import emit_json, hanging, warn
from pastchats_memory.views.build import build_context


@click.command(
    "context",
    epilog="""\b
Examples:
  pastchats-memory context 'why do webhook retries use jitter?'
  pastchats-memory context 'what is blocked in payments?' --type task --budget 300
  pastchats-memory context 'which queue did we choose?' --budget 500 --json
""",
)
@options.query
@click.option(
    "--budget",
    type=click.IntRange(1),
    default=1500,
    show_default=True,
    metavar="TOKENS",
    help="Most tokens of the output.",
)
@click.option("--limit", type=click.IntRange(1, 40), default=5, show_default=True, help="Items at most.")
@click.option(
    "--excerpt", "width", type=click.IntRange(1), default=200, show_default=True, help="Characters of each excerpt."
)
@click.option("--type", "type_", metavar="TYPE", help="Only this type, as for search.")
@click.option("--status", metavar="STATUS", help="Only tasks with these, such as todo,in_progress.")
@click.option("--min-similarity", type=click.FloatRange(-1, 1), help="Least cosine.")
@options.project
@options.since
@options.until
@options.database
@options.as_json
def command(
    query_words: tuple[str, ...],
    query_option: str | None,
    db: str | None,
    as_json: bool,
    type_: str | None,
    **limits: object,
) -> int:
    """Print the best few items for the question QUERY: excerpts with id, similarity and source.

    For a chat or an agent that answers the question itself: `show ID` prints the full text of an excerpt.
    """
    question = options.query_text(query_words, query_option)
    with options.open_memory(db) as memory:
        context = memory.context(question, type=type_, **limits)  # type: ignore[arg-type] # click has parsed them
    if as_json:
        emit_json(build_context(context, limits["budget"]))  # type: ignore[arg-type] # likewise
    else:
        click.echo(hanging(context.text), nl=False)
    warn(context.warnings)
    return DONE if context.items else NOTHING
