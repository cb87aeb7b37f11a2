"""Python finds this before anything else in every process of the tests, and from then on none of them leaves this machine.

The folder is first on PYTHONPATH (`conftest.py`, `program.py`). Nothing is imported here: what a process has loaded is looked at by tests.
"""

import builtins
import errno
import os
import sys

REFUSED = "the tests allow no network but the loopback interface"
HERE = ("", "localhost", "::1", "0.0.0.0", "::")  # noqa: S104 - what binds everywhere is reached from here
ASKED_FOR = {
    "socket.connect": 1,
    "socket.sendto": 1,
    "socket.sendmsg": 1,
    "socket.getaddrinfo": 0,
    "socket.gethostbyname": 0,
    "socket.gethostbyaddr": 0,
    "socket.getnameinfo": 0,
}
"""Events of the interpreter, and which of their values says where to."""
POSIX_MODULES = frozenset({"fcntl", "grp", "pwd", "resource", "termios"})
POSIX_CALLS = ("fork", "nice", "posix_spawn", "sched_getaffinity")
"""What Windows lacks; see `make test-bare`."""


def is_here(address: object) -> bool:
    """Whether an address, or the name of a host, is of this machine: paths of Unix sockets and numbers of netlink are, too."""
    host = address[0] if isinstance(address, tuple) and address else address
    if isinstance(address, tuple) and not isinstance(host, str | bytes):
        return True
    if isinstance(host, bytes | bytearray):
        host = bytes(host).decode("latin-1")
    return not isinstance(host, str) or host.startswith(("127.", "/", "\0")) or host in HERE


def refuse(event: str, values: tuple) -> None:
    """Raise OSError where a process is about to leave the machine; nothing it does can take this away again."""
    place = ASKED_FOR.get(event)
    if place is None:
        return
    address = values[place]
    if (event == "socket.connect" and isinstance(address, str | bytes)) or is_here(address):
        return
    raise OSError(errno.ENETUNREACH, f"{REFUSED}: {event} {address!r}")


def refuse_modules() -> None:
    """Make this process one of a system without the modules and calls of POSIX, as our own package sees it.

    Libraries keep them: each has its own way on Windows, which cannot run here.
    """
    import_any = builtins.__import__

    def import_others(name, globals_=None, *rest):
        if name in POSIX_MODULES and ((globals_ or {}).get("__name__") or "").startswith("pastchats_memory"):
            raise ImportError(f"there is no {name} here", name=name)
        return import_any(name, globals_, *rest)

    builtins.__import__ = import_others
    for call in POSIX_CALLS:
        if hasattr(os, call):
            delattr(os, call)


sys.addaudithook(refuse)
if os.environ.get("PASTCHATS_TESTS_SYSTEM") == "bare":
    refuse_modules()
