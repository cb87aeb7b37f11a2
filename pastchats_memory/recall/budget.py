"""Fit the entries of a recall block into a token budget. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pastchats_memory.model import Outcome, RecallBlock, RecallEntry
from pastchats_memory.text.excerpt import excerpt
from pastchats_memory.text.key_sentences import key_sentences
from pastchats_memory.views.text import NOTHING, TOO_SMALL, render_block, render_entry

SHORTER_WIDTHS = (
    1120, 1040, 960, 890, 820, 740, 670, 600, 540, 480, 430, 380, 340, 300, 260, 220, 190, 160, 130, 100, 80, 60,
)  # fmt: skip
"""Widths of a shortened excerpt; the steps are small so that little room stays unused."""
WIDTH_PER_LINE = 400
"""Characters of a shortened answer for each further line of its entry; the answer settles the question."""
QUESTION_SHARE = 8
"""Part of a shortened answer's width that its question gets, which only names the problem."""
LEAST_QUESTION = 60
"""Characters of the shortest question."""


def fit_budget(
    query: str,
    candidates: Sequence[RecallEntry],
    weights: Mapping[str, float],
    budget: int,
    count_tokens: Callable[[str], int],
) -> RecallBlock:
    """Return the block of as many entries as fit, best first.

    The first that does not fit is shortened, or else left out.

    Entries are counted one by one. No token spans the line between two entries, so the block never exceeds the sum of its
    parts, and only the whole block is counted twice.
    """
    entries: list[RecallEntry] = []
    left = budget - count_tokens(render_block(query, [], ""))

    def needed(entry: RecallEntry) -> int:
        return count_tokens(render_entry(len(entries) + 1, entry))

    for entry in candidates:
        fitted = _shorten_to_fit(entry, weights, needed, left)
        if fitted is None:
            break
        entries.append(fitted[0])
        left -= fitted[1]
    least, nothing = 0, NOTHING
    if candidates and not entries:
        least = budget - left + needed(_shorten(candidates[0], weights, SHORTER_WIDTHS[-1]))
        nothing = TOO_SMALL.format(least=least)
    text = render_block(query, entries, nothing)
    tokens = count_tokens(text)
    if tokens > budget:
        return RecallBlock(query, (), "", 0, least=least or tokens)
    return RecallBlock(query, tuple(entries), text, tokens, least=least)


def _shorten_to_fit(
    entry: RecallEntry, weights: Mapping[str, float], needed: Callable[[RecallEntry], int], left: int
) -> tuple[RecallEntry, int] | None:
    """Return the entry with the longest excerpts that fit, and its tokens.

    None if even the shortest do not fit.

    The widths are tried by halving, because counting tokens takes the time.
    """
    if (whole := needed(entry)) <= left:
        return entry, whole
    fitted = None
    low, high = 0, len(SHORTER_WIDTHS)
    while low < high:
        middle = (low + high) // 2
        shortened = _shorten(entry, weights, SHORTER_WIDTHS[middle])
        if (tokens := needed(shortened)) <= left:
            fitted = shortened, tokens
            high = middle
        else:
            low = middle + 1
    return fitted


def _shorten(entry: RecallEntry, weights: Mapping[str, float], width: int) -> RecallEntry:
    """Return the entry with an answer of a width, still around what matched, and little else.

    The narrowest have no further lines, except the attempt that worked.
    """
    room = width // WIDTH_PER_LINE
    return entry._replace(
        outcome=entry.outcome if entry.outcome.verdict != "unknown" else Outcome(),
        asked=entry.asked and excerpt(entry.asked, weights, max(LEAST_QUESTION, width // QUESTION_SHARE)),
        answered=entry.answered and key_sentences(entry.answered, weights, width),
        done=entry.done[-room:] if room else (),
        before=entry.before[-room:] if room else (),
    )
