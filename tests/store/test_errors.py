"""What SQLite raises becomes ours: every row of the table, by the real fault where one can be brought about."""

from __future__ import annotations

from contextlib import closing, suppress
from pathlib import Path

import apsw
import pytest
from program import write_messages

from pastchats_memory import Memory
from pastchats_memory.errors import (
    DatabaseCorrupt,
    DatabaseLocked,
    DatabaseMissing,
    DatabaseReadOnly,
    DiskFull,
    MemoryFault,
    StoreFault,
)
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.store.errors import TRANSLATIONS, translate, translate_errors

ENVIRONMENT = {
    "SQLITE_BUSY": DatabaseLocked,
    "SQLITE_LOCKED": DatabaseLocked,
    "SQLITE_READONLY": DatabaseReadOnly,
    "SQLITE_PERM": DatabaseReadOnly,
    "SQLITE_FULL": DiskFull,
    "SQLITE_NOTADB": DatabaseCorrupt,
    "SQLITE_CORRUPT": DatabaseCorrupt,
    "SQLITE_CANTOPEN": DatabaseMissing,
    "SQLITE_IOERR": StoreFault,
    "SQLITE_NOMEM": StoreFault,
}
BUGS = {
    "SQLITE_ERROR", "SQLITE_INTERNAL", "SQLITE_ABORT", "SQLITE_INTERRUPT", "SQLITE_NOTFOUND", "SQLITE_PROTOCOL",
    "SQLITE_EMPTY", "SQLITE_SCHEMA", "SQLITE_TOOBIG", "SQLITE_CONSTRAINT", "SQLITE_MISMATCH", "SQLITE_MISUSE",
    "SQLITE_NOLFS", "SQLITE_AUTH", "SQLITE_FORMAT", "SQLITE_RANGE",
}  # fmt: skip
NO_FAULTS = {"SQLITE_OK", "SQLITE_ROW", "SQLITE_DONE", "SQLITE_NOTICE", "SQLITE_WARNING"}


def test_every_result_code_of_sqlite_is_either_ours_or_a_bug() -> None:
    known = {name for name in apsw.mapping_result_codes if isinstance(name, str)}
    assert known == set(ENVIRONMENT) | BUGS | NO_FAULTS


@pytest.mark.parametrize("code", [*ENVIRONMENT, *sorted(BUGS)])
def test_each_result_code_is_translated_or_travels_on(code: str) -> None:
    fault = apsw.exception_for(apsw.mapping_result_codes[code])
    ours = translate(fault, "/shelf/memory.db")
    assert type(ours) is ENVIRONMENT.get(code, type(None))
    if ours is not None:
        assert ours.message.startswith("/shelf/memory.db: ")
        assert ours.hint.endswith(".")


def test_a_damaged_value_that_is_read_in_parts_is_explained_once(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with open_database(path, create=True) as database:
        database.run("CREATE TABLE large(codes)")
        database.run("INSERT INTO large VALUES (zeroblob(100000))")
        page = database.value("SELECT min(pageno) FROM dbstat WHERE name = 'large' AND pagetype = 'overflow'")
        size = database.value("PRAGMA page_size")
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\x7f\xff\xff\xff")  # the next page of the value
    with (
        open_database(path) as database,
        pytest.raises(DatabaseCorrupt),
        closing(database.blobs("large", "codes")) as blobs,
    ):
        blobs.read(1, memoryview(bytearray(100_000)))


def test_every_row_of_the_table_is_reached_by_a_result_code() -> None:
    raised = {type(apsw.exception_for(apsw.mapping_result_codes[code])) for code in ENVIRONMENT}
    assert [row[0] for row in TRANSLATIONS if row[0] not in raised] == []


def test_other_errors_pass_untranslated(database: Database) -> None:
    with pytest.raises(apsw.SQLError):
        database.run("SELECT no_such_column FROM prompts")
    with pytest.raises(ZeroDivisionError), translate_errors("x"):
        _ = 1 / 0


def test_the_first_fault_of_a_chain_names_the_cause() -> None:
    last = apsw.SQLError("cannot rollback - no transaction is active")
    last.__context__ = apsw.FullError("database or disk is full")
    assert type(translate(last, "x")) is DiskFull


def test_a_busy_database_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pastchats_memory.store.database.BUSY_MS", 20)
    path = tmp_path / "memory.db"
    with (
        open_database(path, create=True) as first,
        first.transaction(),
        open_database(path) as second,
        pytest.raises(DatabaseLocked),
        second.transaction(),
    ):
        pass


def test_a_write_without_room_is_a_full_disk_and_leaves_the_transaction_undone(database: Database) -> None:
    pages = database.value("PRAGMA page_count")
    database.run(f"PRAGMA max_page_count={pages + 2}")
    statement = (
        "INSERT INTO prompts(source_path, source_project, turn_index, role, content, content_hash, text_hash) "
        "VALUES ('a', 'p', 0, 'user', hex(randomblob(4000)), hex(randomblob(32)), x'00')"
    )
    with pytest.raises(DiskFull), database.transaction():
        database.run_many(statement, [()] * 1000)
    assert not database.connection.in_transaction
    assert database.value("SELECT count(*) FROM prompts") == 0


def test_a_write_to_a_read_only_connection_is_read_only(database: Database) -> None:
    database.run("PRAGMA query_only=1")
    with pytest.raises(DatabaseReadOnly):
        database.run("DELETE FROM prompts")


def test_a_text_file_is_corrupt_and_a_folder_too(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("Not a database. " * 100, encoding="utf-8")
    for place in (text, tmp_path):
        with pytest.raises(DatabaseCorrupt):
            open_database(place)


def test_damaged_pages_are_corrupt(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    open_database(path, create=True).close()
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(DatabaseCorrupt), open_database(path) as database:
        database.run("SELECT count(*) FROM prompts")


def test_a_transaction_that_raises_leaves_nothing_and_the_next_one_works(database: Database) -> None:
    with suppress(KeyboardInterrupt), database.transaction():
        database.run("INSERT INTO embedding_meta(key, value) VALUES ('a', 'b')")
        raise KeyboardInterrupt
    assert database.value("SELECT count(*) FROM embedding_meta") == 0
    with database.transaction():
        database.run("INSERT INTO embedding_meta(key, value) VALUES ('a', 'b')")
    assert database.value("SELECT value FROM embedding_meta") == "b"


def test_every_fault_has_a_kind_of_its_own() -> None:
    kinds = [kind.kind for kind in (MemoryFault, *_below(MemoryFault))]
    assert len(kinds) == len(set(kinds))


def _below(kind: type[MemoryFault]) -> list[type[MemoryFault]]:
    return [further for direct in kind.__subclasses__() for further in (direct, *_below(direct))]


def test_text_that_is_none_any_more_is_a_damaged_database(database: Database) -> None:
    with pytest.raises(DatabaseCorrupt):
        database.run("SELECT CAST(x'fafafa' AS TEXT)")


def test_a_question_is_answered_though_the_tables_of_sqlite_vec_are_damaged(tmp_path: Path) -> None:
    write_messages(tmp_path / "chat.jsonl", ("user", "How do we retry webhooks?"), ("assistant", "With backoff."))
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([tmp_path / "chat.jsonl"])
        before = memory.search("retry webhooks", mode="semantic")
    connection = apsw.Connection(str(tmp_path / "memory.db"))
    connection.execute("DELETE FROM vec_prompts_vector_chunks00")
    connection.close()
    with Memory.open(tmp_path / "memory.db") as memory:
        assert memory.search("retry webhooks", mode="semantic") == before


def test_a_fault_caused_by_damage_is_reported_as_damage(
    tmp_path: Path,
) -> None:
    path = tmp_path / "memory.db"
    open_database(path, create=True).close()
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(content)
    connection = apsw.Connection(str(path))
    with pytest.raises(DatabaseCorrupt):
        _asked_twice(connection)
    connection.close()


@translate_errors("memory.db")
def _asked_twice(connection: apsw.Connection) -> None:
    try:
        connection.execute("SELECT nothing FROM nowhere")
    except apsw.SQLError:
        connection.execute("SELECT count(*) FROM prompts").fetchall()
