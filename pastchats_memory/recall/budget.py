"""As many entries of a recall block as its budget holds, each as long as it may be. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pastchats_memory.errors import UsageFault
from pastchats_memory.model import Block, Context, ContextItem, Hit, Outcome, Recollection
from pastchats_memory.text.display import format_time, one_line, quote
from pastchats_memory.text.excerpt import decisive, excerpt
from pastchats_memory.views.text import NOTHING, TOO_SMALL, format_citation, render_block, render_entry

SHORTER_WIDTHS = (820, 740, 670, 600, 540, 480, 430, 380, 340, 300, 260, 220, 190, 160, 130, 100, 80, 60)
"""Of an excerpt where there is no room for more; the steps are small so that little room is left over."""
BESIDE = 150
"""Characters of an excerpt for each further line that may stand beside it."""


def within_budget(
    query: str,
    memories: Sequence[Recollection],
    weights: Mapping[str, float],
    budget: int,
    count_tokens: Callable[[str], int],
) -> Block:
    """The block of as many entries as fit, best first; the one that does not is tried with shorter excerpts before it is left out.

    Entries are counted one by one: tokens do not reach across the line between two, so the block is never more than
    the sum of its parts, and no text is counted twice but for the whole at the end.
    """
    kept: list[Recollection] = []
    left = budget - count_tokens(render_block(query, [], ""))

    def needed(memory: Recollection) -> int:
        return count_tokens(render_entry(len(kept) + 1, memory))

    for memory in memories:
        fitting = _fitting(memory, weights, needed, left)
        if fitting is None:
            break
        kept.append(fitting[0])
        left -= fitting[1]
    least, nothing = 0, NOTHING
    if memories and not kept:
        least = budget - left + needed(_shortened(memories[0], weights, SHORTER_WIDTHS[-1]))
        nothing = TOO_SMALL.format(least=least)
    text = render_block(query, kept, nothing)
    tokens = count_tokens(text)
    if tokens > budget:
        return Block(query, (), "", 0, least=least or tokens)
    return Block(query, tuple(kept), text, tokens, least=least)


def _fitting(
    memory: Recollection, weights: Mapping[str, float], needed: Callable[[Recollection], int], left: int
) -> tuple[Recollection, int] | None:
    """The memory, or that with the longest excerpts that fit, and what it needs; None where even the shortest need more.

    Few widths are tried, by halves: counting tokens is what takes time.
    """
    if (whole := needed(memory)) <= left:
        return memory, whole
    fitting = None
    low, high = 0, len(SHORTER_WIDTHS)
    while low < high:
        middle = (low + high) // 2
        shortened = _shortened(memory, weights, SHORTER_WIDTHS[middle])
        if (tokens := needed(shortened)) <= left:
            fitting = shortened, tokens
            high = middle
        else:
            low = middle + 1
    return fitting


def _shortened(memory: Recollection, weights: Mapping[str, float], width: int) -> Recollection:
    """With excerpts cut down to the width, still around what matched; at last without what stands beside it."""
    room = width // BESIDE
    is_told = memory.outcome.verdict != "unknown" or room > 1
    return memory._replace(
        outcome=memory.outcome if is_told else Outcome(),
        asked=memory.asked and excerpt(memory.asked, weights, width),
        answered=memory.answered and decisive(memory.answered, weights, width),
        done=memory.done[:room],
        before=memory.before[-room:] if room else (),
        after=memory.after if room else None,
        superseded_by=memory.superseded_by if room else None,
    )


# Context for a question: the best few items, each an excerpt with its id and its source, within a strict token budget.

MOST_ITEMS = 5
EXCERPT_WIDTH = 200
"""Characters of an item's text; the whole stays in the database, and `show` has it."""
SHARES = (1.0, 0.5, 0.25, 0.0)
"""Of that width, tried in this order where an item does not fit; at none its line with id and status is left."""
HEADING = "# Context"
NOTHING_RELEVANT = "Nothing relevant was found in earlier conversations, notes or tasks."


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """How much may be said. Raises UsageFault for a budget or a number that leaves nothing."""

    budget: int = 1500
    limit: int = MOST_ITEMS
    width: int = EXCERPT_WIDTH

    def __post_init__(self) -> None:
        if self.budget < 1 or self.limit < 1 or self.width < 1:
            raise UsageFault("budget, limit and excerpt start at 1", "Leave them out for the usual ones.")


def assemble(
    hits: Sequence[Hit], weights: Mapping[str, float], request: ContextRequest, count_tokens: Callable[[str], int]
) -> Context:
    """As many of the hits as fit, best first; one that does not fit is shortened before it and all after it are left out.

    Args:
        hits: best first.
        weights: of the question's words, around which excerpts are cut.
        request: the limits.
        count_tokens: of a text.
    """
    items: list[ContextItem] = []
    for hit in hits[: request.limit]:
        fitting = next(
            (
                item
                for item in _shorter(hit, weights, request.width)
                if count_tokens(text_of([*items, item])) <= request.budget
            ),
            None,
        )
        if fitting is None:
            break
        items.append(fitting)
    text = text_of(items)
    tokens = count_tokens(text)
    if tokens > request.budget:
        text, tokens = "", 0
    return Context(tuple(items), text, tokens)


def _shorter(hit: Hit, weights: Mapping[str, float], width: int) -> Iterator[ContextItem]:
    for share in SHARES:
        letters = int(width * share)
        yield ContextItem(hit, " ".join(excerpt(hit.content, weights, letters).split()) if letters else "")


def text_of(items: Sequence[ContextItem]) -> str:
    """The context as Markdown: an entry an item, then the sources by id."""
    if not items:
        return f"{HEADING}\n\n{NOTHING_RELEVANT}\n"
    entries = "".join(_entry(place, item) for place, item in enumerate(items, start=1))
    sources = "".join(f"- [{one_line(item.hit.id)}] {format_citation(item.hit)}\n" for item in items)
    return f"{HEADING}\n\n{entries}\nSources:\n{sources}"


def _entry(place: int, item: ContextItem) -> str:
    hit = item.hit
    similarity = "" if hit.similarity is None else f"similarity: {max(0.0, hit.similarity):.0%}"
    kind = hit.role if hit.type == "prompt" else hit.type
    task = () if hit.task is None else (hit.task.status, one_line(hit.task.title)[:80])
    facts = (
        f"[{one_line(hit.id)}] {kind}",
        *task,
        one_line(hit.source_project),
        format_time(hit.timestamp),
        similarity,
    )
    line = f"{place}. {' · '.join(fact for fact in facts if fact)}\n"
    return f"{line}{quote(item.excerpt)}\n" if item.excerpt else line
