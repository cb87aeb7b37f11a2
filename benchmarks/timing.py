"""Ways of doing something, timed side by side: interleaved, so that a busy machine is busy for all of them; medians."""

from __future__ import annotations

import ctypes
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of Linux's prctl."""
LIBRARIES = ("apsw", "click", "numpy", "onnxruntime", "sqlite-vec", "tokenizers")
PROGRAM = str(Path(sys.executable).with_name("pastchats-memory"))
"""The command as the person's shell finds it, of the environment that runs the benchmark."""


def machine() -> str:
    """Describe the machine that the numbers were measured on."""
    cpu = Path("/proc/cpuinfo")
    names = [line.split(":")[1].strip() for line in cpu.read_text().splitlines() if line.startswith("model name")]
    libraries = ", ".join(f"{library} {version(library)}" for library in LIBRARIES)
    load = "/".join(f"{value:.1f}" for value in os.getloadavg())
    python = ".".join(map(str, sys.version_info[:3]))
    return f"{len(names)} × {names[0]}, load {load}; Python {python}, {libraries}"


def process(*command: str, codes: Sequence[int] = (0,)) -> Callable[[], None]:
    """Return a function that runs a command from start to exit.

    It discards the output; the exit code must be one of `codes`.
    """

    def run() -> None:
        ended = subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if ended.returncode not in codes:
            raise SystemExit(f"{command[:4]} ended with {ended.returncode}:\n{ended.stderr.decode()[-2000:]}")

    adopt()
    return run


def adopt() -> None:
    """Be told of the processes that commands leave behind (Linux), so that what these used is counted, too."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)


def wait_for_the_adopted() -> None:
    """Until the last of them has ended."""
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


@dataclass(frozen=True)
class Took:
    """Seconds of one round of one way."""

    wall: float
    cpu: float
    """Of all threads and child processes: what a busy machine disturbs less."""


def cpu_seconds() -> float:
    """Return processor seconds of this process and of its ended children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def interleaved(ways: Mapping[str, Callable[[], object]], rounds: int, warm_up: int = 1) -> dict[str, list[Took]]:
    """Time each function in each round, all once a round.

    The first rounds only fill caches.
    """
    took: dict[str, list[Took]] = {name: [] for name in ways}
    for number in range(rounds + warm_up):
        for name, way in ways.items():
            start, cpu = time.perf_counter(), cpu_seconds()
            way()
            wall = time.perf_counter() - start
            wait_for_the_adopted()
            if number >= warm_up:
                took[name].append(Took(wall, cpu_seconds() - cpu))
    return took


def walls(took: Sequence[Took]) -> list[float]:
    return [one.wall for one in took]


def show(took: Mapping[str, Sequence[Took]], against: str) -> None:
    """One line a way: wall time with quartiles and processor time in milliseconds, each ÷ that of `against`."""
    wall, cpu = (statistics.median(getattr(one, kind) for one in took[against]) for kind in ("wall", "cpu"))
    print(f"{'median ms':30}{'wall':>7}{'quartiles':>16}{'÷':>10}{'cpu':>8}{'÷':>10} {against}")
    for name, rounds in took.items():
        low, middle, high = (1000 * value for value in statistics.quantiles(walls(rounds), n=4))
        used = 1000 * statistics.median(one.cpu for one in rounds)
        print(
            f"{name:30}{middle:7.0f}{low:8.0f} –{high:6.0f}{middle / wall / 1000:10.2f}{used:8.0f}{used / cpu / 1000:10.2f}"
        )
