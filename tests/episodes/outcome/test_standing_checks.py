"""A later run of a check supersedes an earlier one only if it covers it."""

from __future__ import annotations

from one_episode import REQUEST

from pastchats_memory.episodes.outcome import EpisodeTurn, derive_outcome


def ended(*rows: str, reported: str = "It counts from one.", tools: tuple[str, ...] = ()) -> str:
    made = (EpisodeTurn("tool", "error" if "Exit code" in row else "result", row) for row in rows)
    start = EpisodeTurn("assistant", "answer", "I look at the tests.", {"tools": tools})
    return derive_outcome((REQUEST, start, *made, EpisodeTurn("assistant", "answer", reported))).verdict


WIDE_RED = (
    "$ pytest -q\nExit code 1\nFAILED tests/test_report.py::test_pdf - assert 1 == 2\n1 failed, 57 passed in 4.10s"
)
NARROW_GREEN = "$ pytest -q tests/test_budget.py\n6 passed in 0.10s"


def test_a_green_check_supersedes_a_red_one_only_with_its_failures() -> None:
    tools = ("Edit report.py", "Bash pytest -q", "Edit budget.py", "Bash pytest -q tests/test_budget.py")
    assert ended(WIDE_RED, NARROW_GREEN, tools=tools) == "unknown"
    assert ended(WIDE_RED, NARROW_GREEN.replace("budget", "report"), tools=tools) == "worked"
    assert ended(WIDE_RED, "$ pytest -q --deselect tests/test_report.py\n57 passed in 4s", tools=tools) == "unknown"
    assert ended(WIDE_RED, "$ pytest -q tests/\n58 passed in 4s", tools=tools) == "worked"
    for chosen in ("pytest -q -k budget", "npx jest -t budget", "go test -run TestBudget ./..."):
        assert ended(WIDE_RED, f"$ {chosen}\n6 passed in 0.10s", tools=tools) == "unknown", chosen


def test_a_word_after_a_runner_selects_tests() -> None:
    red = "$ cargo test\nExit code 101\ntest parser::reads_a_date ... FAILED\ntest result: FAILED. 9 passed; 1 failed"
    green = "test result: ok. 4 passed; 0 failed"
    tools = ("Edit src/parser.rs", "Bash cargo test")
    assert ended(red, f"$ cargo test budget\n{green}", tools=tools) == "unknown"
    assert ended(red, f"$ cargo test parser\n{green}", tools=tools) == "worked"
    assert ended(red, f"$ cargo test\n{green}", tools=tools) == "worked"
    red = "$ npx vitest run\nExit code 1\nFAIL src/gallery.spec.ts\n Tests  1 failed | 22 passed (23)"
    assert ended(red, "$ npx vitest run budget\n Tests  6 passed (6)", tools=tools) == "unknown"
    assert ended(red, "$ npx vitest run gallery\n Tests  6 passed (6)", tools=tools) == "worked"


def test_a_green_check_of_another_folder_supersedes_nothing() -> None:
    red = "$ cd web && npx vitest run\nExit code 1\n Tests  1 failed | 22 passed (23)"
    assert ended(red, "$ cd api && pytest -q\n15 passed in 0.80s") == "unknown"
    assert ended(red, "$ cd src/web && npm test\n Tests  23 passed (23)") == "worked"
    assert ended(red, "$ npm test\n Tests  23 passed (23)") == "worked"


def test_a_wider_red_check_after_a_narrow_green_one_is_the_last_word() -> None:
    tools = ("Edit app.py", "Bash pytest -q tests/test_budget.py", "Edit report.py", "Bash pytest -q")
    assert ended(NARROW_GREEN, WIDE_RED, tools=tools) == "failed"


def test_a_started_check_has_no_result() -> None:
    started = "$ pytest -q\nCommand running in background with ID: b1f2c3"
    assert ended(started, tools=("Bash pytest -q",)) == "unknown"
    served = "$ npm run build\nExit code 1\nDev server running in the background\nBuild failed"
    assert ended(served, tools=("Edit app.ts", "Bash npm run build")) == "failed", "it ended, whatever it left running"
    polled = "write_stdin\nExit code 1\n1 failed, 57 passed in 4.10s"
    assert ended(started, polled, tools=("Edit app.py", "exec_command pytest -q", "write_stdin")) == "failed"


def test_a_test_runner_is_recognised_by_its_last_lines() -> None:
    for command in ("./scripts/test.sh", "for i in 1 2 3; do pytest -q | tail -1; done", "nix develop -c pytest"):
        tools = ("Edit app.py", f"Bash {command}")
        assert ended(f"$ {command}\n58 passed in 4.0s", tools=tools) == "worked", command
        assert ended(f"$ {command}\nExit code 1\n1 failed, 57 passed in 4.10s", tools=tools) == "failed", command
    assert ended("$ cat last.log\n1 failed, 57 passed in 4.10s", tools=("Edit app.py",)) == "unknown"


def test_a_run_without_tests_has_no_result() -> None:
    for output in (
        "42 deselected in 0.31s",
        "Ran 0 tests in 0.000s\n\nOK",
        "3 skipped in 0.02s",
        "no tests ran in 0.01s",
    ):
        assert ended(f"$ pytest -q -k tax\n{output}") == "unknown", output
    assert ended("$ pytest -q -k tax\nExit code 5\n42 deselected in 0.31s") != "failed"


def test_a_check_that_is_red_without_the_work_proves_the_work() -> None:
    proof = "$ git stash && pytest -q; git stash pop\n1 failed, 4 passed in 0.05s"
    assert ended("$ pytest -q\n5 passed in 0.05s", proof, reported="With it all five pass.") == "worked"
