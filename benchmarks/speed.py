"""Measure how long a person waits: for a cold `recall` or `search`, for `setup`, and for a page.

    python benchmarks/speed.py cold [--turns N] [--rounds N]
    python benchmarks/speed.py start [--rounds N]
    python benchmarks/speed.py setup [--megabytes N]
    python benchmarks/speed.py pages [DATABASE]

`cold` runs commands over a large memory, from shell to exit. Every round runs each kind once, as a new process. `floor` only imports numpy, onnxruntime and tokenizers, loads the
packaged model and embeds one question. `floor, one file` has the weights in the graph's file. `floor, quiet` skips what
the program skips: onnxruntime's usage reports, NumPy's threads, and the end of the libraries. The questions change from
round to round. At the end the slowest imports are listed (`python -X importtime`).

`start` runs commands over the sample history, which is small, so that starting them takes nearly all of their time.

`setup` runs on a new machine, from the command to the first recall, over a synthetic history of Claude Code that was never read.
It indexes the newest part, connects the agent and prints a recall; the rest goes on in the background. The time is that of the clock.

`pages` measures how much of the processor the server needs for each page of a large memory: a copy of the database, by default of the
100,000 turns of `cold`, to which a conversation of 2,000 turns
and a tracker of 1,000 tasks are added. The real server runs as a process. Each page is requested PAGE_ROUNDS times, a search
with another query each time. The number is the server's own processor time, whatever else the machine does.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from urllib.parse import quote_plus, urlsplit

import corpus
import httpx
import onnx
import timing

from pastchats_memory import Memory
from pastchats_memory.embed.tokenizer import FOLDER
from pastchats_memory.store.database import open_database

QUESTION = "how did we fix the webhook retries last week"
BARE = f"""
import numpy, onnxruntime, tokenizers
tokenizer = tokenizers.Tokenizer.from_file({str(FOLDER / "tokenizer.json")!r})
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession({str(FOLDER / "model.onnx")!r}, options, providers=["CPUExecutionProvider"])
session.run(None, {{"ids": numpy.array([tokenizer.encode({QUESTION!r}).ids])}})
"""
ONE_FILE = BARE.replace(str(FOLDER / "model.onnx"), str(corpus.CACHE / "one-file.onnx"))
"""The same with the weights in the graph's file, which `one_file` makes."""
QUIET = f"""import os
os.environ['ORT_DISABLE_TELEMETRY'] = '1'
os.environ['OPENBLAS_NUM_THREADS'] = '1'
{BARE}
os._exit(0)"""
"""The same without usage reports of onnxruntime, threads of NumPy's BLAS, and the end of the libraries."""
HISTORY = Path(__file__).parents[1] / "fixtures" / "demo" / "history"
STARTED = (
    *("--version", "--help", "setup --help", "show 1", "status", "timeline", "lessons --all"),
    *("search --mode keyword retries", "search retries", "recall retries"),
)
PAGE_ROUNDS = 15
LIMIT_MS = 150
LIMIT_KB = 300
LONG_CONVERSATION = 2_000
TASKS = 1_000
STATUSES = ("open", "in_progress", "blocked", "closed", "closed", "closed")
LINK = re.compile(r"(http://\S+?)/\?token=\S+")
OWN = re.compile(r'<a [^>]*?href="(/[^"#]*)')
WORST = "what did they say about the time when we had to use the new system for all of our first work"
"""Nothing but frequent words."""


def one_file() -> None:
    """Make the model of ONE_FILE."""
    corpus.CACHE.mkdir(parents=True, exist_ok=True)
    onnx.save(onnx.load(FOLDER / "model.onnx"), corpus.CACHE / "one-file.onnx")


def questions(database: Path) -> list[str]:
    """List the first words of a few turns to which recall answers.

    A silent recall does less work.
    """
    with open_database(database) as opened:
        found = opened.run(
            "SELECT content FROM prompts WHERE length(content) BETWEEN 60 AND 200 ORDER BY id % 9973 LIMIT 40"
        )
    queries = (" ".join(re.findall(r"\w+", text)[:9]) for (text,) in found)
    with Memory.open(database) as memory:
        return list(itertools.islice((question for question in queries if memory.recall(question).entries), 5))


def asking(database: Path, command: str, *options: str) -> Callable[[], None]:
    """Return a function that asks the next question."""
    queries = itertools.cycle(questions(database))

    def run() -> None:
        timing.process(timing.PROGRAM, command, next(queries), "--db", str(database), *options)()

    return run


def imports(most: int) -> list[tuple[float, str]]:
    """List the slowest imports of a recall by their own time, in milliseconds."""
    command = [sys.executable, "-X", "importtime", "-c", "import pastchats_memory.cli.recall"]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    rows = [line.removeprefix("import time:").split("|") for line in ran.stderr.splitlines()[1:]]
    return sorted(((int(own) / 1000, name.strip()) for own, _, name in rows), reverse=True)[:most]


def measure_cold(options: argparse.Namespace) -> None:
    """Run each kind in turn and print its times."""
    database = corpus.database(options.turns)
    one_file()
    ways = {
        "python -c pass": timing.process(sys.executable, "-c", "pass"),
        "floor": timing.process(sys.executable, "-c", BARE),
        "floor, one file": timing.process(sys.executable, "-c", ONE_FILE),
        "floor, quiet": timing.process(sys.executable, "-c", QUIET),
        "recall": asking(database, "recall"),
        "recall --json": asking(database, "recall", "--json"),
        "search": asking(database, "search"),
        "search --mode keyword": asking(database, "search", "--mode", "keyword"),
        "recall, frequent words only": timing.process(
            timing.PROGRAM, "recall", WORST, "--db", str(database), codes=(0, 1)
        ),
    }
    timing.show(timing.interleaved(ways, options.rounds, warm_up=2), against="floor")
    print("\nmodules of a recall, own ms")
    for own, name in imports(12):
        print(f"  {own:7.1f}  {name}")


def measure_start(options: argparse.Namespace) -> None:
    """Run commands in turn and print their times."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PASTCHATS_MEMORY_DB"] = str(Path(folder) / "memory.db")
        with Memory.open() as memory:
            memory.index([HISTORY])
        ways = {command: timing.process(timing.PROGRAM, *command.split()) for command in STARTED}
        bare = {"python -c pass": timing.process(sys.executable, "-c", "pass")}
        timing.show(timing.interleaved({**bare, **ways}, options.rounds), against="python -c pass")


def write_history(folder: Path, megabytes: float) -> int:
    """Write sessions until they have so many megabytes. Return the number of turns."""
    turns = size = 0
    writer = corpus.Writer()
    while size < megabytes * 1e6:
        conversation = writer.conversation(turns)
        turns += len(conversation.turns)
        size += corpus.write_session(conversation, folder).stat().st_size
    return turns


def measure_setup(options: argparse.Namespace) -> None:
    """Run `setup` once and print how long it took."""
    timing.adopt()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        turns = write_history(home / ".claude" / "projects", options.megabytes)
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "LANG": "C.UTF-8"}
        command = [timing.PROGRAM, "setup", "--yes", "--json"]
        start = time.perf_counter()
        done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=True)
        seconds = time.perf_counter() - start
        steps = json.loads(done.stdout)["results"]
        if not any(step["step"] == "recall" and step["state"] == "done" for step in steps):
            raise SystemExit(f"setup ended without a recall: {steps}")
        status = [timing.PROGRAM, "status", "--json"]
        found = subprocess.run(status, env=environment, capture_output=True, encoding="utf-8", check=True)
        indexed = json.loads(found.stdout)["results"][0]["turns"]
        print(
            f"{options.megabytes:.0f} MB, {turns:,} turns: the first recall after {seconds:.1f} s, {indexed:,} turns indexed"
        )
        for child in Path("/proc/self/task", str(os.getpid()), "children").read_text(encoding="ascii").split():
            os.kill(int(child), signal.SIGKILL)  # the rest would go on in the background
        timing.wait_for_the_adopted()


def write_conversation(path: Path) -> Path:
    """Write one long session."""
    writer = corpus.Writer(seed=9)
    turns = (
        {
            "conversation_id": "long",
            "project": "project-1",
            "role": ("user", "assistant")[number % 2],
            "content": writer.text((75, 250)[number % 2], 1.1),
            "timestamp": f"2026-01-{1 + number // 480:02}T{number // 20 % 24:02}:{number % 20 * 3:02}:00Z",
        }
        for number in range(LONG_CONVERSATION)
    )
    path.write_text("".join(json.dumps(turn) + "\n" for turn in turns), encoding="utf-8")
    return path


def write_tasks(path: Path) -> Path:
    """Write a tracker with tasks in every state."""
    writer = corpus.Writer(seed=8)
    path.parent.mkdir()
    issues = (
        {
            "id": f"bench-{number}",
            "title": writer.text(40, 0),
            "description": writer.text(250, 1.1),
            "status": STATUSES[number % len(STATUSES)],
            "priority": number % 5,
            "issue_type": "task",
            "created_at": "2026-01-01T08:00:00Z",
            "updated_at": f"2026-01-{1 + number % 28:02}T08:00:00Z",
        }
        for number in range(TASKS)
    )
    path.write_text("".join(json.dumps(issue) + "\n" for issue in issues), encoding="utf-8")
    return path.parent


@contextmanager
def serving(database: Path, home: Path) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    """Run the server, and sign in."""
    command = [timing.PROGRAM, "serve", "--port", "0", "--db", str(database)]
    environment = {**os.environ, "HOME": str(home)}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, encoding="utf-8", env=environment, cwd=home)
    try:
        link = next(found for line in process.stderr or () if (found := LINK.search(line)))
        with httpx.Client(base_url=link[1], timeout=600) as client:
            client.get(link[0])
            yield process, client
    finally:
        process.terminate()
        process.wait()


def processor_ms(pid: int) -> float:
    """Return the milliseconds that all threads of a process have had.

    Linux derives the clock of another process from its number (`clock_getcpuclockid`, which Python lacks).
    """
    return time.clock_gettime(~pid << 3 | 2) * 1000


def find_pages(client: httpx.Client) -> dict[str, str]:
    """Return one address for each path that links lead to, and the long conversation."""
    found: dict[str, str] = {}
    waiting = ["/", "/?query=retry"]
    while waiting:
        address = waiting.pop(0)
        path = urlsplit(address).path
        if path in found and address != "/?query=retry":
            continue
        answer = client.get(address)
        if answer.is_redirect:
            waiting.append(answer.headers["location"].partition("#")[0])
        elif answer.is_success and "content-disposition" not in answer.headers:
            found.setdefault(path, address)
            waiting += [unescape(link) for link in OWN.findall(answer.text)]
    return {**found, "a conversation of 2,000 turns": "/page/conversation?id=long"}


def measure_page(client: httpx.Client, pid: int, addresses: list[str]) -> tuple[float, float]:
    """Return the median of the processor's milliseconds over some requests, and the most kilobytes of an answer."""
    spent, sizes = [], []
    for address in addresses:
        before = processor_ms(pid)
        answer = client.get(address).raise_for_status()
        spent.append(processor_ms(pid) - before)
        sizes.append(len(answer.content) / 1000)
    return statistics.median(spent), max(sizes)


def list_queries() -> list[str]:
    """Return queries that no round repeats."""
    writer = corpus.Writer(seed=7)
    return [" ".join(writer.text(60, 0).split()[:6]) for _ in range(PAGE_ROUNDS + 1)]


def measure_pages(options: argparse.Namespace) -> None:
    """Request every page and print what it takes."""
    made = options.database or corpus.database(100_000)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        database = home / "memory.db"
        shutil.copy2(made, database)
        new = (write_conversation(home / "long.jsonl"), write_tasks(home / ".beads" / "issues.jsonl"))
        subprocess.run([timing.PROGRAM, "index", *new, "--db", database], check=True, stdout=subprocess.DEVNULL)
        with serving(database, home) as (process, client):
            searches = [f"/?query={quote_plus(question)}" for question in list_queries()]
            pages = {name: [address] * (PAGE_ROUNDS + 1) for name, address in find_pages(client).items()}
            slowest = largest = 0.0
            for name, addresses in {**pages, "a search": searches}.items():
                client.get(addresses[-1])
                spent, size = measure_page(client, process.pid, addresses[:-1])
                slowest, largest = max(slowest, spent), max(largest, size)
                print(f"{name:32} {spent:7.1f} ms of the processor {size:7.0f} KB", flush=True)
    print(f"slowest: {slowest:.0f} ms; the limit is {LIMIT_MS} ms")
    print(f"largest: {largest:.0f} KB; the limit is {LIMIT_KB} KB")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    kinds = parser.add_subparsers(required=True, metavar="KIND")
    cold = kinds.add_parser("cold")
    cold.add_argument("--turns", type=int, default=100_000)
    cold.add_argument("--rounds", type=int, default=25)
    cold.set_defaults(measure=measure_cold)
    start = kinds.add_parser("start")
    start.add_argument("--rounds", type=int, default=15)
    start.set_defaults(measure=measure_start)
    setup = kinds.add_parser("setup")
    setup.add_argument("--megabytes", type=float, default=50)
    setup.set_defaults(measure=measure_setup)
    pages = kinds.add_parser("pages")
    pages.add_argument("database", type=Path, nargs="?", help="default: one of 100,000 turns, which is built first")
    pages.set_defaults(measure=measure_pages)
    options = parser.parse_args()
    print(timing.machine())
    options.measure(options)


if __name__ == "__main__":
    main()
