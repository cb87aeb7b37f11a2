"""Measure how much of the processor the server needs for each page of a large memory.

    python benchmarks/page.py [DATABASE]

Over a copy of the database, by default of the 100,000 turns of benchmarks/speed.py cold, to which a conversation of 2,000 turns
and a tracker of 1,000 tasks are added. The real server runs as a process. Each page is requested ROUNDS times, a search
with another query each time. The number is the server's own processor time, whatever else the machine does.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from urllib.parse import quote_plus, urlsplit

import corpus
import httpx
from timing import PROGRAM

ROUNDS = 15
LIMIT_MS = 150
LIMIT_KB = 300
LONG_CONVERSATION = 2_000
TASKS = 1_000
STATUSES = ("open", "in_progress", "blocked", "closed", "closed", "closed")
LINK = re.compile(r"(http://\S+?)/\?token=\S+")
OWN = re.compile(r'<a [^>]*?href="(/[^"#]*)')


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
    command = [PROGRAM, "serve", "--port", "0", "--db", str(database)]
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


def measure(client: httpx.Client, pid: int, addresses: list[str]) -> tuple[float, float]:
    """Return the median of the processor's milliseconds over some requests, and the most kilobytes of an answer."""
    spent, sizes = [], []
    for address in addresses:
        before = processor_ms(pid)
        answer = client.get(address).raise_for_status()
        spent.append(processor_ms(pid) - before)
        sizes.append(len(answer.content) / 1000)
    return statistics.median(spent), max(sizes)


def questions() -> list[str]:
    """Return queries that no round repeats."""
    writer = corpus.Writer(seed=7)
    return [" ".join(writer.text(60, 0).split()[:6]) for _ in range(ROUNDS + 1)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("database", type=Path, nargs="?", help="default: one of 100,000 turns, which is built first")
    made = parser.parse_args().database or corpus.database(100_000)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        database = home / "memory.db"
        shutil.copy2(made, database)
        new = (write_conversation(home / "long.jsonl"), write_tasks(home / ".beads" / "issues.jsonl"))
        subprocess.run([PROGRAM, "index", *new, "--db", database], check=True, stdout=subprocess.DEVNULL)
        with serving(database, home) as (process, client):
            searches = [f"/?query={quote_plus(question)}" for question in questions()]
            pages = {name: [address] * (ROUNDS + 1) for name, address in find_pages(client).items()}
            slowest = largest = 0.0
            for name, addresses in {**pages, "a search": searches}.items():
                client.get(addresses[-1])
                spent, size = measure(client, process.pid, addresses[:-1])
                slowest, largest = max(slowest, spent), max(largest, size)
                print(f"{name:32} {spent:7.1f} ms of the processor {size:7.0f} KB", flush=True)
    print(f"slowest: {slowest:.0f} ms; the limit is {LIMIT_MS} ms")
    print(f"largest: {largest:.0f} KB; the limit is {LIMIT_KB} KB")


if __name__ == "__main__":
    main()
