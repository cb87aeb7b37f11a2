"""The server under load: requests a second, median, p95 and errors at 1, 8 and 32 clients, beside a bare Starlette app.

    python benchmarks/edges_http.py [DATABASE] [--seconds S]

Over a copy of the database, by default of the 100,000 turns of benchmarks/speed.py. The bare app answers every request
with the bytes of one answer of /search, through the same uvicorn with the same settings; the difference is what the memory
takes. A client is a thread with a connection of its own that asks as fast as it is answered; all of them are in this
process, on the same cores as the servers.
"""

from __future__ import annotations

import argparse
import http.client
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from corpus import database as built

PROGRAM = Path(sys.executable).with_name("pastchats-memory")
CLIENTS = (1, 8, 32)
QUESTIONS = (
    "retry strategy for webhooks",
    "why does the login test fail",
    "database migration order",
    "cache eviction",
)
BARE = """
import sys, socket, uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

body = open(sys.argv[1], "rb").read()

async def answer(request):
    return Response(body, media_type="application/json")

listener = socket.create_server(("127.0.0.1", 0), backlog=256)
listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
print(f"Serving on http://127.0.0.1:{listener.getsockname()[1]}", file=sys.stderr, flush=True)
app = Starlette(routes=[Route("/{path:path}", answer)])
uvicorn.Server(uvicorn.Config(app, http="h11", ws="none", log_config=None, access_log=False)).run(sockets=[listener])
"""


@contextmanager
def serving(command: Sequence[str]) -> Iterator[str]:
    """The address of a server while it runs."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None  # noqa: S101 - it is a pipe
        found = next(filter(None, (re.search(r"Serving on http://(\S+)", line) for line in process.stderr)))
        yield found[1].rstrip("/")
    finally:
        process.terminate()
        process.wait(20)


def asked(address: str, paths: Sequence[str], seconds: float) -> tuple[list[float], int]:
    """Seconds of each answer to one client, and how many were not 200."""
    parts = urlsplit(f"http://{address}")
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    times, errors, end = list[float](), 0, time.perf_counter() + seconds
    while (start := time.perf_counter()) < end:
        try:
            connection.request("GET", paths[(len(times) + errors) % len(paths)])
            reply = connection.getresponse()
            reply.read()
        except (OSError, http.client.HTTPException):
            errors += 1
            connection.close()
            continue
        if reply.status == 200:
            times.append(time.perf_counter() - start)
        else:
            errors += 1
    connection.close()
    return times, errors


def measured(address: str, paths: Sequence[str], clients: int, seconds: float) -> tuple[list[float], int]:
    """The same of so many clients at once."""
    results: list[tuple[list[float], int]] = []
    threads = [threading.Thread(target=lambda: results.append(asked(address, paths, seconds))) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [each for times, _ in results for each in times], sum(errors for _, errors in results)


def show(name: str, address: str, paths: Sequence[str], seconds: float) -> None:
    """A row for each number of clients."""
    asked(address, paths, 1.0)
    for clients in CLIENTS:
        times, errors = measured(address, paths, clients, seconds)
        ordered = sorted(times) or [float("nan")]
        p95 = ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))]
        cells = (
            f"{len(times) / seconds:.0f}",
            f"{statistics.median(ordered) * 1000:.1f}",
            f"{p95 * 1000:.1f}",
            f"{errors}",
        )
        print(f"| {name} | {clients} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("database", nargs="?", type=Path)
    parser.add_argument("--seconds", type=float, default=10.0)
    arguments = parser.parse_args()
    paths = {
        name: [f"/{name}?{urlencode({'query': question})}" for question in QUESTIONS] for name in ("search", "recall")
    }
    print("| | clients | requests/s | median, ms | p95, ms | errors |\n|---|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "memory.db"
        shutil.copy2(arguments.database or built(100_000), copy)
        with serving([str(PROGRAM), "serve", "--port", "0", "--db", str(copy)]) as address:
            connection = http.client.HTTPConnection(address, timeout=60)
            connection.request("GET", paths["search"][0])
            body = Path(folder) / "body.json"
            body.write_bytes(connection.getresponse().read())
            show("/healthz", address, ["/healthz"], arguments.seconds)
            for name, of in paths.items():
                show(f"/{name}", address, of, arguments.seconds)
        with serving([sys.executable, "-c", BARE, str(body)]) as address:
            show("bare Starlette, the same bytes", address, paths["search"], arguments.seconds)


if __name__ == "__main__":
    main()
