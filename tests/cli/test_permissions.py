"""What is written is the person's alone, whatever the umask, and a place that others may write in is refused."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import apsw
import pytest
from outcomes import error_of
from program import Program, write_messages

from pastchats_memory import Memory
from pastchats_memory.config.exclusions import exclude
from pastchats_memory.hooks import spool
from pastchats_memory.hooks.log import note
from pastchats_memory.hooks.session import remember

UMASKS = ("000", "077")
NEEDED = {
    "ask": ["what is open?"], "backup": ["copy.db"], "capture": ["Pay", "--no"], "context": ["webhooks"], "doctor": [],
    "index": ["history"], "recall": ["webhooks"], "reindex": ["--embeddings"], "restore": ["copy.db", "--yes"],
    "search": ["webhooks"], "task": ["list"],
}  # fmt: skip
"""Commands of every room that opens a database, with what they have to be told."""


def under(umask: str, program: Program) -> Program:
    return Program(program.home, ("sh", "-c", f'umask {umask}; exec "$0" "$@"', *program.command), program.variables)


def modes(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): oct(stat.S_IMODE(path.lstat().st_mode)) for path in folder.rglob("*")}


def alone(folder: Path) -> bool:
    return all(
        stat.S_IMODE(path.lstat().st_mode) == (0o700 if path.is_dir() else 0o600)
        for path in (folder, *folder.rglob("*"))
    )


@pytest.mark.promise("permissions", "Every file that a command writes is readable by you alone, whatever the umask.")
@pytest.mark.parametrize("umask", UMASKS)
def test_all_that_is_written_is_the_persons_alone(program: Program, umask: str) -> None:
    home = program.home
    home.chmod(0o755)
    write_messages(home / "history" / "a.jsonl", ("user", "Build the webhook retries."), ("assistant", "Built."))
    private = under(umask, program).with_variables(
        PASTCHATS_MEMORY_DB=str(home / "own" / "deep" / "memory.db"), XDG_STATE_HOME=str(home / "state")
    )
    assert private("index", "history").status == 0
    with apsw.Connection(str(home / "own" / "deep" / "memory.db")) as held:  # keeps the log and the shared memory there
        held.execute("SELECT count(*) FROM prompts").fetchall()
        assert private("task", "add", "Pay by card").status == 0
        assert {"memory.db", "memory.db-shm", "memory.db-wal"} <= {
            path.name for path in (home / "own" / "deep").iterdir()
        }
        assert alone(home / "own"), modes(home / "own")
    for copy in (["backup", "copy.db"], ["export", "all.jsonl"], ["task", "export", "tasks.jsonl"]):
        assert private(*copy[:-1], home / "own" / "deep" / copy[-1]).status == 0
    assert alone(home / "own"), modes(home / "own")


def test_files_written_from_python_are_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with Memory.open(tmp_path / "own" / "deep" / "memory.db") as memory:
            memory.store_turn("user", "Build the webhook retries.", "c1", "e1")
            memory.backup(tmp_path / "own" / "copy.db")
            memory.export_to(tmp_path / "own" / "turns.jsonl")
            assert len(list((tmp_path / "own").rglob("*"))) > 5  # the log and the shared memory, too
            assert alone(tmp_path / "own"), modes(tmp_path / "own")
    finally:
        os.umask(before)


@pytest.mark.promise("permissions", "Every file that hooks and `install` write is readable by you alone.")
@pytest.mark.parametrize("umask", UMASKS)
def test_files_of_hooks_and_install_are_private(own_demo: Program, umask: str) -> None:
    home = own_demo.home
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir(mode=0o755)
    settings.write_text('{"model": "x"}', encoding="utf-8")
    settings.chmod(0o644)
    private = under(umask, own_demo).with_variables(
        XDG_STATE_HOME=str(home / "state"), PASTCHATS_MEMORY_HOOK_SECONDS="30"
    )
    assert private("install", "claude-code", "--yes").status == 0
    assert stat.S_IMODE(settings.stat().st_mode) == 0o644  # as the person had it
    copies = [path for path in settings.parent.iterdir() if path.name.startswith("settings.json.")]
    assert [stat.S_IMODE(path.stat().st_mode) for path in copies] == [0o600]
    body = json.dumps({"session_id": "s", "prompt": "How did we build the webhook retries?", "cwd": str(home)})
    for event in ("UserPromptSubmit", "SessionEnd", "unheard-of"):
        subprocess.run(
            [*private.command, "hook", "claude-code", event],
            input=body,
            text=True,
            cwd=home,
            env=private.environment,
            check=True,
        )
    state = home / "state" / "pastchats-memory"
    assert {"sessions", "hooks.log", "installed.json"} <= {path.name for path in state.iterdir()}
    assert alone(home / "state"), modes(home / "state")


def test_a_hook_leaves_nothing_open_though_its_umask_is_its_own(tmp_path: Path) -> None:
    state, transcript = tmp_path / "state", tmp_path / "a.jsonl"
    write_messages(transcript, ("user", "Build the webhook retries."), ("assistant", "Built."))
    before = os.umask(0)
    try:
        note(state, "claude-code", "prompt", "bug")
        remember(state, "s", frozenset({"1"}))
        background = [sys.executable, "-m", "pastchats_memory.hooks.background"]
        spool.add(state, spool.IndexRequest("claude-code", str(tmp_path / "own" / "memory.db"), str(transcript)))
        subprocess.run([*background, state], check=True)
    finally:
        os.umask(before)
    assert {path.name for path in state.iterdir()} == {"hooks.log", "sessions", "waiting", "indexing.lock"}
    assert alone(state), modes(state)


@pytest.mark.promise("permissions", "A database in a folder where others could replace it is refused.")
@pytest.mark.parametrize("command", NEEDED)
def test_a_database_among_other_peoples_files_is_refused(own_demo: Program, command: str) -> None:
    folder = own_demo.home / "shared"
    folder.mkdir()
    own_demo.database.rename(folder / "memory.db")
    (own_demo.home / "copy.db").write_bytes((folder / "memory.db").read_bytes() if command == "restore" else b"")
    write_messages(own_demo.home / "history" / "a.jsonl", ("user", "Build it."), ("assistant", "Built."))
    folder.chmod(0o777)
    before = (folder / "memory.db").read_bytes(), sorted(folder.iterdir())
    exposed = own_demo.with_variables(PASTCHATS_MEMORY_DB=str(folder / "memory.db"))
    error = error_of(exposed(command, *NEEDED[command], "--json"))
    assert error["kind"] == "database_exposed"
    assert "others may write" in error["message"]
    assert "chmod go-w" in error["hint"]
    assert ((folder / "memory.db").read_bytes(), sorted(folder.iterdir())) == before


@pytest.mark.promise("permissions", "A database below a folder where others could replace its own folder is refused.")
@pytest.mark.parametrize("kind", ["folder", "link", "link to a folder above", "path with .."])
def test_every_folder_above_the_database_counts(own_demo: Program, kind: str) -> None:
    shared = own_demo.home / "shared"
    (shared / "mine" / "deep").mkdir(parents=True, mode=0o700)
    own_demo.database.rename(shared / "mine" / "deep" / "memory.db")
    (own_demo.home / "link").symlink_to("shared/mine")
    (shared / "away").symlink_to(own_demo.home / "real")
    (own_demo.home / "real").mkdir(mode=0o700)
    (own_demo.home / "real" / "memory.db").write_bytes((shared / "mine" / "deep" / "memory.db").read_bytes())
    path = {
        "folder": shared / "mine" / "deep" / "memory.db",
        "link": own_demo.home / "link" / "deep" / "memory.db",
        "link to a folder above": shared / "away" / "memory.db",
        "path with ..": shared / "mine" / ".." / ".." / "real" / "memory.db",
    }[kind]
    shared.chmod(0o755)
    assert own_demo("status", "--db", path).status == 0
    shared.chmod(0o777)
    error = error_of(own_demo("status", "--json", "--db", path))
    assert error["kind"] == "database_exposed"
    assert f"chmod go-w {shared}`" in error["hint"]
    shared.chmod(0o1777)
    assert own_demo("status", "--db", path).status == 0


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")
@pytest.mark.parametrize("entry", ["shared", "shared/mine", "shared/mine/memory.db", "shared/mine/memory.db-wal"])
def test_a_part_of_the_path_that_belongs_to_somebody_else_is_refused(own_demo: Program, entry: str) -> None:
    mine = own_demo.home / "shared" / "mine"
    mine.mkdir(parents=True, mode=0o700)
    own_demo.database.rename(mine / "memory.db")
    (mine / "memory.db-wal").touch()
    os.chown(own_demo.home / entry, 54321, 54321)
    error = error_of(own_demo("status", "--json", "--db", mine / "memory.db"))
    assert error["kind"] == "database_exposed"
    assert "another user" in error["message"]


def test_a_database_may_lie_in_a_sticky_folder(own_demo: Program) -> None:
    own_demo.home.chmod(0o1777)
    assert own_demo("status").status == 0
    own_demo.home.chmod(0o777)
    assert own_demo("status").status == 2


def test_a_link_into_such_a_folder_is_no_way_round(own_demo: Program) -> None:
    folder = own_demo.home / "shared"
    folder.mkdir()
    own_demo.database.rename(folder / "memory.db")
    own_demo.database.symlink_to(folder / "memory.db")
    assert own_demo("status").status == 0
    folder.chmod(0o777)
    assert error_of(own_demo("status", "--json"))["kind"] == "database_exposed"


@pytest.mark.promise("permissions", "A link to the database in such a folder is refused.")
def test_a_link_in_a_folder_that_others_may_write_is_refused(own_demo: Program) -> None:
    folder = own_demo.home / "shared"
    folder.mkdir()
    (folder / "memory.db").symlink_to(own_demo.database)
    folder.chmod(0o777)
    assert error_of(own_demo("status", "--json", "--db", folder / "memory.db"))["kind"] == "database_exposed"


@pytest.mark.promise("permissions", "`doctor` reports files that others can read.")
def test_doctor_reports_files_that_others_may_read(own_demo: Program) -> None:
    with apsw.Connection(str(own_demo.database)) as held:  # keeps what lies beside it there
        held.execute("SELECT count(*) FROM prompts").fetchall()
        for name, mode in (("memory.db", 0o640), ("memory.db-shm", 0o604)):
            (own_demo.home / name).chmod(mode)
            found = {one["check"]: one for one in own_demo("doctor", "--json").results}
            assert f"{name}`" in found["permissions"]["remedy"]
            (own_demo.home / name).chmod(0o600)


def test_a_new_own_file_is_private_and_an_existing_one_keeps_its_permissions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    before = os.umask(0)
    try:
        exclude(["secret"])
        assert alone(tmp_path / "config" / "pastchats-memory"), modes(tmp_path)
        (file,) = (tmp_path / "config").rglob("*.toml")
        file.chmod(0o640)
        exclude(["other"])
        assert stat.S_IMODE(file.stat().st_mode) == 0o640
    finally:
        os.umask(before)


def test_no_database_is_made_in_such_a_folder(program: Program) -> None:
    write_messages(program.home / "history" / "a.jsonl", ("user", "Build it."), ("assistant", "Built."))
    (program.home / "shared").mkdir()
    (program.home / "shared").chmod(0o777)
    made = program("index", "history", "--db", program.home / "shared" / "memory.db")
    assert made.status == 2
    assert list((program.home / "shared").iterdir()) == []


def test_a_group_of_ones_own_is_no_other_people(own_demo: Program) -> None:
    own_demo.home.chmod(0o770)
    assert own_demo.home.stat().st_gid == os.getegid()
    assert own_demo("status").status == 0
