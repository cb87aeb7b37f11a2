"""What an index run does while it keeps all other writers waiting: write, and nothing that could be done before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from program import write_messages

WATCHING = """
import sys
from contextlib import contextmanager
from pastchats_memory import Memory
from pastchats_memory.store.database import Database

begun, loaded, transaction = [], [], Database.transaction

class Watch:
    def find_spec(self, name, path=None, target=None):
        loaded.extend([name] if begun else [])

@contextmanager
def watched(database):
    with transaction(database):
        begun.append(database)
        yield
        begun.pop()

sys.meta_path.insert(0, Watch())
Database.transaction = watched
with Memory.open(sys.argv[2]) as memory:
    memory.index([sys.argv[1]])
    assert memory.status().turns == 2
assert "pastchats_memory.episodes.outcome" in sys.modules
print(*(name for name in loaded if name.startswith("pastchats_memory")))
"""


def test_no_module_of_ours_is_loaded_for_an_import_may_take_seconds_on_a_busy_machine(tmp_path: Path) -> None:
    write_messages(tmp_path / "chat.jsonl", ("user", "Run the tests."), ("assistant", "All of them passed."))
    command = [sys.executable, "-c", WATCHING, str(tmp_path / "chat.jsonl"), str(tmp_path / "memory.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()) == (0, []), done.stderr
