"""What checking citations costs: recall with and without, and `verify` of everything.

    python benchmarks/citations.py [MB]

Makes sessions in a temporary folder, one of them of MB megabytes (100), and asks the same questions in turn with the check and
without it. Prints the ratio of processor time, which another program's load hardly changes, and what one citation takes.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pastchats_memory import Memory, recall
from pastchats_memory.episodes import load, threads
from pastchats_memory.episodes.cite import MAX_WAITING_BYTES, CitedFiles
from pastchats_memory.store import citations

SESSIONS, TURNS, ASKED = 40, 50, 60
TOPICS = ("webhook retries", "login test", "rate limiter", "schema migration", "cache eviction", "release notes")


def session(number: int, filler: int) -> str:
    """JSONL of a conversation; after each turn a record of so many characters that is no message."""
    lines = []
    for turn in range(TURNS):
        topic = TOPICS[(number + turn // 2) % len(TOPICS)]
        role = ("user", "assistant", "tool")[turn % 3]
        said = f"{topic}: attempt {turn} of session {number}, about {topic} with backoff {turn * number % 97}."
        if role == "tool":
            said = f"$ pytest -q tests/test_{number}.py\n{turn} passed in 1.2s"
        at = f"2026-03-{number % 28 + 1:02}T{turn // 60:02}:{turn % 60:02}:{number % 60:02}.123Z"
        lines.append(
            {"conversation_id": f"s{number}", "project": "bench", "role": role, "content": said, "timestamp": at}
        )
        if filler:
            lines.append({"type": "snapshot", "data": "x" * filler})
    return "".join(json.dumps(line) + "\n" for line in lines)


@contextmanager
def without_check() -> Iterator[None]:
    """Recall as it would be if nothing was checked: neither its entries nor what shows outcomes nor other attempts."""
    hits, items = recall.cite_hits, threads.cite_items
    recall.cite_hits = load.cite_items = threads.cite_items = lambda _, cited: list(cited)
    try:
        yield
    finally:
        recall.cite_hits, load.cite_items, threads.cite_items = hits, items, items


def main() -> None:
    """Build, ask, print."""
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "sessions"
        base.mkdir()
        for number in range(SESSIONS):
            (base / f"s{number}.jsonl").write_text(
                session(number, megabytes * 1_000_000 // TURNS if number == 0 else 0)
            )
        with Memory.open(Path(folder) / "memory.db") as memory:
            memory.index([base])
            memory._database.run("UPDATE outcomes SET confidence = 0.99 WHERE verdict != 'unknown'")  # noqa: SLF001 - so that all are said
            ratio(memory)
            one_citation(memory, base / "s0.jsonl")
            everything(memory)


def ratio(memory: Memory) -> None:
    """Processor time of recalls with the check over those without, asked in turn."""
    taken = {True: 0.0, False: 0.0}
    for number in range(-5, ASKED):
        for is_checked in (True, False) if number % 2 else (False, True):
            question = f"{TOPICS[number % len(TOPICS)]} backoff {number}"
            began = time.process_time()
            if is_checked:
                memory.recall(question)
            else:
                with without_check():
                    memory.recall(question)
            if number >= 0:
                taken[is_checked] += time.process_time() - began
    with_check, without = (taken[one] / ASKED * 1000 for one in (True, False))
    print(f"recall: {without:.2f} ms without the check, {with_check:.2f} ms with it, ratio {with_check / without:.3f}")


def one_citation(memory: Memory, large: Path) -> None:
    """A line of the large file: where it was, and pushed down by a line above."""
    hit = next(hit for hit in memory.search("session 0", mode="keyword", limit=500) if hit.source_path == str(large))
    (place,) = citations.places(memory._database, [int(hit.id)], [])[False, int(hit.id)]  # noqa: SLF001 - what is timed is below the face
    rounds = 200
    began = time.process_time()
    for _ in range(rounds):
        state = CitedFiles(MAX_WAITING_BYTES).check(place, hit.content).state
    each = (time.process_time() - began) / rounds
    size = large.stat().st_size / 1e6
    print(f"one citation in a file of {size:.0f} MB: {each * 1e6:.0f} µs ({state})")
    large.write_bytes(b"\n" + large.read_bytes())
    for most, name in ((MAX_WAITING_BYTES, "while somebody waits"), (1 << 40, "by verify")):
        began = time.process_time()
        state = CitedFiles(most).check(place, hit.content).state
        print(f"the same, pushed down by a line, {name}: {(time.process_time() - began) * 1000:.1f} ms ({state})")


def everything(memory: Memory) -> None:
    """`verify` of all, most of them as they were."""
    began = time.process_time()
    found = memory.verify()
    took = time.process_time() - began
    print(f"verify: {found.total} citations in {took:.2f} s, {found.states}")


if __name__ == "__main__":
    main()
