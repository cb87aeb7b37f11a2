"""Databases of earlier versions, brought up to date by opening them."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from pathlib import Path

import apsw
import pytest
from program import REPOSITORY
from whole import assert_whole

from pastchats_memory import Memory
from pastchats_memory.errors import DatabaseNewer, StoreFault
from pastchats_memory.store import database as opening
from pastchats_memory.store import migrations, sources
from pastchats_memory.store.database import APPLICATION_ID, open_database

FOLDER = Path(migrations.__file__).parent
DATABASES = REPOSITORY / "fixtures" / "databases"


def of_version(path: Path, version: int) -> Path:
    """A database that has run the first `version` migrations, as that release left it."""
    connection = apsw.Connection(str(path))
    for number in range(version):
        connection.execute(migrations.migration(number))
    connection.execute(f"PRAGMA user_version={version}; PRAGMA application_id={APPLICATION_ID}")
    connection.close()
    return path


def shape_of(path: Path) -> dict[str, object]:
    """Every table with its columns and foreign keys, every index, trigger and virtual table with its statement."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    shape: dict[str, object] = {}
    for kind, name, statement in connection.execute(
        "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'vec\\_%' ESCAPE '\\'"
    ).fetchall():
        plain = re.sub(r"\s+", " ", re.sub(r"--[^\n]*", "", statement))
        if kind == "table" and not plain.startswith("CREATE VIRTUAL"):
            columns = connection.execute("SELECT * FROM pragma_table_xinfo(?)", (name,)).fetchall()
            keys = connection.execute("SELECT * FROM pragma_foreign_key_list(?)", (name,)).fetchall()
            shape[name] = (columns, keys, "WITHOUT ROWID" in plain, "AUTOINCREMENT" in plain)
        else:
            shape[name] = plain
    connection.close()
    return shape


@pytest.mark.parametrize("version", range(1, migrations.SCHEMA_VERSION + 1))
def test_a_database_of_any_earlier_version_becomes_like_a_new_one(tmp_path: Path, version: int) -> None:
    old, new = of_version(tmp_path / "old.db", version), tmp_path / "new.db"
    open_database(old).close()
    open_database(new, create=True).close()
    assert shape_of(old) == shape_of(new)


def test_every_migration_file_is_listed_once_and_in_order() -> None:
    assert sorted(path.name for path in FOLDER.glob("*.sql")) == list(migrations.MIGRATIONS)
    assert [int(name[:4]) for name in migrations.MIGRATIONS] == list(range(1, migrations.SCHEMA_VERSION + 1))


def test_a_database_whose_version_was_never_raised_is_noticed_by_its_shape(tmp_path: Path) -> None:
    new = tmp_path / "new.db"
    open_database(new, create=True).close()
    before = shape_of(new)
    connection = apsw.Connection(str(new))
    connection.execute("ALTER TABLE runs ADD COLUMN note TEXT")
    connection.close()
    assert shape_of(new) != before


def test_a_process_that_outlives_an_upgrade_makes_no_database_of_the_new_schema_under_its_own_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = migrations.SCHEMA_VERSION - 1
    new, old = tmp_path / "new.db", tmp_path / "old.db"
    with Memory.open(old) as memory, monkeypatch.context() as process:
        memory.store_turn("user", "Water the roses")
        process.setattr(migrations, "SCHEMA_VERSION", older)
        process.setattr(opening, "SCHEMA_VERSION", older)
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
    assert shape_of(old) == shape_of(new)


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
def test_a_process_that_outlives_an_upgrade_writes_nothing_once_another_has_brought_its_database_up_to_date(
    tmp_path: Path,
) -> None:
    path = tmp_path / "memory.db"
    command = [sys.executable, "-c", OUTLIVING, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as older:
        assert older.stdout is not None
        assert older.stdout.readline() == "open\n"
        newer = apsw.Connection(str(path))
        newer.execute(f"BEGIN IMMEDIATE; PRAGMA user_version={migrations.SCHEMA_VERSION + 1}; COMMIT")
        said, _ = older.communicate("\n")
    assert re.findall(r"^\w+", said, re.MULTILINE) == ["database_newer", "database_newer", "1"]
    assert said.count("Start it again") == 2
    assert newer.execute("SELECT content FROM prompts").fetchall() == [("Water the roses",)]
    newer.close()


def test_the_schema_that_is_installed_is_of_the_version_that_the_code_knows() -> None:
    assert migrations.schema()


def test_what_earlier_releases_kept_of_growing_files_is_gone_from_the_database_and_files_are_known_still(
    tmp_path: Path,
) -> None:
    old = of_version(tmp_path / "old.db", 7)
    secret = "AKIA" + "Q7" * 8
    connection = apsw.Connection(str(old))
    connection.execute(
        "INSERT INTO sources(path, size, mtime_ns, recipe, format, fingerprint, resume) VALUES ('/a.jsonl', 9, 8, 'r', 'f', 'e', ?)",
        (f'{{"state": {{"said": "{secret}"}}}}',),
    )
    connection.close()
    assert secret.encode() in old.read_bytes()
    with open_database(old) as database:
        state = sources.known_sources(database)["/a.jsonl"]
        assert sources.resume_of(database, "/a.jsonl") is None
    assert (state.size, state.mtime_ns, state.fingerprint) == (9, 8, "e")
    assert not any(secret.encode() in file.read_bytes() for file in tmp_path.iterdir())


@pytest.mark.promise("durability", "A database of an earlier version keeps all of its content.")
@pytest.mark.parametrize("file", sorted(DATABASES.glob("schema-*.db.gz")), ids=lambda file: file.name.split(".")[0])
def test_what_the_code_of_an_earlier_version_stored_is_all_there_and_found(tmp_path: Path, file: Path) -> None:
    old = tmp_path / "memory.db"
    old.write_bytes(gzip.decompress(file.read_bytes()))
    connection = apsw.Connection(str(old), flags=apsw.SQLITE_OPEN_READONLY)
    before = connection.execute("SELECT content_hash, role, content, timestamp FROM prompts ORDER BY id").fetchall()
    tasks = connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'tasks'").fetchall()[0][0]
    keys = connection.execute("SELECT key, title FROM tasks ORDER BY id").fetchall() if tasks else []
    connection.close()
    assert len(before) >= 6
    with Memory.open(old) as memory:
        hits = memory.search("webhooks that fail", mode="keyword")
        assert hits[0].content == "How do we retry webhooks that fail?"
        assert "how long the queue gets" in memory.search("length of the queue at noon", mode="semantic")[0].content
    with open_database(old) as database:
        assert_whole(database)
        assert database.run("SELECT content_hash, role, content, timestamp FROM prompts ORDER BY id") == before
        assert database.run("SELECT key, title FROM tasks ORDER BY id") == keys
