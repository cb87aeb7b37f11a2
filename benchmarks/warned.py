"""Measure what an agent is given before a call and after an error.

    python benchmarks/warned.py replay FOLDER [--databases FOLDER]
    python benchmarks/warned.py pairs [--misses]

`replay` puts the calls of real sessions in order of time. Each folder in FOLDER has the transcripts of one person. A session is replayed against the sessions before it, from the last to the first: its
turns are deleted before its turn. Vectors play no part, so none are made. Each line of stdout that begins with `before` or `after` is to be read and labelled. The last lines count: calls, failures, failures that an
earlier session had met in the same way (the same word of the same program, or the same error), and how many of these were given.

`pairs` counts the right and the wrong warnings before commands and edits of `warned/pairs.tsv`. A row has a history and what is about to run in the same project, `PROJECT`. Steps of a history are divided by ` || `:

    > words           the user
    $ call => output  a command that succeeded
    ! call => output  a command that failed, or that the user refused with a reason (`REFUSED reason`)
    ~ path            a change of a file
    ~! path => error  a change that failed or was refused
    --                the next session

`warn` says whether a warning would be right. The way in which commands are compared was chosen with the set `tune`. `report` was written
afterwards. Two of its 25 rows without a warning then got one, and 12 of its 15 others; a rule against the two was added.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import orjson

from pastchats_memory import Memory
from pastchats_memory.config import load
from pastchats_memory.episodes.actions import changed_files, shell_commands
from pastchats_memory.episodes.derive import derive
from pastchats_memory.episodes.failed_calls import derive_failures
from pastchats_memory.episodes.known_failures import (
    MIN_ERROR,
    KnownFailure,
    PlannedCommand,
    PlannedEdit,
    find_after,
    find_before,
)
from pastchats_memory.store import failures
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.store.failures import Failure, RecordedTurn
from pastchats_memory.text.failed_commands import simplify_error
from pastchats_memory.views.warning import render_warning

ROWS = """
SELECT conversation_id, id, source_project, turn_index, role, content, metadata_json, timestamp FROM prompts
WHERE conversation_id IS NOT NULL AND role != 'note' ORDER BY source_project, conversation_id, turn_index, id
"""
PAIRS = Path(__file__).parent / "warned" / "pairs.tsv"
REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string "
    "was NOT written to the file). To tell you how to proceed, the user said:\n"
)
Session = list[RecordedTurn]
Given = tuple[str, str, str, KnownFailure]


def read_sessions(database: Database) -> list[Session]:
    """Return all conversations, the earliest first."""
    rows = database.run(ROWS)
    turns = [(row[0], RecordedTurn(*row[1:])._replace(metadata=orjson.loads(row[6] or "{}"))) for row in rows]
    grouped = groupby(turns, key=lambda pair: (pair[1].project, pair[0]))
    return sorted(([turn for _, turn in group] for _, group in grouped), key=start_of)


def start_of(session: Session) -> tuple[str, int]:
    """Return the time at which a session starts, by which sessions are ordered."""
    return next((turn.timestamp for turn in session if turn.timestamp), ""), session[0].id


def list_actions(turn: RecordedTurn) -> Iterator[PlannedCommand | PlannedEdit]:
    """Yield the commands and edits that a turn calls."""
    yield from (PlannedCommand(command, turn.project) for command in shell_commands(turn))
    yield from (PlannedEdit(path, turn.project) for path in changed_files(turn))


def replay(database: Database, session: Session) -> tuple[int, list[Given], int, int]:
    """Return a session's calls, what it is given, and its failures that are known: how many, and how many of these are given."""
    project = session[0].project
    given: dict[str, Given] = {}
    calls = 0
    for turn in session:
        for action in list_actions(turn):
            calls += 1
            if (known := find_before(database, project, action, lambda _: False)) and known.what not in given:
                given[known.what] = ("before", getattr(action, "command", action.action), "", known)
    met = helped = 0
    for failure in derive_failures(session, project):
        row = next(turn for turn in session if turn.id == failure.turn)
        command, _, result = row.content[2:].partition("\n")
        known = find_after(database, project, command, result, lambda _: False) if failure.program else None
        if known and known.what not in given:
            given[known.what] = ("after", command, failure.error, known)
        if failure.program and is_met(database, project, failure):
            met += 1
            helped += known is not None
    return calls, list(given.values()), met, helped


def is_met(database: Database, project: str, failure: Failure) -> bool:
    """Check whether an earlier session has the same failure: the same word of the same program, or the same error."""
    error = simplify_error(failure.error)
    return any(
        (one.failure.word == failure.word != "")
        or (len(error) >= MIN_ERROR and simplify_error(one.failure.error) == error)
        for one in failures.find_failures(database, failure.program, project)
    )


def replay_person(folder: Path, path: Path) -> Counter[str]:
    """Replay the sessions of a person, print what they are given, and return the counts."""
    if not path.exists():
        # Nothing listens there, so there are no vectors.
        config = load(str(path))._replace(model="endpoint:none", endpoint="http://127.0.0.1:9/v1")
        with Memory.open(path, config=config) as memory:
            memory.index([folder])
    counts: Counter[str] = Counter()
    with open_database(path, vec0=False) as database:
        derive(database)
        database.run("BEGIN")
        for session in reversed(read_sessions(database)):
            database.run_many("DELETE FROM prompts WHERE id = ?", [(turn.id,) for turn in session])
            calls, given, met, helped = replay(database, session)
            failed = sum(turn.role == "tool" and turn.metadata.get("kind") == "error" for turn in session)
            counts.update({"calls": calls, "failed": failed, "met": met, "helped": helped})
            for moment, command, error, known in given:
                counts[moment] += 1
                shown = (moment, folder.name, " ".join(command.split()), error, render_warning(known))
                print(*shown, sep="\t", flush=True)
        database.run("ROLLBACK")
    return counts


def measure_replay(arguments: argparse.Namespace) -> None:
    """Replay everybody's sessions and print the counts."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as scratch:
        databases = arguments.databases or Path(scratch)
        databases.mkdir(exist_ok=True)
        for folder in sorted(filter(Path.is_dir, arguments.folder.iterdir())):
            counts += replay_person(folder, databases / f"{folder.name}.db")
    print(f"\ncalls: {counts['calls']}; failed: {counts['failed']}")
    print(f"met before in the same way: {counts['met']}, given: {counts['helped']}")
    print(f"given before a call: {counts['before']}, after an error: {counts['after']}")
    print(f"in 1,000 calls: {1000 * (counts['before'] + counts['after']) / max(1, counts['calls']):.1f}")


def measure_pairs(arguments: argparse.Namespace) -> None:
    """Ask before each action of the table and print the counts."""
    with PAIRS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    counts: Counter[tuple[str, str, bool]] = Counter()
    with tempfile.TemporaryDirectory() as scratch:
        folder, path = Path(scratch) / "transcripts", Path(scratch) / "memory.db"
        for number, row in enumerate(rows):
            write_sessions(folder, number, row["history"])
        with Memory.open(path) as memory:
            memory.index([folder])
        with open_database(path, vec0=False) as database:
            for number, row in enumerate(rows):
                is_warned = find_warning(database, number, row["now"])
                counts[row["set"], row["warn"], is_warned] += 1
                if arguments.misses and is_warned != (row["warn"] == "yes"):
                    print("wrong" if is_warned else "missed", row["why"], row["now"], sep="\t")
    print("| set | right warnings | wrong warnings |\n|---|--:|--:|")
    for name in dict.fromkeys(row["set"] for row in rows):
        right, wrong = (
            f"{counts[name, warn, True]} of {counts[name, warn, True] + counts[name, warn, False]}"
            for warn in ("yes", "no")
        )
        print(f"| {name} | {right} | {wrong} |")


def find_warning(database: Database, number: int, now: str) -> bool:
    """Return whether something that is about to run gets a warning."""
    project = name_project(number)
    text = now.replace("PROJECT", project)
    action = PlannedEdit(text[2:], project) if text.startswith("~ ") else PlannedCommand(text, project)
    return find_before(database, project, action, lambda _: False) is not None


def name_project(number: int) -> str:
    """Return the name of a row's project."""
    return f"project{number:03d}"


def write_sessions(folder: Path, number: int, history: str) -> None:
    """Write the sessions of a row as transcripts of Claude Code."""
    name = name_project(number)
    for place, session in enumerate(history.replace("PROJECT", name).split(" || -- || ")):
        records: list[dict[str, Any]] = []
        for step in session.split(" || "):
            records += list_records(step, f"{name}-{place}-{len(records)}", f"/home/u/{name}")
        for line, record in enumerate(records):
            time = f"2026-{place + 1:02d}-{number % 28 + 1:02d}T{number // 28:02d}:{line:02d}:00.000Z"
            record |= {"sessionId": f"{name}-{place}", "cwd": f"/home/u/{name}", "timestamp": time}
            record |= {"uuid": f"{name}-{place}-{line}", "version": "2.0.14"}
        path = folder / f"{name}-{place}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"\n".join(map(orjson.dumps, records)))


def list_records(step: str, id_: str, cwd: str) -> list[dict[str, Any]]:
    """Return the records of a step: the user's words, or a call with its result."""
    mark, _, rest = step.partition(" ")
    if mark == ">":
        return [{"type": "user", "message": {"role": "user", "content": rest}}]
    subject, _, output = rest.partition(" => ")
    text = output.replace("REFUSED ", REFUSED) or "done"
    tool, inputs = "Bash", {"command": subject}
    if mark.startswith("~"):
        tool, inputs = "Edit", {"file_path": subject if subject.startswith("/") else f"{cwd}/{subject}"}
    is_error = mark in ("!", "~!")
    if mark == "!" and not output.startswith(("REFUSED ", "Exit code")):
        text = f"Exit code 1\n{text}"
    call = {"type": "tool_use", "id": id_, "name": tool, "input": inputs}
    result = {"type": "tool_result", "tool_use_id": id_, "content": text, "is_error": is_error}
    return [
        {"type": "assistant", "message": {"role": "assistant", "id": f"m-{id_}", "content": [call]}},
        {"type": "user", "message": {"role": "user", "content": [result]}},
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    kinds = parser.add_subparsers(required=True, metavar="KIND")
    replayed = kinds.add_parser("replay")
    replayed.add_argument("folder", type=Path)
    replayed.add_argument("--databases", type=Path, help="where the databases are kept (default: a temporary folder)")
    replayed.set_defaults(measure=measure_replay)
    pairs = kinds.add_parser("pairs")
    pairs.add_argument("--misses", action="store_true", help="print the rows that are wrong")
    pairs.set_defaults(measure=measure_pairs)
    arguments = parser.parse_args()
    arguments.measure(arguments)


if __name__ == "__main__":
    main()
