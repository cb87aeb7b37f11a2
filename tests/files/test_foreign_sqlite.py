"""Another program's database is read whole, and nothing of it is changed, locked or left behind."""

import os
import struct
import tempfile
from pathlib import Path

import apsw
import pytest

from pastchats_memory.files import foreign_sqlite
from pastchats_memory.files.foreign_sqlite import ForeignFault
from pastchats_memory.formats.base.source import SourceFile

SCHEMA = """
CREATE TABLE notes(id INTEGER PRIMARY KEY, Text TEXT, kind TEXT);
CREATE VIEW endless AS WITH RECURSIVE more(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM more) SELECT n AS text FROM more;
CREATE VIRTUAL TABLE words USING fts5(text);
"""


@pytest.fixture(autouse=True)
def private(tmp_path, monkeypatch):
    """The folder in which private copies are made."""
    folder = tmp_path / "private"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def path(tmp_path):
    folder = tmp_path / ("100% of a?b#c" if os.name == "posix" else "100% of a#b")
    folder.mkdir()
    return folder / "app.db"


def made(path, *rows, mode="DELETE"):
    """The connection of the program that owns the file."""
    owner = apsw.Connection(str(path))
    owner.execute(f"PRAGMA journal_mode={mode}").fetchall()
    owner.execute(SCHEMA)
    for row in rows:
        owner.execute("INSERT INTO notes(text, kind) VALUES (?, ?)", row)
    return owner


def texts(path):
    with foreign_sqlite.open_foreign(path) as database:
        return [text for (text,) in database.rows("notes", ["text"], order=["id"])]


def test_values_come_as_they_are_and_a_column_that_is_missing_as_none(path):
    made(path, ("é", "a"), (b"\xff", "b"), (7, "b")).close()
    with foreign_sqlite.open_foreign(path) as database:
        assert list(database.rows("notes", ["id", "text", "gone"], order=["kind", "gone", "id"])) == [
            (1, "é", None),
            (2, b"\xff", None),
            (3, "7", None),
        ]
        assert list(database.rows("notes", ["id"], where={"kind": "b"}, within=("text", "0", "9"))) == [(3,)]
        assert list(database.rows("notes", ["id"], where={"gone": 1})) == []
        assert list(database.rows("notes", ["id"], within=("gone", "a", "b"))) == []
        assert list(database.rows("gone", ["id"])) == []


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16le", "UTF-16be"])
def test_text_is_read_in_the_encoding_of_the_file_and_broken_bytes_do_not_end_it(path, encoding):
    owner = apsw.Connection(str(path))
    owner.execute(f"PRAGMA encoding='{encoding}'")
    owner.execute("CREATE TABLE notes(id INTEGER PRIMARY KEY, text)")
    owner.execute("INSERT INTO notes(text) VALUES ('é 😀'), (CAST(x'6100ff00d800ff' AS TEXT))")
    owner.close()
    first, second = texts(path)
    assert first == "é 😀"
    assert isinstance(second, str)


@pytest.mark.promise(
    "files",
    "Another program's database is read through plain tables only, never through views, virtual tables or triggers.",
)
def test_only_plain_tables_are_seen_since_a_view_would_run_what_the_file_says(path):
    made(path).close()
    found = foreign_sqlite.tables(path)
    assert found["notes"] == {"id", "text", "kind"}
    assert not {"endless", "words"} & set(found)


def test_a_virtual_table_that_is_spelled_otherwise_is_none_either(path):
    owner = made(path)
    owner.execute("PRAGMA writable_schema=ON")
    owner.execute(
        "UPDATE sqlite_schema SET sql = replace(sql, 'CREATE VIRTUAL', 'CREATE  VIRTUAL') WHERE name = 'words'"
    )
    owner.close()
    assert "words" not in foreign_sqlite.tables(path)


def test_rows_that_are_only_in_the_wal_are_read_and_the_files_stay_as_they_are(path, private):
    owner = made(path, ("committed", "a"), mode="WAL")
    wal = path.with_name(path.name + "-wal")
    assert wal.stat().st_size
    before = {file: file.read_bytes() for file in (path, wal)}
    present = sorted(path.parent.iterdir())
    assert foreign_sqlite.tables(path)["notes"]
    with foreign_sqlite.open_foreign(path) as database:
        rows = database.rows("notes", ["text"])
        assert next(rows) == ("committed",)
        assert os.name != "posix" or list(private.iterdir()) == [], "the copy has no name while it is read"
        owner.execute("INSERT INTO notes(text) VALUES ('meanwhile')")
    assert {file: file.read_bytes()[: len(raw)] for file, raw in before.items()} == before
    assert sorted(path.parent.iterdir()) == present
    assert list(private.iterdir()) == []
    assert texts(path) == ["committed", "meanwhile"]
    owner.close()


def test_a_copy_is_for_nobody_else_to_read(path, private, monkeypatch):
    owner = made(path, ("secret", "a"), mode="WAL")
    modes = []
    copy = foreign_sqlite.shutil.copyfileobj

    def watched(source, target):
        copy(source, target)
        modes.append(Path(target.name).parent.stat().st_mode & 0o777)

    monkeypatch.setattr(foreign_sqlite.shutil, "copyfileobj", watched)
    assert texts(path) == ["secret"]
    owner.close()
    assert modes == [0o700, 0o700]
    assert list(private.iterdir()) == []


def test_tables_that_were_made_a_moment_ago_are_known_though_they_are_only_in_the_wal(path):
    owner = apsw.Connection(str(path))
    owner.execute("PRAGMA journal_mode=WAL").fetchall()
    owner.execute("CREATE TABLE notes(text)")
    assert foreign_sqlite.tables(path) == {"notes": {"text"}}
    owner.close()


def test_half_of_a_change_is_taken_back_in_the_copy_and_not_in_the_file(path):
    owner = made(path, *((f"{number} " + "x" * 4000, "a") for number in range(50)))
    owner.execute("PRAGMA cache_size=1")
    owner.execute("PRAGMA cache_spill=1")
    owner.execute("BEGIN IMMEDIATE")
    owner.execute("UPDATE notes SET text = 'changed ' || text")
    journal = path.with_name(path.name + "-journal")
    assert journal.stat().st_size
    before = path.read_bytes()
    assert not any(text.startswith("changed") for text in texts(path))
    assert path.read_bytes() == before
    owner.execute("ROLLBACK")
    owner.close()


def test_a_file_that_is_written_to_all_the_while_is_left_for_the_next_run(path, private, monkeypatch):
    owner = made(path, ("a", "a"), mode="WAL")
    monkeypatch.setattr(foreign_sqlite, "PAUSE", 0.001)
    copy = foreign_sqlite.shutil.copyfileobj

    def meanwhile(source, target):
        copy(source, target)
        os.utime(path, ns=(0, path.stat().st_mtime_ns + (1 if os.name == "posix" else 100)))  # the step of NTFS

    monkeypatch.setattr(foreign_sqlite.shutil, "copyfileobj", meanwhile)
    with pytest.raises(ForeignFault, match="written to all the while"):
        texts(path)
    assert list(private.iterdir()) == []
    owner.close()


def test_a_checkpoint_while_it_is_copied_makes_it_copied_again(path, monkeypatch):
    owner = made(path, ("first", "a"), mode="WAL")
    monkeypatch.setattr(foreign_sqlite, "PAUSE", 0.001)
    copy, copied = foreign_sqlite.shutil.copyfileobj, []

    def with_a_checkpoint(source, target):
        copy(source, target)
        if not copied:
            owner.execute("PRAGMA wal_checkpoint(RESTART)").fetchall()
            owner.execute("INSERT INTO notes(text) VALUES ('second')")
        copied.append(source)

    monkeypatch.setattr(foreign_sqlite.shutil, "copyfileobj", with_a_checkpoint)
    assert texts(path) == ["first", "second"]
    assert len(copied) == 4
    owner.close()


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_a_damaged_file_is_a_fault_and_never_an_apsw_error(path, mode):
    owner = made(path, *((f"{number} " + "x" * 4000, "a") for number in range(50)), mode=mode)
    if mode == "WAL":
        owner.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        owner.execute("INSERT INTO words VALUES ('newest')")
    raw = path.read_bytes()
    path.write_bytes(raw[:8192] + b"\xab" * (len(raw) - 8192))
    with pytest.raises(ForeignFault, match=r"\w"):
        texts(path)
    path.write_bytes(b"SQLite format 3\0" + b"\xab" * 1000)
    with pytest.raises(ForeignFault, match=r"\w"):
        foreign_sqlite.tables(path)
    owner.close()


def test_a_file_that_went_away_is_a_fault(path):
    with pytest.raises(ForeignFault, match="unable to open"):
        foreign_sqlite.tables(path)


def test_names_that_are_no_text_do_not_end_it(path):
    made(path, ("a", "a")).close()
    raw = path.read_bytes()
    assert b"CREATE TABLE notes(id INTEGER PRIMARY KEY, Text TEXT, kind TEXT)" in raw
    path.write_bytes(raw.replace(b"Text TEXT, kind TEXT", b"Text TEXT, \x80ind TEXT"))
    assert foreign_sqlite.tables(path)["notes"] == {"id", "text", "\ufffdind"}
    assert texts(path) == ["a"]


def round_and_round(path):
    """A table whose inner pages of 512 bytes lead seventy times each to the same page below: 70 ** 6 times the rows."""
    owner = apsw.Connection(str(path))
    owner.execute("PRAGMA page_size=512")
    owner.execute("CREATE TABLE notes(id INTEGER PRIMARY KEY, text)")
    owner.executemany("INSERT INTO notes(text) VALUES (?)", [("a",)] * 3)
    owner.close()
    pages = bytearray(path.read_bytes())
    below = pages[512:]
    for number in range(3, 9):
        pages += below
        cells = b"".join(struct.pack(">IB", number, key) for key in range(70))
        places = struct.pack(">70H", *range(512 - len(cells), 512, 5))
        head = struct.pack(">BHHHBI", 5, 0, 70, 512 - len(cells), 0, number)
        below = head + places + bytes(512 - len(head) - len(places) - len(cells)) + cells
    pages[512:1024] = below
    pages[28:32] = struct.pack(">I", len(pages) // 512)
    path.write_bytes(pages)


@pytest.mark.promise("files", "Pages that point at each other count as damage.")
@pytest.mark.parametrize("asked", [{}, {"where": {"text": "b"}}, {"order": ["text"]}], ids=["all", "where", "order"])
def test_rows_without_end_in_a_few_kilobytes_are_damage(path, asked):
    round_and_round(path)
    with foreign_sqlite.open_foreign(path) as database, pytest.raises(ForeignFault, match="more rows than"):
        for _ in database.rows("notes", ["id", "text"], **asked):
            pass


def of_one_text(path):
    """A table of ten rows that have one chain of pages for their text of 100 kB."""
    owner = apsw.Connection(str(path))
    owner.execute("PRAGMA page_size=512")
    owner.execute("CREATE TABLE notes(id INTEGER PRIMARY KEY, text)")
    owner.execute("INSERT INTO notes(text) VALUES (?)", ["a" * (534 + 508 * 200)])  # of which the row has 34 itself
    owner.close()
    pages = bytearray(path.read_bytes())
    (start,) = struct.unpack(">H", pages[512 + 8 : 512 + 10])
    cell = bytes(pages[512 + start : 1024])
    starts = [512 - len(cell) * place for place in range(1, 11)]
    pages[512:1024] = struct.pack(">BHHHB10H", 13, 0, 10, starts[-1], 0, *starts).ljust(starts[-1], b"\0") + b"".join(
        cell[:3] + bytes([key]) + cell[4:] for key in range(10, 0, -1)
    )
    path.write_bytes(pages)


@pytest.mark.promise("files", "Rows that share pages and add up to far more than the file count as damage.")
def test_rows_that_hold_far_more_than_the_file_are_damage(path):
    of_one_text(path)
    with foreign_sqlite.open_foreign(path) as database:
        assert [len(text) for (text,) in database.rows("notes", ["text"])] == [534 + 508 * 200] * 10
        with pytest.raises(ForeignFault, match="more rows than"):
            list(database.rows("notes", ["text", "text"]))


@pytest.mark.promise("files", "A value too large for memory is skipped and reported.")
def test_a_value_that_is_too_long_is_skipped_unread_and_counted(path, monkeypatch):
    made(path, ("of a thousand letters " * 50, "note"), ("short", "note")).close()
    monkeypatch.setattr(foreign_sqlite, "LONGEST_VALUE", 1000)
    notes = SourceFile(path).from_database(lambda database: database.rows("notes", ["text", "kind"], order=["id"]))
    *rows, left_out = notes
    assert rows == [(None, "note"), ("short", "note")]
    assert left_out.reason.startswith("1 × a value of more than")


def test_many_rows_that_an_added_column_makes_longer_are_no_damage(path):
    owner = made(path)
    with owner:
        owner.executemany("INSERT INTO notes(text, kind) VALUES (?, ?)", [("", "")] * 5000)
    owner.execute("ALTER TABLE notes ADD COLUMN later TEXT DEFAULT 'of a length that no row has of its own'")
    owner.close()
    with foreign_sqlite.open_foreign(path) as database:
        asked = database.rows("notes", ["id", "text", "kind", "later", *"abcdefgh"], order=["kind", "later", "text"])
        assert sum(1 for _ in asked) == 5000
