"""Test that several index runs over the same files share the work."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

from program import Program, write_messages
from waiting import HANG_S, wait_until

from pastchats_memory.ingest.run_lock import LOCK_END

RUNS, FILES, TURNS = 4, 3, 150
HOLD = "import sys; from filelock import FileLock; FileLock(sys.argv[1]).acquire(); print(flush=True); sys.stdin.read()"


def write_history(program: Program) -> int:
    """Write files of different texts, and return the number of texts."""
    for file in range(FILES):
        messages = [("user" if turn % 2 else "assistant", f"Bed {file} holds plant {turn}.") for turn in range(TURNS)]
        write_messages(program.home / "history" / f"{file}.jsonl", *messages, conversation=f"c{file}")
    return FILES * TURNS


def test_runs_at_once_embed_each_text_once(program: Program) -> None:
    texts = write_history(program)
    runs = [program.started("index", "history", "--json") for _ in range(RUNS)]
    reports = []
    for run in runs:
        stdout, stderr = run.communicate(timeout=HANG_S)
        assert run.returncode == 0, stderr
        reports.append(json.loads(stdout))
    assert sum(report["embedded"] for report in reports) == texts
    assert sum(report["turns_added"] for report in reports) == texts
    assert program("doctor").status == 0
    left = {path.name for path in program.home.iterdir() if path.name.startswith("memory.db")}
    assert left == {"memory.db", "memory.db.secrets"}


def test_a_run_waits_for_another_and_goes_on_as_soon_as_that_is_killed(program: Program) -> None:
    write_history(program)
    lock = f"{program.database}{LOCK_END}"
    with subprocess.Popen([sys.executable, "-c", HOLD, lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline()
        run = program.started("index", "history", "--json")
        wait_until(lambda: program("status", "--json").status == 0)
        assert run.poll() is None
        other.send_signal(signal.SIGKILL)
    stdout, stderr = run.communicate(timeout=HANG_S)
    assert run.returncode == 0, stderr
    assert json.loads(stdout)["embedded"] == FILES * TURNS
