"""Describe."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date

from pastchats_memory.errors import UsageFault
from pastchats_memory.model import NO_FILTERS, Filters
from pastchats_memory.search.hits import Fit

MODES = ("hybrid", "keyword", "semantic")


MOST_HITS = 1000


EVEN_BALANCE = 0.5
"""Balance of words and meaning."""


@dataclass(frozen=True, slots=True)
class Request:
    """A search, checked: what cannot be asked is refused when it is made. Raises UsageFault."""

    text: str
    mode: str = "hybrid"
    limit: int = 10
    page: int = 1
    filters: Filters = NO_FILTERS
    threshold: float | None = None
    """Least relevance, 0 to 1."""
    min_similarity: float | None = None
    """Least cosine."""
    meaning: float = EVEN_BALANCE
    """0 is words alone, 1 meaning alone."""
    today: date = field(default_factory=date.today)
    """What "last week" in the text counts from."""
    time_filters: bool = False
    """Whether a time in the text may leave rows out, rather than only speak for what was said then."""

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise UsageFault("the query is empty", "Say what to look for: pastchats-memory search 'retry strategy'.")
        if self.mode not in MODES:
            raise UsageFault(f"unknown mode {self.mode!r}", f"Use one of {', '.join(MODES)}.")
        if self.limit < 1 or self.page < 1:
            raise UsageFault("limit and page start at 1", "Leave them out for the first ten results.")
        if self.limit * self.page > MOST_HITS:
            raise UsageFault(
                f"limit × page is at most {MOST_HITS}", "Narrow the search with --project, --since or --role."
            )
        if any(least is not None and not -1 <= least <= 1 for least in (self.threshold, self.min_similarity)):
            raise UsageFault("a threshold runs from -1 to 1", "Leave it out for all results.")
        if not 0 <= self.meaning <= 1:
            raise UsageFault("meaning runs from 0 (words) to 1 (meaning)", "Leave it out for the usual balance.")

    @property
    def needs_vector(self) -> bool:
        """Whether the model has to be asked."""
        return self.mode != "keyword" or self.is_selective

    @property
    def ranks_meaning(self) -> bool:
        """Whether the nearest neighbours are among what is ranked."""
        return self.mode != "keyword" and self.meaning > 0

    @property
    def is_selective(self) -> bool:
        """Whether hits are kept by what they are worth, so that more have to be looked at than are shown."""
        return self.threshold is not None or self.min_similarity is not None

    @property
    def last(self) -> int:
        """Place of the last hit that is looked at."""
        return MOST_HITS if self.is_selective else self.limit * self.page

    def accepts(self, fit: Fit) -> bool:
        """Whether a row that fits so well is a hit."""
        return (self.threshold is None or fit.relevance >= self.threshold) and (
            self.min_similarity is None or fit.similarity >= self.min_similarity
        )
