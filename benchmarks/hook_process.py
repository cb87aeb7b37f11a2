"""Measure how much of the processor the prompt hook uses, as an agent runs it.

    PASTCHATS_SHARED=<folder with transcripts/> python benchmarks/hook_process.py [--databases DIR] [--turns N] [--rounds N]

Each of PROMPTS is the stdin of a new process; the prompts are those of `hook/prompts.tsv` with the smallest SHA-256. The
memory holds what answers them, and made-up turns of `corpus.py` up to the number that is asked for. `right` counts
blocks that cite the file with the answer. Each prompt counts with its median over the rounds.

With `--server` an MCP server of the memory runs meanwhile, whose time is not counted. With `--busy N` so many processes keep the
processors busy, and each hook has its usual two seconds; `blocks` then says how many speak in time.

With `--beside PROGRAM DATABASE` another build answers the same prompts from a database of its own.
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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import corpus
import timing
from hook_prompts import HERE, agents

from pastchats_memory.memory import Memory
from pastchats_memory.store.database import open_database

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


def choose_prompts() -> list[Prompt]:
    """Return the sample of all kinds."""
    with (HERE / "hook" / "prompts.tsv").open(encoding="utf-8", newline="") as file:
        rows = sorted(csv.DictReader(file, delimiter="\t"), key=lambda row: sha256(row["prompt"].encode()).hexdigest())
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
        unfinished = agents(transcripts, Path(folder))
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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--databases", type=Path, default=corpus.CACHE, help="where the databases are kept")
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--beside", nargs=2, metavar=("PROGRAM", "DATABASE"), help="another build and its database")
    parser.add_argument("--server", action="store_true", help="run an MCP server meanwhile")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="keep the processors busy with N processes")
    parser.add_argument("--prompts", action="store_true", help="also list each prompt")
    options = parser.parse_args()
    transcripts = Path(os.environ.get("PASTCHATS_SHARED", "../shared")) / "transcripts"
    database = build(transcripts, options.databases, options.turns)
    builds = {"hook": (timing.PROGRAM, database, choose_prompts())}
    if options.beside:
        builds["beside"] = (options.beside[0], Path(options.beside[1]), choose_prompts())
    floors: dict[str, list[float]] = {name: [] for name in FLOORS}
    timing.adopt()
    print(timing.machine())
    with tempfile.TemporaryDirectory() as home:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PASTCHATS", "XDG"))}
        environment |= {"HOME": home, "PASTCHATS_MEMORY_HOOK_SECONDS": "2" if options.busy else "60"}
        server = [timing.PROGRAM, "mcp", "--db", str(database)] if options.server else []
        start_background(server, options.busy, environment)
        for _ in range(options.rounds):
            for program, path, prompts in builds.values():
                ask(program, path, prompts, environment)
            for name, statement in FLOORS.items():
                floors[name] += [run([sys.executable, "-c", statement], environment)[0] for _ in range(10)]
    for process in MEANWHILE:
        process.kill()
    print("| ms of the processor | of | median | most | right |\n|---|--:|--:|--:|--:|")
    for name, spent in floors.items():
        print(describe(name, spent))
    for name, (_, _, prompts) in builds.items():
        print("\n".join(list_rows(name, prompts)))
        if options.prompts:
            for prompt in sorted(prompts, key=lambda prompt: -prompt.median):
                print(f"{prompt.median:6.0f}  {prompt.kind:10}{len(prompt.answer):6}  {prompt.text}")


if __name__ == "__main__":
    main()
