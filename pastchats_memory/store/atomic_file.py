"""Write files that get their name only once they are complete, for their owner alone."""

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

from pastchats_memory.errors import InputMissing, MemoryFault, StoreFault, UsageFault
from pastchats_memory.files.faults import explain_os_error
from pastchats_memory.store.database import side_files
from pastchats_memory.text.lazy_pattern import LazyPattern

PARTIAL = LazyPattern(r"\.(\d+)\.partial(-journal|-wal|-shm)?\Z")
"""The end of an unfinished file's name, with the number of the process that writes it."""


@contextmanager
def new_file(to: Path, database: Path, *, force: bool = False) -> Iterator[Path]:
    """Give an empty file to be filled, and give it its name at the end.

    The name must not be that of `database` or of its log. `force` replaces another file. Raises UsageFault if the name is
    taken, and StoreFault.
    """
    refuse_existing(to, database, force=force)
    with partial_file(to) as partial:
        yield partial
        refuse_existing(to, database, force=force)
        _publish(partial, to)


def write_lines(to: Path, database: Path, lines: Iterable[str], *, force: bool) -> int:
    """Write lines of UTF-8 into a new file and return their number. Raises UsageFault, StoreFault."""
    number = 0
    with new_file(to, database, force=force) as partial:
        try:
            with partial.open("w", encoding="utf-8", newline="\n") as out:
                for number, line in enumerate(lines, start=1):  # noqa: B007 - the count is needed after
                    out.write(f"{line}\n")
                out.flush()
                os.fsync(out.fileno())
        except OSError as fault:
            raise _translate_os_error(to, fault) from fault
    return number


def refuse_existing(to: Path, database: Path, *, force: bool) -> None:
    """Raise UsageFault unless the name is free, or is a file that `force` allows to replace."""
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
def partial_file(target: Path) -> Iterator[Path]:
    """Give an empty file for its owner alone in the target's folder, and remove it at the end.

    Files that killed processes left there are removed too.
    """
    remove_abandoned(target)
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, stat.S_IRUSR | stat.S_IWUSR))
    except FileNotFoundError as fault:
        raise InputMissing(f"there is no folder {target.parent}", "Create it, or name another path.") from fault
    except OSError as fault:
        raise _translate_os_error(target, fault) from fault
    try:
        yield partial
    finally:
        for left in (partial, *side_files(partial)):
            left.unlink(missing_ok=True)


def remove_abandoned(target: Path) -> None:
    """Remove what ended processes left: partial files of a target, and copies of other programs' databases."""
    import shutil  # a search, which imports this module, needs none of these
    import tempfile

    from pastchats_memory.files.foreign_sqlite import COPY_PREFIX

    for copy in Path(tempfile.gettempdir()).glob(f"{COPY_PREFIX}*-*"):
        process = copy.name.removeprefix(COPY_PREFIX).partition("-")[0]
        if process.isdecimal() and not is_alive(int(process)):
            shutil.rmtree(copy, ignore_errors=True)  # it leaves links and other people's folders
    with suppress(OSError):
        for name in os.listdir(target.parent):  # noqa: PTH208 - names are enough
            found = PARTIAL.search(name) if name.startswith(f"{target.name}.") else None
            if found and (int(found[1]) == os.getpid() or not is_alive(int(found[1]))):
                target.with_name(name).unlink()


def is_alive(process: int) -> bool:
    """Return whether there is a process with this number."""
    try:
        if sys.platform != "win32":
            os.kill(process, 0)
            return True
        import _winapi  # a signal of 0 would be Ctrl+C

        handle = _winapi.OpenProcess(_winapi.SYNCHRONIZE, False, process)
    except (OSError, OverflowError) as fault:  # no system has so great a number
        return isinstance(fault, PermissionError)
    is_running = _winapi.WaitForSingleObject(handle, 0) == _winapi.WAIT_TIMEOUT
    _winapi.CloseHandle(handle)
    return is_running


def _translate_os_error(path: Path, fault: OSError) -> MemoryFault:
    return explain_os_error(fault, str(path)) or StoreFault(f"{path}: {fault.strerror}", "Name another file.")


def _publish(partial: Path, to: Path) -> None:
    """Give the complete file its name, also after a loss of power."""
    try:
        partial.replace(to)
    except OSError as fault:
        raise _translate_os_error(to, fault) from fault
    with suppress(OSError):  # some file systems cannot sync a folder, and Windows opens none
        folder = os.open(to.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def replace_file(partial: Path, path: Path) -> Path | None:
    """Put the file in its place.

    Return the new name of the file that was there, or None if there was none.

    Whenever this is interrupted, one of the two files has the name. The log of the old one never lies beside the new
    one.
    """
    names = (path.with_name(f"{path.name}.damaged-{number}") for number in count(1))
    aside = next(name for name in names if not os.path.lexists(name)) if os.path.lexists(path) else None
    if aside is not None:
        try:
            aside.hardlink_to(path)
        except OSError:  # the file system has no hard links
            path.replace(aside)
        for here in side_files(path):
            with suppress(FileNotFoundError):
                here.replace(aside.with_name(aside.name + here.name.removeprefix(path.name)))
    _publish(partial, path)
    return aside
