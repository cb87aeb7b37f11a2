"""Processes of the program that fork off one which has imported everything, so that hundreds of them cost no imports.

Each is a process of its own as any other, with arguments, folder, environment, streams, signals and an exit code that nobody
shares; only its imports are made. Whatever is about these (a lacking library, a broken package, what is loaded when) or about
how a process begins is tested by programs that another command runs or that are `started`: they begin with nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from io import TextIOWrapper
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.forkserver import ensure_running
from pathlib import Path
from threading import Thread

TESTS = Path(__file__).parent
_WARM = get_context("forkserver")


def run(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], seconds: float, setup: str = ""
) -> tuple[int, str, str]:
    """Exit code, output and errors of a process that was run to its end. Raises subprocess.TimeoutExpired."""
    _ready()
    (out, out_end), (err, err_end) = _WARM.Pipe(duplex=False), _WARM.Pipe(duplex=False)
    process = _WARM.Process(target=_begin, args=(arguments, str(folder), dict(environment), out_end, err_end, setup))
    process.start()
    out_end.close()
    err_end.close()
    outputs: dict[Connection, str] = {}
    reading = [Thread(target=_read, args=(end, outputs)) for end in (out, err)]
    for thread in reading:
        thread.start()
    process.join(seconds)
    late = process.exitcode is None
    if late:
        process.kill()
    for thread in reading:
        thread.join()
    process.join()
    code = process.exitcode
    process.close()
    if late or code is None:
        raise subprocess.TimeoutExpired(["pastchats-memory", *arguments], seconds)
    return code, outputs[out], outputs[err]


def _read(end: Connection, outputs: dict[Connection, str]) -> None:
    with end, open(end.fileno(), encoding="utf-8", closefd=False) as stream:
        outputs[end] = stream.read()


def _ready() -> None:
    """Have the process running that the others fork off."""
    _WARM.set_forkserver_preload(["everything", "warm"])
    before = os.environ["PYTHONPATH"]
    os.environ["PYTHONPATH"] = os.pathsep.join((before, str(TESTS)))
    try:
        ensure_running()
    finally:
        os.environ["PYTHONPATH"] = before


def _begin(
    arguments: Sequence[str], folder: str, environment: Mapping[str, str], out: Connection, err: Connection, setup: str
) -> None:
    """Be a process that has just begun, with no terminal."""
    with Path(os.devnull).open("rb") as nothing:
        for place, stream in enumerate((nothing, out, err)):
            os.dup2(stream.fileno(), place)
    out.close()
    err.close()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    if environment.get("PASTCHATS_TESTS_SYSTEM") == "bare":
        import_module("sitecustomize").refuse_modules()
    sys.path[:] = [
        entry for entry in sys.path if entry in environment["PYTHONPATH"] or not entry.startswith(str(TESTS))
    ]
    sys.argv[:] = [str(Path(sys.executable).with_name("pastchats-memory")), *arguments]
    sys.stdin = sys.__stdin__ = _text(0, "rb", "surrogateescape")
    sys.stdout = sys.__stdout__ = _text(1, "wb", "surrogateescape")
    sys.stderr = sys.__stderr__ = _text(2, "wb", "backslashreplace")
    exec(setup, {"__name__": "__main__"})  # noqa: S102 - what a test wants replaced in its program
    import_module("pastchats_memory.__main__").main()


def _text(number: int, mode: str, errors: str) -> TextIOWrapper:
    raw = open(number, mode)  # noqa: SIM115 - as long as the process
    return TextIOWrapper(raw, encoding="utf-8", errors=errors, line_buffering=number == 2)
