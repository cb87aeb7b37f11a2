"""Test the server against its own description with schemathesis; `make fuzz-http` does it at length."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from jsonschema import Draft202012Validator
from program import Program
from served import Endpoint, Server, get, serving
from waiting import HANG_S

AT_LENGTH = "FUZZ_HTTP_EXAMPLES" in os.environ
HOW = (
    ("--phases", "examples,coverage,fuzzing,stateful", "--max-examples", os.environ["FUZZ_HTTP_EXAMPLES"])
    if AT_LENGTH
    else ("--phases", "fuzzing", "--max-examples", "3", "--generation-deterministic")
)

MAY_BE_UNAVAILABLE = """
[checks]
not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", "503"]
"""
"""Takes 503 as an answer, whose body is checked: a reranker or a team may be absent."""


def run_schemathesis(server: Server, folder: Path, *further: str) -> str:
    """Return the output; fail if an answer or the handling of a request differs from the description."""
    (folder / "schemathesis.toml").write_text(MAY_BE_UNAVAILABLE)
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


def test_the_server_behaves_as_described(server: Server, endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.first_chunk_read.set()  # no random request waits for the first part of an answer
    output = run_schemathesis(server, tmp_path, "--header", f"X-Memory-Token: {server.token['X-Memory-Token']}")
    described = server.get("/openapi.json").json()["paths"]
    operations = sum(len(of_path) for of_path in described.values())
    assert f"{operations} selected / {operations} total" in output
    assert endpoint.seen
    assert [line for line in server.messages if "Traceback" in line] == []


def test_every_answer_is_described_by_a_closed_schema(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    schemas = document["components"]["schemas"]
    assert {"SearchBody", "RecallBody", "ItemView", "TaskView", "ErrorBody"} <= set(schemas)
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)
        assert schema["additionalProperties"] is False
    references = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(document)))
    assert references == set(schemas)


@pytest.mark.skipif(not AT_LENGTH, reason="make fuzz-http asks a server with a token, too")
def test_a_server_with_a_token_behaves_as_described(demo: Program, tmp_path: Path) -> None:
    with serving(Program(demo.home), "--token", "of-my-own") as guarded:
        assert get(f"{guarded.url}/search?query=a").status_code == 401
        run_schemathesis(guarded, tmp_path, "--header", "Authorization: Bearer of-my-own")
