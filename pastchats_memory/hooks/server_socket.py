"""Ask a server of this memory for a hook's answer: it has the model and the database loaded.

Each server has a socket of its own in the folder of the hooks' state. It greets, reads one request up to its end, and sends
the answer with END behind it. Every hook imports this module, so it imports little.
"""

import _socket  # `socket` brings enumerations
import os
import sys
import time
from _blake2 import blake2b  # hashlib would bring OpenSSL, which a hook has no use for
from contextlib import suppress
from stat import S_ISSOCK

from pastchats_memory import __version__
from pastchats_memory.files.folders import DATABASE_VARIABLE, FOLDERS, name_state
from pastchats_memory.hooks.state import encode_path, name_database

TYPE_CHECKING = False  # as in `hooks`
if TYPE_CHECKING:
    from collections.abc import Mapping

AF_UNIX: int | None = getattr(_socket, "AF_UNIX", None)
"""None where the system, or its Python, has no Unix sockets."""
FOLDER = "listening"
"""The folder of the sockets in the folder of the hooks' state."""
GREETING = f"pastchats-memory {__version__}\n".encode()
END = b"\0"
"""Byte behind an answer, which none contains."""
GREETING_S, ANSWER_S = 0.5, 1.3
"""Seconds for a server to greet, and until all of them together have answered. One that is stopped or hangs does not greet."""
LONGEST_ANSWER = 1 << 20
"""Bytes of an answer that are read."""
VARIABLES = frozenset({"HOME", *FOLDERS, "OPENAI_API_KEY", "FASTEMBED_CACHE_PATH", "HF_HOME", "HF_HUB_CACHE"})
"""Variables that count for the configuration, besides those with our prefix."""
PASSED_OVER = frozenset({DATABASE_VARIABLE, "PASTCHATS_MEMORY_HOOK_SECONDS"})
"""The database has a field of its own, and the limit of time is the hook's."""


def ask_server(arguments: list[str], database: str | None, body: bytes, give_up: float) -> bytes | None:
    """Return the answer of the first server that has one, empty for nothing to say; None if none answers in time."""
    state = name_state(database)
    if AF_UNIX is None or state is None:
        return None
    give_up = min(give_up, time.monotonic() + ANSWER_S)
    with suppress(OSError):  # no server was ever there, or the working directory is gone
        folder = f"{state}/{FOLDER}"
        names = [name for name in os.listdir(folder) if name.startswith(name_machine())]  # noqa: PTH208 - as in `state`
        if names:
            fields = [sign_environment(), os.getcwd(), name_database(database) or "", *arguments[:2]]  # noqa: PTH109
            request = END.join([*map(os.fsencode, map(encode_path, fields)), body])
            for name in names:
                answer = _ask(folder, name, request, give_up)
                if answer is not None:
                    return answer
    return None


def name_machine() -> str:
    """Return the start of the names of this machine's sockets; others may share the folder, but no socket works there."""
    return f"{blake2b(os.fsencode(_socket.gethostname()), digest_size=4).hexdigest()}-"


def sign_environment(environment: "Mapping[str, str]" = os.environ) -> str:
    """Return a digest of the variables that count; with another one, a server has another configuration."""
    counted = [
        f"{name}={value}"
        for name, value in sorted(environment.items())
        if name in VARIABLES or (name.startswith("PASTCHATS_") and name not in PASSED_OVER)
    ]
    return blake2b(os.fsencode("\0".join(counted)), digest_size=16).hexdigest()


def find_address(folder: int, path: str) -> str:
    """Return the address of a socket, short where the system has short names for open folders: one takes some 100 bytes."""
    short = f"/proc/self/fd/{folder}"
    return f"{short}/{os.path.basename(path)}" if os.path.exists(short) else path  # noqa: PTH110, PTH119 - as in `state`


def _ask(folder: str, name: str, request: bytes, give_up: float) -> bytes | None:
    """Return the answer of one server; None without a whole one. A socket that nobody listens on is removed."""
    if sys.platform == "win32":
        return None
    path = f"{folder}/{name}"
    with suppress(OSError):
        found = os.lstat(path)
        if not S_ISSOCK(found.st_mode) or found.st_uid != os.getuid():
            return None
        opened = os.open(folder, os.O_RDONLY)
        connection = _socket.socket(AF_UNIX or 0, _socket.SOCK_STREAM)
        try:
            greeting_by = min(give_up, time.monotonic() + GREETING_S)
            _limit(connection, greeting_by)
            connection.connect(find_address(opened, path))
            if _receive(connection, len(GREETING), greeting_by) != GREETING:
                return None
            _limit(connection, give_up)
            connection.sendall(request)
            connection.shutdown(_socket.SHUT_WR)
            answer = _receive(connection, LONGEST_ANSWER, give_up)
            return answer[:-1] if answer.endswith(END) and _is_whole(answer[:-1]) else None
        except ConnectionRefusedError:
            os.unlink(path)  # noqa: PTH108 - as in `state`
        finally:
            connection.close()
            os.close(opened)
    return None


def _is_whole(answer: bytes) -> bool:
    """Check whether an answer is nothing, or one object of JSON."""
    import json

    try:
        return not answer or isinstance(json.loads(answer), dict)
    except (ValueError, RecursionError):
        return False


def _limit(connection: _socket.socket, give_up: float) -> None:
    connection.settimeout(max(0.001, give_up - time.monotonic()))


def _receive(connection: _socket.socket, most: int, give_up: float) -> bytes:
    """Return what comes up to the end, or so many bytes. Raises OSError if it has not come when time is up."""
    read = b""
    while len(read) < most:
        _limit(connection, give_up)
        piece = connection.recv(min(most - len(read), 1 << 16))
        if not piece:
            break
        read += piece
    return read
