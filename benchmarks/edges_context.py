"""How long a filtered search and the assembly of a context take in process: wall and processor time, median.

    python benchmarks/edges_context.py [DATABASE]

By default over the 100,000 turns of benchmarks/speed.py. The aims are 200 ms for a search and 100 ms for an assembly.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from corpus import database as built

from pastchats_memory import Memory
from pastchats_memory.embed.tokenizer import wordpieces
from pastchats_memory.recall.context import ContextRequest, build_context
from pastchats_memory.text.tokens import count_tokens

QUESTIONS = (
    "retry strategy for webhooks",
    "why does the login test fail",
    "database migration order",
    "cache eviction",
)
ROUNDS = 4


def show(name: str, ask: Callable[[str], object]) -> None:
    """Median wall and processor ms of asking each question ROUNDS times."""
    wall, processor = list[float](), list[float]()
    for question in QUESTIONS * ROUNDS:
        start, used = time.perf_counter(), time.process_time()
        ask(question)
        wall.append(time.perf_counter() - start)
        processor.append(time.process_time() - used)
    print(f"| {name} | {statistics.median(wall) * 1000:.0f} | {statistics.median(processor) * 1000:.0f} |")


def main() -> None:
    """Measure and print."""
    with Memory.open(Path(sys.argv[1]) if len(sys.argv) > 1 else built(100_000)) as memory:
        hits = memory.search(QUESTIONS[0], limit=5)
        print("| | wall, ms | cpu, ms |\n|---|--:|--:|")
        show("search", memory.search)
        show(
            "search by meaning, least similarity .2",
            lambda text: memory.search(text, mode="semantic", min_similarity=0.2),
        )
        show("search, turns of the user only", lambda text: memory.search(text, role="user"))
        show("context, search included", memory.context)
        show(
            "assembly alone",
            lambda _: build_context(hits, {}, ContextRequest(), lambda text: count_tokens(text, wordpieces)),
        )


if __name__ == "__main__":
    main()
