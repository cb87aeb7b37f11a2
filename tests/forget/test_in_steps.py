"""Many rows are forgotten in steps: other writers go on meanwhile, and whoever is killed, it is carried out."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from program import write_messages
from waiting import HANG_S
from whole import assert_whole

from pastchats_memory import Memory
from pastchats_memory.errors import UsageFault
from pastchats_memory.model import Filters
from pastchats_memory.store import deletion, scrub
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.tasks.edit import Change

COUNT = 300


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A memory with one long conversation and a short one."""
    long = ((("user", "assistant")[n % 2], f"Turn {n} about the lighthouse.") for n in range(COUNT))
    write_messages(tmp_path / "history" / "long.jsonl", *long)
    write_messages(tmp_path / "history" / "short.jsonl", ("user", "Where is the rake?"), ("assistant", "In the shed."))
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([tmp_path / "history"])
    return tmp_path / "memory.db"


def turns(path: Path) -> int:
    with open_database(path) as database:
        return database.value("SELECT count(*) FROM prompts")


def killed_after(steps: int, path: Path) -> None:
    """A process that forgets the long conversation, killed after so many of the steps."""
    child = os.fork()
    if not child:
        left, step = [steps], deletion.delete_some

        def counted(database: Database, delete: deletion.Delete, most: int) -> bool:
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
            return step(database, delete, most)

        deletion.delete_some = counted
        with Memory.open(path) as memory:
            memory.forget(source=path.parent / "history" / "long.jsonl")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


@pytest.mark.promise("forgetting", "The next opening finishes a deletion whose process was killed.")
@pytest.mark.parametrize("steps", [0, 1, 2])
def test_leftovers_of_a_killed_process_are_deleted_at_the_next_opening(path: Path, steps: int) -> None:
    killed_after(steps, path)
    assert turns(path) > 2
    with Memory.open(path) as memory:
        assert memory.status().turns == 2
        assert memory.search("lighthouse", mode="keyword") == []
        memory.index([path.parent / "history"], force=True)
        assert memory.status().turns == 2
    with open_database(path) as database:
        assert_whole(database)
        assert database.value("SELECT count(*) FROM embedding_meta WHERE key IN ('going', 'unerased')") == 0
    assert b"lighthouse" not in path.read_bytes()


def going_elsewhere(path: Path, *, seconds_ago: float = 0) -> list[str]:
    """Another process, which lives, has begun to forget the long conversation and a task; ids of its turns and the task's key."""
    with Memory.open(path) as memory:
        key = memory.tasks.add(Change(title="Paint the lighthouse")).key
    with open_database(path) as database, database.transaction():
        turns = [id_ for (id_,) in database.run("SELECT id FROM prompts WHERE content LIKE '%lighthouse%'")]
        deletion.add_pending(database, {"turns": turns, "tasks": [1], "comments": [], "attachments": []})
        database.run(
            "UPDATE embedding_meta SET value = json_set(value, '$.pid', 1, '$.at', (value ->> 'at') - ?) WHERE key = 'going'",
            (seconds_ago,),
        )
    return [*map(str, turns), key]


@pytest.mark.promise("forgetting", "From the first moment of a long deletion, no search finds what is being deleted.")
def test_a_running_deletion_is_left_alone_and_its_rows_are_hidden(path: Path) -> None:
    *turns, key = going_elsewhere(path)
    with Memory.open(path) as memory:
        assert memory.status().turns == COUNT + 2
        for mode in ("keyword", "semantic", "hybrid"):
            assert not any("lighthouse" in hit.content for hit in memory.search("lighthouse", mode=mode))
        assert "Nothing found" in memory.recall("lighthouse").text
        assert memory.show(turns[5]) == []
        assert memory.tasks.list_tasks(Filters()) == []
        with pytest.raises(UsageFault, match="no task"):
            memory.tasks.get_task(key)
        assert len(list(memory.export())) == 2
        memory.index([path.parent / "history"], force=True)
        assert memory.search("lighthouse", mode="keyword") == []


def test_a_process_silent_for_a_minute_counts_as_ended(path: Path) -> None:
    going_elsewhere(path, seconds_ago=deletion.ABANDONED_AFTER_S + 1)
    Memory.open(path).close()
    assert turns(path) == 2


def test_between_two_steps_another_writer_has_its_turn(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def write(_seconds: float) -> None:
        with open_database(path) as other, other.transaction():
            seen.append(other.value("SELECT count(*) FROM prompts"))

    monkeypatch.setattr(deletion, "time", SimpleNamespace(sleep=write, time=time.time, monotonic=time.monotonic))
    with Memory.open(path) as memory:
        memory.forget(source=path.parent / "history" / "long.jsonl")
    assert any(2 < count < COUNT + 2 for count in seen)
    assert turns(path) == 2


@pytest.mark.promise(
    "durability", "Other processes can write while many rows are deleted and readers keep the log open."
)
def test_while_a_reader_keeps_the_log_open_who_waits_for_it_lets_others_write(path: Path) -> None:
    with open_database(path) as reader, open_database(path) as forgetful:
        with reader.snapshot():
            reader.run("SELECT count(*) FROM prompts")
            with forgetful.transaction():
                scrub.begin_scrub(forgetful)
            waiting = threading.Thread(target=scrub.finish_scrub, args=(forgetful,), kwargs={"wait_ms": 1000 * HANG_S})
            waiting.start()
            with open_database(path) as writer:
                for _ in range(3):
                    with writer.transaction():
                        assert waiting.is_alive()
        waiting.join()
        assert not scrub.is_due(forgetful)


def test_after_a_long_wait_the_rest_is_left_to_the_next_command(path: Path) -> None:
    with open_database(path) as reader, open_database(path) as forgetful, reader.snapshot():
        reader.run("SELECT count(*) FROM prompts")
        with forgetful.transaction():
            scrub.begin_scrub(forgetful)
        assert not scrub.finish_scrub(forgetful, wait_ms=0)
        assert scrub.is_due(forgetful)
