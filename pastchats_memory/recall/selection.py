"""Describe."""

from __future__ import annotations

from collections.abc import Sequence

from pastchats_memory.model import Hit, Hits
from pastchats_memory.search.lexical import Terms

LEAST_RELEVANCE = 0.5
"""Below this best relevance recall says nothing: 5 % of the questions reach it that are asked of a memory of other things,
96 % of the others (`benchmarks/recall_floor.py`)."""
FAR_BELOW = 0.25
"""Share of the best relevance that a further entry must have: what is far below only fills the block."""
OUTPUT_FAR_BELOW = 0.5
"""The same of one of which only the output of a tool matched."""
LEAST_COVERAGE = 0.5
"""Share of the question's weight that the corpus must know for recall to speak where there is no model."""
NEAR_TIE = 0.1
"""Scores that differ by less may be equal enough for project and date to decide: rows next to each other in every list,
however alike, differ by up to a twelfth."""
NEAR_SIMILARITY = 0.03
"""How far the cosines of such hits may lie apart, since places alone do not say how much better the better one is."""


def above_threshold(found: Hits, terms: Terms, least_relevance: float = LEAST_RELEVANCE) -> list[Hit]:
    """The hits that may be said; none where nothing that was found has anything to do with the question."""
    best = max((hit.relevance for hit in found if hit.relevance is not None), default=None)
    if best is None:
        return [] if terms.coverage < LEAST_COVERAGE else list(found)
    if best < least_relevance:
        return []
    return [hit for hit in found if hit.relevance is not None and hit.relevance >= FAR_BELOW * best]


def drop_weak_outputs(hits: Sequence[Hit]) -> list[Hit]:
    """The hits but for outputs of tools that are far below: they share the words of a command with whatever ran it."""
    best = max((hit.relevance or 0 for hit in hits), default=0)
    return [hit for hit in hits if hit.role != "tool" or (hit.relevance or 0) >= OUTPUT_FAR_BELOW * best]


def settle_near_ties(hits: Sequence[Hit], current_project: str | None) -> list[Hit]:
    """Best first; within a run of near ties the current project comes first, then the newer turn."""
    ordered: list[Hit] = []
    tied: list[Hit] = []
    for hit in hits:
        if tied and not _is_near_tie(tied[0], hit):
            ordered += _by_project_and_date(tied, current_project)
            tied = []
        tied.append(hit)
    return ordered + _by_project_and_date(tied, current_project)


def _is_near_tie(first: Hit, second: Hit) -> bool:
    """Whether a hit is as good as the better one; without a model nothing says so."""
    if first.similarity is None or second.similarity is None:
        return False
    is_near = abs(first.similarity - second.similarity) <= NEAR_SIMILARITY
    return is_near and second.score >= first.score * (1 - NEAR_TIE)


def _by_project_and_date(tied: Sequence[Hit], current_project: str | None) -> list[Hit]:
    """The current project first, then the newer conversation; within one the better hit stays before the later one."""
    newest: dict[str, str] = {}
    for hit in tied:
        newest[_conversation(hit)] = max(newest.get(_conversation(hit), ""), hit.timestamp or "")
    newest_first = sorted(tied, key=lambda hit: newest[_conversation(hit)], reverse=True)
    return sorted(newest_first, key=lambda hit: hit.source_project != current_project)


def _conversation(hit: Hit) -> str:
    return hit.id if hit.conversation_id is None else f"{hit.source_project}\n{hit.conversation_id}"
