"""Compare memories of agents: the sessions and questions of `benchmarks/answer`, each tool as it publishes itself.

    python benchmarks/compare/run.py SESSIONS WORK [--tool NAME ...] [--bytes 1500]

SESSIONS is the folder that `benchmarks/answer/answer.py SESSIONS --fetch` filled. Each tool of `tools.tsv` is installed into
an environment of its own below WORK, or is on the PATH already if its line says so. One that cannot be had is a row that
says so. A row has: first hits (the first session that the output names is the one that answers), blocks that hold the deciding
words, processor time of an index run, of one without news and of a question, the largest memory of any of these processes, and
what lies on the disk afterwards. A question that takes longer than a minute is not answered.
"""

from __future__ import annotations

import argparse
import csv
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "answer"))

import answer  # noqa: E402 - the folder beside this one

LIMITS_S = {"index": 900, "ask": 60, "stop": 60}
"""Seconds after which a process is ended."""
ON_PATH = "on the PATH"
"""Stands for the packages of a tool that is not in a registry of Python."""


class Cost(NamedTuple):
    """What a process printed, and what it took."""

    text: str
    seconds: float
    megabytes: float
    is_well: bool


def measure(tool: dict[str, str], step: str, home: Path, folder: Path, **values: str) -> Cost:
    """Run a step of a tool in a home, with its programs first on the path. Linux counts memory in KiB."""
    words = [word.format(home=home, **values) for word in shlex.split(tool[step])]
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryFile() as out:
        started = subprocess.Popen(
            words, cwd=home, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL,
            executable=shutil.which(words[0], path=path), env={"HOME": str(home), "PATH": path, "LANG": "C.UTF-8"},
        )  # fmt: skip
        limit = threading.Timer(LIMITS_S[step], started.kill)
        limit.start()
        _, status, used = os.wait4(started.pid, 0)
        limit.cancel()
        started.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode(errors="replace")
    return Cost(text, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, started.returncode in (0, 1))


def install(tool: dict[str, str], work: Path) -> Path | None:
    """Return the environment of a tool, or None if it cannot be had."""
    folder = work / tool["name"]
    if tool["install"] in ("", ON_PATH):
        found = shutil.which(
            tool["index"].split()[0], path=f"{Path(sys.prefix, 'bin')}{os.pathsep}{os.environ['PATH']}"
        )
        return Path(found).parent.parent if found else None
    if not folder.exists():
        python = shutil.which(tool["python"]) or sys.executable
        steps = [
            [python, "-m", "venv", str(folder)],
            [str(folder / "bin/pip"), "-q", "install", *shlex.split(tool["install"])],
        ]
        if any(subprocess.run(step, check=False).returncode for step in steps):
            shutil.rmtree(folder, ignore_errors=True)
            return None
    return folder


def describe_tool(tool: dict[str, str], folder: Path, sessions: Path, size: int) -> str:
    """Return the row of a tool."""
    known = {one: words for one in answer.load_questions() if (words := answer.find_words(sessions, one))}
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        answer.make_home(sessions, home)
        before = count_bytes(home)
        runs = [measure(tool, "index", home, folder) for _ in range(2)]
        if not all(run.is_well for run in runs):
            return f"| {tool['name']} | its index run failed | | | | | | |"
        answers = {
            one: measure(tool, "ask", home, folder, question=one.question, words=choose_words(one.question))
            for one in known
        }
        if tool["stop"]:
            measure(tool, "stop", home, folder)
        disk = (count_bytes(home) - before) / 1e6
    held = sum(answer.holds(cost.text, known[one], size) for one, cost in answers.items())
    first = sum(is_first(cost.text, one.file, sessions) for one, cost in answers.items())
    question = sum(cost.seconds for cost in answers.values()) / len(answers)
    late = sum(not cost.is_well for cost in answers.values())
    memory = max(cost.megabytes for cost in [*runs, *answers.values()])
    name = f"{tool['name']} ({late} unanswered)" if late else tool["name"]
    return (
        f"| {name} | {first} | {held} | {runs[0].seconds:.1f} s | {runs[1].seconds:.2f} s | {question:.2f} s | "
        f"{memory:,.0f} MB | {disk:,.1f} MB |"
    )


def choose_words(question: str) -> str:
    """Return the three longest words of a question, as a search by all words needs few of them."""
    words = question.replace(",", " ").split()
    longest = sorted(words, key=len, reverse=True)[:3]
    return " ".join(word for word in words if word in longest)


def is_first(text: str, file: str, sessions: Path) -> bool:
    """Return whether the first session that a text names is this file, by the last eight characters of its name or more."""
    names = {path.stem[-36:] for folder in sessions.iterdir() for path in folder.rglob("*.jsonl")}
    places = {name: place for name in names if (place := _find_name(text, name)) >= 0}
    return bool(places) and min(places, key=lambda name: places[name]) == Path(file).stem[-36:]


def _find_name(text: str, name: str) -> int:
    whole = text.find(name)
    return whole if whole >= 0 else text.find(name[:8])


def count_bytes(folder: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def main() -> None:
    """Print the rows as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sessions", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--tool", action="append", help="only this one; may be repeated")
    parser.add_argument("--bytes", type=int, default=1500)
    given = parser.parse_args()
    print("| tool | first | in the block | index | without news | question | memory | disk |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    with (HERE / "tools.tsv").open(encoding="utf-8", newline="") as file:
        for tool in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if given.tool and tool["name"] not in given.tool:
                continue
            folder = install(tool, given.work.absolute())
            row = f"| {tool['name']} | cannot be had | | | | | | |"
            print(describe_tool(tool, folder, given.sessions, given.bytes) if folder else row, flush=True)


if __name__ == "__main__":
    main()
