"""The command line within the tests' own process: what fifty commands print is asked in a few seconds."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from program import Program, Run

from pastchats_memory import cli


@dataclass(frozen=True)
class Shell:
    """A person at a prompt, in a home of their own."""

    home: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    @contextmanager
    def at(self, folder: Path) -> Iterator[None]:
        """With that as working directory, and nothing of the environment of the tests."""
        state = {"XDG_STATE_HOME": str(self.home / "state")}
        environment = Program(self.home, variables=state | dict(self.variables)).environment
        with pytest.MonkeyPatch.context() as patch:
            for name in [name for name in os.environ if name.startswith(("PASTCHATS", "XDG_"))]:
                patch.delenv(name)
            for name, value in environment.items():
                patch.setenv(name, value)
            patch.chdir(folder)
            yield

    def __call__(self, *arguments: object, at: Path | None = None) -> Run:
        """What the command says in a folder, the home where none is named, with pipes and no terminal."""
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n") for _ in range(2))
        interrupted, excepthook = signal.getsignal(signal.SIGINT), sys.excepthook
        with self.at(at or self.home), redirect_stdout(out), redirect_stderr(err):
            try:
                status = cli._run([str(argument) for argument in arguments])  # noqa: SLF001 - `main` ends the process
            finally:
                gc.enable()
                signal.signal(signal.SIGINT, interrupted)
                sys.excepthook = excepthook
        return Run(status, written(out), written(err))


def written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode()
