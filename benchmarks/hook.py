"""Measure the prompt hook: when it speaks, and how much of the processor it uses.

    PASTCHATS_SHARED=<folder with transcripts/> python benchmarks/hook.py prompts [--databases DIR]
    PASTCHATS_SHARED=<folder with transcripts/> python benchmarks/hook.py process [--databases DIR] [--turns N] [--rounds N]

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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import corpus
import timing

from pastchats_memory import Memory
from pastchats_memory.hooks import answers
from pastchats_memory.hooks.event import HookEvent
from pastchats_memory.store.database import open_database

LABELLED = Path(__file__).parent / "hook" / "prompts.tsv"
DEMO = Path(__file__).parents[1] / "fixtures" / "demo"
GENERAL = ("openai-messages", "sharegpt")
"""Collections of general questions, among which nothing is unrelated."""
PROMPTS = {"known": 20, "unrelated": 10, "nothing": 25}
"""How many prompts of each kind are put."""
MEANWHILE: list[subprocess.Popen[bytes]] = []
"""What runs beside the hooks."""
FLOORS = {"python -c pass": "pass", "import apsw": "import apsw"}


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


def measure_prompts(transcripts: Path, databases: Path) -> None:
    """Print how many prompts get a block, and how many get the file with the answer."""
    database, rows = index_agents(transcripts, databases), read_rows()
    counts: Counter[tuple[str, str, str]] = Counter()
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


def measure_process(transcripts: Path, options: argparse.Namespace) -> None:
    """Run the hooks and print what they used."""
    database, prompts = build(transcripts, options.databases or corpus.CACHE, options.turns), choose_prompts()
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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("measured", choices=("prompts", "process"))
    parser.add_argument("--databases", type=Path, help="where the databases are kept")
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--server", action="store_true", help="run an MCP server meanwhile")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="keep the processors busy with N processes")
    options = parser.parse_args()
    transcripts = Path(os.environ.get("PASTCHATS_SHARED", "../shared")) / "transcripts"
    if not transcripts.is_dir():
        sys.exit("no transcripts here; set PASTCHATS_SHARED")
    print(timing.machine())
    if options.measured == "process":
        measure_process(transcripts, options)
        return
    with tempfile.TemporaryDirectory() as scratch:
        measure_prompts(transcripts, options.databases or Path(scratch))


if __name__ == "__main__":
    main()
