"""Run an installed program through a newcomer's first minute, on any system: setup, a hook, a recall, undo.

    python scripts/smoke.py [PROGRAM]

Everything happens in a temporary home, over the sample history.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HISTORY = Path(__file__).resolve().parents[1] / "fixtures" / "demo" / "history"


def main() -> int:
    """Run every step. Return the exit code."""
    program = sys.argv[1] if len(sys.argv) > 1 else shutil.which("pastchats-memory") or "pastchats-memory"
    with tempfile.TemporaryDirectory(prefix="pastchats-memory-smoke-") as folder:
        home = Path(folder)
        shutil.copytree(HISTORY / "claude", home / ".claude" / "projects")
        names = ("HOME", "USERPROFILE")
        environment = {**os.environ, **dict.fromkeys(names, folder), "PASTCHATS_MEMORY_DB": str(home / "memory.db")}
        environment |= {"XDG_STATE_HOME": str(home / "state"), "PASTCHATS_MEMORY_HOOK_SECONDS": "60"}

        def run(*arguments: str, body: object = None) -> Any:
            done = subprocess.run(  # noqa: S603 - the program under test
                [program, *arguments], input=json.dumps(body), capture_output=True, encoding="utf-8", env=environment,
                check=False,
            )  # fmt: skip
            if done.returncode:
                sys.exit(f"{arguments}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
            return json.loads(done.stdout) if done.stdout else None

        steps = run("setup", "--yes", "--json")["results"]
        check(any(step["step"] == "hooks" and step["state"] in {"done", "refused"} for step in steps), "setup", steps)
        prompt = {"session_id": "s", "cwd": folder, "prompt": "How did we build the webhook retries with backoff?"}
        answer = run("hook", "claude-code", "UserPromptSubmit", body=prompt)
        check("jitter" in json.dumps(answer), "the hook", answer)
        entries = run("recall", "build webhook retries", "--json")["results"]
        check(bool(entries), "recall", entries)
        if any(step["state"] == "done" and step["step"] == "hooks" for step in steps):
            run("setup", "--undo", "--yes", "--json")
        check(not (home / ".claude" / "settings.json").exists(), "undo", sorted(home.rglob("*")))
    print(f"{program} works on {sys.platform}, Python {sys.version.split()[0]}.")
    return 0


def check(is_right: bool, what: str, found: object) -> None:
    """End with a message if a step has the wrong result."""
    if not is_right:
        sys.exit(f"{what} is wrong: {found}")


if __name__ == "__main__":
    sys.exit(main())
