"""Fit the best hits for a question into a token budget.

Each item is an excerpt with its id and source.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pastchats_memory.errors import UsageFault
from pastchats_memory.model import Hit
from pastchats_memory.model.episodes import Context, ContextItem
from pastchats_memory.text.display import escape_name, format_priority, format_time, quote
from pastchats_memory.text.excerpt import excerpt
from pastchats_memory.views.text import format_citation

MOST_ITEMS = 5
EXCERPT_WIDTH = 200
"""Characters of an item's text; `show` prints all of it."""
SHARES = (1.0, 0.5, 0.25, 0.0)
"""Shares of that width that are tried until an item fits; 0 leaves its line with id and status."""
HEADING = "# Context"
NOTHING_RELEVANT = "Nothing relevant was found in earlier conversations, notes or tasks."
TOO_SMALL = HEADING + "\n\nThe budget is too small for the best item; {enough} tokens are enough.\n"


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """Limits of a context. Raises UsageFault for a limit that leaves nothing."""

    budget: int = 1500
    limit: int = MOST_ITEMS
    width: int = EXCERPT_WIDTH

    def __post_init__(self) -> None:
        if self.budget < 1 or self.limit < 1 or self.width < 1:
            raise UsageFault("budget, limit and excerpt start at 1", "Leave them out for the usual ones.")


def build_context(
    hits: Sequence[Hit], weights: Mapping[str, float], request: ContextRequest, count_tokens: Callable[[str], int]
) -> Context:
    """Return the context of as many hits as fit, best first.

    The first that does not fit is shortened around the question's weighed words, or ends the context. If not even the first
    fits, a warning names the budget that is enough.
    """
    items: list[ContextItem] = []
    enough = 0
    for hit in hits[: request.limit]:
        widths = (int(request.width * share) for share in SHARES)
        texts = (" ".join(excerpt(hit.content, weights, width).split()) if width else "" for width in widths)
        shortened = (ContextItem(hit, text) for text in texts)
        sizes = ((item, count_tokens(format_context([*items, item]))) for item in shortened)
        for item, enough in sizes:
            if enough <= request.budget:
                items.append(item)
                break
        else:
            break
    is_too_small = bool(enough) and not items
    text = TOO_SMALL.format(enough=enough) if is_too_small else format_context(items)
    tokens = count_tokens(text)
    if tokens > request.budget:
        text, tokens = "", 0
    warnings = (f"the budget of {request.budget} tokens is too small; {enough} are enough",) if is_too_small else ()
    return Context(tuple(items), text, tokens, warnings)


def format_context(items: Sequence[ContextItem]) -> str:
    """Return the context as Markdown: its entries, then the sources by id."""
    if not items:
        return f"{HEADING}\n\n{NOTHING_RELEVANT}\n"
    entries = "".join(_format_item(place, item) for place, item in enumerate(items, start=1))
    sources = "".join(f"- [{escape_name(item.hit.id)}] {format_citation(item.hit)}\n" for item in items)
    return f"{HEADING}\n\n{entries}\nSources:\n{sources}"


def _format_item(place: int, item: ContextItem) -> str:
    hit = item.hit
    similarity = "" if hit.similarity is None else f"similarity: {max(0.0, hit.similarity):.0%}"
    kind = escape_name(hit.role) if hit.type == "prompt" else hit.type
    task: tuple[str, ...] = ()
    if hit.task is not None:
        attachments = "has attachments" if hit.task.attachments else ""
        title = escape_name(hit.task.title)[:80]
        task = (hit.task.status, format_priority(hit.task.priority), title, attachments)
    facts = (
        f"[{escape_name(hit.id)}] {kind}",
        *task,
        escape_name(hit.source_project),
        format_time(hit.timestamp),
        similarity,
    )
    line = f"{place}. {' · '.join(fact for fact in facts if fact)}\n"
    return f"{line}{quote(item.excerpt)}\n" if item.excerpt else line
