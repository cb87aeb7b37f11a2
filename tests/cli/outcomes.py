"""What every explained fault looks like, and how much is stored."""

from __future__ import annotations

import json
from pathlib import Path

from program import Program, Run


def explained(run: Run, *words: str) -> None:
    """It ended with 2, nothing on stdout, and a sentence on stderr with these words."""
    assert (run.status, run.stdout) == (2, ""), run
    assert "Traceback" not in run.stderr
    assert all(word in run.stderr for word in words), run.stderr


def error_of(run: Run) -> dict[str, str]:
    """The error object of a `--json` run that ended with 2."""
    assert (run.status, run.stdout) == (2, ""), run
    body = json.loads(run.stderr)
    assert body["schema"] == "error/1"
    assert set(body["error"]) == {"kind", "message", "hint"}
    return body["error"]


def turns(program: Program, database: Path | None = None) -> int:
    """How many turns a database holds, as `status` counts them."""
    where = [] if database is None else ["--db", database]
    status = program("status", "--json", *where)
    assert status.status == 0, status.stderr
    return status.results[0]["turns"]
