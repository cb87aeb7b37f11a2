"""As many entries of a recall block as its budget holds, each as long as it may be. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pastchats_memory.model import Outcome, RecallBlock, RecallEntry
from pastchats_memory.render import NOTHING, TOO_SMALL, block_text, entry_text
from pastchats_memory.text.excerpt import excerpt
from pastchats_memory.text.key_sentences import key_sentences

SHORTER_WIDTHS = (820, 740, 670, 600, 540, 480, 430, 380, 340, 300, 260, 220, 190, 160, 130, 100, 80, 60)
"""Of an excerpt where there is no room for more; the steps are small so that little room is left over."""
WIDTH_PER_LINE = 150
"""Characters of an excerpt for each further line that may stand beside it."""


def fit_budget(
    query: str,
    memories: Sequence[RecallEntry],
    weights: Mapping[str, float],
    budget: int,
    count_tokens: Callable[[str], int],
) -> RecallBlock:
    """The block of as many entries as fit, best first; the one that does not is tried with shorter excerpts before it is left out.

    Entries are counted one by one: tokens do not reach across the line between two, so the block is never more than
    the sum of its parts, and no text is counted twice but for the whole at the end.
    """
    kept: list[RecallEntry] = []
    left = budget - count_tokens(block_text(query, [], ""))

    def needed(memory: RecallEntry) -> int:
        return count_tokens(entry_text(len(kept) + 1, memory))

    for memory in memories:
        fitting = _shorten_to_fit(memory, weights, needed, left)
        if fitting is None:
            break
        kept.append(fitting[0])
        left -= fitting[1]
    least, nothing = 0, NOTHING
    if memories and not kept:
        least = budget - left + needed(_shorten(memories[0], weights, SHORTER_WIDTHS[-1]))
        nothing = TOO_SMALL.format(least=least)
    text = block_text(query, kept, nothing)
    tokens = count_tokens(text)
    if tokens > budget:
        return RecallBlock(query, (), "", 0, least=least or tokens)
    return RecallBlock(query, tuple(kept), text, tokens, least=least)


def _shorten_to_fit(
    memory: RecallEntry, weights: Mapping[str, float], needed: Callable[[RecallEntry], int], left: int
) -> tuple[RecallEntry, int] | None:
    """The memory, or that with the longest excerpts that fit, and what it needs; None where even the shortest need more.

    Few widths are tried, by halves: counting tokens is what takes time.
    """
    if (whole := needed(memory)) <= left:
        return memory, whole
    fitting = None
    low, high = 0, len(SHORTER_WIDTHS)
    while low < high:
        middle = (low + high) // 2
        shortened = _shorten(memory, weights, SHORTER_WIDTHS[middle])
        if (tokens := needed(shortened)) <= left:
            fitting = shortened, tokens
            high = middle
        else:
            low = middle + 1
    return fitting


def _shorten(memory: RecallEntry, weights: Mapping[str, float], width: int) -> RecallEntry:
    """With excerpts cut down to the width, still around what matched; at last without what stands beside it."""
    room = width // WIDTH_PER_LINE
    is_told = memory.outcome.verdict != "unknown" or room > 1
    return memory._replace(
        outcome=memory.outcome if is_told else Outcome(),
        asked=memory.asked and excerpt(memory.asked, weights, width),
        answered=memory.answered and key_sentences(memory.answered, weights, width),
        done=memory.done[:room],
        before=memory.before[-room:] if room else (),
        after=memory.after if room else None,
        superseded_by=memory.superseded_by if room else None,
    )


# Context for a question: the best few items, each an excerpt with its id and its source, within a strict token budget.
