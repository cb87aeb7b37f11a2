"""Answer requests in a fork of this process, one at a time.

The fork ends with this process.

Python runs one thread at a time, and loading a model holds its lock most of the time. Only another process can load while
this one works.
"""

import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import BinaryIO

SIZE = 8
"""Bytes of the length before each message."""
REQUEST, ANSWER = 0, 1
"""Descriptors in the fork, which has neither the user's input nor output."""
HIGHEST = 1 << 16
"""Descriptor up to which the fork closes what it inherited."""

Handler = Callable[[str, str], bytes]
"""Answers a request of a kind with a text; an exception ends the fork."""


class ForkServer:
    """The fork, as this process asks it. Raises OSError if no process can be started."""

    _requests: BinaryIO
    _answers: BinaryIO
    _lock: Lock

    def __init__(self, handler: Handler, prepare: Callable[[], None]) -> None:
        """Fork now, while no thread runs and nothing is open that must not be shared; the fork prepares at once."""
        if sys.platform == "win32":
            raise OSError(errno.ENOSYS, "no process can be forked here")
        request_end, requests = os.pipe()
        answers, answer_end = os.pipe()
        if os.fork() == 0:
            _serve(request_end, answer_end, handler, prepare)
        os.close(request_end)
        os.close(answer_end)
        self._requests = os.fdopen(requests, "wb")  # for as long as this process lives
        self._answers = os.fdopen(answers, "rb")
        self._lock = Lock()

    def ask(self, kind: str, text: str) -> bytes | None:
        """Return the answer, or None if the fork has ended."""
        with self._lock, suppress(OSError):
            _send(self._requests, kind.encode(), text.encode("utf-8", "surrogatepass"))
            return _receive(self._answers)
        return None


def _serve(request_end: int, answer_end: int, handler: Handler, prepare: Callable[[], None]) -> None:
    """Serve requests in the fork until the parent ends, or a request fails whose fault the parent then finds itself."""
    try:
        os.dup2(request_end, REQUEST)
        os.dup2(answer_end, ANSWER)
        os.dup2(os.open(os.devnull, os.O_RDWR), 2)
        os.closerange(3, HIGHEST)
        requests, answers = os.fdopen(REQUEST, "rb"), os.fdopen(ANSWER, "wb")
        prepare()
        while (kind := _receive(requests)) is not None and (text := _receive(requests)) is not None:
            _send(answers, handler(kind.decode(), text.decode("utf-8", "surrogatepass")))
    finally:
        os._exit(0)


def _send(stream: BinaryIO, *messages: bytes) -> None:
    stream.writelines(len(content).to_bytes(SIZE, "little") + content for content in messages)
    stream.flush()


def _receive(stream: BinaryIO) -> bytes | None:
    """Return the next message, or None at the end."""
    size = stream.read(SIZE)
    if len(size) < SIZE:
        return None
    content = stream.read(number := int.from_bytes(size, "little"))
    return content if len(content) == number else None


_servers: list[ForkServer] = []


def start(handler: Handler, prepare: Callable[[], None]) -> None:
    """Start the one fork of this process, which `ask` uses from then on. Raises OSError."""
    if not _servers:
        _servers.append(ForkServer(handler, prepare))


def ask(kind: str, text: str) -> bytes | None:
    """Return the fork's answer, or None without a fork."""
    return _servers[0].ask(kind, text) if _servers else None
