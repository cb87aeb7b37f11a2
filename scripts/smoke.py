"""Run an installed program through a newcomer's first minute, on any system: setup, a hook, a recall, undo.

    python scripts/smoke.py [PROGRAM]
    python scripts/smoke.py --packages FOLDER

Everything happens in a temporary home, over the sample history. With `--packages`, the installer of this system installs the
wheel of a folder first, and the npm wrapper, the command of the bundle for desktop clients and the skills are tried. This
needs uv, node and npm.
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

REPOSITORY = Path(__file__).resolve().parents[1]
HISTORY = REPOSITORY / "fixtures" / "demo" / "history"
INSTALLER = (
    ["powershell", "-ExecutionPolicy", "Bypass", "-File", "install.ps1"] if os.name == "nt" else ["sh", "install.sh"]
)
CLIENT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "smoke", "version": "1"}}
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": CLIENT}


def main() -> int:
    """Run every step. Return the exit code."""
    if sys.argv[1:2] == ["--packages"]:
        with tempfile.TemporaryDirectory(prefix="pastchats-memory-packages-") as folder:
            return try_program(install_packages(Path(sys.argv[2]).resolve(), Path(folder)))
    return try_program(sys.argv[1] if len(sys.argv) > 1 else shutil.which("pastchats-memory") or "pastchats-memory")


def install_packages(wheels: Path, folder: Path) -> str:
    """Try every package of this version, and return the program that the installer put below a folder."""
    [wheel] = wheels.glob("*.whl")
    version = wheel.name.split("-")[1]
    environment = {**os.environ, "PASTCHATS_MEMORY_PACKAGE": str(wheel), "UV_FIND_LINKS": str(wheels)}
    environment |= {"UV_TOOL_DIR": str(folder / "tools"), "UV_TOOL_BIN_DIR": str(folder / "bin")}
    environment["PASTCHATS_MEMORY_DB"] = str(folder / "memory.db")
    bundle = json.loads((REPOSITORY / "packaging/mcpb/manifest.json").read_text(encoding="utf-8"))["server"][
        "mcp_config"
    ]
    steps = (
        (INSTALLER, "", "Next:"),
        (["node", "packaging/npm/run.js", "--version"], "", version),
        (["npx", "--yes", "@anthropic-ai/mcpb", "validate", "packaging/mcpb/manifest.json"], "", "passes"),
        ([bundle["command"], *bundle["args"]], json.dumps(INITIALIZE) + "\n", '"serverInfo"'),
        (["npx", "--yes", "skills", "add", ".", "--list"], "", "semantic-search"),
    )
    for command, text, expected in steps:
        found = shutil.which(command[0]) or command[0]  # npx is a script on Windows, which only its whole name starts
        done = subprocess.run(  # noqa: S603 - the packages under test
            [found, *command[1:]], input=text, capture_output=True, encoding="utf-8", env=environment, cwd=REPOSITORY,
            check=False,
        )  # fmt: skip
        check(expected in done.stdout, " ".join(command), f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
        print(f"passed  {' '.join(command)}", flush=True)
    return str(shutil.which("pastchats-memory", path=str(folder / "bin")))


def try_program(program: str) -> int:
    """Run every step of the first minute. Return the exit code."""
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
