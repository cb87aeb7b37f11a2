"""The configuration: who is heard, in what order, and what a cloned repository cannot say."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from program import REPOSITORY, Program, Run, write_messages

from pastchats_memory.config import Config, load
from pastchats_memory.config.schema import KEYS
from pastchats_memory.errors import UsageFault

OWN = "config/pastchats-memory/pastchats-memory.toml"


@pytest.fixture
def here(program: Program) -> Path:
    """The program's home, which is a repository too."""
    (program.home / ".git").mkdir()
    return program.home


def own(home: Path, text: str) -> Path:
    path = home / OWN
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def projects(home: Path, text: str) -> Path:
    path = home / "pastchats-memory.toml"
    path.write_text(text, encoding="utf-8")
    return path


def shown(run: Run) -> dict[str, tuple[Any, str]]:
    assert run.status == 0, run.stderr
    schema = json.loads((REPOSITORY / "contracts" / "schemas" / "config.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(run.json)
    return {row["key"]: (row["value"], row["origin"]) for row in run.results}


def test_no_secret_is_shown(program: Program) -> None:
    secrets = [key for key in KEYS if "key" in key or "token" in key]
    assert {"api_key", "server_token", "team_token"} <= {*secrets}
    variables = {f"PASTCHATS_MEMORY_{(KEYS[key].variable or key).upper()}": f"marigold-{key}" for key in secrets}
    ours = program.with_variables(**variables)
    values = shown(ours("config", "--json"))
    assert [values[key][0] for key in secrets] == ["(set)"] * len(secrets)
    assert "marigold" not in ours("config", "--json").stdout + ours("config").stdout


def test_every_setting_is_shown_with_its_value_and_source(program: Program, here: Path) -> None:
    file = own(here, 'budget = 900\nmodel = "packaged"\nchunk_size = 800\nthreads = 3\n[models.mine]\npath = "m"\n')
    project = projects(here, "\n# ours\nbudget = 700\nexclude = ['drafts']\n")
    ours = program.with_variables(PASTCHATS_MEMORY_THREADS="2", PASTCHATS_MEMORY_API_KEY="secret-key")
    run = ours("config", "--json")
    values = shown(run)
    assert values["budget"] == (700, f"{project}:3")
    assert values["exclude"] == (["drafts"], f"{project}:4")
    assert values["model"] == ("packaged", f"{file}:2")
    assert values["chunk_size"] == (800, f"{file}:3")
    assert values["models"] == ({"mine": {"path": str(file.parent / "m")}}, f"{file}:5")
    assert values["threads"] == (2, "environment PASTCHATS_MEMORY_THREADS")
    assert values["database"] == (str(program.database), "environment PASTCHATS_MEMORY_DB")
    assert values["overlap"] == (2, "default")
    assert values["api_key"] == ("(set)", "environment PASTCHATS_MEMORY_API_KEY")
    assert run.json["warnings"] == []
    assert "secret-key" not in run.stdout + ours("config").stdout
    assert shown(ours("config", "--json", "--db", "x.db"))["database"] == ("x.db", "--db")
    for key in KEYS.keys() - {"cache"}:
        assert key in values
        assert key in ours("config").stdout


def test_a_false_value_is_shown_as_toml(program: Program) -> None:
    assert re.search(r"^private +false +default$", program("config").stdout, re.MULTILINE)


HOSTILE = {
    "model": '"nomic-ai/nomic-embed-text-v1.5"',
    "endpoint": '"https://evil.example/v1"',
    "api_key": '"k"',
    "chat_endpoint": '"https://evil.example/v1"',
    "chat_api_key": '"k"',
    "chat_timeout": "1",
    "server_token": '"evil"',
    "database": '"/tmp/evil.db"',
    "cache": '"/tmp/evil"',
    "roots": '["/"]',
    "threads": "1000",
    "models": "{ packaged = { path = '/tmp/evil' } }",
}


@pytest.mark.parametrize("key", HOSTILE)
def test_forbidden_project_settings_are_reported_and_ignored(program: Program, here: Path, key: str) -> None:
    file = projects(here, f"budget = 700\n{key} = {HOSTILE[key]}\n")
    run = program("config", "--json")
    values = shown(run)
    assert values["budget"][0] == 700
    assert "evil" not in run.stdout.split('"warnings"')[0]
    (warning,) = run.json["warnings"]
    assert warning.startswith(f"{file}:2: `{key}` is ignored in a project's file")
    assert run.stderr == f"Warning: {warning}\n"


def test_every_command_reports_it_and_works(program: Program, here: Path) -> None:
    projects(here, 'model = "nomic-ai/nomic-embed-text-v1.5"\nendpoint = "https://evil.example/v1"\n')
    write_messages(here / "history" / "chat.jsonl", ("user", "Is the fence painted?"), ("assistant", "Green."))
    for arguments in (["index", "history"], ["search", "fence"], ["recall", "Is the fence painted?"], ["status"]):
        run = program(*arguments)
        assert run.status == 0, run.stderr
        assert run.stderr.count("is ignored in a project's file") == 2
        assert "evil" not in run.stdout
    assert program("status", "--json").results[0]["model"] == "sentence-transformers/all-MiniLM-L6-v2"


WRONG = [
    ("budget = 0", 1, "`budget` must be a whole number of at least 1"),
    ('\nbudget = "many"', 2, "`budget` must be a whole number of at least 1"),
    ("budget = true", 1, "`budget` must be a whole number of at least 1"),
    ("threshold = 1.5", 1, "`threshold` must be a number from 0 to 1"),
    ("threshold = nan", 1, "`threshold` must be a number from 0 to 1"),
    ("chunk_size = 3", 1, "`chunk_size` must be a whole number of at least 100"),
    ("overlap = -1", 1, "`overlap` must be a whole number of at least 0"),
    ("exclude = 'x'\ninclude = 3", 2, "`include` must be a list of texts"),
    ("note_folders = [1]", 1, "`note_folders` must be a text that is not empty"),
    ("private = 1", 1, "`private` must be true or false"),
    ("chunksize = 3", 1, "unknown key `chunksize`; did you mean `chunk_size`?"),
    ("# nothing\n[colours]\nred = 1", 2, "unknown key `colours`"),
    ("budget = 1\nbudget = 2", 2, "Cannot overwrite a value"),
    ("budget = \n", 1, "Invalid value"),
    ("x = " + "[" * 5000, 1, "nested too deeply"),
    ("\ufffe", 1, ""),
]
if os.name == "posix":  # elsewhere a home's folder is guessed from the person's name
    WRONG += [
        ("overlap = 1\nroots = ['~nobody-of-that-name/x']", 2, "`roots` is in a home folder that is not known"),
        ("[models.x]\npath = '~nobody-of-that-name/x'", 1, "`models` is in a home folder that is not known"),
    ]


@pytest.mark.parametrize(("text", "line", "why"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_line_is_named_in_both_files_and_costs_only_the_persons_own_command(
    program: Program, here: Path, text: str, line: int, why: str
) -> None:
    file = projects(here, text)
    warned = load(environment=program.environment, here=here)
    assert any(warning.startswith(f"{file}:{line}: ") and why in warning for warning in warned.warnings)
    assert warned.budget == 1500
    file.unlink()
    file = own(here, text)
    with pytest.raises(UsageFault) as refused:
        load(environment=program.environment, here=here)
    assert f"{file}:{line}: " in refused.value.message


def test_every_wrong_line_of_ones_own_file_is_named_at_once(program: Program, here: Path) -> None:
    file = own(here, "budget = 0\noverlap = 1\nthreads = 0\n")
    run = program("search", "x")
    assert (run.status, run.stdout) == (2, "")
    assert f"{file}:1: " in run.stderr
    assert f"{file}:3: " in run.stderr
    assert f"{file}:2: " not in run.stderr


def test_private_is_refused_in_the_users_own_file(program: Program, here: Path) -> None:
    own(here, "private = true")
    assert "`private` belongs into the project's own file" in program("config").stderr


@pytest.mark.parametrize(("variable", "value"), [("BUDGET", "0"), ("THREADS", "many"), ("THRESHOLD", "2")])
def test_a_wrong_variable_is_named(program: Program, variable: str, value: str) -> None:
    run = program.with_variables(**{f"PASTCHATS_MEMORY_{variable}": value})("config")
    assert run.status == 2
    assert run.stderr.startswith(f"Error: PASTCHATS_MEMORY_{variable} must be ")


def test_secrets_of_an_endpoint_are_not_shown(program: Program) -> None:
    ours = program.with_variables(
        PASTCHATS_MEMORY_ENDPOINT="http://ada:marigold@127.0.0.1:9/v1", PASTCHATS_MEMORY_API_KEY="marigold"
    )
    keys = shown(ours("config", "--json"))
    assert (keys["endpoint"][0], keys["api_key"][0]) == ("http://127.0.0.1:9/v1", "(set)")
    assert "marigold" not in ours("config").stdout


def test_lists_in_variables_are_split_as_paths_are(program: Program) -> None:
    ours = program.with_variables(PASTCHATS_MEMORY_EXCLUDE=os.pathsep.join(["a", "b"]))
    assert shown(ours("config", "--json"))["exclude"][0] == ["a", "b"]


def test_the_nearest_file_up_to_the_repositorys_root_counts(tmp_path: Path) -> None:
    inner = tmp_path / "repo" / "src" / "deep"
    inner.mkdir(parents=True)
    projects(tmp_path, "budget = 1")
    assert load("x", {}, here=inner).budget == 1500, "no repository: only the folder itself"
    (tmp_path / "repo" / ".git").mkdir()
    assert load("x", {}, here=inner).budget == 1500, "above the root"
    projects(tmp_path / "repo", "budget = 2")
    assert load("x", {}, here=inner).budget == 2
    projects(tmp_path / "repo" / "src", "budget = 3")
    assert load("x", {}, here=inner).budget == 3
    assert load("x", {}, here=tmp_path).budget == 1


@pytest.mark.parametrize("kind", ["huge", "pipe", "folder", "dangling"])
def test_a_projects_file_that_is_none_hangs_nothing(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "pastchats-memory.toml"
    if kind == "huge":
        file.write_text("budget = 3\n" + "#" * 200_000, encoding="utf-8")
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    else:
        file.symlink_to(tmp_path / "nothing")
    assert load("x", {}, here=tmp_path).budget == 1500


def test_paths_of_ones_own_file_are_relative_to_it(tmp_path: Path) -> None:
    file = own(tmp_path, 'database = "mine.db"\nroots = ["logs", "/abs"]\ncache = "models"\n')
    found = load(None, {"XDG_CONFIG_HOME": str(tmp_path / "config"), "HOME": str(tmp_path)}, here=tmp_path)
    assert found.database == file.parent / "mine.db"
    assert found.roots == (str(file.parent / "logs"), str(file.parent / "/abs"))
    assert found.caches[0] == file.parent / "models"


def test_without_any_file_the_defaults_are_those_of_the_contract() -> None:
    config = Config(Path("x"))
    assert (config.chunk_size, config.overlap, config.budget) == (1500, 2, 1500)
    assert (config.model, config.endpoint, config.private) == (None, None, False)


def test_budget_and_thresholds_count_where_a_flag_says_nothing(program: Program, here: Path) -> None:
    write_messages(here / "history" / "chat.jsonl", ("user", "Is the fence painted?"), ("assistant", "Green."))
    assert program("index", "history").status == 0
    projects(here, "budget = 200\nmin_similarity = 0.99\n")
    recalled = program("recall", "--json", "Is the fence painted?")
    assert recalled.json["budget"] == 200
    assert program("recall", "--json", "Is the fence painted?", "--budget", "300").json["budget"] == 300
    assert len(program("search", "--json", "Is the fence painted?").results) == 1
    assert len(program("search", "--json", "Is the fence painted?", "--min-similarity", "-1").results) == 2
    projects(here, "threshold = 1\n")
    assert program("search", "--json", "Is it green?").results == []
    assert program("search", "--json", "Is it green?", "--threshold", "0").results


def test_without_a_file_nothing_is_imported_to_read_one(program: Program) -> None:
    code = (
        "import sys, pastchats_memory.config as c; c.load('x.db')\n"
        "print(sorted({'tomllib', 'platformdirs', 're', 'difflib'} & (set(sys.modules) - before)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", "import sys, os, pathlib, dataclasses; before = set(sys.modules)\n" + code],
        env=program.environment,
        cwd=program.home,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"
