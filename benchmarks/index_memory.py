"""Measure the peak memory of `index` over a session of half a gigabyte.

    python benchmarks/index_memory.py [--megabytes N]

The command runs as a process of its own, with a database of its own; its peak resident memory is what the system says
when it has ended (`wait4`). The same of a session of one turn shows what the model and the libraries take.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

import corpus
import timing

MEDIAN_RESULT, SPREAD = 6_000, 1.4
"""Characters of a tool result: log-normal, so that some are hundreds of kilobytes."""
HUGE = 4_000_000
"""Every two-thousandth is so long."""


def write_session(path: Path, megabytes: int) -> tuple[int, int]:
    """One session of that size; its lines and how many of them are turns."""
    writer = corpus.Writer(seed=2)
    pool = writer.text(2_000_000, 0.0).encode("ascii").decode()
    lines = turns = 0
    with path.open("w", encoding="utf-8") as file:
        for conversation in iter(lambda: writer.conversation(0), None):
            for turn in conversation.turns:
                record_id = str(uuid.UUID(int=lines))
                file.write(json.dumps(corpus.record(conversation, turn, record_id, None)) + "\n")
                turns, lines = turns + 1, lines + 1
                for _ in range(10):
                    lines += 1
                    length = HUGE if lines % 2000 == 0 else int(MEDIAN_RESULT * writer.spread(SPREAD))
                    file.write(json.dumps(tool_result(conversation, turn, lines, (pool * 3)[:length])) + "\n")
                if file.tell() > megabytes * 1_000_000:
                    return lines, turns
    raise AssertionError("conversations do not end")


def tool_result(
    conversation: corpus.Conversation, turn: corpus.Utterance, number: int, output: str
) -> dict[str, object]:
    """Return a tool's answer as Claude Code records it.

    It stands there twice, for the model and for the screen.
    """
    prompt_record = corpus.record(conversation, turn, str(uuid.UUID(int=number)), None)
    half = output[: len(output) // 2]
    result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": half}
    return {
        **prompt_record,
        "type": "user",
        "message": {"role": "user", "content": [result]},
        "toolUseResult": {"stdout": half},
    }


def peak(*command: str) -> tuple[int, float]:
    """Peak resident bytes and seconds of a process."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{command} ended with {child.returncode}")
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024), time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=500)
    options = parser.parse_args()
    print(timing.machine())
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder) / "small.jsonl", Path(folder) / "large.jsonl"
        first = next(corpus.conversations(corpus.TURNS_A_CONVERSATION))
        small.write_text(json.dumps(corpus.record(first, first.turns[0], str(uuid.UUID(int=1)), None)) + "\n")
        lines, turns = write_session(large, options.megabytes)
        for path in (small, large):
            most, seconds = peak(timing.PROGRAM, "index", str(path), "--db", f"{path}.db")
            size = path.stat().st_size / 1e6
            print(f"{path.name:12} {size:7.1f} MB of transcript: peak {most / 1e6:6.1f} MB, {seconds:.1f} s")
        print(f"large.jsonl has {lines:,} lines, {turns:,} of them turns")


if __name__ == "__main__":
    main()
