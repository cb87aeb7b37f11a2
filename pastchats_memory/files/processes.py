"""Start other programs: editors, agents and judges."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from tempfile import TemporaryFile
from threading import Thread

from pastchats_memory.errors import MemoryFault
from pastchats_memory.files.command_line import join_command

GIT_SECONDS = 10.0
GIT_SETTINGS = ("core.fsmonitor=false", "core.hooksPath=", "log.showSignature=false", "core.quotePath=false")
GIT_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
}


def ask_git(folder: str, *arguments: str, seconds: float = GIT_SECONDS) -> str | None:
    """Return what git prints about a folder; None if it fails, is missing, or takes longer.

    The repository's own configuration is hostile input: it may name programs to run.
    """
    settings = (word for setting in GIT_SETTINGS for word in ("-c", setting))
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and no argument is an option of a stranger's
            ["git", "-C", folder, *settings, *arguments],  # noqa: S607 - the one of the user
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
            env={**os.environ, **GIT_ENVIRONMENT},
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):  # ValueError: a NUL in a path
        return None
    return None if done.returncode else done.stdout.decode("utf-8", errors="surrogateescape")


def run_in_foreground(command: Sequence[str], folder: str | None = None) -> int:
    """Run a program on the user's terminal until it ends, and return its exit code.

    Raises MemoryFault if there is no such program or folder, or it may not be run.
    """
    try:
        return subprocess.run(command, cwd=folder, check=False).returncode  # noqa: S603 - the user asked for it; no shell
    except OSError as fault:
        what = folder if folder is not None and not os.path.isdir(folder) else command[0]  # noqa: PTH112 - a name, not a path object
        raise MemoryFault(f"{what}: {fault.strerror}", f"The command is: {join_command(command, folder)}") from fault


def run_with_input(
    command: Sequence[str], text: str, seconds: float, most: int, folder: str, variables: Mapping[str, str]
) -> tuple[int, str]:
    """Run a program with a text on stdin, and return its exit code and the start of what it prints.

    The program and its children are killed after some seconds, or once it has printed `most` bytes. The variables are added
    to our own environment. No shell reads the command. Raises TimeoutError, and MemoryFault if it cannot be run.
    """
    with TemporaryFile() as stdin:
        stdin.write(text.encode("utf-8", "replace"))
        stdin.seek(0)
        try:
            process = subprocess.Popen(  # noqa: S603 - the user configured it; no shell
                [shutil.which(command[0]) or command[0], *command[1:]],  # on Windows npm installs NAME.cmd
                cwd=folder, env={**os.environ, **variables}, start_new_session=True, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except OSError as fault:
            raise MemoryFault(f"{command[0]}: {fault.strerror}", f"The command is: {join_command(command)}") from fault
    output = process.stdout
    assert output is not None  # noqa: S101 - it is a pipe
    printed: list[bytes] = []
    # A daemon: a child of the program that left its session may keep the pipe open for ever.
    reader = Thread(target=lambda: printed.append(output.read(most)), daemon=True)
    reader.start()
    try:
        reader.join(seconds)
        if not printed:
            raise TimeoutError
        code = 0 if len(printed[0]) == most else process.wait(seconds)
    except subprocess.TimeoutExpired as fault:
        raise TimeoutError from fault
    finally:
        if not printed or process.poll() is None:
            _kill_session(process)
    output.close()
    return code, printed[0].decode("utf-8", "replace")


def _kill_session(process: subprocess.Popen[bytes]) -> None:
    """Kill a program and what it has started."""
    with suppress(OSError):  # nothing of it runs any more
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
