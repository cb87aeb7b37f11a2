"""What a command is for, and how its output says that it ended."""

from __future__ import annotations

import pytest

from pastchats_memory.commands import check_of, ends_badly, is_look


@pytest.mark.parametrize(
    "output",
    [
        "row 12\nIndexError: list index out of range",
        "npm error code ERESOLVE\nnpm error While resolving: shop@1.0.0",
        "HTTP/1.1 500 Internal Server Error\ncontent-type: text/html",
        '{"detail":"no such table"}\nHTTP 500',
        "built\nrc=2",
        "web1 : ok=3 changed=0 unreachable=0    failed=1",
        "╷\n│ Error: creating S3 Bucket\n│   with aws_s3_bucket.logs,\n╵",
        "Error: UPGRADE FAILED: another operation is in progress",
        "zsh: command not found: pyhton",
        "/bin/sh: line 3: pyhton: command not found",
        "pyhton : The term 'pyhton' is not recognized as the name of a cmdlet, function, script file\nAt line:1 char:1",
    ],
)
def test_an_output_that_ends_in_a_failure_is_known_though_a_pipe_hides_the_code(output: str) -> None:
    assert ends_badly("./run.sh | tail -3", output)
    assert not ends_badly("./run.sh", output), "its own exit code tells"


@pytest.mark.parametrize(
    "output",
    ["", "412", "404 rows copied", "status: 200", "HTTP/1.1 200 OK", "rc=0", "[main 1f0a2bc] Catch the TypeError", "failed=0", "0 errors"],
)  # fmt: skip
def test_numbers_and_words_of_failure_in_an_output_are_none(output: str) -> None:
    assert not ends_badly("./run.sh | tail -3", output)


def test_a_command_that_tells_about_itself_or_sets_the_work_aside_checks_nothing() -> None:
    for command in (
        "pytest --version",
        "mvn -version",
        "java -version; javac -version",
        "pytest --collect-only -q",
        "git stash && pytest -q; git stash pop",
    ):
        assert check_of(command, "1 failed, 4 passed in 0.1s") is None, command
    for command in (
        "pytest --cov=shop --config-file a.ini",
        "node --version && npm test",
        "git stash pop && pytest -q",
    ):
        assert check_of(command) == "test", command


def test_a_command_that_only_asks_how_things_are_is_a_look() -> None:
    for command in ("kubectl get pods | head", "gh run view 12", "docker logs web", "npm ls && cat package.json"):
        assert is_look(command), command
    for command in (
        "kubectl apply -f web.yaml",
        "gh pr merge 12",
        "npm install",
        "npm audit fix",
        "cd app\nmake deploy",
    ):
        assert not is_look(command), command
