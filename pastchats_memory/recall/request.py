"""A checked recall request."""

from dataclasses import dataclass

from pastchats_memory.errors import UsageFault
from pastchats_memory.search.request import Request


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """What to recall, and how long the block may be. Raises UsageFault for a budget below one token."""

    search: Request
    budget: int = 1500
    """Tokens of the whole block."""
    current_project: str | None = None
    """The caller's project, which wins near ties."""
    folder: str | None = None
    """The caller's folder, whose repository is asked for commits; None asks none."""
    exclude_conversation: str | None = None
    """The conversation under way, which needs no recall."""
    exclude_items: frozenset[str] = frozenset()
    """Ids of items that the caller already has; their episodes are left out."""
    is_unasked: bool = False
    """Whether nobody asked for a block, so that every entry needs more evidence (`recall.unasked`)."""

    def __post_init__(self) -> None:
        if self.budget < 1:
            raise UsageFault("the budget is less than one token", "Leave it out for 1500.")
