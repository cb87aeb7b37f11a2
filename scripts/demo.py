"""Index the transcripts of this repository into a database of its own, search it, recall from it, judge and learn.

`make demo` runs it. Every step is the real program, printed as a reader would type it; nothing of the reader's is touched.
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
        "Read the sessions of two coding agents, a log of messages, Markdown dialogues and notes.",
        ["index", "fixtures/demo/history"],
    ),
    (
        "Read an export of chats, and file it under a project of its own.",
        ["index", "fixtures/demo/exports", "--project", "chatgpt"],
    ),
    (
        "Search by words and by meaning at once; the columns show the place in each list.",
        ["search", "--query", "retry strategy", "--limit", "5"],
    ),
    (
        "What an agent asks before it starts to work: what was tried, what failed, what worked, and where that is written.",
        ["recall", "--query", "build webhook retries"],
    ),
    (
        "Whoever reads an episode whose end no rule knows says how it ended, by words that stand there.",
        ["judge", "16", "worked", "--because", "With chunks it ran, peak 480 MB"],
    ),
    (
        "What failed more than once and then worked: this one is known since that was said.",
        ["lessons", "--all"],
    ),
)


def main() -> int:
    """Run every step; the exit code of the first one that fails, else 0."""
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
    print("\nThat was a database in a temporary folder. For your own history, see README.md.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
