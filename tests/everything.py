"""Import and load what processes of the program need: for the one that they fork off, see `warm`."""

from __future__ import annotations

import gc
import os
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import pastchats_memory

OURS = Path(pastchats_memory.__file__).parent
SESSIONS = sorted((OURS.parent / "fixtures" / "demo" / "history" / "claude").rglob("*.jsonl"))[:3]
LATER = frozenset({"__main__.py", "mcp", "http", "hooks"})
"""What few processes need and takes long to import."""


def _warm_up() -> None:
    """Index and ask a few sessions, which loads the model and compiles the patterns that are compiled when needed.

    The model runs on one thread a call, so it survives a fork.
    """
    with TemporaryDirectory() as folder, pastchats_memory.Memory.open(Path(folder) / "memory.db") as memory:
        memory.index(SESSIONS)
        memory.recall("flaky login test")


os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as the program has it: threads of NumPy's would not outlive a fork
for path in OURS.rglob("*.py"):
    if LATER.isdisjoint(path.relative_to(OURS).parts):
        parts = path.relative_to(OURS.parent).with_suffix("").parts
        import_module(".".join(parts).removesuffix(".__init__"))
for library in ("concurrent.futures.thread", "onnxruntime", "sqlite_vec", "tabulate", "tokenizers", "tqdm"):
    import_module(library)
_warm_up()
gc.freeze()  # a collection in a process that forked off would copy every page that it looks at
