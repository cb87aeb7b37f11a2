"""Whatever is asked while a process has forgotten rows and not deleted them yet, nothing is told of them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from program import write_messages

from pastchats_memory import Memory
from pastchats_memory.model import Filters
from pastchats_memory.store import deletion
from pastchats_memory.store.database import Database
from pastchats_memory.tasks.edit import Change

WORD = "lighthouse"
WANTED = "Paint the tower white"
WORKER = "The webhook worker sends some events twice, make it send each of them once"
LOCK = ("assistant", "I put a lock around the sending of webhook events.")
GREEN = ("tool", f"$ pytest -q tests/test_{WORD}.py\n8 passed in 1.2s")

ASKED: dict[str, Callable[[Memory], object]] = {
    "search": lambda memory: list(memory.search(WANTED, limit=100)),
    "recall": lambda memory: memory.recall(WORKER).text,
    "context": lambda memory: memory.context(WORKER).text,
    "recent": lambda memory: (memory.list_recent(100), memory.load_recent(100)),
    "export": lambda memory: list(memory.export()),
    "verify": lambda memory: memory.verify(),
    "lessons": lambda memory: memory.lessons("garden"),
    "judge": lambda memory: memory.list_unjudged(None, "worked,failed,mixed,unknown", 50),
    "how": lambda memory: memory.how(WORKER, "garden"),
    "ask": lambda memory: memory.ask("which tasks are about the tower?"),
    "similar": lambda memory: memory.tasks.find_similar("tower"),
    "find-duplicates": lambda memory: memory.tasks.find_duplicates(WANTED),
    "duplicates": lambda memory: memory.tasks.scan_duplicates(0.3),
    "check-prior-work": lambda memory: memory.check_prior_work(WANTED),
    "consult-episodic-memory": lambda memory: memory.consult_episodic_memory("Clean the gutters of the shed"),
    "task list": lambda memory: memory.tasks.list_tasks(Filters()),
    "task show": lambda memory: memory.tasks.find_item("t:tower"),
    "task show, of a comment": lambda memory: memory.tasks.find_item("c:1"),
    "task export": lambda memory: list(memory.tasks.export()),
    "forget, once more": lambda memory: memory.forget(query="the", dry_run=True).rows,
}


def _fill(memory: Memory, folder: Path) -> None:
    """Two conversations with failures, one of many turns, tasks; in each of them what is forgotten beside what stays."""
    history = folder / "history"
    many = (
        (("user", "assistant")[n % 2], f"Turn {n} about the tower of the {WORD}.") for n in range(deletion.MIN_STEP + 2)
    )
    write_messages(history / f"{WORD}.jsonl", *many, conversation="many")
    write_messages(history / "monday.jsonl", ("user", f"{WORKER} at the {WORD}."), LOCK,
                   ("user", f"No, still broken at the {WORD} after a restart."), LOCK,
                   ("user", "No, that is wrong, undo it."), ("assistant", f"Undone at the {WORD}."),
                   conversation="monday")  # fmt: skip
    write_messages(history / "tuesday.jsonl", ("user", f"{WORKER}!"), LOCK, ("user", "No, it still sends them twice."),
                   ("assistant", "The worker now claims a webhook event in the table."), GREEN, conversation="tuesday")  # fmt: skip
    memory.index([history])
    (history / f"{WORD}.jsonl").unlink()
    database = memory._database  # noqa: SLF001 - no command writes what the test needs
    database.run("UPDATE outcomes SET confidence = 0.99 WHERE verdict != 'unknown'")  # as if every signal were sure
    tasks = memory.tasks
    tasks.add(Change(title=f"Paint the tower of the {WORD} white"), key=WORD)
    tasks.add(Change(title=WANTED), depends=[WORD], key="tower")
    tasks.comment("tower", f"The keeper of the {WORD} has the key.")
    (folder / "note.txt").write_text(f"The {WORD} is 40 m high.\n", encoding="utf-8")
    tasks.attach("tower", folder / "note.txt")
    tasks.add(Change(title="Clean the gutters of the shed", status="done"), key="gutters")
    database.run("INSERT INTO task_conversations(task_id, conversation_id) VALUES (3, 'monday')")


def _stopped_before_deleting(path: Path) -> int:
    """A process that has forgotten all that has the word in it and been stopped before the first step."""
    child = os.fork()
    if not child:

        def stop(_: Database, __: deletion.Delete, ___: int) -> bool:
            os.kill(os.getpid(), signal.SIGSTOP)
            return False

        deletion.delete_some = stop
        with Memory.open(path) as memory:
            memory.forget(query=WORD)
        os._exit(0)
    assert os.WIFSTOPPED(os.waitpid(child, os.WUNTRACED)[1])
    return child


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[str, str]]]:
    """By what is asked the answer before, and the one between the burial and the first step."""
    folder = tmp_path_factory.mktemp("buried")
    with Memory.open(folder / "memory.db") as memory:
        _fill(memory, folder)
        before = {name: repr(ask(memory)) for name, ask in ASKED.items()}
    child = _stopped_before_deleting(folder / "memory.db")
    try:
        with Memory.open(folder / "memory.db") as memory:
            status = memory.status()
            assert status.turns > status.going > deletion.MIN_STEP
            yield {name: (before[name], repr(ask(memory))) for name, ask in ASKED.items()}
            rows = memory._database.value("SELECT count(*) FROM prompts WHERE id IN pending_turns")  # noqa: SLF001 - nobody deleted them meanwhile
            assert rows > deletion.MIN_STEP
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@pytest.mark.promise(
    "forgetting", "From the first moment of a long deletion, no other command shows what is being deleted."
)
@pytest.mark.parametrize("name", ASKED)
def test_rows_that_are_forgotten_but_not_deleted_are_not_shown(answers: dict[str, tuple[str, str]], name: str) -> None:
    before, after = answers[name]
    assert WORD in before
    assert WORD not in after
