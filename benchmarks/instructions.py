"""What a recall executes before it begins: instructions of its imports, which no load of the machine changes.

    python benchmarks/instructions.py

Needs valgrind. Each kind runs once to fill the caches of compiled modules, then once under `valgrind --tool=callgrind`.
"""

from __future__ import annotations

import re
import subprocess
import sys

LIBRARIES = "import numpy, click, orjson, apsw"
KINDS = {
    "pass": "pass",
    "its libraries": LIBRARIES,
    "what recall imports": f"{LIBRARIES}, pastchats_memory.memory, pastchats_memory.cli.recall, pastchats_memory.recall",
}


def instructions(code: str) -> int:
    """Of a process that runs the code, threads included."""
    subprocess.run([sys.executable, "-c", code], check=True)
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, "-c", code]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    found = re.search(r"Collected : (\d+)", told)
    if found is None:
        raise SystemExit(told)
    return int(found[1])


def main() -> None:
    """Print a line per kind: millions, and as a multiple of the libraries alone."""
    counted = {kind: instructions(code) for kind, code in KINDS.items()}
    for kind, count in counted.items():
        print(f"{kind:20} {count / 1e6:6.0f} M  {count / counted['its libraries']:.2f}")


if __name__ == "__main__":
    main()
