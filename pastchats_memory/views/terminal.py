"""Render search results and items for a person at a terminal. `text` renders the same values as Markdown for agents."""

from collections.abc import Callable, Mapping, Sequence

from pastchats_memory.model import Hit, Hits
from pastchats_memory.model.episodes import ShownItem
from pastchats_memory.text.display import escape_name, escape_path, format_time, one_line, sanitise
from pastchats_memory.views import text

INDENT = "   "


def list_hits(
    hits: Hits, outcomes: Mapping[str, str], fold: Callable[[str], str], *, explain: bool, is_first: bool
) -> str:
    """List search results, with the outcomes of turns by id, and with `explain` the parts of each score.

    `fold` fits a line that is not a source to the terminal. Only the first page can begin by the remark that nothing is close.
    """
    parts = [text.NOTHING_CLOSE] if is_first and not text.has_close_hit(hits) else []
    parts += [_render_hit(hit, outcomes.get(hit.id), fold, explain=explain) for hit in hits]
    time_read = f"\n{text.render_time_read(hits.time_read)}" if explain and hits.time_read is not None else ""
    return "\n\n".join(parts) + time_read


def _render_hit(hit: Hit, outcome: str | None, fold: Callable[[str], str], *, explain: bool) -> str:
    """Render a hit on a few lines: its fit, where it is from, the snippet, and the source on a line of its own."""
    numbers = f"score {hit.score:.4f}, words {hit.lexical_rank or '–'}, meaning {hit.semantic_rank or '–'}"
    fit = text.describe_relevance(hit.relevance)
    about = (
        _name_speaker(hit, outcome),
        escape_name(hit.source_project),
        text.name_author(hit),
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
    if hit.replaced_by:
        lines.append(f"{INDENT}Superseded by: id {escape_name(hit.replaced_by)}")
    return "\n".join([*map(fold, lines), INDENT + source])


def _name_speaker(hit: Hit, outcome: str | None) -> str:
    """Name who wrote a turn, or what a text of a task is."""
    if hit.task is None:
        return escape_name(hit.role) + (f" ({outcome})" if outcome else "")
    about = "" if hit.id == hit.task.shown_id else f" of {escape_name(hit.task.shown_id)}"
    title = "" if one_line(hit.snippet).startswith(one_line(hit.task.title)) else f" {one_line(hit.task.title)}"
    return f"{hit.type} ({hit.task.status}){about}{title}"


def list_items(items: Sequence[ShownItem]) -> str:
    """List turns in full; the one that was asked for has its places, its outcome, and what git kept of its episode."""
    is_answered = any(shown.item.role == "assistant" for shown in items)
    return "\n".join(_render_item(shown, is_answered=is_answered) for shown in items) + "\n"


def _render_item(shown: ShownItem, *, is_answered: bool) -> str:
    item = shown.item
    mark = "▶" if shown.is_asked else " "
    facts = (item.shown_id, escape_name(item.role), escape_name(item.project), format_time(item.timestamp))
    lines = [f"{mark} {' · '.join(filter(None, facts))}"]
    if shown.is_asked:
        note = text.note_citation(item.citation)
        notes = [f"; {note}" if note else "", *[""] * len(item.places)]
        lines += [
            f"  Source: {escape_path(place.path)}:{place.line} (turn {item.turn_index}{note})"
            for place, note in zip(item.places, notes, strict=False)
        ]
        ended = "Answered" if shown.outcome.verdict == "unknown" and is_answered else ""
        known = f"Outcome: {text.render_outcome(shown.outcome)}" if shown.outcome.is_known else ""
        if ended or known:
            lines.append("  " + ". ".join(filter(None, (ended, known))))
        if shown.standing:
            lines.append(f"  Kept: {shown.standing}")
    return "\n".join([*lines, *(f"    {line}" for line in sanitise(item.content).split("\n"))]) + "\n"
