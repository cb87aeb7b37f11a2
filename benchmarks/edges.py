"""Measure how long an agent waits for the MCP server and the prompt hook.

    python benchmarks/edges.py [DATABASE]

Over a copy of the database, by default of the 100,000 turns of benchmarks/speed.py. Cold: before each run the kernel is
told to drop what it holds of the database, of Python's library and of the installed packages (posix_fadvise); pages
that another running process has mapped stay. Processor times are those of the processes themselves, whatever else the machine does.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import anyio
from corpus import database as built
from mcp import Client, StdioServerParameters

QUESTIONS = (
    "retry strategy for webhooks",
    "why does the login test fail",
    "database migration order",
    "cache eviction",
)
PROGRAM = Path(sys.executable).with_name("pastchats-memory")
RUNS = 15
DROPPED = (".py", ".pyc", ".so", ".onnx", ".json")
TRIVIAL = "yes, go on"


def seconds(what: Callable[[], object]) -> float:
    start = time.perf_counter()
    what()
    return time.perf_counter() - start


def print_times(name: str, times: list[float]) -> None:
    ordered = sorted(times)
    p95 = ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))]
    line = f"{name:44} median {statistics.median(times) * 1000:7.0f} ms   p95 {p95 * 1000:7.0f} ms   of {len(times)}"
    print(f"{line}   load {os.getloadavg()[0]:.0f}", flush=True)


def processor() -> float:
    """Seconds that processes which have ended were given so far."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def measure_hooks(name: str, run: Callable[[int], float], *, before: Callable[[], object] = lambda: None) -> None:
    """Print wall and processor time of RUNS hooks, each after `before`."""
    times, spent = [], []
    for number in range(RUNS):
        before()
        start = processor()
        times.append(run(number))
        spent.append(processor() - start)
    print_times(f"{name} (processor {statistics.median(spent) * 1000:.0f})", times)


def forget_pages(database: Path) -> None:
    """Have the kernel drop what it holds of the database and of everything that Python imports."""
    folders = {sysconfig.get_path("stdlib"), sysconfig.get_path("platlib"), str(Path(__file__).parent.parent)}
    files = [path for folder in folders for path in Path(folder).rglob("*") if path.suffix in DROPPED]
    os.sync()
    for path in (*files, *database.parent.glob(f"{database.name}*")):
        descriptor = os.open(path, os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def bare() -> float:
    return seconds(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True))


def mcp(database: Path) -> tuple[float, list[float]]:
    """From start to first answer, and the times of the searches after it."""
    server = StdioServerParameters(command=str(PROGRAM), args=["mcp", "--db", str(database)], env=dict(os.environ))

    async def session() -> tuple[float, list[float]]:
        start = time.perf_counter()
        async with Client(server) as client:
            await client.call_tool("search", {"query": QUESTIONS[0]})
            first = time.perf_counter() - start
            times = []
            for number in range(20):
                start = time.perf_counter()
                await client.call_tool("search", {"query": f"{QUESTIONS[number % len(QUESTIONS)]} {number}"})
                times.append(time.perf_counter() - start)
            return first, times

    return anyio.run(session)


def hook(database: Path, state: Path, number: int, prompt: str | None = None) -> float:
    event = {
        "session_id": f"s{number}", "cwd": "/", "hook_event_name": "UserPromptSubmit",
        "prompt": prompt or f"{QUESTIONS[number % len(QUESTIONS)]}, please look into it",
    }  # fmt: skip
    command = [str(PROGRAM), "hook", "claude-code", "UserPromptSubmit", "--db", str(database)]
    environment = {**os.environ, "XDG_STATE_HOME": str(state), "PASTCHATS_MEMORY_HOOK_SECONDS": "60"}
    start = time.perf_counter()
    subprocess.run(command, input=json.dumps(event).encode(), env=environment, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def messages(path: Path) -> Path:
    lines = (
        json.dumps(
            {"role": "user", "content": f"note {number} about the valve of pump {number % 97}", "conversation_id": "w"}
        )
        for number in range(20_000)
    )
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("database", type=Path, nargs="?", help="default: one of 100,000 turns, which is built first")
    made = parser.parse_args().database or built(100_000)
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        database = scratch / "memory.db"
        shutil.copy2(made, database)
        mcp(database)  # brings an older schema up to date
        print_times("bare interpreter", [bare() for _ in range(RUNS)])
        sessions = [mcp(database) for _ in range(5)]
        print_times("MCP: start to first answer", [first for first, _ in sessions])
        print_times("MCP: search", [each for _, times in sessions for each in times])
        measure_hooks("hook, nothing asked", lambda number: hook(database, scratch, number, TRIVIAL))
        measure_hooks("hook, warm", lambda number: hook(database, scratch, number))
        measure_hooks(
            "hook, cold", lambda number: hook(database, scratch, number), before=lambda: forget_pages(database)
        )
        print_times("bare interpreter", [bare() for _ in range(RUNS)])
        writing = subprocess.Popen(
            [str(PROGRAM), "index", str(messages(scratch / "new.jsonl")), "--db", str(database)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            measure_hooks("hook while an index run writes", lambda number: hook(database, scratch, 100 + number))
            print("the index run was", "still writing" if writing.poll() is None else "over before the end")
            print_times("bare interpreter beside it", [bare() for _ in range(RUNS)])
        finally:
            writing.kill()
            writing.wait()


if __name__ == "__main__":
    main()
