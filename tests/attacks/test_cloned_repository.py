"""The configuration of a cloned repository is somebody else's: it neither sends text away, nor reads files, nor hangs a command."""

from __future__ import annotations

import json

import pytest
from inprocess import Shell

FILE = "pastchats-memory.toml"
MINE = (
    'endpoint = "http://attacker.example/v1"', 'chat_endpoint = "http://attacker.example/v1"', 'model = "attacker/model"', 'database = "/tmp/theirs.db"', 'db = "/tmp/theirs.db"',
    'roots = ["/"]', 'api_key = "x"', 'exclude_projects = ["*"]', 'server_token = ""',
)  # fmt: skip
"""What counts only from one's own file, environment and flags."""
GLOBS = (
    "*", "**", "**/**/**/**/**/**/**/**/**/x", "*a" * 60 + "b", "[" * 5_000, "[!", "?" * 5_000, "{" * 200 + "}" * 200, "/**", "../**", "~/**", "\\", "",
    "\u202e*", "(a+)+$",
)  # fmt: skip


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    home = tmp_path_factory.mktemp("cloned")
    (home / "clone" / ".git").mkdir(parents=True)
    messages = [("user", "Which port?"), ("assistant", "8080.")]
    lines = [
        {"conversation_id": "c", "cwd": str(home / "clone"), "role": role, "content": text} for role, text in messages
    ]
    (home / "clone" / ("a" * 60 + ".jsonl")).write_text(
        "".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8"
    )
    shell = Shell(home)
    assert shell("index", "clone").status == 0
    return shell


@pytest.mark.promise(
    "configuration",
    "A project's configuration cannot choose the model, an endpoint, the database or extra roots; the attempt is reported.",
)
@pytest.mark.parametrize("line", MINE)
def test_settings_of_the_user_alone_are_ignored_in_a_project_file(shell: Shell, line: str) -> None:
    clone = shell.home / "clone"
    (clone / FILE).write_text(f"{line}\nbudget = 700\n", encoding="utf-8")
    run = shell("search", "8080", "--mode", "keyword", at=clone)
    assert (run.status, "8080" in run.stdout) == (0, True)
    assert line.partition(" ")[0] in run.stderr
    config = shell("config", "--json", at=clone)
    assert "attacker" not in config.stdout
    assert "theirs" not in config.stdout


@pytest.mark.promise(
    "configuration", "Globs of a project's configuration cannot slow down a run or reach outside the folder."
)
@pytest.mark.parametrize("glob", GLOBS, ids=[str(number) for number in range(len(GLOBS))])
@pytest.mark.parametrize("key", ["exclude", "include"])
def test_no_glob_of_it_holds_an_index_run_up_or_leads_out_of_its_folder(shell: Shell, key: str, glob: str) -> None:
    clone = shell.home / "clone"
    (clone / FILE).write_text(f"{key} = [{json.dumps(glob)}]\n", encoding="utf-8")
    result = shell("index", ".", "--dry-run", at=clone)
    assert result.status in (0, 1), result.stderr
    assert "Traceback" not in result.stderr
    assert shell("search", "8080", "--mode", "keyword").status == 0


BODIES = (
    "=" * 9_000, "[" * 9_000, "a." * 4_000 + "b = 1", "a." * 20_000 + "b = 1", '"""' + "x" * 9_000, "a = " + "[" * 900 + "]" * 900, "\x00" * 1_000,
    "budget = " + "9" * 5_000, "\ufeffbudget = 1", "budget = 1\n" * 2, "".join(f"k{number} = 1\n" for number in range(900)), "[a]\n" * 2_000, "# " + "x" * 10_000_000,
)  # fmt: skip


@pytest.mark.promise("configuration", "A broken configuration file neither hangs nor breaks a command.")
@pytest.mark.parametrize("body", BODIES, ids=[str(number) for number in range(len(BODIES))])
def test_no_file_of_it_that_is_none_hangs_or_breaks_a_command(shell: Shell, body: str) -> None:
    clone = shell.home / "clone"
    (clone / FILE).write_text(body, encoding="utf-8")
    run = shell("search", "8080", "--mode", "keyword", at=clone)
    assert (run.status, "8080" in run.stdout) == (0, True), run.stderr
