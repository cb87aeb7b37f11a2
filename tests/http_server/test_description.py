"""The server against its own description, asked by schemathesis: `make fuzz-http` does it at length."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from program import Program
from served import Endpoint, Server, get, serving
from waiting import HANG_S

AT_LENGTH = "FUZZ_HTTP_EXAMPLES" in os.environ
HOW = (
    ("--phases", "examples,coverage,fuzzing,stateful", "--max-examples", os.environ["FUZZ_HTTP_EXAMPLES"])
    if AT_LENGTH
    else ("--phases", "fuzzing", "--max-examples", "3", "--generation-deterministic")
)


def asked_by_schemathesis(server: Server, folder: Path, *further: str) -> str:
    """What it found to say; it fails where an answer is not as described, or a request not taken as described."""
    command = [
        sys.executable,
        "-m",
        "schemathesis.cli",
        "run",
        f"{server.url}/openapi.json",
        *HOW,
        "--request-timeout",
        str(HANG_S),
        *further,
        "--no-color",
    ]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=3600)
    assert run.returncode == 0, "\n".join(line[:300] for line in (run.stdout + run.stderr).splitlines())
    return run.stdout


def test_what_is_served_is_as_it_is_described(server: Server, endpoint: Endpoint, tmp_path: Path) -> None:
    said = asked_by_schemathesis(server, tmp_path)
    described = get(f"{server.url}/openapi.json").json()["paths"]
    operations = sum(len(of_path) for of_path in described.values())
    assert f"{operations} selected / {operations} total" in said
    assert endpoint.seen
    assert [line for line in server.said if "Traceback" in line] == []


@pytest.mark.skipif(not AT_LENGTH, reason="make fuzz-http asks a server with a token, too")
def test_behind_a_token_it_is_as_described_too(demo: Program, tmp_path: Path) -> None:
    with serving(Program(demo.home), "--token", "of-my-own") as guarded:
        assert get(f"{guarded.url}/search?query=a").status_code == 401
        asked_by_schemathesis(guarded, tmp_path, "--header", "Authorization: Bearer of-my-own")
