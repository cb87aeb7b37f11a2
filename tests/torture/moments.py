"""A process that forks off, whose statements and calls of the system are counted, and which one of them kills or fails.

What it was doing stands in a page of memory that it shares with its parent, so that a kill from outside, which it cannot
know of, tells where it fell too. Only this folder's scripts use it: they fork from one thread.
"""

from __future__ import annotations

import json
import mmap
import os
import resource
import shutil
import signal
import struct
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

SYSTEM = apsw.vfs_names()[0]
CALLS = ("none", "open", "read", "write", "sync", "truncate", "delete", "size", "access", "lock")
CHANGING = ("write", "sync", "truncate", "delete")
FAILURES = {
    "open": apsw.SQLITE_CANTOPEN,
    "read": apsw.SQLITE_IOERR_READ,
    "write": apsw.SQLITE_IOERR_WRITE,
    "sync": apsw.SQLITE_IOERR_FSYNC,
    "truncate": apsw.SQLITE_IOERR_TRUNCATE,
    "delete": apsw.SQLITE_IOERR_DELETE,
    "size": apsw.SQLITE_IOERR_FSTAT,
    "access": apsw.SQLITE_IOERR_ACCESS,
    "lock": apsw.SQLITE_IOERR_LOCK,
}
_HEAD = struct.Struct("=QQQ??BB")
NOON = 2_461_193 * 86_400_000
"""Of the first of June 2026, in milliseconds of the Julian calendar."""
CALLS_BY_KIND = "calls.json"
_MOST = 300
"""Bytes of a statement that are kept."""


@dataclass(frozen=True)
class Moment:
    """When something happens to a process: at its n-th statement, or at its n-th call of the system."""

    what: str
    """`statement`, `change` (a call that changes a file), `call`, or `bytes` of a file, beyond which the system writes none."""
    number: int
    failure: str = "kill"
    """`kill`; `tear`, which writes half of what is to be written first; `fail` this call; `fail on`, and all after it; `full`."""


@dataclass(frozen=True)
class Trace:
    """How far a process came and what it was doing last."""

    statements: int
    calls: int
    changes: int
    is_writing: bool
    """It had a write transaction open, or ran a statement that writes."""
    is_running: bool
    """A statement was under way."""
    call: str
    """The call of the system that was under way, or `none`."""
    file: str
    statement: str

    @property
    def place(self) -> str:
        """What the histogram counts it under."""
        if self.call in CHANGING and self.file in ("database", "copy"):
            return COPYING[self.file]
        if self.call in CHANGING and (self.is_writing or self._is_of_a_log):
            return f"in a transaction: {self.call} of the {self.file}"
        if self.is_writing:
            words = self.statement.split(None, 3)
            text = " ".join(words[:1] if words[:1] == ["COMMIT"] else words[:3]).split("(")[0]
            return f"in a transaction: {text}" if self.is_running else "in a transaction: between statements"
        if self.statements == 0:
            return "before the first statement"
        return "reading" if self.is_running else "outside of transactions"

    @property
    def _is_of_a_log(self) -> bool:
        """Only a transaction writes to one; SQLite's copy of a database begins one without a statement."""
        return self.call == "write" and self.file in ("write-ahead log", "journal")


FILES = ("other", "database", "write-ahead log", "journal", "copy")
COPYING = {
    "database": "copying the write-ahead log into the database",
    "copy": "writing a database that has no name yet",
}


class Page:
    """The memory that parent and child share."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 4096)
        self.clear()

    def clear(self) -> None:
        """Before a process begins."""
        self._memory[:] = bytes(4096)

    def note(self, counts: tuple[int, int, int], flags: tuple[bool, bool], call: int, file: int) -> None:
        """What the process does now."""
        _HEAD.pack_into(self._memory, 0, *counts, *flags, call, file)

    def statement(self, text: str) -> None:
        """Which statement it runs."""
        raw = text.encode()[:_MOST]
        self._memory[_HEAD.size : _HEAD.size + len(raw) + 1] = raw + b"\0"

    @property
    def trace(self) -> Trace:
        """What stands there."""
        statements, calls, changes, writing, running, call, file = _HEAD.unpack_from(self._memory, 0)
        text = bytes(self._memory[_HEAD.size : _HEAD.size + _MOST]).split(b"\0")[0].decode(errors="replace")
        return Trace(statements, calls, changes, writing, running, CALLS[call], FILES[file], text)


class Watch:
    """Counts what a process does, notes it on the page, and lets the moment come."""

    def __init__(self, page: Page, moment: Moment | None, leaves: Path | None = None) -> None:
        self._page = page
        self._moment = moment
        self._leaves = leaves
        self._statements = self._calls = self._changes = 0
        self.kinds: dict[tuple[str, str, str], list[int]] = {}
        """Of each kind of call, by the file and the statement that it is for, which calls they were."""
        self._statement = ""
        self._writing = self._running = False
        self._vfs = _Calls(self)
        apsw.connection_hooks.append(self._connected)

    def _connected(self, connection: apsw.Connection) -> None:
        connection.trace_v2(apsw.SQLITE_TRACE_STMT | apsw.SQLITE_TRACE_PROFILE, self._traced)

    def _traced(self, event: dict[str, Any]) -> None:
        open_ = event["connection"].txn_state("main") == apsw.SQLITE_TXN_WRITE
        begins = event["code"] == apsw.SQLITE_TRACE_STMT
        self._running = begins
        self._writing = open_ or (begins and not event.get("readonly", True))
        if begins:
            self._statements += 1
            if not event["trigger"]:
                self._statement = event["sql"] or ""
                self._page.statement(self._statement)
        self._note()
        if begins and self._is_now("statement", self._statements):
            os.kill(os.getpid(), signal.SIGKILL)

    def _note(self, call: str = "none", file: str = "other") -> None:
        counts = (self._statements, self._calls, self._changes)
        self._page.note(counts, (self._writing, self._running), CALLS.index(call), FILES.index(file))

    def _is_now(self, what: str, number: int) -> bool:
        moment = self._moment
        if moment is None or moment.what != what:
            return False
        return number == moment.number or (moment.failure in ("fail on", "full") and number > moment.number)

    def calling(self, call: str, file: str, half: Callable[[], object] = lambda: None) -> None:
        """Before a call: it may be the one. What a kill would leave here is kept where that is asked for."""
        self._calls += 1
        self._changes += call in CHANGING
        self.kinds.setdefault((call, file, self._statement), []).append(self._calls)
        self._note(call, file)
        if self._leaves is not None and call in CHANGING:
            self._keep_leaves(self._leaves / "kill" / str(self._calls))
            if call == "write":
                half()
                self._keep_leaves(self._leaves / "tear" / str(self._calls))
        if self._is_now("call", self._calls) or (call in CHANGING and self._is_now("change", self._changes)):
            self._strike(call, half)

    def called(self) -> None:
        """After it."""
        self._note()

    def _strike(self, call: str, half: Callable[[], object]) -> None:
        failure = self._moment.failure if self._moment else ""
        if failure == "tear":
            half()
        if failure in ("tear", "kill"):
            os.kill(os.getpid(), signal.SIGKILL)
        if failure == "full":
            if call == "write":
                raise apsw.exception_for(apsw.SQLITE_FULL)
            return
        raise apsw.exception_for(FAILURES[call])

    @staticmethod
    def _keep_leaves(folder: Path) -> None:
        """Copy the database into a folder that was made for this call; the others would fill gigabytes."""
        if folder.is_dir():
            keep(Path.cwd(), folder)


EXCHANGE = "exchange"
"""Name of the folder through which a scene synchronises."""


def keep(home: Path, folder: Path) -> None:
    """Copy a database, all that lies beside it and the synchronised folder into a folder, and nothing else."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True)
    for file in home.glob("memory.db*"):
        shutil.copy2(file, folder / file.name)
    if (home / EXCHANGE).exists():
        shutil.copytree(home / EXCHANGE, folder / EXCHANGE)


class _Calls(apsw.VFS):
    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        super().__init__("watched", SYSTEM, makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> _File:  # noqa: N802 - SQLite's names
        return _File(self._watch, name, flags)

    def xDelete(self, name: str, sync_folder: bool) -> None:  # noqa: N802 - SQLite's name
        self._watch.calling("delete", _kind(name))
        super().xDelete(name, sync_folder)
        self._watch.called()

    def xAccess(self, name: str, flags: int) -> bool:  # noqa: N802 - SQLite's name
        self._watch.calling("access", _kind(name))
        is_there = super().xAccess(name, flags)
        self._watch.called()
        return is_there

    def xCurrentTimeInt64(self) -> int:  # noqa: N802 - SQLite's name
        """Milliseconds of a clock that stands still, so that processes that get equally far write the same."""
        return NOON


def _kind(name: object) -> str:
    path = name.filename() if isinstance(name, apsw.URIFilename) else str(name or "")
    ends = {"-wal": "write-ahead log", "-journal": "journal", ".partial": "copy"}
    return next((kind for end, kind in ends.items() if path.endswith(end)), "database" if path else "other")


class _File(apsw.VFSFile):
    def __init__(self, watch: Watch, name: Any, flags: list[int]) -> None:
        self._watch = watch
        self._kind = _kind(name)
        watch.calling("open", self._kind)
        super().__init__(SYSTEM, name, flags)
        watch.called()

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802 - SQLite's name
        self._watch.calling("read", self._kind)
        read = super().xRead(amount, offset)
        self._watch.called()
        return read

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's name
        write = super().xWrite
        self._watch.calling("write", self._kind, lambda: write(bytes(data[: len(data) // 2]), offset))
        write(data, offset)
        self._watch.called()

    def xLock(self, level: int) -> None:  # noqa: N802 - SQLite's name
        self._watch.calling("lock", self._kind)
        super().xLock(level)
        self._watch.called()

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
        self._watch.calling("sync", self._kind)
        super().xSync(flags)
        self._watch.called()

    def xTruncate(self, size: int) -> None:  # noqa: N802 - SQLite's name
        self._watch.calling("truncate", self._kind)
        super().xTruncate(size)
        self._watch.called()

    def xFileSize(self) -> int:  # noqa: N802 - SQLite's name
        self._watch.calling("size", self._kind)
        size = super().xFileSize()
        self._watch.called()
        return size


def fork(
    action: Callable[[], int],
    home: Path,
    environment: Mapping[str, str],
    page: Page,
    moment: Moment | None,
    leaves: Path | None = None,
) -> int:
    """The process id of a child that does the action in a folder, watched; its output goes to `history` there.

    Where nothing happens to it, the numbers of its calls are left there too, those of a kind together. Before each call that
    changes a file, what it would leave if it was killed now, and, of a write, if it was killed half-way, goes to `leaves`.
    """
    page.clear()
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        os.chdir(home)
        os.environ.clear()
        os.environ.update(environment)
        output = os.open(home / "output", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        os.dup2(output, 1)
        os.dup2(output, 2)
        if moment and moment.what == "bytes":
            sys.dont_write_bytecode = True  # it would store modules cut off at the limit
            resource.setrlimit(resource.RLIMIT_FSIZE, (moment.number, resource.RLIM_INFINITY))
        watch = Watch(page, moment, leaves)
        code = action()
        if moment is None:
            kinds = [(call, numbers) for (call, _, _), numbers in watch.kinds.items()]
            (home / CALLS_BY_KIND).write_text(json.dumps(kinds))
    except BaseException:  # noqa: BLE001 - it ends here, as a bug does
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
