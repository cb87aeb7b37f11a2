"""Measure how long a person waits: for a cold `recall` or `search`, and for `setup`.

    python benchmarks/speed.py cold [--turns N] [--rounds N]
    python benchmarks/speed.py setup [--megabytes N]

`cold` runs commands over a large memory, from shell to exit. Every round runs each kind once, as a new process. `floor` only imports numpy, onnxruntime and tokenizers, loads the
packaged model and embeds one question. `floor, one file` has the weights in the graph's file. `floor, quiet` skips what
the program skips: onnxruntime's usage reports, NumPy's threads, and the end of the libraries. The questions change from
round to round. At the end the slowest imports are listed (`python -X importtime`).

`setup` runs on a new machine, from the command to the first recall, over a synthetic history of Claude Code that was never read.
It indexes the newest part, connects the agent and prints a recall; the rest goes on in the background. The time is that of the clock.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import corpus
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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    kinds = parser.add_subparsers(required=True, metavar="KIND")
    cold = kinds.add_parser("cold")
    cold.add_argument("--turns", type=int, default=100_000)
    cold.add_argument("--rounds", type=int, default=25)
    cold.set_defaults(measure=measure_cold)
    setup = kinds.add_parser("setup")
    setup.add_argument("--megabytes", type=float, default=50)
    setup.set_defaults(measure=measure_setup)
    options = parser.parse_args()
    print(timing.machine())
    options.measure(options)


if __name__ == "__main__":
    main()
