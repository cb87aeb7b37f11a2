"""A copy of this process that does what it is asked, one text after the other, until this one ends.

Python runs one thread at a time, and loading a model takes its lock for most of the time: only another process loads
beside this one.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import BinaryIO

SIZE = 8
"""Bytes of the number before each message."""
REQUEST, ANSWER = 0, 1
"""Descriptors in the copy, where it has neither the person's input nor output."""
HIGHEST = 1 << 16
"""Descriptor up to which the copy closes what it was born with."""

Handler = Callable[[str, str], bytes]
"""Of a kind of question and a text the answer; what it raises ends the copy."""


class ForkServer:
    """The copy, as this process asks it. Raises OSError where there can be none."""

    def __init__(self, answering: Handler, prepare: Callable[[], None]) -> None:
        """Begin: the copy prepares itself at once. Nothing that must not be shared may be open by now, no thread run."""
        asked, request = os.pipe()
        answer, answered = os.pipe()
        if os.fork() == 0:
            _serve(asked, answered, answering, prepare)
        os.close(asked)
        os.close(answered)
        self._request = os.fdopen(request, "wb")  # for as long as this process lives
        self._answer = os.fdopen(answer, "rb")
        self._one_by_one = Lock()

    def ask(self, kind: str, text: str) -> bytes | None:
        """The answer, or None where the copy has ended."""
        with self._one_by_one, suppress(OSError):
            _send(self._request, kind.encode())
            _send(self._request, text.encode("utf-8", "surrogatepass"))
            return _receive(self._answer)
        return None


def _serve(asked: int, answered: int, answering: Handler, prepare: Callable[[], None]) -> None:
    """In the copy; it ends as soon as nobody can ask it any more, or cannot answer: whoever asks then finds out by himself why."""
    try:
        os.dup2(asked, REQUEST)
        os.dup2(answered, ANSWER)
        os.dup2(os.open(os.devnull, os.O_RDWR), 2)
        os.closerange(3, HIGHEST)
        requests, answers = os.fdopen(REQUEST, "rb"), os.fdopen(ANSWER, "wb")
        prepare()
        while (kind := _receive(requests)) is not None and (text := _receive(requests)) is not None:
            _send(answers, answering(kind.decode(), text.decode("utf-8", "surrogatepass")))
    finally:
        os._exit(0)


def _send(stream: BinaryIO, content: bytes) -> None:
    stream.write(len(content).to_bytes(SIZE, "little") + content)
    stream.flush()


def _receive(stream: BinaryIO) -> bytes | None:
    """The next message, or None at the end."""
    size = stream.read(SIZE)
    if len(size) < SIZE:
        return None
    content = stream.read(number := int.from_bytes(size, "little"))
    return content if len(content) == number else None


_servers: list[ForkServer] = []


def start(answering: Handler, prepare: Callable[[], None]) -> None:
    """Have such a copy, one a process, asked by `ask` from now on. Raises OSError."""
    if not _servers:
        _servers.append(ForkServer(answering, prepare))


def ask(kind: str, text: str) -> bytes | None:
    """What the copy says, or None where there is none."""
    return _servers[0].ask(kind, text) if _servers else None
