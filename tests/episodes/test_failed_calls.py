"""Failed commands and edits of a conversation, with what the error names and what cured them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pastchats_memory.episodes.failed_calls import derive_failures, shows_failure
from pastchats_memory.store.failures import Failure, RecordedTurn
from pastchats_memory.text.failed_commands import WRONG_FOLDER, find_cause, is_subject, split_command

Row = tuple[str, str] | tuple[str, str, list[str]]


def failures_of(*rows: Row) -> list[Failure]:
    """Derive the failures of rows `(role, text, calls)`; a `failed` row is a tool's error."""
    turns = [
        RecordedTurn(
            place, "orchard", place, "tool" if role == "failed" else role, text,
            {"kind": "error" if role == "failed" else "answer", "tools": calls[0] if calls else []}, None,
        )
        for place, (role, text, *calls) in enumerate(rows)
    ]  # fmt: skip
    return derive_failures(turns, "orchard")


@pytest.mark.parametrize(
    ("command", "result", "program", "word"),
    [
        ("rg -t tsx useState src", "rg: unrecognized file type: tsx", "rg", "-t tsx"),
        ("tree -L 2", "/bin/bash: line 1: tree: command not found", "tree", "tree"),
        ("sh -c x; jq . a.json", "sh: 1: jq: not found", "jq", "jq"),
        ("Get-Foo x", "Get-Foo : The term 'Get-Foo' is not recognized as the name of a cmdlet", "Get-Foo", "Get-Foo"),
        ("bd list --wisp", "Error: unknown flag: --wisp", "bd", "--wisp"),
        (
            "psql -U postgres -c 'select 1'",
            'FATAL: Peer authentication failed for user "postgres"',
            "psql",
            "-U postgres",
        ),
        ("cd /home/me/My Project && ls", "bash: cd: /home/me/My: No such file or directory", "cd", "/home/me/My"),
        ("npm run e2e", 'npm error Missing script: "e2e"', "npm", "run e2e"),
        ("python -m pytests x", "/usr/bin/python: No module named pytests", "pytests", "pytests"),
        ("npx next dev --port 3000", "Error: listen EADDRINUSE: address already in use :::3000", "next", "--port 3000"),
        ("gt context", "Error: unknown command `context` for `gt`", "gt", "context"),
        ("git push origin main", "error: failed to push some refs", "git", ""),
        ("python app.py", "/bin/bash: line 1: python: command not found", "python", "python"),
        ("timeout 60 npm test", "zsh:1: command not found: timeout", "timeout", "timeout"),
        ("sudo systemctl stop x", "sudo: command not found", "sudo", "sudo"),
        ("uv run x", "fish: Unknown command: uv", "uv", "uv"),
        ("python app.py", "/bin/bash: línea 1: python: orden no encontrada", "python", "python"),
        ("python app.py", 'Der Befehl "python" ist entweder falsch geschrieben oder', "python", "python"),
        ("python app.py", '"python" no se reconoce como un comando interno o externo,', "python", "python"),
        ('powershell.exe -NoProfile -Command "rg x src"', "rg : The term 'rg' is not recognized as", "rg", "rg"),
        ("ls && cat a", "At line:1\n+ ls && cat a\nThe token '&&' is not a valid statement separator", "&&", "&&"),
        ("grep -P x a", "grep: invalid option -- P", "grep", "-P"),
        ("npm run dev", "> next dev\n\nsh: 1: next: not found", "npm", ""),
        ("mvn test", "[ERROR] there is no POM in this directory (/x)", "mvn", WRONG_FOLDER),
    ],
)
def test_an_error_names_a_word_of_the_command(command: str, result: str, program: str, word: str) -> None:
    cause = find_cause(command, result, "orchard")
    assert cause is not None
    assert (cause.program, cause.word) == (program, word)


@pytest.mark.parametrize(
    ("command", "result"),
    [("test -f .env", "Exit code 1"), ("pytest tests/test_a.py", "FAILED tests/test_a.py::test_b\n1 failed in 0.1s")],
)
def test_an_answer_and_a_fault_of_the_checked_work_are_no_failures_of_the_command(command: str, result: str) -> None:
    assert find_cause(command, result, "orchard") is None


@pytest.mark.parametrize("command", ["./scripts/", "/", ".exe", '"" x', "''"])
def test_a_command_without_a_name_has_a_cause_or_none(command: str) -> None:
    cause = find_cause(command, "bash: x: command not found", "orchard")
    assert cause is None or cause.program


def test_the_shell_and_the_sandbox_around_an_error_are_no_part_of_it() -> None:
    sandbox = (
        "failed in sandbox Seatbelt with execution error: sandbox denied exec error, exit code: 1, stdout: , stderr: "
    )
    gemini = "Command: ./run.sh\nDirectory: (root)\nOutput: bash: ./run.sh: Permission denied\nError: (none)"
    lines = ["bash: ./run.sh: Permission denied", "sh: 3: ./run.sh: Permission denied", "./run.sh: Permission denied"]
    causes = [find_cause("./run.sh", result, "orchard") for result in (*lines, sandbox + lines[0], gemini)]
    assert {cause and cause.error for cause in causes} == {"./run.sh: Permission denied"}


def cures(rows: Sequence[Row]) -> list[tuple[str, str, bool]]:
    return [(one.kind, one.cure, one.has_passed) for one in failures_of(*rows)]


@pytest.mark.parametrize(
    ("command", "program"), [("apply_patch\\", "apply_patch"), ("./scripts/", "scripts"), ("\\", "")]
)
def test_a_command_that_ends_with_a_separator_has_a_program_or_is_none(command: str, program: str) -> None:
    found = find_cause(command, "bash: -c: line 1: unexpected EOF while looking for matching `\"'", "orchard")
    assert (found.program if found else "") == program


def test_a_command_with_the_same_aim_and_without_the_named_word_cures_a_failure() -> None:
    rows: list[Row] = [
        ("user", "Find the hooks."),
        ("assistant", "I look.", ["Bash rg -t tsx useState src", "Bash ls", "Bash rg -g '*.tsx' useState src"]),
        ("failed", "$ rg -t tsx useState src\nrg: unrecognized file type: tsx"),
    ]
    assert cures(rows) == [("instead", "rg -g '*.tsx' useState src", False)]


@pytest.mark.parametrize(
    ("command", "result", "is_shown"),
    [
        ("npm run e2e 2>&1 | tail -5", 'npm error Missing script: "e2e"', True),
        ("make e2e 2>&1 | tail -5", "make: *** No rule to make target 'e2e'.  Stop.", True),
        ("python -m pytests -q; date", "/usr/bin/python: No module named pytests", True),
        ("python x.py --foo | cat", "usage: x.py [-h]\nx.py: error: unrecognized arguments: --foo", True),
        ("terraform plan | tail -5", "Planning failed.\nError: Cycle: a bucket needs itself", True),
        ("make e2e", "make: *** No rule to make target 'e2e'.  Stop.", False),
        ("pytest -q | tail -5", "FAILED tests/test_a.py::test_b\n1 failed in 0.1s", False),
        ("go test ./... | tail -5", "?   \torchard/cloud\t[no test files]\nok  \torchard/web\t0.2s", False),
        ("cat old.log | tail -5", "npm error Missing script: e2e", False),
        ("npm run dev | tail -5", "connection refused at first\n" + "ready\n" * 100, False),
    ],
)
def test_a_result_shows_that_a_command_did_not_run_where_a_pipe_hides_it(
    command: str, result: str, is_shown: bool
) -> None:
    assert shows_failure(command, result) is is_shown


def test_a_check_that_did_not_run_behind_a_pipe_is_a_failure_and_no_cure() -> None:
    rows: list[Row] = [
        ("user", "Run them."),
        ("assistant", "I run them.", ["Bash npm run e2e | tail -5", "Bash npm run e2e:ci | tail -5"]),
        ("tool", '$ npm run e2e | tail -5\nnpm error Missing script: "e2e"'),
        ("tool", '$ npm run e2e:ci | tail -5\nnpm error Missing script: "e2e:ci"'),
        ("assistant", "Another one.", ["Bash npm run test:e2e | tail -5"]),
        ("tool", "$ npm run test:e2e | tail -5\n12 passed"),
    ]
    assert [(one.word, one.kind, one.cure) for one in failures_of(*rows)] == [
        ("run e2e", "instead", "npm run test:e2e"),
        ("run e2e:ci", "", ""),
    ]


def test_a_step_before_the_same_command_worked_cures_its_failure() -> None:
    rows: list[Row] = [
        ("user", "Start it."),
        ("assistant", "I start it.", ["Bash docker compose up -d redis", "Bash ls", "Bash python worker.py"]),
        ("failed", "$ python worker.py\nConnectionError: no redis at 6379"),
        ("tool", "$ python worker.py\nready"),
    ]
    assert cures(rows) == [("after", "docker compose up -d redis", True)]


@pytest.mark.parametrize(
    "between",
    [
        "brew info goreleaser 2>/dev/null | head -5 || echo 'not in brew'",
        "brew info goreleaser",
        "brew services list | grep goreleaser",
        "brew --prefix goreleaser",
        "apt-cache policy goreleaser",
        "npm search goreleaser",
        "command -v goreleaser",
        "test -x /opt/goreleaser",
        "sudo ls -l /opt/goreleaser",
        "curl -sI https://goreleaser.com",
        "python3 -c 'import goreleaser; print(goreleaser.__file__)'",
        "git log --oneline -- .goreleaser.yaml",
        "brew install goreleaser || echo 'no goreleaser'",
        "brew install goreleaser || true",
    ],
)
def test_a_command_that_only_looks_or_that_may_have_failed_is_no_cure(between: str) -> None:
    rows: list[Row] = [
        ("user", "Check the release."),
        ("assistant", "It is not there.", ["Bash goreleaser check", f"Bash {between}"]),
        ("failed", "$ goreleaser check\nbash: command not found: goreleaser"),
        ("user", "I installed it."),
        ("assistant", "Checked.", ["Bash goreleaser check"]),
    ]
    assert cures(rows) == [("", "", True)]


@pytest.mark.parametrize(
    "between",
    [
        "brew install goreleaser",
        "go install github.com/goreleaser/goreleaser@latest",
        "curl -sfL https://goreleaser.com/run -o goreleaser",
        "curl -sfL https://goreleaser.com/install | sh",
        "brew info goreleaser && brew install goreleaser",
    ],
)
def test_a_command_that_brings_a_missing_program_cures_its_failure(between: str) -> None:
    rows: list[Row] = [
        ("user", "Check the release."),
        ("assistant", "It is not there.", ["Bash goreleaser check"]),
        ("failed", "$ goreleaser check\nbash: command not found: goreleaser"),
        ("assistant", "Done.", [f"Bash {between}", "Bash goreleaser check"]),
    ]
    assert cures(rows) == [("after", between, True)]


def test_results_before_the_first_answer_belong_to_its_calls() -> None:
    rows: list[Row] = [
        ("user", "Show the folders."),
        ("failed", "$ tree -L 2 src\nbash: tree: command not found"),
        ("assistant", "These.", ["shell tree -L 2 src", "shell find src -maxdepth 2"]),
    ]
    assert cures(rows) == [("instead", "find src -maxdepth 2", False)]


def test_a_failed_command_cures_nothing_nor_does_one_with_another_aim() -> None:
    rows: list[Row] = [
        ("user", "Run them."),
        ("assistant", "I run them.", ["Bash npm run e2e", "Bash npm run e2e:ci", "Bash git status"]),
        ("failed", '$ npm run e2e\nnpm error Missing script: "e2e"'),
        ("failed", '$ npm run e2e:ci\nnpm error Missing script: "e2e:ci"'),
    ]
    assert cures(rows) == [("", "", False), ("", "", False)]


def test_the_cure_is_looked_for_up_to_the_end_of_the_next_request() -> None:
    far: list[Row] = [("user", "Go on."), ("assistant", "Done.", ["Edit a.py"])]
    rows: list[Row] = [
        ("user", "Run them."),
        ("assistant", "It failed.", ["Bash npm run e2e"]),
        ("failed", '$ npm run e2e\nnpm error Missing script: "e2e"'),
    ]
    works: list[Row] = [("user", "Use the other script."), ("assistant", "Done.", ["Bash npm run test:e2e"])]
    assert cures([*rows, *works]) == [("instead", "npm run test:e2e", False)]
    assert cures([*rows, *far, *works]) == [("", "", False)]


def test_a_run_outside_the_sandbox_cures_a_failure_within_it() -> None:
    rows: list[Row] = [
        ("user", "Fetch."),
        (
            "assistant",
            "I fetch.",
            ["shell git fetch origin", "shell git remote prune origin", "shell git fetch origin"],
        ),
        ("failed", "$ git fetch origin\nfatal: unable to access 'https://x': Could not resolve host: x"),
        ("tool", "$ git fetch origin\n(outside the sandbox)\nfetched"),
    ]
    assert cures(rows) == [("instead", "(outside the sandbox) git fetch origin", False)]


def test_a_run_outside_the_sandbox_cures_no_missing_file() -> None:
    rows: list[Row] = [
        ("user", "Set it up."),
        ("assistant", "I set it up.", ["Bash scripts/setup.sh --json"]),
        ("failed", "$ scripts/setup.sh --json\nzsh:1: no such file or directory: scripts/setup.sh"),
        ("tool", "$ scripts/setup.sh --json\n(outside the sandbox)\ndone"),
    ]
    assert cures(rows)[0][:2] == ("", "")


def test_an_installation_cures_only_what_is_not_there() -> None:
    rows: list[Row] = [
        ("user", "Check it."),
        ("assistant", "I check it.", ["Bash tspec fmt --check 2>&1", "Bash tspec install ."]),
        ("failed", "$ tspec fmt --check 2>&1\nError: cargo fmt failed"),
        ("assistant", "Again.", ["Bash cargo check", "Bash tspec fmt --check 2>&1"]),
        ("tool", "$ tspec fmt --check 2>&1\nclean"),
    ]
    assert cures(rows)[0][:2] == ("", "")


def test_a_command_with_half_the_words_cures_no_error_without_a_word() -> None:
    rows: list[Row] = [
        ("user", "Make a branch."),
        ("assistant", "I make it.", ["Bash git checkout -b uc-04"]),
        ("failed", "$ git checkout -b uc-04\nfatal: cannot lock ref: Operation not permitted"),
        ("assistant", "Another one.", ["Bash git checkout -b 004-log-in"]),
        ("tool", "$ git checkout -b 004-log-in\nSwitched"),
    ]
    assert cures(rows) == [("", "", False)]


def test_a_redirection_of_errors_ends_no_command() -> None:
    commands = ["tspec fmt --check 2>&1", "tspec fmt --check &> out.txt", "tspec fmt --check"]
    assert {split_command(command)[-1].words for command in commands} == {("fmt", "--check")}


def test_a_program_that_is_called_by_its_path_is_not_the_missing_one() -> None:
    assert is_subject("python -m pytest", "python", "python", "orchard")
    assert not is_subject(".venv/bin/python -m pytest", "python", "python", "orchard")
    assert not is_subject(r".venv\Scripts\python.exe -m pytest", "python", "python", "orchard")


@pytest.mark.parametrize(
    ("failed", "error", "between", "worked"),
    [
        ("git ls-remote origin", "fatal: Could not resolve host: x.org", "git fetch --all", "git ls-remote origin"),
        ("git push origin", "fatal: bad object", "git branch -D old", "git push origin"),
        ("ls specs", "ls: cannot access 'specs': No such file or directory", "", "ls -a"),
        ("ls a/specs", "ls: cannot access 'a/specs': No such file or directory", "", "ls a"),
        ("npm run types", 'npm error Missing script: "types"', "", "npm run lint"),
        ("adb shell am x.Y z", "Security: denied x.Y", "", "adb shell screencap -p"),
        ("sleep 9; make x", "Command timed out after 2m", "", "sleep 9"),
        ('python3 -c "', "ModuleNotFoundError: No module named 'docx'", "", 'python3 -c "print(1)"'),
    ],
)
def test_a_command_that_shares_only_the_program_with_a_failure_cures_nothing(
    failed: str, error: str, between: str, worked: str
) -> None:
    calls = [f"Bash {command}" for command in ((between,) if between else (failed,))]
    rows: list[Row] = [("user", "Go."), ("assistant", "I go.", [*calls, f"Bash {worked}"])]
    rows.append(("failed", f"$ {failed}\n{error}"))
    if between:
        rows.append(("tool", f"$ {worked}\ndone"))
    assert not any(kind for kind, _, _ in cures(rows))


@pytest.mark.parametrize(
    ("failed", "error", "worked"),
    [
        ("python app.py", "bash: python: command not found", "python3 app.py"),
        ("timeout 60 npm run x", "bash: timeout: command not found", "npm run x"),
        ("curl -s localhost | jq .ok", "bash: jq: command not found", "curl -s localhost"),
        ("ls && cat a.txt", "The token '&&' is not a valid statement separator", "ls; cat a.txt"),
        ("cat a.md", "cat: a.md: No such file or directory", "cat docs/a.md"),
        ("git add -A", "warning: could not open directory 'x': Permission denied", "cd web && git add -A ."),
    ],
)
def test_another_spelling_of_the_same_work_cures_a_failure(failed: str, error: str, worked: str) -> None:
    calls = [f"Bash {failed}", f"Bash {worked}"]
    rows: list[Row] = [("user", "Go."), ("assistant", "I go.", calls), ("failed", f"$ {failed}\n{error}")]
    assert cures(rows) == [("instead", worked, False)]


def test_the_next_message_after_a_refused_edit_is_not_about_the_file() -> None:
    rows: list[Row] = [
        ("user", "Rename it."),
        ("assistant", "I rename it.", []),
        ("tool", "Edit package.json\nRefused by the user."),
    ]
    reason = RecordedTurn(9, "orchard", 9, "user", "keep the old name", {"kind": "answer"}, None)
    turns = [RecordedTurn(at, "orchard", at, role, text, {}, None) for at, (role, text, *_) in enumerate(rows)]
    assert derive_failures([*turns, reason._replace(metadata={"kind": "prompt"})], "orchard") == []
    assert [one.cure for one in derive_failures([*turns, reason], "orchard")] == ["keep the old name"]


def test_the_reason_of_a_refusal_is_kept() -> None:
    rows: list[Row] = [
        ("user", "Push."),
        ("assistant", "I push.", ["Bash git push --force"]),
        ("tool", "$ git push --force\nRefused by the user."),
        ("user", "never force-push here"),
    ]
    (failure,) = failures_of(*rows)
    assert (failure.kind, failure.cure, failure.action) == ("refused", "never force-push here", "git push --force")


def test_an_edit_that_the_user_has_undone_is_kept_with_the_words() -> None:
    rows: list[Row] = [
        ("user", "Make it faster."),
        ("assistant", "I cache it.", ["Edit src/cache.py"]),
        ("user", "Revert that, the cache must stay off."),
        ("assistant", "Reverted.", ["Edit src/cache.py"]),
    ]
    (failure,) = failures_of(*rows)
    assert (failure.kind, failure.action) == ("undone", "src/cache.py")
    assert failure.cure == "Revert that, the cache must stay off."


@pytest.mark.parametrize(
    ("command", "result", "program"),
    [
        ("git status", "fatal: not a git repository (or any of the parent directories): .git", "git"),
        (
            "npm run lint",
            "npm error enoent Could not read package.json: Error: ENOENT: no such file or directory",
            "npm",
        ),
        ("docker compose up -d", "no configuration file provided: not found", "docker"),
        ("make all | tail -3", "make: *** No targets specified and no makefile found.  Stop.", "make"),
        ("cargo test", "error: could not find `Cargo.toml` in `/home/me` or any parent directory", "cargo"),
    ],
)
def test_the_folder_in_which_a_program_ran_later_cures_its_failure_in_a_wrong_one(
    command: str, result: str, program: str
) -> None:
    moved = f"cd /home/me/orchard && {program} version"
    (failure,) = failures_of(
        ("user", "go on"),
        ("assistant", "I run it.", [f"bash {command}", f"bash {moved}"]),
        ("failed", f"$ {command}\n{result}"),
        ("failed", f"$ {moved}\nerror: another fault"),
    )[:1]
    assert (failure.program, failure.word, failure.kind, failure.cure) == (program, WRONG_FOLDER, "instead", moved)


def test_a_command_with_the_named_word_is_no_cure() -> None:
    (failure,) = failures_of(
        ("user", "list them"),
        ("assistant", "I list them.", ["bash dir /b src", "bash dir /b /s src 2>nul"]),
        ("failed", "$ dir /b src\ndir: cannot access '/b': No such file or directory"),
        ("tool", "$ dir /b /s src 2>nul\nsrc"),
    )
    assert failure.kind == ""


def test_an_option_that_the_error_asks_for_or_refuses_makes_the_cure() -> None:
    required = failures_of(
        ("user", "make the types"),
        ("assistant", "I make them.", ["bash codex app generate | head -n 9", "bash codex app generate --out /tmp/t"]),
        (
            "failed",
            "$ codex app generate | head -n 9\nerror: the following required arguments were not provided:\n  --out",
        ),
        ("tool", "$ codex app generate --out /tmp/t\ndone"),
    )
    refused = failures_of(
        ("user", "run the tests"),
        ("assistant", "I run them.", ["bash npm test -- --runInBand", "bash npm test"]),
        ("failed", "$ npm test -- --runInBand\nthrow new Error(`Unknown option ${name}`)"),
        ("tool", "$ npm test\n3 passed"),
    )
    assert [(one.program, one.kind, one.cure) for one in (*required, *refused)] == [
        ("codex", "instead", "codex app generate --out /tmp/t"),
        ("npm", "instead", "npm test"),
    ]


@pytest.mark.parametrize(
    "result",
    [
        "Permission to use Bash with command rm -rf dist has been denied.",
        "This Bash command contains multiple operations. The following part requires approval: rm -rf dist",
        "failed in sandbox: cannot set privileged capabilities: Operation not permitted",
        "cd in '/home/me' was blocked. For security, Claude Code may only change directories to the allowed ones.",
    ],
)
def test_a_call_that_the_client_did_not_run_is_no_failure(result: str) -> None:
    assert find_cause("cd /home/me && rm -rf dist", result, "orchard") is None


def test_a_mark_that_says_that_a_word_is_no_option_makes_the_cure() -> None:
    (failure,) = failures_of(
        ("user", "find it"),
        ("assistant", "I look.", ["bash grep -rn --profiles docs", "bash grep -rn -- --profiles docs"]),
        ("failed", "$ grep -rn --profiles docs\ngrep: unrecognized option '--profiles'"),
        ("tool", "$ grep -rn -- --profiles docs\ndocs/a.md:3: --profiles"),
    )
    assert (failure.word, failure.kind, failure.cure) == ("--profiles", "instead", "grep -rn -- --profiles docs")


@pytest.mark.parametrize(
    ("failed", "error", "worked"),
    [
        ("psql -U ada -l", 'FATAL: Peer authentication failed for user "ada"', "psql -h localhost -U ada -l"),
        (
            "psql -U ada -l",
            'FATAL: Peer authentication failed for user "ada"',
            "PGUSER=ada psql --host=localhost -U ada -l",
        ),
        ("tree -L 2", "bash: tree: command not found", "find . -maxdepth 2"),
        ("ifconfig", "bash: ifconfig: command not found", "ip addr"),
    ],
)
def test_a_missing_option_and_a_program_that_does_the_same_cure_a_failure(failed: str, error: str, worked: str) -> None:
    calls = [f"Bash {failed}", f"Bash {worked}"]
    rows: list[Row] = [("user", "Look."), ("assistant", "I look.", calls), ("failed", f"$ {failed}\n{error}")]
    assert cures(rows) == [("instead", worked, False)]


@pytest.mark.parametrize("worked", ["git status", "curl localhost", "tree -L 2 src"])
def test_a_program_that_does_something_else_cures_no_missing_one(worked: str) -> None:
    rows: list[Row] = [
        ("user", "Look."),
        ("assistant", "I look.", ["Bash fd", f"Bash {worked}"]),
        ("failed", "$ fd\nbash: fd: command not found"),
    ]
    assert [kind for kind, _, _ in cures(rows)] == (["instead"] if worked.startswith("tree") else [""])


@pytest.mark.parametrize(
    ("failed", "error", "worked"),
    [
        ("cat app/[id]/page.tsx", "zsh:1: no matches found: app/[id]/page.tsx", "sed -n 1,9p 'app/[id]/page.tsx'"),
        ("cat app/[id]/page.tsx", "zsh:1: no matches found: app/[id]/page.tsx", r"cat app/\[id\]/page.tsx"),
        ("cd web && npm run build", "The token '&&' is not a valid statement separator", "cd web; npm run build"),
        ("rtk bun run test", "error: unrecognized subcommand 'bun'", "bun run test"),
        ("go build ./cmd", "bash: go: command not found", "PATH=$PATH:/usr/local/go/bin && go build ./cmd"),
    ],
)
def test_a_command_without_the_refused_mark_or_program_cures_a_failure(failed: str, error: str, worked: str) -> None:
    calls = [f"Bash {failed}", f"Bash {worked}"]
    rows: list[Row] = [("user", "Look."), ("assistant", "I look.", calls), ("failed", f"$ {failed}\n{error}")]
    assert [(kind, cure) for kind, cure, _ in cures(rows)] == [("instead", worked)]


@pytest.mark.parametrize(
    ("failed", "error", "later"),
    [
        ("cat app/[id]/page.tsx", "zsh:1: no matches found: app/[id]/page.tsx", "cat app/layout.tsx"),
        ("docker ps", "bash: docker: command not found", "which docker || /usr/local/bin/docker version || true"),
        ("docker ps", "bash: docker: command not found", "until /opt/docker info; do sleep 1; done"),
        ("go build ./cmd", "bash: go: command not found", "git add go/cmd/main.go"),
        ("python -c 'import a'", "zsh:1: command not found: python", "python -c 'import b'"),
        ("node x.js", "SyntaxError: missing ) in x", "node x.js | head -5"),
        ("cargo check", "Access is denied. (os error 5)", "cargo fmt"),
    ],
)
def test_a_command_that_only_asks_or_follows_by_chance_cures_nothing(failed: str, error: str, later: str) -> None:
    calls = [f"Bash {failed}", f"Bash {later}"]
    rows: list[Row] = [("user", "Look."), ("assistant", "I look.", calls), ("failed", f"$ {failed}\n{error}")]
    assert [kind for kind, _, _ in cures(rows)] == [""]


@pytest.mark.parametrize(
    ("command", "mark", "has_it"),
    [
        ("cat a/[id]/b.ts", "[", True),
        ("cat 'a/[id]/b.ts'", "[", False),
        (r"cat a/\[id\]/b.ts", "[", False),
        ("[ -f a ] && ls", "[", False),
        ("cat '/very/long/[id", "[", False),
        ("python - <<E\nx/[1]\nE", "[", False),
        ("ls && pwd", "&&", True),
    ],
)
def test_a_mark_counts_outside_quotes_and_scripts(command: str, mark: str, has_it: bool) -> None:
    assert is_subject(command, mark, mark, "orchard") is has_it


def test_a_program_of_an_environment_is_not_the_missing_one() -> None:
    assert is_subject("python -c 1", "python", "python", "orchard")
    assert not is_subject("uv run python -c 1", "python", "python", "orchard")
