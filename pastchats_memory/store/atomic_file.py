"""Files that have their name only once they are whole, for their owner alone."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

from pastchats_memory.errors import DatabaseMissing, DatabaseReadOnly, DiskFull, StoreFault, UsageFault
from pastchats_memory.store.database import side_files

PARTIAL = re.compile(r"\.(\d+)\.partial(-journal|-wal|-shm)?\Z")
"""How the name of an unfinished file ends, after the number of the process that makes it."""


@contextmanager
def taking(to: Path, database: Path, *, force: bool = False) -> Iterator[Path]:
    """An empty file to be filled, which takes the name at the end.

    Args:
        to: the name.
        database: what must not be written over, nor what lies beside it.
        force: whether another file of that name may be.

    Raises:
        UsageFault: something else has the name.
        StoreFault: it cannot be written.
    """
    refuse(to, database, force=force)
    with beside(to) as partial:
        yield partial
        refuse(to, database, force=force)
        publish(partial, to)


def write_lines(to: Path, database: Path, lines: Iterable[str], *, force: bool) -> int:
    """Fill the file with lines of UTF-8; how many there were. Raises UsageFault, StoreFault."""
    number = 0
    with taking(to, database, force=force) as partial:
        try:
            with partial.open("w", encoding="utf-8", newline="\n") as out:
                for number, line in enumerate(lines, start=1):  # noqa: B007 - the count is needed after
                    out.write(f"{line}\n")
                out.flush()
                os.fsync(out.fileno())
        except OSError as fault:
            raise _explained(to, fault) from fault
    return number


def refuse(to: Path, database: Path, *, force: bool) -> None:
    """Let only a name pass that may be taken. Raises UsageFault."""
    try:
        mode = to.lstat().st_mode
    except OSError:
        return
    if any(os.path.realpath(to) == os.path.realpath(each) for each in (database, *side_files(database))):
        raise UsageFault(f"{to} is the database itself", "Name another file.")
    if not stat.S_ISREG(mode):
        raise UsageFault(f"{to} is no regular file", "Name a file.")
    if not force:
        raise UsageFault(f"{to} is there already", "Name another file, or replace it with --force.")


@contextmanager
def beside(target: Path) -> Iterator[Path]:
    """An empty file for its owner alone in the target's folder, which is gone at the end; those of dead processes go too."""
    _sweep(target)
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, stat.S_IRUSR | stat.S_IWUSR))
    except OSError as fault:
        raise _explained(partial, fault) from fault
    try:
        yield partial
    finally:
        for left in (partial, *side_files(partial)):
            with suppress(FileNotFoundError):
                left.unlink()


def _sweep(target: Path) -> None:
    """Remove what a copy left that was killed."""
    with suppress(OSError):
        for name in os.listdir(target.parent):  # noqa: PTH208 - names are enough
            found = PARTIAL.search(name) if name.startswith(f"{target.name}.") else None
            if found and (int(found[1]) == os.getpid() or not is_alive(int(found[1]))):
                target.with_name(name).unlink()


def is_alive(process: int) -> bool:
    """Whether there is such a process."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _explained(path: Path, fault: OSError) -> StoreFault:
    if fault.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull(f"{path}: {fault.strerror}", "Free some space, or name another place.")
    ours = DatabaseReadOnly if fault.errno in (errno.EACCES, errno.EPERM, errno.EROFS) else DatabaseMissing
    return ours(f"{path}: {fault.strerror}", "Name a folder that is there and may be written.")


def publish(partial: Path, to: Path) -> None:
    """Give the whole file its name, on the disk too."""
    try:
        partial.replace(to)
        folder = os.open(to.parent, os.O_RDONLY)
    except OSError as fault:
        raise _explained(to, fault) from fault
    try:
        with suppress(OSError):  # some file systems cannot
            os.fsync(folder)
    finally:
        os.close(folder)


def put_in_place(partial: Path, path: Path) -> Path | None:
    """Put the file in its place, and what is there aside under a name that nothing has. Raises StoreFault.

    Whenever it is ended, one of the two has the name; the log of the old one never lies beside the new one.
    """
    aside = _free_name(path) if os.path.lexists(path) else None
    if aside is not None:
        try:
            aside.hardlink_to(path)
        except OSError:  # the file system has no second names
            path.replace(aside)
        for here in side_files(path):
            with suppress(FileNotFoundError):
                here.replace(aside.with_name(aside.name + here.name.removeprefix(path.name)))
    publish(partial, path)
    return aside


def _free_name(path: Path) -> Path:
    names = (path.with_name(f"{path.name}.damaged-{number}") for number in count(1))
    return next(name for name in names if not os.path.lexists(name))
