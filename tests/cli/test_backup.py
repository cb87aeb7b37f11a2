"""Backups are whole whatever else goes on, and a restore gives the old memory or the new one, never a mixture."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from older_builds import make_older
from outcomes import explained, turns
from program import REPOSITORY, Program, write_messages
from self_signal import PATIENT, with_checksum_vectors
from systems import has_mode
from waiting import HANG_S
from whole import assert_whole, state

from pastchats_memory import Memory
from pastchats_memory.store import database as database_module
from pastchats_memory.store.database import open_database

LONG = 1000
"""Turns; their backup takes long enough to be killed in the middle."""


def _state(path: Path) -> dict[str, list[tuple]]:
    with open_database(path) as database:
        assert_whole(database)
        return state(database)


def _beside(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.iterdir() if file.name.startswith(path.name))


def test_a_backup_is_whole_for_its_owner_alone_and_restores_to_the_same_rows(indexed: Program) -> None:
    indexed("task", "add", "Water the roses")
    before = _state(indexed.database)
    file = indexed.home / "kept.db"
    (copied,) = indexed("backup", file, "--json").results
    assert copied == {"file": str(file), "turns": 2, "tasks": 1, "bytes": file.stat().st_size}
    assert has_mode(file, 0o600)
    assert _beside(file) == ["kept.db"]
    write_messages(indexed.home / "history" / "more.jsonl", ("user", "And now?"), ("assistant", "Nothing."))
    assert indexed("index", "history").status == 0
    content = file.read_bytes()
    run = indexed("restore", file, "--yes", "--json")
    assert (run.status, run.stderr) == (0, "")
    (restored,) = run.results
    assert restored["turns"] == 2
    assert restored["put_aside"] is None
    assert _state(indexed.database) == before
    assert indexed("search", "webhooks").status == 0
    assert file.read_bytes() == content
    assert _beside(file) == ["kept.db"]
    assert has_mode(indexed.database, 0o600)
    assert indexed("index", "history").status == 0
    assert turns(indexed) == 4


def test_an_existing_file_is_replaced_only_with_the_flag(indexed: Program) -> None:
    file = indexed.home / "kept.db"
    file.write_text("mine", encoding="utf-8")
    explained(indexed("backup", file), "there already")
    assert file.read_text(encoding="utf-8") == "mine"
    assert indexed("backup", file, "--force").status == 0
    for arguments in ([], ["--no"], ["--json"]):
        run = indexed("restore", file, *arguments)
        assert run.status == 1
        assert "--yes replaces it" in run.stderr
    assert run.results == []


@pytest.mark.parametrize("command", [["backup"], ["export"], ["task", "export"]])
def test_a_backup_needs_a_free_name_in_a_folder_that_may_be_written(indexed: Program, command: list[str]) -> None:
    for own in (indexed.database, indexed.home / "history" / ".." / "memory.db", indexed.home / "memory.db-wal"):
        own.touch()
        explained(indexed(*command, own, "--force"), "is the database itself")
    explained(indexed(*command, indexed.home / "history", "--force"), "is no regular file")
    os.mkfifo(indexed.home / "pipe")
    explained(indexed(*command, indexed.home / "pipe", "--force"), "is no regular file")
    nowhere = indexed(*command, indexed.home / "nowhere" / "kept.db")
    explained(nowhere, f"there is no folder {indexed.home / 'nowhere'}\n", "Create it")
    assert "partial" not in nowhere.stderr
    explained(
        indexed(*command, indexed.home / "memory.db" / "kept.db"), f"{indexed.home / 'memory.db' / 'kept.db'}: a part"
    )
    (indexed.home / "mine").write_text("mine", encoding="utf-8")
    explained(indexed(*command, indexed.home / "mine"), "there already")
    assert (indexed.home / "mine").read_text(encoding="utf-8") == "mine"
    assert turns(indexed) == 2


def test_a_memory_is_not_restored_from_itself(indexed: Program) -> None:
    explained(indexed("restore", indexed.database, "--yes"), "is the database itself")
    assert turns(indexed) == 2


def test_a_foreign_file_is_no_backup_and_the_memory_stays(indexed: Program) -> None:
    before = _state(indexed.database)
    folder = indexed.home / "files"
    folder.mkdir()
    (folder / "empty").touch()
    (folder / "text").write_text("This is no database. " * 200, encoding="utf-8")
    with closing(sqlite3.connect(folder / "another")) as another:
        another.execute("CREATE TABLE songs (name)")
    assert indexed("backup", folder / "newer").status == 0
    with closing(sqlite3.connect(folder / "newer")) as newer:
        newer.execute("PRAGMA user_version=999")
    assert indexed("backup", folder / "damaged").status == 0
    raw = bytearray((folder / "damaged").read_bytes())
    raw[3 * 4096 : 6 * 4096] = os.urandom(3 * 4096)
    (folder / "damaged").write_bytes(raw)
    (folder / "cut").write_bytes(raw[: len(raw) // 2])
    for name, words in {
        "empty": "is empty", "text": "not a database", "another": "another program's", "newer": "schema version 999",
        "damaged": "damaged", "cut": "damaged", "missing": "no such file",
    }.items():  # fmt: skip
        explained(indexed("restore", folder / name, "--yes"), words)
    explained(indexed("restore", folder, "--yes"), "no regular file")
    assert "Name a file that `backup` wrote" in indexed("restore", folder / "text", "--yes").stderr
    assert _state(indexed.database) == before
    assert _beside(indexed.database) == ["memory.db", "memory.db.secrets"]


def test_a_database_of_an_older_build_is_refused_and_left_as_it_is(program: Program) -> None:
    file = make_older(program.home / "old.db", 7)
    content = file.read_bytes()
    for command in (["status"], ["search", "webhooks"], ["index", "history"], ["backup", "kept.db"]):
        explained(program(*command, "--db", file), "unreleased older build", "Index again")
    explained(program("restore", file), "unreleased older build", "Index again")
    assert file.read_bytes() == content
    assert _beside(file) == ["old.db"]
    assert not program.database.exists()


def test_a_restore_brings_back_old_rows_but_no_forgotten_ones(
    indexed: Program,
) -> None:
    write_messages(
        indexed.home / "history" / "more.jsonl",
        ("user", "Where does the golden orchid grow in winter?"),
        ("assistant", "Behind the greenhouse, near the warm pipe that nobody knows."),
        conversation="c2",
    )
    assert indexed("index", "history").status == 0
    for key, text in (("T-red", "Paint the crimson gate before the feast"), ("T-blue", "Paint the blue gate")):
        assert indexed("task", "add", text, "--key", key).status == 0
    assert indexed("task", "comment", "T-blue", "The turquoise tin is behind the ladder in the shed").status == 0
    file = indexed.home / "kept.db"
    assert indexed("backup", file).status == 0
    for query in ("golden orchid", "crimson gate", "turquoise tin"):
        assert indexed("forget", "--query", query, "--yes").status == 0
    assert indexed("restore", file, "--yes").status == 0
    with open_database(indexed.database) as database:
        assert_whole(database)
    raw = b"".join(each.read_bytes().lower() for each in indexed.home.glob("memory.db*"))
    for word in (b"orchid", b"crimson", b"turquoise"):
        assert word not in raw
    assert indexed("search", "warm pipe", "--mode", "keyword").status == 0
    assert indexed("task", "show", "T-blue").status == 0
    assert len(indexed("forget", "--list", "--json").results) == 3
    assert indexed("index", "history").status == 0
    assert indexed("search", "orchid", "--mode", "keyword").status == 1
    again = indexed.home / "again.db"
    assert indexed("backup", again).status == 0
    assert indexed("restore", again, "--yes").status == 0
    assert len(indexed("forget", "--list", "--json").results) == 3


def test_a_backup_is_made_in_a_folder_that_may_not_be_opened(indexed: Program, ordinary: Program) -> None:
    """As no folder may be on Windows: what was made is synced to the disk only where that is possible."""
    folder = indexed.home / "shelf"
    folder.mkdir(mode=0o300)
    run = ordinary("backup", folder / "kept.db")
    folder.chmod(0o700)
    assert (run.status, [path.name for path in folder.iterdir()]) == (0, ["kept.db"]), run


FORGETS_MEANWHILE = """
import subprocess, sysconfig
from pathlib import Path
from pastchats_memory.store import tombstone_transfer

apply_tombstones = tombstone_transfer.apply_tombstones

def and_then_forget(new, records):
    tombstone_transfer.apply_tombstones = apply_tombstones
    apply_tombstones(new, records)
    program = Path(sysconfig.get_path("scripts"), "pastchats-memory")
    subprocess.run([program, "forget", "--query", "webhooks", "--yes"], check=True, capture_output=True)

tombstone_transfer.apply_tombstones = and_then_forget
"""


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_a_restore_does_not_bring_back_a_row_forgotten_meanwhile(indexed: Program, journal: str) -> None:
    file = indexed.home / "kept.db"
    assert indexed("backup", file).status == 0
    with closing(sqlite3.connect(indexed.database)) as database:
        database.execute(f"PRAGMA journal_mode={journal}")
    run = indexed.primed(FORGETS_MEANWHILE)("restore", file, "--yes")
    assert run.status == 0, run
    assert len(indexed("forget", "--list", "--json").results) == 1
    assert indexed("search", "webhooks", "--mode", "keyword").status == 1
    assert not any(b"retry webhooks" in each.read_bytes() for each in indexed.home.glob("memory.db*"))
    with open_database(indexed.database) as database:
        assert_whole(database)


WRITES_MEANWHILE = """
import subprocess, sysconfig
from pathlib import Path
from pastchats_memory.store import deletion

delete = deletion.delete_rows

def while_another_writes(database, chosen):
    program = Path(sysconfig.get_path("scripts"), "pastchats-memory")
    subprocess.run([program, "task", "add", "Water the roses"], check=True, capture_output=True)
    return delete(database, chosen)

deletion.delete_rows = while_another_writes
"""


def test_other_processes_write_while_a_restore_deletes_forgotten_rows(indexed: Program) -> None:
    file = indexed.home / "kept.db"
    assert indexed("backup", file).status == 0
    assert indexed("forget", "--query", "webhooks", "--yes").status == 0
    run = indexed.primed(WRITES_MEANWHILE)("restore", file, "--yes")
    assert run.status == 0, run
    assert indexed("search", "webhooks", "--mode", "keyword").status == 1


def test_a_database_that_cannot_be_opened_is_put_aside_and_another_programs_is_not_touched(indexed: Program) -> None:
    file = indexed.home / "kept.db"
    assert indexed("backup", file).status == 0
    damaged = b"no database " * 1000
    indexed.database.write_bytes(damaged)
    run = indexed("restore", file, "--yes", "--json")
    assert run.status == 0
    aside = Path(run.results[0]["put_aside"])
    assert str(aside) in run.stderr
    assert aside.read_bytes() == damaged
    assert turns(indexed) == 2
    songs = indexed.home / "songs.db"
    with closing(sqlite3.connect(songs)) as another:
        another.execute("CREATE TABLE songs (name)")
    content = songs.read_bytes()
    explained(indexed("restore", file, "--yes", "--db", songs), "another program's")
    assert songs.read_bytes() == content


def _names(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()]


def _many(folder: Path) -> None:
    lines = ((("user", "assistant")[place % 2], f"Sentence {place} of many") for place in range(LONG))
    write_messages(folder / "many.jsonl", *lines)


SIGNAL_IN_COPY = """
import signal
from pastchats_memory.store import backup

steps = 0

def pages(copying):
    global steps
    while not copying.done:
        copying.step(40)
        steps += 1
        if steps == {steps}:
            signal.raise_signal({number:d})

backup._copy_pages = pages
"""
"""Copy few pages at a time, and send the process a signal after so many steps."""


@pytest.fixture(scope="module")
def _large(_webhooks: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("large")
    shutil.copytree(_webhooks, home, dirs_exist_ok=True)
    program = Program(home)
    assert program("backup", home / "small.db").status == 0
    _many(home / "history")
    assert with_checksum_vectors(program)("index", "history").status == 0
    return home


@pytest.fixture
def large(program: Program, _large: Path) -> Program:
    """A memory whose backup takes a while, and a small one in `small.db`."""
    shutil.copytree(_large, program.home, dirs_exist_ok=True)
    return program


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_a_change_killed_half_way_changes_nothing_and_the_next_removes_its_leftovers(
    large: Program, command: str
) -> None:
    file = large.home / "kept.db"
    if command == "restore":
        assert large("backup", file).status == 0
        assert large("restore", large.home / "small.db", "--yes").status == 0
    before = _state(large.database)
    arguments = [file] if command == "backup" else [file, "--yes"]
    steps = 4 if command == "backup" else file.stat().st_size // (40 * 4096) + 8  # into the second copy
    mortal = large.primed(SIGNAL_IN_COPY.format(steps=steps, number=signal.SIGKILL))
    assert mortal(command, *arguments).status == -signal.SIGKILL
    assert file.exists() == (command == "restore")
    assert any("partial" in name for name in _names(large.home))
    assert _state(large.database) == before
    assert large(command, *arguments).status == 0
    assert not any("partial" in name for name in _names(large.home))
    assert turns(large) == LONG + 2


def test_interrupted_from_the_keyboard_nothing_is_left(large: Program) -> None:
    stopped = large.primed(SIGNAL_IN_COPY.format(steps=1, number=signal.SIGINT))("backup", large.home / "kept.db")
    assert stopped.status == 130
    assert not any("kept" in name for name in _names(large.home))


def test_a_backup_while_something_indexes_holds_whole_batches(large: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "BUSY_MS", 1000 * HANG_S)
    write_messages(
        large.home / "history" / "new.jsonl",
        *(("user", f"New sentence {place}") for place in range(600)),
        conversation="c2",
    )
    indexing = with_checksum_vectors(large, PATIENT).started("index", "history")
    sizes, has_ended = set(), False
    while not has_ended:
        has_ended = indexing.poll() is not None
        with Memory.open(large.database) as memory:
            sizes.add(memory.backup(large.home / "kept.db", force=True).turns)
        with open_database(large.home / "kept.db") as database:
            assert_whole(database)
    output = indexing.communicate()
    assert indexing.returncode == 0, output
    assert all((size - LONG - 2) % 256 in (0, 600 % 256) for size in sizes)


def test_a_reader_during_a_restore_sees_the_old_or_the_new_memory(large: Program) -> None:
    seen = set()
    with Memory.open(large.database) as memory:
        before = memory.status().turns
        restoring = large.started("restore", large.home / "small.db", "--yes")
        while restoring.poll() is None:
            seen.add(memory.status().turns)
            assert memory.search("webhooks", mode="keyword")
        output = restoring.communicate()
        assert restoring.returncode == 0, output
        seen.add(memory.status().turns)
        assert memory.search("how do we retry webhooks?")[0].content == "How do we retry webhooks?"
    assert seen <= {before, 2}
    assert 2 in seen
    _state(large.database)


def test_a_full_disk_is_explained_and_leaves_no_half_backup(large: Program) -> None:
    limit = 1 << 20
    run = subprocess.run(
        ["prlimit", f"--fsize={limit}", *large.command, "backup", "kept.db"],
        cwd=large.home, env=large.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 2, run
    assert "Traceback" not in run.stderr
    assert not any("kept" in name for name in _names(large.home))


@pytest.mark.parametrize(
    "command", ["index {demo} --db {name}", "backup {name}", "restore {name} --yes", "status --db {name}"]
)
def test_a_name_that_sqlite_takes_for_no_file_is_refused_and_no_file_is_left(own_demo: Program, command: str) -> None:
    name = "memory-\udcff.db"
    run = own_demo(*command.format(demo=REPOSITORY / "fixtures" / "demo", name=name).split())
    assert (run.status, run.stdout) == (2, "")
    assert "Traceback" not in run.stderr
    assert len(run.stderr.splitlines()) == 2
    assert not (own_demo.home / name).exists()


def test_the_name_of_a_backup_cannot_move_the_cursor(own_demo: Program) -> None:
    run = own_demo("backup", "memory-\x1b[2J.db")
    assert (run.status, "\x1b" in run.stdout) == (0 if os.name == "posix" else 2, False)  # no name on Windows
