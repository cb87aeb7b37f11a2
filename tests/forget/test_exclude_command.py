"""`exclude`: what is kept out from the start, whoever starts the run and whatever is named."""

from __future__ import annotations

import json
import os
import shlex
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from program import REPOSITORY, Program, write_messages

from pastchats_memory import Memory, errors
from pastchats_memory.config import load


@pytest.fixture
def garden(program: Program) -> Program:
    """Two folders of two projects, not indexed yet."""
    write_messages(program.home / "history" / "open" / "a.jsonl", ("user", "Is the fence painted?"))
    write_messages(
        program.home / "history" / "shut" / "b.jsonl", ("user", "Where is the key?"), conversation="c2", project="safe"
    )
    return program


def own_file(program: Program) -> Path:
    return program.home / "config" / "pastchats-memory" / "pastchats-memory.toml"


def reasons(program: Program, *arguments: str) -> dict[str, str]:
    """By name of a file or folder why it was left out."""
    return {
        Path(one["source_path"]).name: one["reason"]
        for one in program("index", *arguments, "--json").results
        if one["reason"]
    }


@pytest.mark.promise("privacy", "An excluded folder is not read, and the run reports why.")
def test_an_excluded_folder_is_not_read_and_the_run_says_why(garden: Program) -> None:
    assert garden("exclude", "history/shut").status == 0
    report = garden("index", "history", "--json").json
    assert (report["turns_added"], report["unreadable"]) == (1, 0)
    assert "excluded by" in reasons(garden, "history", "--force")["shut"]
    assert reasons(garden, "history", "--force", "--exclude", "a.*")["a.jsonl"] == "excluded by `a.*`"
    for named in ("history/shut", "history/shut/b.jsonl"):
        assert garden("index", named, "--force").status == 1
    assert garden("search", "key", "--json", "--mode", "keyword").status == 1


def test_an_excluded_project_is_kept_out_by_its_name_wherever_it_is_talked_of(garden: Program) -> None:
    garden("exclude", "--project", "safe")
    assert garden("index", "history", "--json").json["turns_added"] == 1
    assert "kept out" in reasons(garden, "history", "--force")["b.jsonl"]
    garden("exclude", "--remove", "--project", "safe")
    assert garden("index", "history", "--json").json["turns_added"] == 1


def test_stored_turns_stay_and_are_reported(garden: Program) -> None:
    garden("index", "history")
    run = garden("exclude", "--project", "safe")
    assert (run.status, "1 row" in run.stderr, "forget" in run.stderr) == (0, True, True)


def test_the_hint_of_exclude_is_a_command_that_forgets_what_is_stored(garden: Program) -> None:
    (garden.home / "history" / "shut").rename(garden.home / "history" / "shut away")
    garden("index", "history")
    for arguments in (["history/shut away"], ["--project", "Is the open one's"]):
        garden("index", "history/open", "--force", "--project", "Is the open one's")
        _, hint = garden("exclude", *arguments).stderr.split("pastchats-memory forget ")
        run = garden("forget", *shlex.split(hint), "--yes")
        assert (run.status, run.stdout.startswith("Forgotten: 1 turn")) == (0, True), run


def test_the_rest_of_the_own_file_stays_as_it_is(garden: Program) -> None:
    file = own_file(garden)
    file.parent.mkdir(parents=True)
    before = "# mine\nbudget = 900  # small\n\n[models.x]\npath = 'm'  # a folder\n"
    file.write_text(before, encoding="utf-8")
    garden("exclude", "--project", "safe")
    assert 'exclude = ["safe"]' in file.read_text(encoding="utf-8")
    assert garden("exclude", "--list").stdout == "safe\n"
    assert garden("exclude", "--remove", "--project", "safe").status == 0
    assert [line for line in file.read_text(encoding="utf-8").splitlines() if line and "exclude" not in line] == [
        line for line in before.splitlines() if line
    ]
    assert garden("exclude", "--list").status == 1
    assert garden("exclude", "--remove", "--project", "safe").status == 2


def test_a_file_that_is_no_toml_is_left_as_it_is(garden: Program) -> None:
    file = own_file(garden)
    file.parent.mkdir(parents=True)
    file.write_text("exclude = [", encoding="utf-8")
    assert garden("exclude", "--project", "safe").status == 2
    assert file.read_text(encoding="utf-8") == "exclude = ["


def test_a_projects_file_adds_to_what_the_person_excludes_and_lets_nothing_in(tmp_path: Path) -> None:
    own = tmp_path / "config" / "pastchats-memory" / "pastchats-memory.toml"
    own.parent.mkdir(parents=True)
    own.write_text("exclude = ['safe']\n", encoding="utf-8")
    (tmp_path / "pastchats-memory.toml").write_text("exclude = ['drafts']\n", encoding="utf-8")
    environment = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "PASTCHATS_MEMORY_DB": str(tmp_path / "memory.db")}
    assert load(environment=environment, here=tmp_path).exclude == ("safe", "drafts")


def test_no_turn_of_an_excluded_project_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASTCHATS_MEMORY_EXCLUDE", "safe")
    with Memory.open(tmp_path / "memory.db") as memory:
        with pytest.raises(errors.UsageFault):
            memory.store_turn("user", "Where is the key?", project="safe")
        assert memory.store_turn("user", "Where is the key?", project="garden").is_new


def test_below_a_marker_nothing_is_read_though_it_is_named(garden: Program) -> None:
    (garden.home / "history" / ".pastchats-ignore").touch()
    assert garden("index", "history/open").status == 1
    assert garden("index", "history/open/a.jsonl").status == 1
    assert ".pastchats-ignore" in reasons(garden, "history")["history"]


@pytest.mark.promise("privacy", "A folder that contains `.pastchats-ignore` is not read.")
def test_a_marked_folder_below_a_named_one_is_not_read(garden: Program) -> None:
    (garden.home / "history" / "shut" / ".pastchats-ignore").touch()
    assert ".pastchats-ignore" in reasons(garden, "history")["shut"]
    assert garden("search", "key", "--mode", "keyword").status == 1
    assert garden("search", "fence", "--mode", "keyword").status == 0


def test_exclude_fits_its_schema(garden: Program) -> None:
    garden("index", "history")
    schema = json.loads((REPOSITORY / "contracts" / "schemas" / "exclude.json").read_text(encoding="utf-8"))
    body = garden("exclude", "--project", "safe", "history/open", "--json").json
    Draft202012Validator(schema).validate(body)
    assert [one["stored"] for one in body["results"]] == [1, 1]
    Draft202012Validator(schema).validate(garden("exclude", "--list", "--json").json)


@pytest.mark.promise(
    "privacy", "What a session says while it is in an excluded folder is not stored, wherever it began."
)
def test_turns_in_an_excluded_folder_are_not_stored_though_their_session_began_elsewhere(program: Program) -> None:
    messages = [("open", "Is the fence painted?"), ("shut", "Where is the key?"), ("open", "Is the gate closed?")]
    records = [
        {
            "type": "user",
            "uuid": f"3b1f6a52-9a57-4c0e-8d1c-00000000000{number}",
            "sessionId": "5d0f6c1e-7a42-4c59-9b1e-0c4f2a9d7e31",
            "timestamp": f"2026-03-01T10:0{number}:00.000Z",
            "cwd": str(program.home / folder),
            "message": {"role": "user", "content": words},
        }
        for number, (folder, words) in enumerate(messages)
    ]
    file = program.home / ".claude" / "projects" / "open" / "a.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    assert program("exclude", "shut").status == 0
    assert program("index", file, "--json").json["turns_added"] == 2
    assert b"Where is the key" not in program.database.read_bytes()


@pytest.mark.skipif(os.name != "posix", reason="Windows makes links only for administrators")
@pytest.mark.parametrize(("named", "recorded"), [("shut", "link"), ("link", "shut"), ("link", "link/deep")])
def test_an_excluded_folder_is_known_by_links_and_by_its_real_path(program: Program, named: str, recorded: str) -> None:
    (program.home / "shut" / "deep").mkdir(parents=True)
    (program.home / "link").symlink_to(program.home / "shut")
    write_messages(program.home / "history" / "a.jsonl", ("user", "Is the fence painted?"))
    secret = {
        "role": "user",
        "content": "Where is the key?",
        "conversation_id": "c2",
        "cwd": str(program.home / recorded),
    }
    (program.home / "history" / "b.jsonl").write_text(f"{json.dumps(secret)}\n", encoding="utf-8")
    assert program("exclude", named).status == 0
    assert program("index", "history", "--json").json["turns_added"] == 1
    assert b"Where is the key" not in program.database.read_bytes()


def test_exclusions_of_several_processes_at_once_are_all_listed(program: Program) -> None:
    for number in range(3):
        names = [f"folder-{number}-{part}" for part in range(4)]
        with ThreadPoolExecutor(len(names)) as pool:
            assert [run.status for run in pool.map(lambda name: program("exclude", name), names)] == [0] * len(names)
    assert len(program("exclude", "--list").stdout.splitlines()) == 12
