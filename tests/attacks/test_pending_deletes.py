"""While forgotten rows are still stored, every command of the program is asked, and none shows them."""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from collections.abc import Iterator

import orjson
import pytest
from inprocess import Shell
from program import write_messages
from test_every_column import ARGUMENTS, COMMANDS

from pastchats_memory.store import deletion
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.store.visible import KINDS, PENDING_KEY

WORD = "lighthouse"
KEPT = "webhook"


def list_as_pending(database: Database, process: int) -> None:
    """List every row with the word as being deleted by a process that has just done a step."""
    rows: dict[str, list[int]] = {kind: [] for kind in KINDS}
    rows["turns"] = [id_ for (id_,) in database.run("SELECT id FROM prompts WHERE content LIKE ?", (f"%{WORD}%",))]
    rows["tasks"] = [id_ for (id_,) in database.run("SELECT id FROM tasks WHERE title LIKE ?", (f"%{WORD}%",))]
    listed = orjson.dumps({"pid": process, "at": time.time(), **rows}).decode()
    database.run("INSERT OR REPLACE INTO embedding_meta(key, value) VALUES (?, ?)", (PENDING_KEY, listed))


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A memory with a conversation and a task that stay, and with others that are to be deleted."""
    shell = Shell(tmp_path_factory.mktemp("pending"))
    for name, word in (("one", WORD), ("two", KEPT)):
        said = (
            ("user", f"Why does the {word} retry fail?"),
            ("assistant", f"I put a lock around the {word}."),
            ("user", f"No, the {word} is still broken."),
            ("tool", f"$ pytest -q tests/test_{word}.py\n8 passed in 1.2s"),
        )
        write_messages(shell.home / "history" / f"{name}.jsonl", *said, conversation=name)
    assert shell("index", "history").status == 0
    for word in (WORD, KEPT):
        assert shell("task", "add", f"Paint the {word} white").status == 0
    return shell


@pytest.fixture(scope="module")
def sleeper() -> Iterator[int]:
    """A process that would delete, and does not come to it."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process.pid


@pytest.mark.promise("forgetting", "No command at all shows a row that is still to be deleted.")
@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_shows_a_row_that_is_being_deleted(shell: Shell, sleeper: int, name: str, form: list[str]) -> None:
    with open_database(shell.home / "memory.db") as database:
        list_as_pending(database, sleeper)
        assert not deletion.is_abandoned(database)
        known = {
            "turn": str(database.value("SELECT min(id) FROM visible_prompts WHERE role = 'user'")),
            "key": database.value("SELECT min(key) FROM visible_tasks"),
        }
    words = [word.format(**known) for word in shlex.split(ARGUMENTS.get(name, ""))]
    run = shell(*name.split(), *words, *form)
    assert run.status in (0, 1, 2), run.stderr
    assert WORD not in run.stdout + run.stderr


def test_the_rows_that_stay_are_shown_by_the_same_commands(shell: Shell, sleeper: int) -> None:
    with open_database(shell.home / "memory.db") as database:
        list_as_pending(database, sleeper)
    for arguments in (["search", KEPT], ["task", "list", "--all"], ["export"]):
        assert KEPT in shell(*arguments).stdout
