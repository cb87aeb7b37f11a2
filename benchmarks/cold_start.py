"""Measure what a cold process costs before it can embed a question.

    python benchmarks/cold_start.py [--runs N]

Each run is a new process, the kinds interleaved; medians and quartiles of the wall time are printed, in milliseconds.
`bare` does the least that embeds one question: imports numpy, onnxruntime and tokenizers one after another, loads the
model, runs it; `one file` does so with a model whose weights stand in the graph's file, where they are read and copied,
`no prepacked weights` uses them as they are mapped. `ours` is `PackagedEmbedder().embed_query(...)`.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time

import onnx
from corpus import CACHE

from pastchats_memory.embed.tokenizer import FOLDER

QUESTION = "how did we fix the webhook retries last week"
BARE = f"""
import numpy, onnxruntime, tokenizers
tokenizer = tokenizers.Tokenizer.from_file({str(FOLDER / "tokenizer.json")!r})
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession({str(FOLDER / "model.onnx")!r}, options, providers=["CPUExecutionProvider"])
session.run(None, {{"ids": numpy.array([tokenizer.encode({QUESTION!r}).ids])}})
"""
ONE_FILE = BARE.replace(str(FOLDER / "model.onnx"), str(CACHE / "one-file.onnx"))
"""The same with the weights in the graph's file, which `one_file` makes."""
NO_REPORTS = f"import os\nos.environ['ORT_DISABLE_TELEMETRY'] = '1'{BARE}"
"""The same without the usage reports that onnxruntime otherwise prepares, and ends later for."""
NO_THREADS = f"import os\nos.environ['OPENBLAS_NUM_THREADS'] = '1'{BARE}"
"""The same without the threads that NumPy's BLAS starts when it is imported."""
QUIET = f"import os\nos.environ['OPENBLAS_NUM_THREADS'] = '1'\n{NO_REPORTS}\nos._exit(0)"
"""The same without either, ended at once."""
SETTINGS = {
    "no garbage collection": f"import gc\ngc.disable(){BARE}",
    "no graph optimisation": BARE.replace(
        "session =", "options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL\nsession ="
    ),
    "no prepacked weights": BARE.replace(
        "session =", "options.add_session_config_entry('session.disable_prepacking', '1')\nsession ="
    ),
}
"""What else could make a process start sooner."""
KINDS = {
    "python -c pass": "pass",
    "import numpy": "import numpy",
    "import onnxruntime": "import onnxruntime",
    "bare": BARE,
    "bare, one file": ONE_FILE,
    "bare, no usage reports": NO_REPORTS,
    "bare, no BLAS threads": NO_THREADS,
    "bare, neither, no end": QUIET,
    **{f"bare, {setting}": program for setting, program in SETTINGS.items()},
    "ours": f"from pastchats_memory.embed.packaged import PackagedEmbedder\nPackagedEmbedder().embed_query({QUESTION!r})",
}


def one_file() -> None:
    """Make the model of ONE_FILE."""
    CACHE.mkdir(parents=True, exist_ok=True)
    onnx.save(onnx.load(FOLDER / "model.onnx"), CACHE / "one-file.onnx")


def main() -> None:
    """Measure and print one line per kind."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    one_file()
    took: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for turn in range(runs + 1):
        for kind, program in KINDS.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", program], check=True)
            if turn:  # the first round fills the page cache
                took[kind].append(1000 * (time.perf_counter() - start))
    for kind, values in took.items():
        low, middle, high = statistics.quantiles(values, n=4)
        sys.stdout.write(f"{kind:28}median {middle:6.1f} ms   quartiles {low:6.1f} {high:6.1f}\n")


if __name__ == "__main__":
    main()
