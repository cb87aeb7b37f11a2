"""`search`: list ranked turns, notes and tasks."""

from functools import partial
from typing import Any

import click

from pastchats_memory.cli import options
from pastchats_memory.cli.asking import CommandResult, ask_memory
from pastchats_memory.cli.output import hanging
from pastchats_memory.cli.questions import ask_for
from pastchats_memory.errors import UsageFault
from pastchats_memory.memory import Memory, questions
from pastchats_memory.views.answers.search import build_search
from pastchats_memory.views.terminal import INDENT, list_hits


def _check(*, team: bool, explain: bool, **_: object) -> None:
    if team and explain:
        raise UsageFault("--team has no parts of a score", "Leave out --explain.")


@ask_memory("search", create_for="team", flags=("model",), check=_check)
@ask_for(questions.SEARCH, limit="--top-k")
@options.model
@click.option("--explain", is_flag=True, help="Show what each list added to the score, and which time the query names.")
def command(memory: Memory, query: str, explain: bool, **how: Any) -> CommandResult:
    """Find turns, notes and tasks by words and by meaning, best first; comments and attachments lead to their task."""
    if how["rerank"] and not how["team"]:
        memory.load_reranker()
    hits = memory.search(query, **how)
    further = "" if hits.warnings else " The first page, another --mode or a lower threshold may have something."
    return CommandResult(
        lambda: build_search(hits, memory.resume_lines(hits), explain=explain),
        lambda: list_hits(
            hits,
            memory.outcomes_of(hits) if how["outcome"] or how["team"] else {},
            partial(hanging, under=len(INDENT)),
            explain=explain,
            is_first=how["page"] == 1,
        ),
        is_found=bool(hits),
        nothing="Nothing found at the team." if how["team"] else f"Nothing found.{further}",
        warnings=hits.warnings,
        is_folded=True,
        leads_back=not how["team"],
    )
