"""A checked search request."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from pastchats_memory.errors import UsageFault
from pastchats_memory.model import NO_FILTERS, Filters
from pastchats_memory.search.hits import Fit

MODES = ("hybrid", "keyword", "semantic")
MOST_HITS = 1000
"""Rank of the last hit that a search returns."""
EVEN_BALANCE = 0.5
"""Balance that weighs words and meaning equally."""


@dataclass(frozen=True, slots=True)
class Request:
    """A search request. Raises UsageFault for values that cannot be searched with."""

    text: str
    mode: str = "hybrid"
    limit: int = 10
    page: int = 1
    filters: Filters = NO_FILTERS
    threshold: float | None = None
    """Lowest relevance of a hit, 0 to 1."""
    min_similarity: float | None = None
    """Lowest cosine of a hit."""
    meaning: float = EVEN_BALANCE
    """Semantic weight: 0 is words alone, 1 is meaning alone."""
    today: date = field(default_factory=date.today)
    """The day from which "last week" in the text counts."""
    time_filters: bool = False
    """Whether a time in the text may exclude rows; otherwise it only favours rows of that time."""
    names: Mapping[str, float] = field(default_factory=dict)
    """Worth of each word that may name a topic, as `text.topics` gives it; hits say how much of it they have."""

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
        """Return whether the question must be embedded."""
        return self.mode != "keyword" or self.is_selective

    @property
    def ranks_meaning(self) -> bool:
        """Return whether nearest neighbours take part in the ranking."""
        return self.mode != "keyword" and self.meaning > 0

    @property
    def is_selective(self) -> bool:
        """Return whether a threshold applies, so that more rows are looked at than shown."""
        return self.threshold is not None or self.min_similarity is not None

    @property
    def last(self) -> int:
        """Rank of the last row that is looked at."""
        return MOST_HITS if self.is_selective else self.limit * self.page

    def accepts(self, fit: Fit) -> bool:
        """Check whether a row of this fit passes the thresholds."""
        return (self.threshold is None or fit.relevance >= self.threshold) and (
            self.min_similarity is None or (fit.similarity is not None and fit.similarity >= self.min_similarity)
        )
