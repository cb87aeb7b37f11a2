"""Whatever is wrong with the database file: a sentence, exit 2, and the file as it was."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from outcomes import error_of, explained, turns
from program import Program, write_messages
from self_signal import PATIENT
from waiting import HANG_S

READING = (["search", "webhooks"], ["recall", "webhooks"], ["show", "1"], ["status"], ["doctor"])
COMMANDS = (["search", "webhooks"], ["index", "history"])
FORMAT_OF_SCHEMA = 47
"""The last byte of the number of the schema's format in the header; https://sqlite.org/fileformat2.html#schema_format_number."""


@pytest.mark.parametrize("command", READING)
def test_without_a_database_a_reading_command_says_how_to_make_one(program: Program, command: list[str]) -> None:
    error = error_of(program(*command, "--json"))
    assert error["kind"] == "database_missing"
    assert "there is no database yet" in error["message"]
    assert "pastchats-memory index" in error["hint"]
    assert not program.database.exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_text_file_is_no_database_and_stays_as_it_was(indexed: Program, command: list[str]) -> None:
    text = indexed.home / "notes.txt"
    text.write_text("Buy milk, and never lose this list.\n" * 50, encoding="utf-8")
    before = text.read_bytes()
    explained(indexed(*command, "--db", text), "notes.txt", "not a database")
    assert text.read_bytes() == before


@pytest.mark.parametrize("command", COMMANDS)
def test_another_programs_database_stays_as_it_was(indexed: Program, command: list[str]) -> None:
    other = indexed.home / "state.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE prompts(id INTEGER PRIMARY KEY, content TEXT)")
        connection.execute("INSERT INTO prompts VALUES (1, 'webhooks')")
    connection.close()
    before = other.read_bytes()
    explained(indexed(*command, "--db", other), "another program's")
    assert other.read_bytes() == before


@pytest.mark.parametrize("mark", ["user_version = 7", "application_id = 77"])
def test_another_programs_empty_database_is_not_filled_with_our_tables(indexed: Program, mark: str) -> None:
    other = indexed.home / "state.db"
    with sqlite3.connect(other) as connection:
        connection.execute(f"PRAGMA {mark}")
    connection.close()
    explained(indexed("index", "history", "--db", other), "another program's")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_database_of_a_newer_release_is_refused_by_name(indexed: Program, command: list[str]) -> None:
    with sqlite3.connect(indexed.database) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    error = error_of(indexed(*command, "--json"))
    assert error["kind"] == "database_newer"
    assert "schema version 99" in error["message"]
    assert "Install a newer release" in error["hint"]


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "loop", "name too long", "below a file", "no such home"])
def test_an_impossible_database_path_is_explained_at_once(indexed: Program, kind: str) -> None:
    place = indexed.home / "place"
    if kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "loop":
        place.symlink_to(place)
    named = {
        "device": "/dev/null",
        "name too long": "x" * 5000,
        "below a file": indexed.home / "history" / "webhooks.jsonl" / "memory.db",
        "no such home": "~no-such-person/memory.db",
    }.get(kind, place)
    for command in (["search", "webhooks"], ["index", "history"])[kind == "no such home" :]:
        explained(indexed(*command, "--db", named), "Error: ")


def test_a_damaged_database_is_called_damaged_and_doctor_says_what_to_do(indexed: Program) -> None:
    content = bytearray(indexed.database.read_bytes())
    content[4096 * 2 : -4096] = b"\xa5" * (len(content) - 4096 * 3)
    indexed.database.write_bytes(content)
    for command in (["search", "webhooks"], ["index", "history", "--force"]):
        run = indexed(*command)
        assert run.status == 2, run
        assert "damaged" in run.stderr
    assert indexed("doctor").status in (1, 2)


@pytest.mark.parametrize("lost", ["prompt_id = 1", "1"], ids=["a vector", "all vectors"])
@pytest.mark.parametrize("command", [["search", "--threshold", "0.01"], ["search", "--mode", "semantic"], ["recall"]])
def test_rows_that_lost_their_vectors_bring_no_question_down(indexed: Program, command: list[str], lost: str) -> None:
    with sqlite3.connect(indexed.database) as connection:
        connection.execute(f"DELETE FROM prompt_embeddings WHERE {lost}")
    connection.close()
    assert indexed(*command, "webhooks").status in (0, 1)
    assert "1" in {hit["id"] for hit in indexed("search", "webhooks", "--json").results}


@pytest.mark.parametrize(
    "command",
    [*READING[:3], ["timeline"], ["show", "--conversation", "1"], ["lessons", "--all"], ["export", "--markdown", "-"]],
)
def test_a_row_whose_time_is_none_is_shown_and_named_by_doctor(indexed: Program, command: list[str]) -> None:
    with sqlite3.connect(indexed.database) as connection:
        connection.execute("UPDATE prompts SET timestamp = replace(timestamp, ':', ';')")
    connection.close()
    done = indexed(*command)
    assert done.status in (0, 1, 2)
    assert "Traceback" not in done.stderr
    assert "times that are none" in indexed("doctor").stdout


def test_a_stored_run_without_proper_fields_is_explained_as_damage(indexed: Program) -> None:
    with sqlite3.connect(indexed.database) as connection:
        connection.execute("UPDATE runs SET turns_added = '{'")
    connection.close()
    explained(indexed("status"), "damaged", "runs without proper fields")


def test_a_database_whose_header_names_no_known_format_is_explained_and_mended(indexed: Program) -> None:
    content = bytearray(indexed.database.read_bytes())
    content[FORMAT_OF_SCHEMA] = 9
    indexed.database.write_bytes(content)
    explained(indexed("search", "webhooks"), "damaged", "unsupported file format", "doctor")
    assert indexed("doctor", "--yes").status == 0
    assert indexed("search", "webhooks", "--json").results[0]["id"] == "1"


def test_a_cut_off_database_is_explained(indexed: Program) -> None:
    content = indexed.database.read_bytes()
    indexed.database.write_bytes(content[: len(content) // 3])
    run = indexed("search", "webhooks")
    assert "Traceback" not in run.stderr
    assert run.status == 2


def test_a_read_only_database_is_searched_and_not_indexed_into(indexed: Program, ordinary: Program) -> None:
    indexed.database.chmod(0o400)
    assert ordinary("search", "webhooks", "--json").results[0]["id"] == "1"
    write_messages(indexed.home / "history" / "more.jsonl", ("user", "And now?"), ("assistant", "Nothing."))
    explained(ordinary("index", "history"), "may not be written")
    assert turns(ordinary) == 2


def test_a_read_only_database_of_an_older_build_is_refused_with_a_way_out(indexed: Program, ordinary: Program) -> None:
    with sqlite3.connect(indexed.database) as connection:
        connection.execute("PRAGMA user_version = 0")
    connection.close()
    indexed.database.chmod(0o400)
    explained(ordinary("search", "webhooks"), "unreleased older build")


@pytest.mark.parametrize("file_mode", [0o400, 0o600])
def test_in_a_read_only_folder_a_database_is_searched_and_not_indexed_into(
    indexed: Program, ordinary: Program, file_mode: int
) -> None:
    folder = indexed.home / "shelf"
    folder.mkdir()
    database = indexed.database.rename(folder / "memory.db")
    database.chmod(file_mode)
    folder.chmod(0o500)
    try:
        assert ordinary("search", "webhooks", "--json", "--db", database).results[0]["id"] == "1"
        assert turns(ordinary, database) == 2
        explained(ordinary("index", "history", "--force", "--db", database), "may not be written")
        assert sorted(path.name for path in folder.iterdir()) == ["memory.db"]
    finally:
        folder.chmod(0o700)


def test_in_a_read_only_folder_what_still_stands_in_the_log_is_found(indexed: Program, ordinary: Program) -> None:
    folder = indexed.home / "shelf"
    folder.mkdir()
    with sqlite3.connect(indexed.database) as connection:
        connection.execute("UPDATE prompts SET content = 'How do we retry carrier pigeons?' WHERE id = 1")
        connection.commit()
        for path in indexed.home.glob("memory.db*"):
            (folder / path.name).write_bytes(path.read_bytes())
    connection.close()
    assert (folder / "memory.db-wal").stat().st_size > 0
    folder.chmod(0o500)
    try:
        found = ordinary("search", "pigeons", "--mode", "keyword", "--json", "--db", folder / "memory.db")
        assert [row["id"] for row in found.results] == ["1"]
    finally:
        folder.chmod(0o700)


@pytest.mark.parametrize("command", [["search", "x"], ["index", "history"]])
def test_a_folder_that_may_not_be_entered_is_explained(indexed: Program, ordinary: Program, command: list[str]) -> None:
    folder = indexed.home / "locked"
    folder.mkdir(mode=0o000)
    explained(ordinary(*command, "--db", folder / "memory.db"), "Permission denied")


def test_a_place_where_no_file_can_be_made_is_explained(indexed: Program, ordinary: Program) -> None:
    folder = indexed.home / "read-only"
    folder.mkdir(mode=0o500)
    explained(ordinary("index", "history", "--db", folder / "memory.db"), "Permission denied")
    explained(ordinary("index", "history", "--db", folder / "new" / "memory.db"), "Permission denied")


def test_an_unreadable_database_is_explained(indexed: Program, ordinary: Program) -> None:
    indexed.database.chmod(0o000)
    for command in COMMANDS:
        run = ordinary(*command)
        assert run.status == 2
        assert "Traceback" not in run.stderr


HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


def test_while_another_process_holds_the_lock_reading_goes_on_and_indexing_says_who_is_in_the_way(
    indexed: Program,
) -> None:
    write_messages(indexed.home / "history" / "more.jsonl", ("user", "And now?"), ("assistant", "Nothing."))
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, indexed.database], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert indexed("search", "webhooks").status == 0
        explained(indexed("index", "history"), "locked by another process", "try again")
        holder.communicate()
    assert indexed("index", "history").status == 0
    assert turns(indexed) == 4


@pytest.fixture
def small_disk(tmp_path: Path):
    """A file system of three megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", place], check=False, capture_output=True, text=True
    )
    if made.returncode:
        pytest.skip(f"no small file system can be made here: {made.stderr.strip() or 'mount failed'}")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def _long_history(folder: Path, count: int = 240) -> None:
    words = (f"Message {number}: " + "backoff and jitter and retries " * 150 for number in range(count))
    write_messages(
        folder / "long.jsonl", *(("user" if place % 2 else "assistant", text) for place, text in enumerate(words))
    )


QUICK = """
import numpy
from pastchats_memory.embed.packaged import PackagedEmbedder

def embed(self, texts):
    for text in texts:
        yield numpy.random.default_rng(len(text)).normal(size=384).astype("float32")

PackagedEmbedder.embed = embed
"""


def test_a_full_disk_is_explained_and_the_database_keeps_what_it_has(indexed: Program, small_disk: Path) -> None:
    database = small_disk / "memory.db"
    assert indexed("index", "history", "--db", database).status == 0
    _long_history(indexed.home / "long")
    explained(indexed.primed(QUICK)("index", "long", "--db", database), "the disk is full")
    assert turns(indexed, database) >= 2
    assert indexed("search", "webhooks", "--db", database).status == 0
    with sqlite3.connect(database) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


def _fill(disk: Path) -> None:
    with suppress(OSError), (disk / "ballast").open("wb", buffering=0) as ballast:
        while True:
            ballast.write(b"\0" * 4096)


def test_a_disk_without_any_room_is_explained(indexed: Program, small_disk: Path) -> None:
    _fill(small_disk)
    run = indexed("index", "history", "--db", small_disk / "new" / "memory.db")
    explained(run, "disk is full")


@pytest.mark.parametrize("command", ["doctor", "recall webhooks"])
def test_a_full_disk_is_named_when_reading_needs_more_room(indexed: Program, small_disk: Path, command: str) -> None:
    database = small_disk / "memory.db"
    shutil.copy(indexed.database, database)
    _fill(small_disk)
    explained(indexed(*command.split(), "--db", database), "the disk is full")


def test_a_disk_with_too_little_room_for_a_chunk_of_vectors_is_full_and_no_damage(
    indexed: Program, small_disk: Path
) -> None:
    (small_disk / "ballast").write_bytes(b"\0" * (1 << 20))
    _long_history(indexed.home / "long")
    explained(indexed.primed(QUICK)("index", "long", "--db", small_disk / "memory.db"), "the disk is full")


def test_an_export_for_which_there_is_no_room_is_explained_and_leaves_no_traceback(
    indexed: Program, small_disk: Path
) -> None:
    _long_history(indexed.home / "long")
    assert indexed.primed(QUICK)("index", "long").status == 0
    (small_disk / "ballast").write_bytes(b"\0" * (11 << 18))
    exported = indexed("export", small_disk / "memory.jsonl")
    explained(exported, "No space left")
    assert "Free some space" in exported.stderr


def test_a_file_size_limit_is_explained_and_the_database_keeps_what_it_has(indexed: Program) -> None:
    _long_history(indexed.home / "long")
    resource = pytest.importorskip("resource")
    limit = indexed.database.stat().st_size + (1 << 18)
    run = subprocess.run(
        [*indexed.altered(QUICK).command, "index", "long"],
        cwd=indexed.home,
        env=indexed.environment | {"PYTHONDONTWRITEBYTECODE": "1"},  # it would store modules cut off at the limit
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert run.returncode == 2, run
    assert "Traceback" not in run.stderr
    assert turns(indexed) == 2
    assert indexed.primed(QUICK)("index", "long").status == 0
    assert turns(indexed) == 242


def test_the_database_is_for_its_owner_alone_and_so_are_its_side_files(program: Program) -> None:
    write_messages(program.home / "history" / "chat.jsonl", ("user", "Hello?"), ("assistant", "Hello."))
    shelf = program.home / "shelf"
    shelf.mkdir(mode=0o755)
    assert program("index", "history", "--db", shelf / "ours" / "memory.db").status == 0
    assert (shelf / "ours").stat().st_mode & 0o777 == 0o700
    assert program("index", "history", "--db", shelf / "memory.db").status == 0
    assert shelf.stat().st_mode & 0o777 == 0o755
    with sqlite3.connect(shelf / "memory.db") as connection:
        connection.execute("SELECT count(*) FROM prompts").fetchone()
        modes = {path.name: path.stat().st_mode & 0o777 for path in shelf.glob("memory.db*")}
    connection.close()
    assert modes == dict.fromkeys(("memory.db", "memory.db-wal", "memory.db-shm", "memory.db.secrets"), 0o600)


def test_by_default_the_database_lies_in_a_private_folder_below_the_data_folder(program: Program) -> None:
    write_messages(program.home / "history" / "chat.jsonl", ("user", "Hello?"), ("assistant", "Hello."))
    assert program.with_variables(PASTCHATS_MEMORY_DB="")("index", "history").status == 0
    database = program.home / "data" / "pastchats-memory" / "memory.db"
    assert database.stat().st_mode & 0o777 == 0o600
    assert database.parent.stat().st_mode & 0o777 == 0o700


def test_two_first_runs_at_once_make_one_database(program: Program) -> None:
    for number in range(6):
        write_messages(
            program.home / "history" / f"{number}.jsonl",
            ("user", f"Question {number}?"),
            ("assistant", f"Answer {number}."),
        )
    for attempt in range(2):
        database = program.home / f"{attempt}.db"
        running = [program.primed(PATIENT).started("index", "history", "--db", database) for _ in range(2)]
        output = [process.communicate(timeout=HANG_S) for process in running]
        assert [process.returncode for process in running] == [0, 0], output
        assert turns(program, database) == 12


def test_a_home_that_is_not_known_is_explained(indexed: Program) -> None:
    lost = replace(indexed, variables={"PASTCHATS_MEMORY_DB": "", "XDG_DATA_HOME": "", "HOME": ""})
    run = lost("search", "webhooks")
    assert run.status == 2
    assert "Traceback" not in run.stderr
