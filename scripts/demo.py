"""Show the promise in one screen: index the sample history, ask before work starts, and read why.

`make demo` runs it. Every step runs the real program and is printed as a user would type it. The database is temporary, and the
user's own memory is not touched.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
PROGRAM = Path(sysconfig.get_path("scripts"), "pastchats-memory")  # on Windows not beside Python

STEPS = (
    (
        "Index the sessions of two coding agents, a log of messages, dialogues and notes.",
        ["index", "fixtures/demo/history"],
    ),
    (
        "Search by words and by meaning.",
        ["search", "--query", "retry strategy", "--limit", "1"],
    ),
    (
        "Before new work, ask what was tried. The answer is how the last attempt ended, after one that failed.",
        ["recall", "--query", "build webhook retries", "--limit", "1"],
    ),
)
WHY = """
`Ended:` quotes what was settled, `Before it:` names each attempt with your words about it, and `Source:` names file and line.
So the next agent does not build the fixed delay again. The database was in a temporary folder; `pastchats-memory setup` does
this for your own history."""


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
    print(WHY)
    return 0


if __name__ == "__main__":
    sys.exit(main())
