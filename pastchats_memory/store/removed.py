"""Keep what a process removes, until the file was searched for it."""

from collections.abc import Iterable

MOST_BYTES = 4 << 20
"""Of so much, SQLite leaves copies almost surely."""


class RemovedValues:
    """What this process removed from a database since its file was last searched."""

    def __init__(self) -> None:
        self.rewrite_s = 0.0
        """Seconds that SQLite took to write the file anew, since copies were left."""
        self.clear()

    def clear(self) -> None:
        """Start anew."""
        self.values: list[bytes] = []
        self.size = 0
        self.deletions = 0

    def add(self, rows: Iterable[Iterable[object]] | None) -> None:
        """Add the values that a deletion removes, as they are and as an index of words has them; None is too many."""
        self.deletions += 1
        if rows is None:
            self.size = MOST_BYTES + 1
            return
        for value in {value for row in rows for value in row if isinstance(value, (str, bytes))}:
            forms = {value} if isinstance(value, bytes) else {value.encode(), value.lower().encode()}
            self.size += sum(map(len, forms))
            if self.is_complete:
                self.values += forms

    @property
    def is_complete(self) -> bool:
        """Return whether all values are kept."""
        return self.size <= MOST_BYTES
