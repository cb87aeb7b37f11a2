"""Measure which wordings are known to replace an earlier decision.

    python benchmarks/outcome/replacing.py

Prints precision and recall of each part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pastchats_memory.episodes.supersession import supersedes

TABLE = Path(__file__).with_suffix(".tsv")
PARTS = (
    "build", "untouched", "second", "plain", "plain_untouched", "plain_second", "everyday", "everyday_untouched", "other_hand",
)  # fmt: skip
LEARNED = ("build", "second", "plain", "plain_second")
"""Parts that the model learns."""


class Wording(NamedTuple):
    """A later request beside an earlier one."""

    part: str
    replaces: bool
    earlier: str
    later: str

    @property
    def is_known(self) -> bool:
        """Check whether the model says that it replaces the earlier one."""
        return supersedes(self.later, self.earlier, "Done.")


def wordings(part: str) -> Iterator[Wording]:
    """Those of one part of the table."""
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{part}\t"):
            _, word, earlier, later = line.split("\t")
            yield Wording(part, word == "yes", earlier, later)


def main() -> None:
    """Print all parts."""
    for part in PARTS:
        counts = Counter((one.replaces, one.is_known) for one in wordings(part))
        right, reported, all_ = counts[True, True], counts[True, True] + counts[False, True], counts.total()
        replacing = right + counts[True, False]
        print(f"{part}: {all_} wordings, precision {right}/{reported}, recall {right}/{replacing}")


if __name__ == "__main__":
    main()
