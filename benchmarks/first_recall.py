"""Measure `setup` on a new machine, from the command to the first recall, over a history that was never read.

    python benchmarks/first_recall.py [--megabytes N]

The history is a synthetic one of Claude Code (`corpus.py`), in a temporary home. `setup` indexes the newest part, connects
the agent and prints a recall; the rest goes on in the background. The time is that of the clock, since a person waits for it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

import corpus
import timing


def write_history(folder: Path, megabytes: float) -> int:
    """Write sessions until they have so many megabytes. Return the number of turns."""
    turns = size = 0
    writer = corpus.Writer()
    while size < megabytes * 1e6:
        conversation = writer.conversation(turns)
        turns += len(conversation.turns)
        size += corpus.write_session(conversation, folder).stat().st_size
    return turns


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=50)
    options = parser.parse_args()
    print(timing.machine())
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        turns = write_history(home / ".claude" / "projects", options.megabytes)
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "LANG": "C.UTF-8"}
        command = [timing.PROGRAM, "setup", "--yes", "--json"]
        start = time.perf_counter()
        done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=True)
        seconds = time.perf_counter() - start
        steps = json.loads(done.stdout)["results"]
        if not any(step["step"] == "recall" and step["state"] == "done" for step in steps):
            raise SystemExit(f"setup ended without a recall: {steps}")
        status = [timing.PROGRAM, "status", "--json"]
        found = subprocess.run(status, env=environment, capture_output=True, encoding="utf-8", check=True)
        indexed = json.loads(found.stdout)["results"][0]["turns"]
        print(
            f"{options.megabytes:.0f} MB, {turns:,} turns: the first recall after {seconds:.1f} s, {indexed:,} turns indexed"
        )
        subprocess.run(["/usr/bin/pkill", "-f", folder], check=False)  # the rest would go on in the background


if __name__ == "__main__":
    main()
