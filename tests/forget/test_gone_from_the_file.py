"""Deleted text is gone from the file, its log and what lies beside it: words, pieces of words, vectors in every form."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import apsw
import pytest
from program import Program, write_messages

from pastchats_memory import Memory
from pastchats_memory.errors import DeletionUnfinished
from pastchats_memory.maintenance.forget import Selector, forget
from pastchats_memory.store import scrub
from pastchats_memory.store.backup import backup
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.store.deletion import ChosenRows, add_pending, delete_rows
from pastchats_memory.store.sources import set_meta
from pastchats_memory.store.tombstones import forgettings
from pastchats_memory.store.vectors import vec0
from pastchats_memory.store.vectors.blocks import BLOCK

TURNS = 90
GLAGOLITIC = 47
"""Capital letters in that script."""


def word(number: int) -> str:
    """A word that nothing else has; no two begin alike, so that an index keeps most of its letters."""
    return hashlib.sha256(f"word {number}".encode()).hexdigest()[:24].replace("0", "x").replace("e", "q")


def capitals(number: int) -> str:
    """A Glagolitic or Coptic letter and a Deseret one, a pair that only one turn has."""
    first = chr(0x2C00 + number) if number < GLAGOLITIC else chr(0x2C80 + 2 * (number - GLAGOLITIC))
    return f"{first} {chr(0x10400 + number // 16)}"


def trigram(number: int) -> bytes:
    """What the index has of them and the blank between: small letters, which are not the text's."""
    return capitals(number).lower().encode()[2:]  # two bytes it may have in common with the trigram before


def made(folder: Path, *, with_vec0: bool = True) -> Path:
    """A memory in which every turn has a word of its own, stored in several runs."""
    path = folder / "memory.db"
    with Memory.open(path, vec0=with_vec0) as memory:
        for first in range(0, TURNS, 30):
            make_record = [
                ("user", f"The shed number {number} opens with {capitals(number)} {word(number)}")
                for number in range(first, first + 30)
            ]
            write_messages(folder / f"{first}.jsonl", *make_record, conversation=f"c{first}")
            memory.index([folder / f"{first}.jsonl"])
    return path


def traces(database: Database, ids: list[int]) -> dict[str, list[bytes]]:
    """What of the rows can be looked for in the bytes of a file, by the form that it has there."""
    listed = ",".join(map(str, ids))
    rows = database.run(
        "SELECT p.id, p.content, e.vector_json FROM prompts p "
        f"JOIN prompt_embeddings e ON e.prompt_id = p.id WHERE p.id IN ({listed})"
    )
    found: dict[str, list[bytes]] = {
        "text": [content.encode() for _, content, *_ in rows],
        "word": [content.split()[-1].encode() for _, content, *_ in rows],
        "piece of a word": [content.split()[-1][8:20].encode() for _, content, *_ in rows],
        "trigram": [trigram(int(content.split()[3])) for _, content, *_ in rows],
        "JSON": [vector[300:360].encode() for _, _, vector in rows],
    }
    found["codes"] = []
    for id_ in ids:
        ((numbers, codes),) = database.run("SELECT ids, codes FROM vector_blocks WHERE block = ?", (id_ // BLOCK,))
        at = [int.from_bytes(numbers[start : start + 8], "little") for start in range(0, len(numbers), 8)].index(id_)
        found["codes"].append(codes[384 * at + 100 : 384 * at + 132])
    if database.vec0_loaded:
        found["vec0"] = [
            database.value("SELECT embedding FROM vec_prompts WHERE prompt_id = ?", (id_,))[200:232] for id_ in ids
        ]
    return found


def held(path: Path, sought: dict[str, list[bytes]]) -> dict[str, int]:
    """How many of the traces stand in the file or beside it."""
    content = b"".join(file.read_bytes() for file in path.parent.glob(path.name + "*"))
    return {form: sum(trace in content for trace in some) for form, some in sought.items()}


@pytest.mark.promise("forgetting", "Forgotten text is gone from the database, its write-ahead log and its side files.")
@pytest.mark.parametrize("loaded", [True, False], ids=["with sqlite-vec", "without sqlite-vec"])
@pytest.mark.parametrize("count", [1, 25])
def test_nothing_of_a_forgotten_turn_is_left(tmp_path: Path, *, loaded: bool, count: int) -> None:
    path = made(tmp_path)
    ids = list(range(7, 7 + 3 * count, 3))
    with open_database(path) as database:
        sought = traces(database, ids)
    there = held(path, sought)
    assert there.keys() == sought.keys()
    assert min(there.values()) >= count - count // 5  # but for those that run over the end of a page
    with Memory.open(path, vec0=loaded) as memory:
        assert memory.forget(*map(str, ids)).turns == count
        assert held(path, sought) == dict.fromkeys(sought, 0)
    assert held(path, sought) == dict.fromkeys(sought, 0)
    with Memory.open(path) as memory:
        forgotten = word(ids[0] - 1)
        assert not any(forgotten in hit.content for hit in memory.search(forgotten, mode="keyword"))
        assert len(memory.search("the shed opens", limit=TURNS)) == TURNS - count
        assert all(finding.is_well for finding in memory.doctor())


@pytest.mark.parametrize("chosen", [range(1, TURNS + 1), range(1, TURNS - 9)], ids=["all", "nearly all"])
def test_no_word_is_left_in_an_index_most_of_whose_rows_are_forgotten(tmp_path: Path, chosen: range) -> None:
    path = made(tmp_path)
    with open_database(path) as database:
        sought = traces(database, list(chosen))
    with Memory.open(path) as memory:
        memory.forget(*map(str, chosen))
        assert held(path, sought) == dict.fromkeys(sought, 0)
        assert len(memory.search("the shed opens", limit=TURNS, mode="keyword")) == TURNS - len(chosen)
        assert all(finding.is_well for finding in memory.doctor())


def test_a_file_that_was_written_anew_answers_as_before(tmp_path: Path) -> None:
    path = made(tmp_path)
    with open_database(path) as database, database.transaction():
        database.run("DELETE FROM prompts WHERE id = 5")
        scrub.begin_scrub(database, None)
    with Memory.open(path) as memory:
        assert memory.status().turns == TURNS - 1
        assert word(6) in memory.search(f"the shed {word(6)}", limit=1)[0].content
        assert all(finding.is_well for finding in memory.doctor())


def test_a_backup_during_a_deletion_has_nothing_of_what_is_deleted(tmp_path: Path) -> None:
    path = made(tmp_path)
    with open_database(path) as database:
        sought = traces(database, [5, 6])
        with database.transaction():
            add_pending(database, {"turns": [5], "tasks": [], "comments": [], "attachments": []})
            delete_rows(database, ChosenRows([6], [], [], []))
        assert backup(database, tmp_path / "copy").turns == TURNS - 2
        assert scrub.is_due(database)
    assert held(tmp_path / "copy", sought) == dict.fromkeys(sought, 0)


@pytest.mark.promise(
    "forgetting",
    "If forgotten text stays in the file for now, `forget` fails and says why, and the next command finishes.",
)
def test_while_another_process_reads_forget_says_so_and_the_next_command_finishes(tmp_path: Path) -> None:
    path = made(tmp_path)
    with open_database(path) as database:
        sought = traces(database, [5])
    reader = apsw.Connection(str(path))
    reader.execute("BEGIN; SELECT count(*) FROM prompts").fetchall()
    program = Program(tmp_path)
    failed = program("forget", "--db", str(path), "--id", "5", "--yes", "--json")
    assert (failed.status, failed.stdout) == (2, "")
    assert json.loads(failed.stderr)["error"]["kind"] == "deletion_unfinished"
    assert "another process reads" in failed.stderr
    found = program("search", "--db", str(path), word(4), "--mode", "keyword")
    assert word(4) not in found.stdout
    assert "deleted text is still in the database file" in found.stderr
    with Memory.open(path) as memory:
        assert not any(finding.is_well for finding in memory.doctor() if finding.check == "deletions")
    reader.execute("ROLLBACK")
    Memory.open(path).close()
    assert held(path, sought) == dict.fromkeys(sought, 0)
    reader.close()


def test_a_full_disk_behind_the_deletion_is_reported_and_the_next_command_finishes(tmp_path: Path) -> None:
    path = made(tmp_path)
    with open_database(path) as database:
        sought = traces(database, [5])

    def refuse_merge(_: apsw.Cursor, statement: str, __: object) -> bool:
        if "'merge'" in statement:
            raise apsw.FullError
        return True

    with open_database(path) as database:
        database.connection.exec_trace = refuse_merge
        with pytest.raises(DeletionUnfinished, match="the disk is full"):
            forget(database, Selector(("5",)))
        database.connection.exec_trace = None
        assert [one.turns for one in forgettings(database)] == [1]
    assert held(path, sought)["word"] == 1
    Memory.open(path).close()
    assert held(path, sought) == dict.fromkeys(sought, 0)


def test_others_leave_a_deletion_to_its_process_until_that_has_ended(tmp_path: Path) -> None:
    path = made(tmp_path)
    with open_database(path) as database, database.transaction():
        scrub.begin_scrub(database)
        set_meta(database, {scrub.PROCESS_KEY: f"{os.getppid()} {time.time():.0f}"})
    Memory.open(path).close()
    with open_database(path) as database:
        assert scrub.is_due(database)
        with database.transaction():
            set_meta(database, {scrub.PROCESS_KEY: f"{os.getppid()} 0"})  # a number that another process has by now
    Memory.open(path).close()
    with open_database(path) as database:
        assert not scrub.is_due(database)


def test_the_next_command_overwrites_rows_that_a_dead_process_deleted(tmp_path: Path) -> None:
    path = made(tmp_path)
    database = open_database(path)
    sought = traces(database, [5])
    with database.transaction():
        scrub.begin_scrub(database)
        database.run("DELETE FROM prompts WHERE id = 5")
    assert scrub.is_due(database)
    assert held(path, sought)["word"] == 1
    database.close()
    Memory.open(path, is_urgent=True).close()
    assert held(path, sought)["word"] == 1  # a hook has no time for it
    Memory.open(path).close()
    with open_database(path) as database:
        assert not scrub.is_due(database)
    assert held(path, sought) == dict.fromkeys(sought, 0)


@pytest.mark.parametrize("loaded", [True, False], ids=["with sqlite-vec", "without sqlite-vec"])
def test_a_purged_memory_is_empty_and_keeps_what_was_forgotten_away(tmp_path: Path, *, loaded: bool) -> None:
    path = made(tmp_path)
    with Memory.open(path) as memory:
        memory.forget("5")
    with open_database(path) as database:
        sought = traces(database, [10, 60])
    with Memory.open(path, vec0=loaded) as memory:
        memory.purge()
        assert memory.status().turns == 0
    assert held(path, sought) == dict.fromkeys(sought, 0)
    with Memory.open(path) as memory:
        report = memory.index([tmp_path / "0.jsonl"])
        assert (report.added, report.forgotten) == (29, 1)
        assert memory.search("the shed opens", limit=50)[0].id != "1"
        assert all(finding.is_well for finding in memory.doctor())
    with open_database(path) as database:
        assert vec0.is_there(database)


def test_pruned_turns_stay_away_whatever_their_source(tmp_path: Path) -> None:
    path = made(tmp_path)
    with open_database(path) as database:
        sought = traces(database, [1, 31])
    with Memory.open(path) as memory:
        assert memory.prune("2026-05-04T08:10:00Z", dry_run=True).turns == 30
        assert memory.prune("2026-05-04T08:10:00Z").turns == 30
        assert held(path, sought) == dict.fromkeys(sought, 0)
        older = write_messages(tmp_path / "older.jsonl", ("user", "What was said before?"), conversation="older")
        again = memory.index([tmp_path / "0.jsonl", older], force=True)
        assert (again.added, again.forgotten) == (0, 11)
        assert memory.undo_forget() is not None
        assert memory.index([older], force=True).added == 1


@pytest.mark.promise("forgetting", "Restoring an older backup brings no forgotten turn back.")
def test_a_backup_from_before_brings_nothing_back(tmp_path: Path) -> None:
    path = made(tmp_path)
    with open_database(path) as database:
        sought = traces(database, [5])
    with Memory.open(path) as memory:
        memory.backup(tmp_path / "copy")
        memory.forget("5")
        memory.prune("2026-05-04T08:01:00Z")
    Memory.restore(tmp_path / "copy", path)
    assert held(path, sought) == dict.fromkeys(sought, 0)
    with Memory.open(path) as memory:
        assert memory.status().turns == TURNS - 4
        assert memory.index([tmp_path / "0.jsonl"], force=True).added == 0
        assert [one.turns for one in memory.list_forgettings()] == [1, 3]


def test_a_forgotten_memory_leaves_open_sessions_too(tmp_path: Path) -> None:
    def make_record(number: int, text: str) -> dict[str, object]:
        message = {"role": "assistant", "id": f"msg_{number:024}", "content": [{"type": "text", "text": text}]}
        return {"type": "assistant", "uuid": f"00000000-0000-4000-8000-{number:012}", "sessionId": "s2", "message": message,
                "timestamp": f"2026-01-31T08:15:{number:02}.000Z", "cwd": "/home/me/garden"}  # fmt: skip

    write_messages(tmp_path / "shed.jsonl", ("user", f"The shed opens with {word(1)}"), ("assistant", "Noted."))
    session = tmp_path / "s2.jsonl"
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([tmp_path / "shed.jsonl"])
        block = memory.recall("what does the shed open with").text
        assert word(1) in block
        session.write_text(
            json.dumps(make_record(1, f"I looked it up.\n{block}\nShall I go on?")) + "\n", encoding="utf-8"
        )
        memory.index([session])
        memory.forget(memory.search(word(1))[0].id)
        assert held(tmp_path / "memory.db", {"word": [word(1).encode()]}) == {"word": 0}
        with session.open("a", encoding="utf-8") as file:
            file.write(json.dumps(make_record(2, "I went on.")) + "\n")
        memory.index([session])
        assert [hit.content for hit in memory.search("went on", mode="keyword", limit=1)] == ["I went on."]


@pytest.mark.parametrize(
    "command", [("index", ".", "--force"), ("forget", "--query", "kiln", "--yes"), ("purge", "--yes"), ("doctor",)], ids=lambda words: words[0]
)  # fmt: skip
def test_copies_that_a_killed_process_left_go_and_those_of_a_running_one_stay(
    program: Program, command: tuple[str, ...]
) -> None:
    write_messages(program.home / "a.jsonl", ("user", "Why does the kiln smoke?"))
    assert program("index", ".").status == 0
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    left = []
    for process in (ended.pid, os.getpid()):
        copy = Path(tempfile.mkdtemp(prefix=f"pastchats-memory-{process}-"))
        partial = program.database.with_name(f"{program.database.name}.{process}.partial-wal")
        partial.write_text("kiln", encoding="utf-8")
        left += [copy, partial]
    assert program(*command).status == 0
    assert [path.exists() for path in left] == [False, False, True, True]
    left[2].rmdir()


def test_a_folder_that_another_account_named_with_a_number_of_no_process_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / f"pastchats-memory-{10**30}-x").mkdir()
    write_messages(tmp_path / "history" / "a.jsonl", ("user", "Why does the kiln smoke?"))
    with Memory.open(tmp_path / "memory.db") as memory:
        assert memory.index([tmp_path / "history"]).added == 1
