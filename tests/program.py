"""The real program as a process of its own, in a home of its own."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from waiting import HANG_S

if os.name == "posix":
    import warm

REPOSITORY = Path(__file__).parents[1]
NO_NETWORK = REPOSITORY / "tests" / "no_network"
"""What keeps a process of Python from leaving this machine, when it is on its path."""
DEMO = REPOSITORY / "fixtures" / "demo"
IS_BARE = "PASTCHATS_TESTS_BARE" in os.environ
"""Whether the program runs without the modules and calls of POSIX, by `make test-bare`."""


def find_script(name: str) -> Path:
    """Return where pip puts a command: `bin/NAME`, on Windows `Scripts\\NAME.exe`."""
    return Path(sysconfig.get_path("scripts"), name + sysconfig.get_config_var("EXE"))


INSTALLED = (str(find_script("pastchats-memory")),)


@dataclass(frozen=True)
class Run:
    """How a process ended and what it said."""

    status: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """The one JSON value on stdout."""
        return json.loads(self.stdout)

    @property
    def results(self) -> list[dict[str, Any]]:
        """The results of a `--json` run."""
        return self.json["results"]


@dataclass(frozen=True)
class Program:
    """A way to run the program: which command, in which home, with which further environment."""

    home: Path
    command: Sequence[str] = INSTALLED
    variables: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None
    """Where it runs; None: at home."""
    setup: str = ""
    """Statements that run before the program starts, in a process that has imported the package already."""

    @property
    def database(self) -> Path:
        return self.home / "memory.db"

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the person's own but where programs lie."""
        return {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(NO_NETWORK),
            "HOME": str(self.home),
            "XDG_DATA_HOME": str(self.home / "data"),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            "PASTCHATS_MEMORY_DB": str(self.database),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            **({"PASTCHATS_TESTS_SYSTEM": "bare"} if IS_BARE else {}),
            **({} if os.name == "posix" else {"SYSTEMROOT": os.environ["SYSTEMROOT"], "USERPROFILE": str(self.home)}),
            **self.variables,
        }

    def __call__(self, *arguments: object, timeout: float = HANG_S) -> Run:
        """Run it to its end, with pipes and no terminal."""
        if os.name == "posix" and self.command == INSTALLED and "PYTHONPATH" not in self.variables:
            arguments = tuple(map(str, arguments))
            return Run(*warm.run(arguments, self.folder or self.home, self.environment, timeout, self.setup))
        done = subprocess.run(
            [*self._command, *map(str, arguments)],
            cwd=self.folder or self.home,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=timeout,
            check=False,
        )
        return Run(done.returncode, done.stdout, done.stderr)

    def typed(self, line: str) -> Run:
        """Run a line as a reader would type it, which begins with the program's name; `~` is its home."""
        name, *arguments = shlex.split(line)
        assert name == "pastchats-memory", f"{line!r} runs another program"
        return self(*(re.sub(r"^~(?=/|$)", lambda _: str(self.home), argument) for argument in arguments))

    def started(self, *arguments: object) -> subprocess.Popen[str]:
        """Start it and come back at once."""
        return subprocess.Popen(
            [*self._command, *map(str, arguments)],
            cwd=self.folder or self.home,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def with_variables(self, **variables: str) -> Program:
        """The same program in a further environment."""
        return Program(self.home, self.command, {**self.variables, **variables}, self.folder, self.setup)

    def altered(self, statements: str) -> Program:
        """The same program with some of it replaced before it starts: how a test breaks a rule on purpose."""
        return Program(self.home, _after(statements), self.variables, self.folder)

    def primed(self, statements: str) -> Program:
        """Return the program with statements that replace attributes of modules, which may be imported before."""
        return Program(self.home, self.command, self.variables, self.folder, self.setup + statements)

    @property
    def _command(self) -> Sequence[str]:
        return _after(self.setup) if self.setup else self.command

    def within(self, folder: Path) -> Program:
        """The same program with another working directory."""
        return Program(self.home, self.command, self.variables, folder, self.setup)

    def without_library(self, name: str) -> Program:
        """Return the program with a library that raises when it is imported."""
        stub = self.home / "stub" / name
        stub.mkdir(parents=True)
        (stub / "__init__.py").write_text("raise ImportError('it is broken')", encoding="utf-8")
        return self.with_variables(PYTHONPATH=str(stub.parent))

    def without_sqlite_vec(self, folder: Path) -> Program:
        """The same program on a machine where sqlite-vec is installed but does not load."""
        package = folder / "sqlite_vec"
        package.mkdir(exist_ok=True)
        (package / "__init__.py").write_text("", encoding="utf-8")
        for suffix in (".so", ".dylib", ".dll"):
            (package / f"vec0{suffix}").write_bytes(b"\x7fELF, but not a library")
        return self.with_variables(PYTHONPATH=os.pathsep.join((str(folder), str(NO_NETWORK))))


def _after(statements: str) -> Sequence[str]:
    """Return the command of a new process that runs the program after some statements."""
    code = f"{statements}\nimport pastchats_memory.__main__\npastchats_memory.__main__.main()\n"
    return (sys.executable, "-c", code)


@dataclass(frozen=True)
class Reader(Program):
    """The program over a memory that nobody changes: what was asked once is answered from then on without a process."""

    answers: dict[tuple[object, ...], Run] = field(default_factory=dict, compare=False)

    def __call__(self, *arguments: object, timeout: float = HANG_S) -> Run:
        if arguments not in self.answers:
            self.answers[arguments] = super().__call__(*arguments, timeout=timeout)
        return self.answers[arguments]


def write_messages(path: Path, *messages: tuple[str, str], conversation: str = "c1", project: str = "garden") -> Path:
    """A generic JSONL transcript of (role, text), one a minute, and its path."""
    lines = (
        {
            "conversation_id": conversation,
            "project": project,
            "role": role,
            "content": text,
            "timestamp": f"2026-05-04T{8 + place // 60:02}:{place % 60:02}:07.000Z",
        }
        for place, (role, text) in enumerate(messages)
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def write_session(path: Path, *messages: tuple[str, str]) -> Path:
    """A session of Claude Code's of (role, text), one a minute, and its path; "[Request interrupted by user]" is what it says of that."""
    lines = (
        {
            "sessionId": "5f0c9a52-1111-4c1e-9b1d-000000000007", "cwd": "/home/ada/garden", "isSidechain": False, "type": role,
            "uuid": f"u{place}", "parentUuid": f"u{place - 1}" if place else None, "timestamp": f"2026-05-04T08:{place:02}:07.000Z",
            "message": {"role": role, "content": [{"type": "text", "text": text}]},
        }
        for place, (role, text) in enumerate(messages)
    )  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path
