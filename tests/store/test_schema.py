"""One schema: databases of older builds and newer releases are refused and stay as they are."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import apsw
import pytest
from older_builds import make_older
from whole import assert_whole

from pastchats_memory import Memory
from pastchats_memory.errors import DatabaseNewer, DatabaseOlder, StoreFault
from pastchats_memory.store import database as database_module
from pastchats_memory.store import schema
from pastchats_memory.store.database import open_database


def test_the_installed_schema_has_the_version_that_the_code_knows() -> None:
    assert "prompts" in schema.schema_names()


@pytest.mark.promise("durability", "A database of an older build is refused and stays as it is.")
@pytest.mark.parametrize("version", [1, 14])
def test_a_database_of_an_older_build_is_refused_and_stays_byte_for_byte(tmp_path: Path, version: int) -> None:
    path = make_older(tmp_path / "memory.db", version)
    before = path.read_bytes()
    with pytest.raises(DatabaseOlder, match=rf"unreleased older build \(its schema version {version}\)") as raised:
        open_database(path)
    assert "Index again into another file, with --db NEW" in raised.value.hint
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["memory.db"]


def test_the_log_that_a_killed_older_build_left_stays_too(tmp_path: Path) -> None:
    path = make_older(tmp_path / "memory.db", 14)
    writer = apsw.Connection(str(path))
    writer.execute("UPDATE prompts SET content = 'Water the roses' WHERE id = 1")
    folder = tmp_path / "killed"
    folder.mkdir()
    for end in ("", "-wal"):
        shutil.copy(f"{path}{end}", folder / f"memory.db{end}")
    writer.close()
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert before["memory.db-wal"]
    with pytest.raises(DatabaseOlder):
        open_database(folder / "memory.db")
    assert {name: (folder / name).read_bytes() for name in before} == before


def test_a_process_from_before_an_upgrade_creates_no_database_of_the_new_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = schema.SCHEMA_VERSION - 1
    new, old = tmp_path / "new.db", tmp_path / "old.db"
    with Memory.open(old) as memory, monkeypatch.context() as process:
        memory.store_turn("user", "Water the roses")
        process.setattr(schema, "SCHEMA_VERSION", older)
        process.setattr(database_module, "SCHEMA_VERSION", older)
        with pytest.raises(StoreFault, match=r"^another release was installed while this process was running$"):
            open_database(new, create=True)
        brought = (
            rf"old\.db was brought to schema version {older + 1} while this process was running, which knows {older}$"
        )
        with pytest.raises(DatabaseNewer, match=brought):
            memory.purge()
    for path, turns in ((new, 0), (old, 1)):
        with Memory.open(path) as memory:
            assert memory.status().turns == turns
        with open_database(path) as database:
            assert_whole(database)


OUTLIVING = """
import sys
from pastchats_memory import Memory
from pastchats_memory.errors import MemoryFault
with Memory.open(sys.argv[1]) as memory:
    memory.store_turn("user", "Water the roses")
    print("open", flush=True)
    sys.stdin.readline()
    for write in (lambda: memory.store_turn("user", "Cut the roses"), lambda: memory.forget("1")):
        try:
            write()
        except MemoryFault as fault:
            print(fault.kind, fault.hint)
    print(len(memory.search("roses", mode="keyword")))
"""


@pytest.mark.promise(
    "durability", "A database of a newer release is refused, even by a process that was started before the upgrade."
)
def test_a_process_from_before_an_upgrade_writes_nothing_to_a_changed_schema(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    command = [sys.executable, "-c", OUTLIVING, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as older:
        assert older.stdout is not None
        assert older.stdout.readline() == "open\n"
        newer = apsw.Connection(str(path))
        newer.execute(f"BEGIN IMMEDIATE; PRAGMA user_version={schema.SCHEMA_VERSION + 1}; COMMIT")
        printed, _ = older.communicate("\n")
    assert re.findall(r"^\w+", printed, re.MULTILINE) == ["database_newer", "database_newer", "1"]
    assert printed.count("Start it again") == 2
    assert newer.execute("SELECT content FROM prompts").fetchall() == [("Water the roses",)]
    newer.close()
