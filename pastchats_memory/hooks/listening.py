"""Listen on a private socket for hooks, while a server of the memory runs anyway.

A request counts if it comes from the same configuration and names the same database. Everything else is left without an
answer, and the hook then answers by itself.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from threading import Lock, Thread
from typing import TYPE_CHECKING

from pastchats_memory.config import Config, load
from pastchats_memory.embed.packaged import PackagedEmbedder
from pastchats_memory.errors import MemoryFault
from pastchats_memory.files.folders import name_state
from pastchats_memory.hooks import LONGEST_INPUT, respond, server_socket
from pastchats_memory.memory import Memory
from pastchats_memory.memory.reconnecting import ReconnectingMemory

if TYPE_CHECKING:
    from pastchats_memory.hooks import Work

LONGEST_REQUEST = LONGEST_INPUT + (1 << 16)
FIELDS = 5
"""Fields before the body: the environment's digest, the folder, the database, the agent and the event."""
READ_S, TURN_S = 2.0, 1.0
"""Seconds for a request to come, and for the answer before it: a hook waits no longer."""
WAITING = 64
"""Hooks that wait for their turn."""


@contextmanager
def listening(config: Config) -> Iterator[None]:
    """Answer the hooks of a configuration's database meanwhile.

    Without Unix sockets, or a folder that can be written, nobody listens.
    """
    state = name_state(str(config.database))
    path = None
    if state is not None and server_socket.AF_UNIX is not None:
        with suppress(OSError):
            path = Path(state) / server_socket.FOLDER / f"{server_socket.name_machine()}{token_hex(8)}"
            listener = _open_socket(path)
            Thread(target=_accept, args=(listener, _Answerer(config)), daemon=True).start()
    try:
        yield
    finally:
        if path is not None:
            with suppress(OSError):
                path.unlink()


def _open_socket(path: Path) -> socket.socket:
    """Return a socket that listens; it has its name only then. Raises OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    listener = socket.socket(server_socket.AF_UNIX or 0)
    opened = os.open(path.parent, os.O_RDONLY)
    try:
        unready = path.with_name(f"new-{path.name}")
        listener.bind(server_socket.find_address(opened, str(unready)))
        unready.chmod(0o600)
        listener.listen(WAITING)
        unready.rename(path)
    finally:
        os.close(opened)
    return listener


def _accept(listener: socket.socket, answerer: _Answerer) -> None:
    while True:
        with suppress(OSError):  # no more files may be open now
            connection, _ = listener.accept()
            Thread(target=_serve, args=(connection, answerer), daemon=True).start()


def _serve(connection: socket.socket, answerer: _Answerer) -> None:
    """Greet, and answer a request. Without END behind it, the hook takes nothing for an answer."""
    with connection, suppress(Exception):  # whatever it is: the hook logs it when it has the same fault
        connection.settimeout(READ_S)
        connection.sendall(server_socket.GREETING)
        answerer.answer(_read_request(connection), connection)
    with suppress(MemoryFault):  # the next search explains it
        PackagedEmbedder().load()  # no hook of a session has to wait for it then


def _read_request(connection: socket.socket) -> bytes:
    """Return what comes up to the end. Raises OSError if it does not come in time."""
    read = bytearray()
    while len(read) <= LONGEST_REQUEST and (piece := connection.recv(1 << 16)):
        read += piece
    return bytes(read)


class _Answerer:
    """Answers one request after the other, with a memory that stays open."""

    def __init__(self, config: Config) -> None:
        self._database = config.database.absolute()
        self._turn = Lock()
        self._config: Config | None = None
        self._memory: ReconnectingMemory | None = None

    def answer(self, request: bytes, connection: socket.socket) -> None:
        """Send the answer to a request of this configuration and database; nothing for any other. Raises Exception."""
        *fields, body = request.split(server_socket.END, FIELDS)
        signed, folder, database, agent, event = (os.fsdecode(field) for field in fields)
        named = database or None
        if signed != server_socket.sign_environment() or load(named).database.absolute() != self._database:
            return
        given = []

        def give(work: Work) -> bytes:
            given.append(work())
            connection.sendall(given[0] + server_socket.END)
            return given[0]

        if self._turn.acquire(timeout=TURN_S):
            try:
                respond([agent, event], body, named, give, folder=folder, open_memory=self._open)
            finally:
                self._turn.release()
            if not given:
                connection.sendall(server_socket.END)

    @contextmanager
    def _open(self, config: Config) -> Iterator[Memory]:
        """Open the memory, or keep the one that is open if the caller has the same configuration."""
        if self._memory is None or config != self._config:
            if self._memory is not None:
                self._memory.close()
            self._config, self._memory = config, ReconnectingMemory(config)
        memory = self._memory.connect()
        with memory.explain_damage():
            yield memory
