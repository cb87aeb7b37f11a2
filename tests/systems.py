"""What this system lacks of POSIX, and the tests that need it: they are skipped and counted, for instance on Windows."""

from __future__ import annotations

import inspect
import os
import shutil
import signal
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FunctionType
from typing import Any, TextIO

import pytest

TESTS = Path(__file__).parent
NAMES = {
    os: ("chown", "fork", "getegid", "geteuid", "getuid", "mkfifo", "nice", "setsid", "WIFSTOPPED"),
    signal: ("SIGKILL", "SIGSTOP", "setitimer", "pthread_sigmask"),
    socket: ("AF_UNIX",),
    time: ("tzset",),
}
"""Names of modules that tests use and that only POSIX has."""
PROGRAMS = ("bash", "git", "mount", "prlimit", "sh")
"""Programs that tests start, by these names in the code that does."""


def list_lacking() -> frozenset[str]:
    """Return the names and programs that this system does not have, and the names of calls that do nothing here."""
    names = {name for module, names in NAMES.items() for name in names if not hasattr(module, name)}
    return frozenset(names | {program for program in PROGRAMS if not shutil.which(program)} | set(_try_out()))


def _try_out() -> Iterator[str]:
    if os.name != "posix":
        yield from ("select", "send_signal", "TZ")  # not of pipes, only to end a process, and not read
        yield from ("move_open", "remove_open")
    with TemporaryDirectory() as folder:
        file = Path(folder, "file")
        file.touch(mode=0o600)
        if stat.S_IMODE(file.stat().st_mode) != 0o600:
            yield from ("chmod", "st_mode", "S_IMODE")
        link = Path(folder, "link")
        with suppress(OSError):  # Windows asks for a privilege
            link.symlink_to(file)
        if not link.is_symlink():
            yield from ("symlink_to", "symlink")


def find_needed(item: pytest.Item, lacking: frozenset[str]) -> set[str]:
    """Return the lacking names that a test uses, in its own code, its fixtures, or the functions that these name."""
    fixtures = getattr(item, "_fixtureinfo", None)
    waiting: list[Any] = [
        getattr(item, "function", None),
        *getattr(getattr(item, "callspec", None), "params", {}).values(),
    ]
    waiting += [one.func for found in fixtures.name2fixturedefs.values() for one in found] if fixtures else []
    waiting.append(item.path)
    needed: set[str] = set()
    seen: set[FunctionType] = set()
    while waiting:
        function = inspect.unwrap(one) if callable(one := waiting.pop()) else one
        if isinstance(one, Path) and one.parent.name == "torture":
            needed |= {"fork"} & lacking
        if isinstance(one, str):
            needed |= {one} & lacking
        if isinstance(one, type):  # a helper that starts a program by a method
            methods = [each for each in vars(one).values() if isinstance(each, FunctionType)]
            waiting += [each for each in methods if not lacking.isdisjoint(_list_texts(each.__code__.co_consts))]
        if not isinstance(function, FunctionType) or function in seen or not _is_ours(function):
            continue
        seen.add(function)
        codes = list(_list_codes(function.__code__))
        names = {name for code in codes for name in code.co_names}
        needed |= lacking & names
        texts = {text for code in codes for text in _list_texts(code.co_consts)}
        needed |= lacking & (texts if names & {"run", "Popen"} else texts.difference(PROGRAMS))
        waiting += [function.__globals__.get(name) for name in names]
    return needed


def _is_ours(function: FunctionType) -> bool:
    return TESTS in Path(function.__code__.co_filename).parents


def _list_codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _list_codes(inner)


def _list_texts(constants: tuple[Any, ...]) -> Iterator[str]:
    for constant in constants:
        if isinstance(constant, tuple):
            yield from _list_texts(constant)
        elif isinstance(constant, str):
            yield constant


def skip_what_is_lacking(items: list[pytest.Item]) -> None:
    """Skip each test that needs what this system lacks, and name it as the reason."""
    lacking = list_lacking()
    for item in items if lacking else ():
        if needed := find_needed(item, lacking):
            item.add_marker(pytest.mark.skip(reason=f"this system has no {', '.join(sorted(needed))}"))


def move_open(path: Path, there: Path) -> None:
    """Rename a file that another process has open. A test that calls this is skipped on Windows."""
    path.rename(there)


def remove_open(path: Path) -> None:
    """Remove a file that another process has open. A test that calls this is skipped on Windows."""
    path.unlink()


def has_mode(path: Path, mode: int) -> bool:
    """Return whether a file has a mode, or this system keeps none.

    A test that names `st_mode` itself is skipped there, with all that it tests besides.
    """
    return os.name != "posix" or path.stat()[stat.ST_MODE] & 0o777 == mode


def lock(file: TextIO) -> None:
    """Wait until no other process has a file locked, and lock it until it is closed."""
    if os.name == "posix":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
        return
    import msvcrt

    while True:
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
        except OSError:  # it gives up after ten seconds
            continue
        return
