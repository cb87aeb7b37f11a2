"""Check the plugins with the agents' own programs from npm: their validators, their installers and their lists of MCP servers.

    python scripts/check_plugins.py FOLDER

FOLDER has the programs in node_modules/.bin, as `npm install` leaves them. Each runs in a temporary home and asks no model.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
PLUGIN = "pastchats-memory@pastchats-memory"
CHECKS = (
    ("claude plugin validate {repository}/plugins/claude-code", "Validation passed"),
    ("claude plugin validate {repository}", "Validation passed"),
    ("claude plugin marketplace add {repository}", "Successfully added"),
    (f"claude plugin install {PLUGIN}", "Successfully installed"),
    ("claude mcp list", "plugin:pastchats-memory:pastchats-memory: pastchats-memory mcp - ✔ Connected"),
    ("codex plugin marketplace add {repository}", "Added marketplace"),
    (f"codex plugin add {PLUGIN}", "Added plugin"),
    ("codex mcp list", "pastchats-memory"),
    ("gemini extensions validate {repository}/plugins/gemini", "successfully validated"),
    ("gemini extensions install --consent --skip-settings {repository}/plugins/gemini", "installed successfully"),
    ("gemini mcp list", "pastchats-memory mcp (stdio) - Connected"),
)
"""What to run, and what the program then says."""
LONGEST_S = 300
ATTEMPTS = 3
"""On a busy machine, an agent gives up on an MCP server after five seconds."""


def main() -> int:
    """Run every check. Return the exit code."""
    [agents] = sys.argv[1:] or sys.exit(__doc__)
    programs = Path(agents).resolve() / "node_modules" / ".bin"
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    failures = 0
    # Gemini CLI trusts no folder below the system's temporary folder, and Codex keeps no helpers there.
    with tempfile.TemporaryDirectory(prefix="check-plugins-", dir=programs.parents[1]) as folder:
        home = Path(folder)
        (work := home / "work").mkdir()
        variables = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "GEMINI_CLI_TRUST_WORKSPACE": "true"}
        environment = {"PATH": path, "HOME": folder, "PASTCHATS_MEMORY_DB": str(home / "memory.db"), **variables}
        for line, expected in CHECKS:
            for _ in range(ATTEMPTS):
                done = subprocess.run(  # noqa: S603 - the programs under test
                    line.format(repository=REPOSITORY).split(" "), env=environment, cwd=work, stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", timeout=LONGEST_S, check=False,
                )  # fmt: skip
                if is_right := done.returncode == 0 and expected in done.stdout:
                    break
            failures += not is_right
            print(f"{'passed' if is_right else 'FAILED'}  {line.format(repository='.')}", flush=True)
            if not is_right:
                print(done.stdout)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
