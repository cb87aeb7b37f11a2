"""What a paste does to a question: log, trace, code, difference or data of something else, below it or above it.

    PASTCHATS_BENCH=<folder of sets> python benchmarks/pasted.py [SET_FOLDER ...] [--databases DIR]

Every judged query is asked as it is and, in turn, with one of `fixtures/pastes` below it or above it. Shown is
nDCG@10 by the narrowest level judged: as it is; pasted; and pasted where the paste is embedded and looked up like
everything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import quality
from judged import LEVELS, METRICS, Set, asked_for

import pastchats_memory.search
from pastchats_memory import Memory
from pastchats_memory.search import hits
from pastchats_memory.search.query import QueryText

PASTES = sorted((Path(__file__).parents[1] / "fixtures" / "pastes").glob("*.txt"))
EVERY = 5
"""Of the queries of a set one in so many is asked."""


def pasted(number: int, text: str) -> str:
    """A query with the paste whose turn it is."""
    paste = PASTES[number % len(PASTES)].read_text(encoding="utf-8")
    return f"{text}\n\n{paste}" if number // len(PASTES) % 2 else f"{paste}\n{text}"


class Some(Set):
    """A sample of a set's queries."""

    @property
    def queries(self) -> list[dict[str, Any]]:
        """One in EVERY."""
        return super().queries[::EVERY]


def measure(of: Set, databases: Path) -> None:
    """Print a row."""
    path = of.indexed(databases)
    scores = quality.Scores(of, quality.Plain(path).units())
    with_paste = {asked["query_id"]: pasted(number, asked["text"]) for number, asked in enumerate(of.queries)}

    with Memory.open(path) as memory, quality.instead(hits, excerpt=lambda text, *_: text):
        search = quality.searched(memory, "hybrid")

        def asked_pasted(asked: Mapping[str, Any]) -> list[int]:
            return search({**asked, "text": with_paste[asked["query_id"]]})

        scores.add("as it is", search)
        scores.add("pasted", asked_pasted)
        with quality.instead(pastchats_memory.search, query_text=lambda text: QueryText(text, text)):
            scores.add("as one text", asked_pasted)
    level = next(level for level in LEVELS if level in scores.rows)
    cells = [f"{values[:, METRICS.index('nDCG@10')].mean():.3f}" for values in scores.rows[level].values()]
    print(f"| {of.name}, {level} ({len(of.queries)}) | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Measure and print."""
    with asked_for(__doc__ or "") as (found, folder, _):
        print("| set | as it is | pasted | as one text |\n|---|--:|--:|--:|")
        for one in found:
            measure(Some(one.folder), folder)


if __name__ == "__main__":
    main()
