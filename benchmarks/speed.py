"""Measure a cold `recall` and `search` over a large memory, from shell to exit.

    python benchmarks/speed.py [--turns N] [--rounds N]

Every round runs each kind once, as a new process. `floor` only imports numpy, onnxruntime and tokenizers, loads the
packaged model and embeds one question. `floor, one file` has the weights in the graph's file. `floor, quiet` skips what
the program skips: onnxruntime's usage reports, NumPy's threads, and the end of the libraries. The questions change from
round to round. At the end the slowest imports are listed (`python -X importtime`).
"""

from __future__ import annotations

import argparse
import itertools
import re
import subprocess
import sys
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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=25)
    options = parser.parse_args()
    database = corpus.database(options.turns)
    one_file()
    print(timing.machine())
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


if __name__ == "__main__":
    main()
