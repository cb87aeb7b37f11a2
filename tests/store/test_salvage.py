"""What is saved of a damaged database: all that stands in pages that are whole, with everything derived made anew."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC
from pathlib import Path

import apsw
import pytest
from program import DEMO, Program, write_messages
from systems import has_mode
from whole import assert_whole, state

from pastchats_memory import Memory
from pastchats_memory.errors import DatabaseCorrupt, StoreFault
from pastchats_memory.store.database import open_database
from pastchats_memory.store.sqlite_pages import PAGE, ROOM_TIMES, TABLE_LEAF, records
from pastchats_memory.tasks.edit import Change
from pastchats_memory.text.display import format_time

LOOP = Path(__file__).parents[1] / "torture" / "damage_loop.py"
SYSTEM = apsw.vfs_names()[0]
QUESTION = "flaky login test"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory of the demo history, a task, and something forgotten; only read from it."""
    path = tmp_path_factory.mktemp("whole") / "memory.db"
    with Memory.open(path) as memory:
        memory.index([DEMO / "history"])
        memory.forget("3")
    return path


@pytest.fixture
def damaged(whole: Path, tmp_path: Path) -> Path:
    """A copy to be damaged."""
    path = tmp_path / "memory.db"
    path.touch(mode=0o600)
    path.write_bytes(whole.read_bytes())
    return path


def contents(path: Path) -> dict[int, str]:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    found = dict(connection.execute("SELECT id, content FROM prompts"))
    connection.close()
    return found


def mended(path: Path) -> dict[int, str]:
    """What the turns say after mending; the new database is whole, and the damaged file is kept."""
    before = path.read_bytes()
    report = Memory.repair(path)
    assert report.put_aside is not None
    assert report.put_aside.read_bytes() == before
    with open_database(path) as database:
        assert_whole(database)
    assert has_mode(path, 0o600)
    names = {file.name for file in path.parent.iterdir() if not file.name.endswith(("-wal", "-shm"))}
    assert names == {"memory.db", report.put_aside.name}
    return contents(path)


def in_the_middle(content: bytearray) -> None:
    start = len(content) // PAGE // 2 * PAGE
    content[start : start + 4 * PAGE] = b"\xa5" * (4 * PAGE)


def headless(content: bytearray) -> None:
    content[:100] = bytes(100)


def without_schema(content: bytearray) -> None:
    content[:PAGE] = bytes(PAGE)


def cut(content: bytearray) -> None:
    del content[len(content) // 3 * 2 :]


@pytest.mark.promise("durability", "`doctor` explains a damaged database and saves every intact page.")
@pytest.mark.parametrize("damage", [in_the_middle, headless, without_schema, cut])
def test_only_rows_of_whole_pages_are_saved(damaged: Path, damage: Callable[[bytearray], None]) -> None:
    before, content = contents(damaged), bytearray(damaged.read_bytes())
    damage(content)
    damaged.write_bytes(content)
    after = mended(damaged)
    assert after.items() <= before.items()
    least = {in_the_middle: 0.8, headless: 1, without_schema: 1, cut: 0.2}[damage]
    assert len(after) >= least * len(before)


@pytest.mark.promise("durability", "A private project is still private in a rescued database.")
@pytest.mark.parametrize("damage", [headless, without_schema])
def test_similar_rows_of_small_tables_are_kept_apart(tmp_path: Path, damage: Callable[[bytearray], None]) -> None:
    """States of tasks are like comments without an end, folders and events like entries of indexes."""
    path = tmp_path / "memory.db"
    write_messages(tmp_path / "garden" / "chat.jsonl", ("user", "Water the roses?"), ("assistant", "Yes."))
    with Memory.open(path) as memory:
        memory.index([tmp_path / "garden" / "chat.jsonl"], project="garden")
        task = memory.tasks.add(Change(title="Water the roses", project="garden"))
        memory.tasks.update(task.key, Change(status="done"))
        memory.tasks.comment(task.key, "The can leaks.")
        memory.store_turn("user", "Cut the roses.", "c2", "event-1", "garden")
    with open_database(path) as database:
        database.run("UPDATE project_folders SET is_private = 1")
        database.run("INSERT INTO task_conversations VALUES (?, 'c1')", (task.id,))
        before = state(database)
    content = bytearray(path.read_bytes())
    damage(content)
    path.write_bytes(content)
    Memory.repair(path)
    with open_database(path) as database:
        after = state(database)
        assert database.run("SELECT * FROM task_conversations") == [(task.id, "c1")]
    for name in ("prompts", "tasks", "states", "comments", "folders", "events", "model"):
        assert before[name], name
        assert after[name] == before[name], name


def test_lost_rows_come_back_from_transcripts_but_forgotten_ones_do_not(damaged: Path) -> None:
    before, content = contents(damaged), bytearray(damaged.read_bytes())
    in_the_middle(content)
    damaged.write_bytes(content)
    mended(damaged)
    with Memory.open(damaged) as memory:
        memory.index([DEMO / "history"])
    assert sorted(contents(damaged).values()) == sorted(before.values())


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE prompts_fts_data SET block = randomblob(50)",
        "DELETE FROM trigrams_data",
        "DROP TABLE task_texts_fts_config",
        "UPDATE vec_prompts_vector_chunks00 SET vectors = x'00'",
        "DELETE FROM vec_prompts_rowids",
        "UPDATE vector_blocks SET codes = x'00'",
        "DELETE FROM prompt_embeddings WHERE prompt_id % 2",
        "UPDATE prompt_embeddings SET vector_json = '{'",
        "DROP TABLE outcomes",
    ],
)
def test_damage_to_derived_tables_loses_no_turn(damaged: Path, statement: str) -> None:
    before = contents(damaged)
    connection = apsw.Connection(str(damaged))
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    for (trigger,) in list(connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'")):
        connection.execute(f"DROP TRIGGER {trigger}")  # which would tell the engines of it
    connection.execute(statement)
    connection.close()
    assert mended(damaged) == before
    with Memory.open(damaged) as memory:
        assert QUESTION.split()[1] in memory.recall(QUESTION).text


@pytest.mark.parametrize("table", ["prompts_fts", "task_texts_fts"])
@pytest.mark.parametrize("how", ["UPDATE {}_config SET v = x''", "DELETE FROM {}_config"])
def test_doctor_reports_a_word_index_of_an_unknown_version(damaged: Path, how: str, table: str) -> None:
    connection = apsw.Connection(str(damaged))
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    connection.execute(how.format(table))
    connection.close()
    with Memory.open(damaged) as memory:
        assert [finding.check for finding in memory.doctor() if not finding.is_well] == ["database"]
    mended(damaged)


@pytest.mark.parametrize("part", ["chunks", "rowids", "vector_chunks00"])
def test_a_table_that_would_take_sqlite_vec_down_is_explained(damaged: Path, tmp_path: Path, part: str) -> None:
    connection = apsw.Connection(str(damaged))
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    connection.execute(f"DROP TABLE vec_prompts_{part}")
    connection.close()
    (tmp_path / "more.jsonl").write_text(
        '{"role": "user", "content": "Hello?"}\n{"role": "assistant", "content": "Yes."}\n'
    )
    with Memory.open(damaged) as memory, pytest.raises(DatabaseCorrupt, match="damaged"):
        memory.index([tmp_path / "more.jsonl"])


def test_an_altered_text_is_reported_and_read_from_its_file_again(damaged: Path) -> None:
    before = contents(damaged)
    content = damaged.read_bytes()
    assert content.count(b"flaky login") > 0
    damaged.write_bytes(content.replace(b"flaky login", b"faky  login"))
    repaired = Memory.repair(damaged)
    assert repaired.recovered.altered > 0
    assert "altered" in repaired.detail
    with Memory.open(damaged) as memory:
        memory.index([DEMO / "history"])
    assert sorted(contents(damaged).values()) == sorted(before.values())


def times(path: Path) -> list[str | None]:
    with open_database(path) as database:
        return [time for (time,) in database.run("SELECT timestamp FROM prompts ORDER BY content_hash")]


def test_a_time_that_is_none_is_shown_and_mended_from_its_file(damaged: Path) -> None:
    before = times(damaged)
    with open_database(damaged) as database:
        database.run("UPDATE prompts SET timestamp = replace(timestamp, '2026-', '2026=')")
        database.run("UPDATE forgettings SET at = 'then'")
    with Memory.open(damaged) as memory:
        assert all("2026=" in format_time(hit.timestamp) for hit in memory.search(QUESTION))
    mended(damaged)
    with Memory.open(damaged) as memory:
        memory.index([DEMO / "history"])
        assert [format_time(one.at, UTC) for one in memory.list_forgettings()] == ["1970-01-01"]
    assert times(damaged) == before


def test_a_vector_of_a_task_that_is_none_is_explained_and_made_anew(damaged: Path) -> None:
    with Memory.open(damaged) as memory:
        memory.tasks.add(Change(title="Mend the flaky login test"))
    with open_database(damaged) as database:
        database.run("UPDATE task_embeddings SET vector_json = replace(vector_json, ',', ';')")
    with pytest.raises(DatabaseCorrupt, match="a vector that is none"), Memory.open(damaged) as memory:
        memory.search(QUESTION)
    mended(damaged)


def test_a_settings_file_without_our_entries_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(b"no database at all\n" * 5000)
    path.chmod(0o600)
    with pytest.raises(DatabaseCorrupt, match="nothing can be saved"):
        Memory.repair(path)
    assert [file.name for file in tmp_path.iterdir()] == ["memory.db"]


def test_records_are_those_that_sqlite_reads(damaged: Path) -> None:
    found = {record.rowid: record.values for record in records(damaged.read_bytes()) if _is_turn(record.values)}
    connection = apsw.Connection(str(damaged), flags=apsw.SQLITE_OPEN_READONLY)
    columns = ", ".join(
        name for _, name, *_ in connection.execute("PRAGMA table_info(prompts)")
    )  # not the generated one
    stored = {row[0]: (None, *row[1:]) for row in connection.execute(f"SELECT {columns} FROM prompts")}
    connection.close()
    assert found == stored


def test_records_of_a_table_without_rowids_are_read_of_its_inner_pages_too(tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / "tombs.db"))
    connection.execute("CREATE TABLE tombs (hash BLOB, number INTEGER, PRIMARY KEY (hash, number)) WITHOUT ROWID")
    with connection:
        connection.executemany("INSERT INTO tombs VALUES (randomblob(16), ?)", [(number,) for number in range(2000)])
    stored = set(connection.execute("SELECT hash, number FROM tombs"))
    connection.close()
    assert {record.values for record in records((tmp_path / "tombs.db").read_bytes())} >= stored


def test_records_that_lead_to_one_another_s_pages_are_not_read_without_end(tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / "long.db"))
    connection.execute(f"PRAGMA page_size={PAGE}; CREATE TABLE long (text TEXT)")
    length = 60 * PAGE
    with connection:
        connection.executemany(
            "INSERT INTO long VALUES (?)", [(chr(97 + number % 26) * length,) for number in range(40)]
        )
    connection.close()
    content = bytearray((tmp_path / "long.db").read_bytes())
    assert len(list(records(bytes(content)))) == 41  # and the schema's
    *_, longest = (place for place in range(PAGE, len(content), PAGE) if content[place] == TABLE_LEAF)
    leaf = content[longest : longest + PAGE]
    many = bytes(content) + bytes(leaf) * 1000
    assert len(many) * ROOM_TIMES // length - 1 <= len(list(records(many))) <= len(many) * ROOM_TIMES // length + 1


class FailingOnce(apsw.VFS):
    """A disk that fails once while the copy of a damaged database is read."""

    def __init__(self) -> None:
        self.reads = 0
        super().__init__("failing once", SYSTEM, makedefault=True)

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's name
        return FailingFile(self, name, flags)


class FailingFile(apsw.VFSFile):
    def __init__(self, disk: FailingOnce, name: apsw.URIFilename | str | None, flags: list[int]) -> None:
        self._disk = disk
        self._is_copy = isinstance(name, apsw.URIFilename) and name.filename().endswith("-damaged")
        super().__init__(SYSTEM, name, flags)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802 - SQLite's name
        self._disk.reads += self._is_copy
        if self._is_copy and self._disk.reads == 40:
            raise apsw.exception_for(apsw.SQLITE_IOERR_READ)
        return super().xRead(amount, offset)


@pytest.mark.promise("durability", "A disk that fails during the rescue is not reported as damage.")
def test_a_disk_that_fails_while_it_is_mended_is_not_taken_for_damage(damaged: Path) -> None:
    content = bytearray(damaged.read_bytes())
    in_the_middle(content)
    damaged.write_bytes(content)
    disk = FailingOnce()
    try:
        with pytest.raises(StoreFault, match="reading or writing the database failed"):
            Memory.repair(damaged)
    finally:
        disk.unregister()
    assert damaged.read_bytes() == content
    mended(damaged)


def _is_turn(values: tuple[object, ...]) -> bool:
    return len(values) == 14 and isinstance(values[8], str) and len(values[8]) == 64


def test_doctor_names_the_remedy_and_repairs_only_with_the_flag(own_demo: Program) -> None:
    content = bytearray(own_demo.database.read_bytes())
    in_the_middle(content)
    own_demo.database.write_bytes(content)
    for arguments in (["doctor"], ["doctor", "--no"], ["doctor", "--json"]):
        run = own_demo(*arguments)
        assert run.status == 1
        assert "doctor --yes" in run.stdout
        assert own_demo.database.read_bytes() == content
    done = own_demo("doctor", "--yes")
    assert done.status == 0, done
    assert "recovered" in done.stdout
    assert "memory.db.damaged-1" in done.stdout
    assert own_demo("doctor").status == 0
    assert own_demo("search", QUESTION).status == 0


def test_every_command_explains_a_damaged_database() -> None:
    done = subprocess.run(
        [sys.executable, str(LOOP), "--damages", "2", "--seed", "suite", "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
