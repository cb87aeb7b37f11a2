"""`search`: list ranked turns, notes and tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from pastchats_memory.cli import options
from pastchats_memory.cli.asking import CommandResult, ask_memory
from pastchats_memory.cli.output import hanging
from pastchats_memory.errors import UsageFault
from pastchats_memory.memory import questions
from pastchats_memory.model import Hit, Hits
from pastchats_memory.text.display import escape_name, escape_path, format_time, one_line
from pastchats_memory.views.answers.search import build_search
from pastchats_memory.views.text import NOTHING_CLOSE, describe_relevance, has_close_hit, render_time_read

if TYPE_CHECKING:
    from pastchats_memory.memory import Memory

INDENT = "   "


@ask_memory(
    "search",
    "pastchats-memory search 'retry strategy'",
    "pastchats-memory search --mode keyword ECONNRESET --project . --limit 5",
    "pastchats-memory search 'why did we drop redis' --since 2026-01-01 --role user",
    "pastchats-memory search 'what failed in the import since last month' --explain",
    "pastchats-memory search 'webhook' --type task --status todo,in_progress",
    "pastchats-memory search --query 'webhook retries' --json | jq '.results[0]'",
    "pastchats-memory search --team 'webhook retries'",
    create_for="team",
    flags=("model",),
)
@options.ask_for(questions.SEARCH, limit="--top-k")
@options.model
@click.option("--explain", is_flag=True, help="Show what each list added to the score, and which time the query names.")
def command(memory: Memory, query: str, explain: bool, **how: Any) -> CommandResult:
    """Find turns, notes and tasks by words and by meaning, best first; comments and attachments lead to their task."""
    if how["team"] and explain:
        raise UsageFault("--team has no parts of a score", "Leave out --explain.")
    if how["rerank"] and not how["team"]:
        memory.load_reranker()
    hits = memory.search(query, **how)
    further = "" if hits.warnings else " The first page, another --mode or a lower threshold may have something."
    return CommandResult(
        lambda: build_search(hits, memory.resume_lines(hits), explain=explain),
        lambda: _render_hits(
            hits, memory.outcomes_of(hits) if how["outcome"] else {}, explain=explain, is_first=how["page"] == 1
        ),
        is_found=bool(hits),
        nothing="Nothing found at the team." if how["team"] else f"Nothing found.{further}",
        warnings=hits.warnings,
        is_folded=True,
        leads_back=not how["team"],
    )


def _render_hits(hits: Hits, outcomes: Mapping[str, str], *, explain: bool, is_first: bool) -> str:
    parts = [NOTHING_CLOSE] if is_first and not has_close_hit(hits) else []
    parts += [_render(hit, outcomes.get(hit.id), explain=explain) for hit in hits]
    time_read = f"\n{render_time_read(hits.time_read)}" if explain and hits.time_read is not None else ""
    return "\n\n".join(parts) + time_read


def _render(hit: Hit, outcome: str | None, *, explain: bool) -> str:
    """Return a hit as a few lines: its fit, where it is from, the snippet, and the source on a line of its own."""
    numbers = f"score {hit.score:.4f}, words {hit.lexical_rank or '–'}, meaning {hit.semantic_rank or '–'}"
    fit = describe_relevance(hit.relevance)
    about = (
        _speaker(hit, outcome),
        escape_name(hit.source_project),
        f"by {escape_name(hit.author)}" if hit.author else "",
        format_time(hit.timestamp)[:10],
        f"id {escape_name(hit.id)}",
    )
    source = f"{escape_path(hit.source_path)}:{hit.source_line or 1}" if hit.source_path else "made by hand"
    lines = [
        f"{hit.rank}. {f'{fit} ({numbers})' if fit else numbers}",
        INDENT + " · ".join(filter(None, about)),
        INDENT + one_line(hit.snippet),
    ]
    if explain:
        parts = " + ".join(f"{name} {value:.5f}" for name, value in hit.contributions.items())
        similarity = "" if hit.similarity is None else f", cosine {hit.similarity:.3f}"
        lines.append(f"{INDENT}{parts} = {hit.score:.5f}{similarity}")
    return "\n".join([*(hanging(line, under=len(INDENT)) for line in lines), INDENT + source])


def _speaker(hit: Hit, outcome: str | None) -> str:
    """Return who said a turn, or what a text of a task is."""
    if hit.task is None:
        return escape_name(hit.role) + (f" ({outcome})" if outcome else "")
    about = "" if hit.id == f"t:{hit.task.key}" else f" of t:{escape_name(hit.task.key)}"
    title = "" if one_line(hit.snippet).startswith(one_line(hit.task.title)) else f" {one_line(hit.task.title)}"
    return f"{hit.type} ({hit.task.status}){about}{title}"
