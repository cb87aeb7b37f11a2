"""Index the sample history, search it, recall from it, judge an episode and list lessons.

`make demo` runs it. Every step runs the real program and is printed as a user would type it. The database is temporary, and the
user's own memory is not touched.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
PROGRAM = Path(sys.executable).with_name("pastchats-memory")

STEPS = (
    (
        "Index the sessions of two coding agents, a log of messages, Markdown dialogues and notes.",
        ["index", "fixtures/demo/history"],
    ),
    (
        "Index a ChatGPT export, and file it under a project of its own.",
        ["index", "fixtures/demo/exports", "--project", "chatgpt"],
    ),
    (
        "Search by words and by meaning; two columns show the rank in each list.",
        ["search", "--query", "retry strategy", "--limit", "5"],
    ),
    (
        "Recall, before work starts, what was tried, what failed and what worked, each with its source.",
        ["recall", "--query", "build webhook retries"],
    ),
    (
        "Label an episode that the rules left unknown, with words that show how it ended.",
        ["judge", "16", "worked", "--because", "With chunks it ran, peak 480 MB"],
    ),
    (
        "List what failed more than once and then worked; the judgement above made this lesson known.",
        ["lessons", "--all"],
    ),
)


def main() -> int:
    """Run every step. Return the exit code of the first one that fails, else 0."""
    with tempfile.TemporaryDirectory(prefix="pastchats-memory-demo-") as folder:
        environment = {**os.environ, "PASTCHATS_MEMORY_DB": str(Path(folder) / "memory.db")}
        for comment, arguments in STEPS:
            print(f"\n# {comment}\n$ {shlex.join(['pastchats-memory', *arguments])}\n", flush=True)
            status = subprocess.run(  # noqa: S603 - the steps above, without a shell
                [PROGRAM, *arguments], cwd=REPOSITORY, env=environment, check=False
            ).returncode
            if status:
                print(f"\nThe demo stopped: this step ended with exit code {status}.", file=sys.stderr)
                return status
    print("\nThat was a database in a temporary folder. README.md says how to index your own history.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
