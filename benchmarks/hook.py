"""Measure what hooks give to agents, and how much of the processor the prompt hook uses.

    PASTCHATS_SHARED=<folder with transcripts/> python benchmarks/hook.py prompts [--databases DIR]
    PASTCHATS_SHARED=<folder with transcripts/> python benchmarks/hook.py process [--databases DIR] [--turns N] [--rounds N]
    python benchmarks/hook.py warnings FOLDER [--databases FOLDER]
    python benchmarks/hook.py pairs [--misses]
    python benchmarks/hook.py packets SESSION.jsonl ... [--show]

`prompts` puts the prompts in `hook/prompts.tsv` to the sample history and to the sessions of agents. A *known* one is
answered in a file of which the table has a part of the path, an *unrelated* one nowhere, and *nothing* names no topic. `speaks` counts
blocks; `with it` those that cite the file. It calls what the prompt hook calls, with its cleaning of prompts and its budget, but not
its process and its limit of time. The rules were fitted to the half `tune`. The lists of words were completed after `report`, and
the thresholds moved once after `fresh`. The aims are 75, 0 and 4 of 100.

`process` runs a hook as an agent does, with each of PROMPTS as the stdin of a new process. They are those with the smallest
SHA-256. The memory holds what answers them, and made-up turns of `corpus.py` up to the number that is asked for. `right` counts
blocks that cite the file with the answer. Each prompt counts with its median over the rounds. With `--server` an MCP server of the
memory runs meanwhile, whose time is not counted. With `--busy N` so many processes keep the processors busy, and each hook has its
usual two seconds; `blocks` then says how many speak in time.

`warnings` puts the calls of real sessions in order of time. Each folder in FOLDER has the transcripts of one person. A session is replayed against the sessions before it, from the last to the first: its
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

`packets` cuts a session of Claude Code before each summary (`isCompactSummary`), and builds a packet from the part before it. An item counts
if one of the next ten calls of tools uses it and the summary does not name it. A file is used if a call names its path, a command if a
call runs the same program with one of its arguments. The summary names a file by its name alone, and a command by its words. The second
measure asks for the file's path in the project. Decisions and refusals are not counted: no program can tell whether an action follows one.

The last lines are the number of compactions with such an item, of those in which any earlier call has one (no packet can do better), and
of all that are followed by an action.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import corpus
import orjson
import timing

from pastchats_memory import Memory
from pastchats_memory.config import Config, load
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
from pastchats_memory.formats.registry import load_format
from pastchats_memory.hooks import answers
from pastchats_memory.hooks.event import HookEvent
from pastchats_memory.hooks.transcript import read_session
from pastchats_memory.model.episodes import Packet
from pastchats_memory.recall.packet import AFTER_COMPACTION, build_packet, fit_packet
from pastchats_memory.store import failures
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.store.failures import Failure, RecordedTurn
from pastchats_memory.text.commands import (
    find_purpose,
    is_same_kind,
    simplify_purpose,
    sort_options,
    strip_surroundings,
)
from pastchats_memory.text.failed_commands import simplify_error
from pastchats_memory.text.recall_block import RECALL_PREAMBLE
from pastchats_memory.views.packet import render_packet
from pastchats_memory.views.warning import render_warning

LABELLED = Path(__file__).parent / "hook" / "prompts.tsv"
DEMO = Path(__file__).parents[1] / "fixtures" / "demo"
GENERAL = ("openai-messages", "sharegpt")
"""Collections of general questions, among which nothing is unrelated."""
PROMPTS = {"known": 20, "unrelated": 10, "nothing": 25}
"""How many prompts of each kind are put."""
MEANWHILE: list[subprocess.Popen[bytes]] = []
"""What runs beside the hooks."""
FLOORS = {"python -c pass": "pass", "import apsw": "import apsw"}
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
ACTIONS = 10
BUDGET = AFTER_COMPACTION - len(RECALL_PREAMBLE) - 1


Action = dict[str, Any]
"""The input of a call."""


@dataclass
class Prompt:
    """A prompt with what its hooks used."""

    kind: str
    text: str
    file: str
    spent: list[float] = field(default_factory=list)
    """Milliseconds of the processor, one number a round."""
    answer: str = ""

    @property
    def median(self) -> float:
        """Milliseconds of the middle round."""
        return statistics.median(self.spent)


def read_rows() -> list[dict[str, str]]:
    """Return the labelled prompts."""
    with LABELLED.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def index_agents(transcripts: Path, databases: Path) -> Path:
    """Index the sample history and the sessions of agents and chats, without collections of general questions."""
    path = databases / "agents.db"
    with Memory.open(path) as memory:
        memory.index([DEMO / "history"])
        memory.index([DEMO / "exports"], project="chatgpt")
        memory.index(
            sorted(folder for folder in transcripts.iterdir() if folder.is_dir() and folder.name not in GENERAL)
        )
    return path


def measure_prompts(options: argparse.Namespace) -> None:
    """Print how many prompts get a block, and how many get the file with the answer."""
    rows = read_rows()
    counts: Counter[tuple[str, str, str]] = Counter()
    with tempfile.TemporaryDirectory() as scratch:
        database = index_agents(find_transcripts(), options.databases or Path(scratch))
        for row in rows:
            block = answers.find_block(HookEvent(prompt=row["prompt"]), str(database))
            paths = [hit.source_path for hit in block.hits] if block else []
            counts[row["half"], row["kind"], "of"] += 1
            counts[row["half"], row["kind"], "speaks"] += bool(paths)
            counts[row["half"], row["kind"], "with it"] += any(row["file"] in path for path in paths)
    print("| labelled prompts | of | speaks | with it |\n|---|--:|--:|--:|")
    for half in dict.fromkeys(row["half"] for row in rows):
        for kind in ("known", "unrelated", "nothing"):
            of, speaks, right = (counts[half, kind, name] for name in ("of", "speaks", "with it"))
            print(f"| {kind} ({half}) | {of} | {speaks} | {right if kind == 'known' else ''} |")


def choose_prompts() -> list[Prompt]:
    """Return the sample of all kinds."""
    rows = sorted(read_rows(), key=lambda row: sha256(row["prompt"].encode()).hexdigest())
    chosen = {kind: [row for row in rows if row["kind"] == kind][:count] for kind, count in PROMPTS.items()}
    return [Prompt(kind, row["prompt"], row["file"]) for kind, of_kind in chosen.items() for row in of_kind]


def build(transcripts: Path, databases: Path, turns: int) -> Path:
    """Return a memory that holds the answers, with made-up turns up to so many; later runs use it again."""
    path = databases / f"hook-{turns}.db"
    if path.exists():
        return path
    print(f"building {path}, once", flush=True)
    databases.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=databases) as folder:
        unfinished = index_agents(transcripts, Path(folder))
        with Memory(open_database(unfinished), corpus.Variations()) as memory:
            made_up = Path(folder) / "made-up"
            made_up.mkdir()
            corpus.write_sessions(made_up, turns - memory.status().turns)
            memory.index([made_up])
        unfinished.rename(path)
    return path


def run(command: Sequence[str], environment: Mapping[str, str], body: bytes = b"") -> tuple[float, str]:
    """Return the milliseconds of the processor that a process and its children use, and what it prints."""
    start = timing.cpu_seconds()
    ended = subprocess.run(command, input=body, env=environment, cwd="/", capture_output=True, check=True)
    if not MEANWHILE:
        timing.wait_for_the_adopted()
    return 1000 * (timing.cpu_seconds() - start), ended.stdout.decode()


def ask(program: str, database: Path, prompts: Sequence[Prompt], environment: Mapping[str, str]) -> None:
    """Put each prompt to a hook of its own, in a new session."""
    for number, prompt in enumerate(prompts):
        event = {"session_id": f"s{number}-{len(prompt.spent)}", "cwd": "/", "prompt": prompt.text}
        command = [program, "hook", "claude-code", "UserPromptSubmit", "--db", str(database)]
        spent, prompt.answer = run(command, environment, json.dumps(event).encode())
        prompt.spent.append(spent)


def start_background(server: Sequence[str], busy: int, environment: Mapping[str, str]) -> None:
    """Start a server, if one is named, until it listens, and processes that keep the processors busy."""
    commands = [server] if server else []
    commands += [(sys.executable, "-c", "while True: pass")] * busy
    MEANWHILE.extend(
        subprocess.Popen(command, env=environment, cwd="/", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        for command in commands
    )
    while server and not list(Path(environment["HOME"]).rglob("listening/*")):
        time.sleep(0.1)
    if server:  # as an agent does, which starts its session
        run([server[0], "hook", "claude-code", "SessionStart", *server[2:]], environment, b'{"session_id": "start"}')
        time.sleep(2)


def describe(name: str, spent: Sequence[float], right: str = "") -> str:
    """Return a row of the table."""
    return f"| {name} | {len(spent)} | {statistics.median(spent):.0f} | {max(spent):.0f} | {right} |"


def list_rows(name: str, prompts: Sequence[Prompt]) -> Iterator[str]:
    """Yield a row for all prompts and one for each kind."""
    right = sum(bool(prompt.file) and prompt.file in prompt.answer for prompt in prompts)
    yield describe(name, [prompt.median for prompt in prompts], str(right))
    for kind in PROMPTS:
        of_kind = [prompt for prompt in prompts if prompt.kind == kind]
        blocks = sum(bool(prompt.answer) for prompt in of_kind)
        yield describe(f"{name}: {kind}", [prompt.median for prompt in of_kind], f"{blocks} blocks")


def measure_process(options: argparse.Namespace) -> None:
    """Run the hooks and print what they used."""
    database, prompts = build(find_transcripts(), options.databases or corpus.CACHE, options.turns), choose_prompts()
    floors: dict[str, list[float]] = {name: [] for name in FLOORS}
    timing.adopt()
    with tempfile.TemporaryDirectory() as home:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PASTCHATS", "XDG"))}
        environment |= {"HOME": home, "PASTCHATS_MEMORY_HOOK_SECONDS": "2" if options.busy else "60"}
        server = [timing.PROGRAM, "mcp", "--db", str(database)] if options.server else []
        start_background(server, options.busy, environment)
        for _ in range(options.rounds):
            ask(timing.PROGRAM, database, prompts, environment)
            for name, statement in FLOORS.items():
                floors[name] += [run([sys.executable, "-c", statement], environment)[0] for _ in range(10)]
    for process in MEANWHILE:
        process.kill()
    print("| ms of the processor | of | median | most | right |\n|---|--:|--:|--:|--:|")
    for name, spent in floors.items():
        print(describe(name, spent))
    print("\n".join(list_rows("hook", prompts)))


def find_transcripts() -> Path:
    """Return the folder of transcripts that PASTCHATS_SHARED names, or end."""
    transcripts = Path(os.environ.get("PASTCHATS_SHARED", "../shared")) / "transcripts"
    if not transcripts.is_dir():
        sys.exit("no transcripts here; set PASTCHATS_SHARED")
    print(timing.machine())
    return transcripts


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


def replay_session(database: Database, session: Session) -> tuple[int, list[Given], int, int]:
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
            calls, given, met, helped = replay_session(database, session)
            failed = sum(turn.role == "tool" and turn.metadata.get("kind") == "error" for turn in session)
            counts.update({"calls": calls, "failed": failed, "met": met, "helped": helped})
            for moment, command, error, known in given:
                counts[moment] += 1
                shown = (moment, folder.name, " ".join(command.split()), error, render_warning(known))
                print(*shown, sep="\t", flush=True)
        database.run("ROLLBACK")
    return counts


def measure_warnings(arguments: argparse.Namespace) -> None:
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


class Compaction(NamedTuple):
    """A summary, the records before it, and the calls on both sides."""

    before: list[bytes]
    session: str
    summary: str
    earlier: list[Action]
    actions: list[Action]


def list_compactions(path: Path) -> Iterator[Compaction]:
    """Yield the compactions of a session that are followed by an action."""
    lines = [line for line in path.read_bytes().splitlines() if line.strip()]
    records = [_parse(line) for line in lines]
    for place, record in enumerate(records):
        if record.get("isCompactSummary") is True and not record.get("isSidechain"):
            actions = _list_calls(records[place + 1 :])[:ACTIONS]
            if actions:
                earlier = _list_calls(records[:place], is_stopped=False)
                yield Compaction(lines[:place], str(record.get("sessionId")), _text_of(record), earlier, actions)


def _parse(line: bytes) -> dict[str, Any]:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return record if isinstance(record, dict) else {}


def _list_calls(records: list[dict[str, Any]], *, is_stopped: bool = True) -> list[Action]:
    """Return the calls of the agent itself, up to the next summary."""
    found: list[Action] = []
    for record in records:
        if is_stopped and record.get("isCompactSummary") is True:
            break
        if record.get("type") == "assistant" and not record.get("isSidechain"):
            content = record.get("message", {}).get("content")
            blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
            found += [block.get("input") or {} for block in blocks if block.get("type") == "tool_use"]
    return found


def _text_of(record: dict[str, Any]) -> str:
    content = record.get("message", {}).get("content")
    if isinstance(content, str):
        return content
    return "\n".join(str(block.get("text", "")) for block in content or [] if isinstance(block, dict))


def find_useful(one: Compaction, project: str, items: Iterable[tuple[str, str]], *, by_path: bool = False) -> list[str]:
    """Return the files (`changed`, `read`) and commands (`ran`) that the next actions use and the summary lacks.

    By path, a summary lacks a file of which it has the name without the folder.
    """
    summary = _slashes(" ".join(one.summary.split()))
    inputs = [
        " ".join(_slashes(value) for value in action.values() if isinstance(value, str)) for action in one.actions
    ]
    called = [_purpose(str(action.get("command", "")), project) for action in one.actions]
    found = []
    for kind, text in dict.fromkeys(items):
        if kind != "ran":
            path = _slashes(text)
            is_named = (path.partition(f"/{project}/")[2] or path if by_path else path.rpartition("/")[2]) in summary
            is_used = any(_slashes(text) in given for given in inputs)
        else:
            purpose = _purpose(text, project)
            is_named = _slashes(strip_surroundings(text)).removesuffix("…").strip() in summary
            is_used = bool(purpose) and any(purpose == other or is_same_kind(purpose, other) for other in called)
        if is_used and not is_named:
            found.append(f"{kind} {text}")
    return found


def _slashes(path: str) -> str:
    return path.replace("\\", "/")


def _purpose(command: str, project: str) -> str:
    return sort_options(simplify_purpose(find_purpose(command), project))


def _list_items(packet: Packet | None) -> Iterator[tuple[str, str]]:
    for line in packet.lines if packet else ():
        if line.section in ("changed", "read", "ran"):
            yield line.section, line.text.removeprefix("$ ").partition(" → ")[0]


def _list_earlier(one: Compaction) -> Iterator[tuple[str, str]]:
    """Yield every file and command of the calls before a compaction."""
    for action in one.earlier:
        # A search names its folder as `path`, and that is no file.
        yield from (
            ("changed", action[key]) for key in ("file_path", "notebook_path") if isinstance(action.get(key), str)
        )
        if isinstance(action.get("command"), str):
            yield "ran", " ".join(action["command"].split())


def measure_packets(arguments: argparse.Namespace) -> None:
    """Print a line for each compaction, and the count."""
    counts: Counter[str] = Counter()
    with (
        tempfile.TemporaryDirectory() as folder,
        open_database(Path(folder) / "nothing.db", create=True) as nothing_stored,
    ):
        for path in arguments.sessions:
            for one in list_compactions(path):
                part = Path(folder) / path.name
                part.write_bytes(b"\n".join(one.before) + b"\n")
                folders = (str(cwd) for line in one.before if (cwd := _parse(line).get("cwd")))
                event = HookEvent(session=one.session, cwd=next(folders, None), transcript=str(part))
                rows = read_session(nothing_stored, event, load_format("claude-code"), Config(nothing_stored.path))
                packet = fit_packet(build_packet(rows, (), "compaction"), BUDGET) if rows else None
                project = rows[-1].project if rows else ""
                counts["all"] += 1
                for measure, by_path in (("by name", False), ("by path", True)):
                    found = find_useful(one, project, _list_items(packet), by_path=by_path)
                    counts[measure] += bool(found)
                    counts[f"possible {measure}"] += bool(
                        found or find_useful(one, project, _list_earlier(one), by_path=by_path)
                    )
                print(f"{path.name[:40]} {len(rows)} rows, {len(one.actions)} actions: {'; '.join(found) or '-'}")
                if arguments.show and packet:
                    print(render_packet(packet), *(f">> {action}"[:200] for action in one.actions), sep="\n")
    for measure in ("by name", "by path"):
        print(f"{measure}: {counts[measure]} of {counts[f'possible {measure}']} possible of {counts['all']}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    kinds = parser.add_subparsers(required=True, metavar="KIND")
    prompts = kinds.add_parser("prompts")
    prompts.set_defaults(measure=measure_prompts)
    process = kinds.add_parser("process")
    process.add_argument("--turns", type=int, default=100_000)
    process.add_argument("--rounds", type=int, default=3)
    process.add_argument("--server", action="store_true", help="run an MCP server meanwhile")
    process.add_argument("--busy", type=int, default=0, metavar="N", help="keep the processors busy with N processes")
    process.set_defaults(measure=measure_process)
    warnings = kinds.add_parser("warnings")
    warnings.add_argument("folder", type=Path)
    warnings.set_defaults(measure=measure_warnings)
    for kind in (prompts, process, warnings):
        kind.add_argument("--databases", type=Path, help="where the databases are kept")
    pairs = kinds.add_parser("pairs")
    pairs.add_argument("--misses", action="store_true", help="print the rows that are wrong")
    pairs.set_defaults(measure=measure_pairs)
    packets = kinds.add_parser("packets")
    packets.add_argument("sessions", nargs="+", type=Path)
    packets.add_argument("--show", action="store_true", help="print each packet and the next actions")
    packets.set_defaults(measure=measure_packets)
    arguments = parser.parse_args()
    arguments.measure(arguments)


if __name__ == "__main__":
    main()
