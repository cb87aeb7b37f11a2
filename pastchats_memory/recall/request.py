"""Describe."""

from __future__ import annotations

from dataclasses import dataclass

from pastchats_memory.errors import UsageFault
from pastchats_memory.recall.selection import LEAST_RELEVANCE
from pastchats_memory.search.request import Request


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """What to recall and how much of it may be said. Raises UsageFault for a budget that holds nothing."""

    search: Request
    budget: int = 1500
    """Tokens of the whole block."""
    current_project: str | None = None
    """The project in which the caller stands: it wins near ties."""
    not_conversation: str | None = None
    """The conversation that is going on: what was said in it needs no recalling."""
    given: frozenset[str] = frozenset()
    """Ids of items that the caller was given already; their episodes are left out."""
    least_relevance: float = LEAST_RELEVANCE
    """Of the best hit, for anything to be said."""

    def __post_init__(self) -> None:
        if self.budget < 1:
            raise UsageFault("the budget is less than one token", "Leave it out for 1500.")
