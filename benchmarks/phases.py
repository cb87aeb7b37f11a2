"""One cold recall, taken apart: run as a process of its own by speed.py, prints milliseconds by phase as JSON.

    python benchmarks/phases.py DATABASE QUESTION

Phases follow one another in the main thread and add up to the life of the process, but for `model`, which runs beside
them in a thread of its own: `wait` is what the main thread had to wait for it.
"""

import importlib
import json
import sys
import threading
import time

STARTED = float(sys.argv[3]) if len(sys.argv) > 3 else time.time()
took: dict[str, float] = {"interpreter": time.time() - STARTED}


def clock(name, function, *, main_only=True):  # noqa: ANN001, ANN201 - measures any function
    """The function, its time added to a phase."""

    def timed(*arguments, **named):  # noqa: ANN002, ANN003, ANN202
        start = time.perf_counter()
        try:
            return function(*arguments, **named)
        finally:
            if not main_only or threading.current_thread() is threading.main_thread():
                took[name] = took.get(name, 0) + time.perf_counter() - start

    return timed


def phase_of(statement: str) -> str:
    """Which part of the database a statement asks."""
    tables = {"vec_prompts": "KNN", "prompts_fts": "words", "prompts_vocabulary": "words", "prompt_embeddings": "score"}
    return next((phase for table, phase in tables.items() if table in statement), "rows")


def main() -> None:
    """Recall once, with clocks in it."""
    start = time.perf_counter()
    importlib.import_module("pastchats_memory.cli.recall")
    from pastchats_memory.embed.packaged import PackagedEmbedder
    from pastchats_memory.memory import Memory
    from pastchats_memory.store.database import Database

    took["import"] = time.perf_counter() - start
    start = time.perf_counter()
    memory = Memory.open(sys.argv[1], create=False)
    took["open"] = time.perf_counter() - start

    run = Database.run

    def timed_run(self, statement, values=()):  # noqa: ANN001, ANN202
        return clock(phase_of(statement), run)(self, statement, values)

    Database.run = timed_run
    PackagedEmbedder.embed_query = clock("model (beside)", PackagedEmbedder.embed_query, main_only=False)
    threading.Thread.join = clock("wait", threading.Thread.join)
    start = time.perf_counter()
    block = memory.recall(sys.argv[2], current_project="project-1")
    took["recall"] = time.perf_counter() - start
    start = time.perf_counter()
    memory.close()
    took["close"] = time.perf_counter() - start
    inside = ("KNN", "words", "score", "rows", "wait")
    took["Python"] = took.pop("recall") - sum(took.get(phase, 0) for phase in inside)
    took["ended"] = time.time()
    print(json.dumps({"entries": len(block.memories), "took": took}))


main()
