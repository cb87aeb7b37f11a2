"""Time the phases of one cold recall.

    python benchmarks/phases.py DATABASE QUESTION [STARTED]

STARTED is the time at which the process was started, in seconds since 1970; the default is now.

Phases follow one another in the main thread and add up to the life of the process, but for `model`, the answer of the
process beside that loads it: `wait` is what the main thread had to wait for it. `words` has the making of the terms, too.
"""

import json
import os
import sys
import threading
import time

took: dict[str, float] = {}
"""Seconds by phase."""
ARGUMENTS = 3


def clock(name, function, *, main_only=True):  # noqa: ANN001, ANN201 - measures any function
    """Return the function, with its time added to a phase."""

    def timed(*arguments, **named):  # noqa: ANN002, ANN003, ANN202 - stands in for any function
        start = time.perf_counter()
        try:
            return function(*arguments, **named)
        finally:
            if not main_only or threading.current_thread() is threading.main_thread():
                took[name] = took.get(name, 0) + time.perf_counter() - start

    return timed


def phase_of(statement: str) -> str:
    """Which part of the database a statement asks."""
    tables = {
        "vec_prompts": "KNN",
        "prompts_fts": "words",
        "prompts_vocabulary": "words",
        "tool_calls_fts": "words",
        "tool_calls_vocabulary": "words",
        "trigrams": "words",
        "task_texts_fts": "words",
        "prompt_embeddings": "score",
    }
    return next((phase for table, phase in tables.items() if table in statement), "rows")


def put_clocks_in() -> None:
    """Once everything is imported."""
    from pastchats_memory.embed.packaged import PackagedEmbedder
    from pastchats_memory.memory import Memory
    from pastchats_memory.search.background import BackgroundCall
    from pastchats_memory.store.database import Database
    from pastchats_memory.store.vectors import blocks

    run = Database.run
    Database.run = lambda self, statement, values=(): clock(phase_of(statement), run)(self, statement, values)
    PackagedEmbedder.embed_query = clock("model", PackagedEmbedder.embed_query, main_only=False)
    BackgroundCall.result = clock("wait", BackgroundCall.result)
    blocks.find_candidates = clock("blocks", blocks.find_candidates)
    Memory.open = clock("open", Memory.open)
    Memory.recall = clock("recall", Memory.recall)
    Memory.close = clock("close", Memory.close)


def main() -> None:
    """Recall once, with clocks in it. Arguments are read by hand: argparse would count as a phase."""
    if len(sys.argv) < ARGUMENTS or "--help" in sys.argv:
        sys.exit(__doc__)
    database, question, *started = sys.argv[1:]
    took["interpreter"] = time.time() - float(started[0]) if started else 0.0
    start = time.perf_counter()
    from pastchats_memory import __main__ as program

    hurry = program._hurry  # noqa: SLF001 - after it the program goes on beside the process that loads the model

    def report(code):  # noqa: ANN001, ANN202 - as the program ends
        inside = ("KNN", "blocks", "words", "score", "rows", "wait")
        took["Python"] = took.pop("recall") - sum(took.get(phase, 0) for phase in inside)
        print(json.dumps({**took, "ended": time.time()}), file=sys.stderr, flush=True)
        os._exit(code)

    def hurried(arguments):  # noqa: ANN001, ANN202 - as the program calls it
        hurry(arguments)
        from pastchats_memory import cli

        get_command = cli.LazyGroup.get_command

        def timed_command(self, context, name):  # noqa: ANN001, ANN202 - as click calls it
            command = get_command(self, context, name)
            put_clocks_in()
            took["import"] = time.perf_counter() - start
            return command

        cli.LazyGroup.get_command, cli._leave = timed_command, report  # noqa: SLF001 - the end of the process

    program._hurry = hurried  # noqa: SLF001 - so that clocks are put in
    sys.argv = ["pastchats-memory", "recall", question, "--db", database]
    program.main()


if __name__ == "__main__":
    main()
