"""Replay the commands of real sessions in order, and count and print the warnings before them.

    PASTCHATS_SHARED=<folder with transcripts/> python benchmarks/warned.py [--databases DIR]

A session is replayed against the sessions before it, from the last to the first: its turns are deleted after their turn.
Few sessions of the transcripts share a project. So each *episode* is replayed as well, as if it were a session of its own.

The first line counts the failed runs, and those of a command that had failed before in the same project: what an agent does without
warnings. Every warning is printed, so that a reader can check it. The last line is the CPU time of one hook, with all its processes.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from itertools import groupby
from pathlib import Path
from statistics import median

import orjson

from pastchats_memory import Memory
from pastchats_memory.episodes import split_episodes
from pastchats_memory.episodes.actions import shell_commands
from pastchats_memory.episodes.known_failures import KnownFailure, PlannedCommand, find_known_failure
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.store.recorded_calls import RecordedTurn
from pastchats_memory.text.commands import find_purpose

HOOKS = 7
ROWS = """
SELECT id, source_project, conversation_id, turn_index, role, content, metadata_json, timestamp FROM prompts
WHERE conversation_id IS NOT NULL AND role != 'note' ORDER BY source_project, conversation_id, turn_index, id
"""
Session = list[RecordedTurn]


def read_sessions(database: Database) -> list[Session]:
    """Return all conversations, the earliest first."""
    turns = [RecordedTurn(*row)._replace(metadata=orjson.loads(row[6] or "{}")) for row in database.run(ROWS)]
    found = [list(group) for _, group in groupby(turns, key=lambda turn: (turn.project, turn.conversation_id))]
    return sorted(found, key=start_of)


def start_of(session: Session) -> tuple[str, int]:
    """Return the time at which a session starts, by which sessions are ordered."""
    return next((turn.timestamp for turn in session if turn.timestamp), ""), session[0].id


def replay(
    database: Database, sessions: list[Session], *, is_whole: bool
) -> tuple[int, list[tuple[str, KnownFailure]]]:
    """Return the number of commands, and each command with a warning."""
    calls = 0
    warned: list[tuple[str, KnownFailure]] = []
    for session in reversed(sessions):
        seen: set[str] = set()
        own = session[0].conversation_id if is_whole else None
        database.run_many("DELETE FROM prompts WHERE id = ?", [(turn.id,) for turn in session] if not is_whole else [])
        for turn in session:
            for command in shell_commands(turn):
                calls += 1
                purpose = find_purpose(command)
                if purpose not in seen and (
                    known := find_known_failure(database, turn.project, PlannedCommand(command, turn.project), own)
                ):
                    warned.append((command, known))
                    seen.add(purpose)
        if is_whole:
            database.run_many("DELETE FROM prompts WHERE id = ?", [(turn.id,) for turn in session])
    return calls, warned


def count_repeats(sessions: list[Session]) -> tuple[int, int, int]:
    """Return failed runs, those after a failure of the same command in the project, and those in another session."""
    failed: dict[tuple[str, str], set[str]] = {}
    runs = again = elsewhere = 0
    for session in sessions:
        for turn in session:
            purpose = find_purpose(turn.content[2:].partition("\n")[0]) if turn.content.startswith("$ ") else ""
            if turn.role == "tool" and turn.metadata.get("kind") == "error" and purpose:
                earlier = failed.setdefault((turn.project, purpose), set())
                runs, again = runs + 1, again + bool(earlier)
                elsewhere += bool(earlier - {turn.conversation_id})
                earlier.add(turn.conversation_id)
    return runs, again, elsewhere


def show(name: str, calls: int, warned: list[tuple[str, KnownFailure]]) -> None:
    """Print a row, and the warnings on stderr."""
    for command, known in warned:
        print(" ".join(command.split()), known, sep="\t", file=sys.stderr)
    rate = f"{1000 * len(warned) / calls:.1f}" if calls else "–"
    print(f"| {name} | {calls} | {len(warned)} | {rate} |")


def measure_hook(path: Path, session: Session) -> float:
    """Return the median CPU time of a hook before a command, in milliseconds."""
    body = {
        "session_id": "none",
        "cwd": f"/src/{session[0].project}",
        "tool_name": "Bash",
        "tool_input": {"command": "npm run build"},
    }
    command = [sys.executable, "-m", "pastchats_memory", "hook", "claude-code", "PreToolUse", "--db", str(path)]
    spent = []
    for _ in range(HOOKS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, input=orjson.dumps(body), check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return 1000 * median(spent)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--databases", type=Path, help="where the databases are kept (default: a temporary folder)")
    arguments = parser.parse_args()
    transcripts = Path(os.environ.get("PASTCHATS_SHARED", "../shared")) / "transcripts"
    with tempfile.TemporaryDirectory() as scratch:
        path = (arguments.databases or Path(scratch)) / "warned.db"
        with Memory.open(path) as memory:
            memory.index([transcripts])
        with open_database(path, vec0=False) as database:
            sessions = read_sessions(database)
            episodes = sorted((part for session in sessions for part in split_episodes(session)), key=start_of)
            runs, again, elsewhere = count_repeats(sessions)
            print(
                f"failed runs: {runs}; of a command that had failed before: {again}, in another session: {elsewhere}\n"
            )
            print("| replayed | commands | warnings | in 1,000 |\n|---|--:|--:|--:|")
            for name, parts, is_whole in (("sessions", sessions, True), ("episodes", episodes, False)):
                database.run("BEGIN")
                show(name, *replay(database, parts, is_whole=is_whole))
                database.run("ROLLBACK")
        print(f"\nCPU time of a hook: {measure_hook(path, max(sessions, key=len)):.0f} ms")


if __name__ == "__main__":
    main()
