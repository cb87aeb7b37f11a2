"""Ask pip-audit whether known vulnerabilities lie in what is installed; without its data say so, and do not fail."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

COMMAND = (
    sys.executable, "-m", "pip_audit", "--skip-editable", "--progress-spinner", "off", "--timeout", "10", "--format", "json",
)  # fmt: skip
LONGEST_S = 240


def run_pip_audit() -> list[dict[str, Any]]:
    """Return pip-audit's result for each installed package; empty if it could not run."""
    try:
        done = subprocess.run(COMMAND, capture_output=True, text=True, timeout=LONGEST_S, check=False)  # noqa: S603 - our own command
        return list(json.loads(done.stdout)["dependencies"])
    except (subprocess.TimeoutExpired, json.JSONDecodeError):
        return []


def main() -> int:
    """Print the results; return 1 if a package has a known vulnerability."""
    results = run_pip_audit()
    audited = [one for one in results if "skip_reason" not in one]
    bad = [one for one in audited if one["vulns"]]
    for one in bad:
        names = ", ".join(flaw["id"] for flaw in one["vulns"])
        print(f"{one['name']} {one['version']}: {names}")
    if not audited:
        print("pip-audit: NOTHING WAS AUDITED, its data on vulnerabilities cannot be reached from here")
    else:
        print(f"pip-audit: {len(audited)} of {len(results)} packages audited, {len(bad)} with a known vulnerability")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
