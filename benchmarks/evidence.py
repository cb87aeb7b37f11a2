"""What finding the lines of evidence costs a recall: `python benchmarks/evidence.py [MB]`.

Makes five sessions of MB megabytes each (15, just below what is searched), in whose last turns tests pass, beside others about something else, and asks for them. Prints
the processor time of a whole `recall` in a process of its own, and of it what the search for those lines takes.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import citations

from pastchats_memory import Memory
from pastchats_memory.episodes import load

TOPICS = ("till", "basket", "coupons", "invoices", "delivery")
RECORD = 4000
"""Characters of a record that is no message, of which the sessions are full."""
ROUNDS = 10
QUESTION = "make the flaky test of the shop pass"


def session(number: int, size: int) -> str:
    """JSONL of a conversation of so many characters; at its end tests pass."""
    said = (
        ("user", f"Make the flaky test of the shop pass, the one of the {TOPICS[number]}."),
        ("tool", "$ pytest -q\n12 passed in 0.81s"),
        ("assistant", f"Fixed: the test of the {TOPICS[number]} reads the clock once."),
    )
    turns = (
        {"conversation_id": f"s{number}", "project": "bench", "role": role, "content": text, "timestamp": f"2026-04-04T08:0{at}:00Z"}
        for at, (role, text) in enumerate(said)
    )  # fmt: skip
    record = json.dumps({"type": "snapshot", "data": "x" * RECORD}) + "\n"
    said_before = citations.session(number, 0) + record * (size // len(record))
    return said_before + "".join(json.dumps(turn) + "\n" for turn in turns)


def main() -> None:
    """Build, ask, print."""
    size = (int(sys.argv[1]) if len(sys.argv) > 1 else 15) * 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        database, base = Path(folder) / "memory.db", Path(folder) / "sessions"
        base.mkdir()
        for number in range(citations.SESSIONS):
            text = session(number, size) if number < len(TOPICS) else citations.session(number, 0)
            (base / f"s{number}.jsonl").write_text(text, encoding="utf-8")
        with Memory.open(database) as memory:
            memory.index([base])
            looked_for, taken = searched(memory)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        for _ in range(ROUNDS):
            subprocess.run(
                [sys.executable, "-m", "pastchats_memory", "recall", QUESTION, "--db", str(database)],
                check=True,
                capture_output=True,
            )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    whole = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / ROUNDS
    print(f"recall {whole * 1000:.0f} ms of the processor, {looked_for:.0f} lines looked for in {taken * 1000:.1f} ms")


def searched(memory: Memory) -> tuple[float, float]:
    """Lines looked for and seconds of the processor that they take, a recall."""
    line_of, took = load.find_line, list[float]()

    def timed(*arguments):  # noqa: ANN002, ANN202 - stands in for the function
        start = time.process_time()
        try:
            return line_of(*arguments)
        finally:
            took.append(time.process_time() - start)

    load.find_line = timed
    memory.recall(QUESTION)
    took.clear()
    for _ in range(ROUNDS):
        memory.recall(QUESTION)
    return len(took) / ROUNDS, sum(took) / ROUNDS


if __name__ == "__main__":
    main()
