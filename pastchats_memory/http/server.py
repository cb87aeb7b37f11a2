"""The process: a socket, a server that is patient only so far, and logs without content."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from pastchats_memory.config import Config
from pastchats_memory.errors import UsageFault
from pastchats_memory.http.app import application
from pastchats_memory.http.chat import Upstream
from pastchats_memory.http.guard import Admission, is_loopback
from pastchats_memory.http.worker import OpenMemory

HEAD_SECONDS = 10.0
"""Within which a request's head is to come, and what is sent after an answer is to end."""
IDLE_SECONDS = 5
ENDING_SECONDS = 3
"""For answers that are under way when the server is to end."""
BACKLOG = 256


@dataclass(frozen=True, slots=True)
class Address:
    """Where it listens."""

    host: str
    port: int


def serve(config: Config, address: Address, say: Callable[[str], None]) -> None:
    """Answer until SIGINT or SIGTERM.

    Args:
        config: as it counts.
        address: where; port 0 is any that is free.
        say: told the URL, and whatever the person should know.

    Raises:
        UsageFault: nothing can be served there, or not without a token; the chat endpoint is no URL.
    """
    local = is_loopback(address.host)
    if not local and config.server_token is None:
        hint = "Set PASTCHATS_MEMORY_TOKEN (or --token), or serve on 127.0.0.1, as without --host."
        raise UsageFault(f"whoever reaches {address.host} could read everything, and there is no token", hint)
    upstream = None
    if config.chat_endpoint is not None:
        upstream = Upstream(config.chat_endpoint, config.chat_api_key, config.chat_timeout)
        say(f"Chats that are sent here go on to {upstream.host}, with what is remembered of their question.")
    app = application(OpenMemory(config, say), Admission(config.server_token, local), upstream)
    with _listening(address) as listener:
        port = listener.getsockname()[1]
        host = f"[{address.host}]" if ":" in address.host else address.host
        say(f"Serving on http://{host}:{port} (end with Ctrl-C); described at /openapi.json")
        server = uvicorn.Server(
            uvicorn.Config(
                app, http=_Patient, ws="none", lifespan="on", log_config=None, access_log=False, server_header=False,
                proxy_headers=False, timeout_keep_alive=IDLE_SECONDS, timeout_graceful_shutdown=ENDING_SECONDS,
            )
        )  # fmt: skip
        _log_places_only()
        signal.signal(signal.SIGTERM, lambda *_: None)  # uvicorn ends at it, and then raises it once more
        server.run(sockets=[listener])


def _listening(address: Address) -> socket.socket:
    """A listener whose connections send at once.

    asyncio switches Nagle's algorithm off only where the socket says that its protocol is TCP, which one from
    `create_server` does not: head and body of an answer are two sends, and the second waited 40 ms to be acknowledged.
    """
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        listener = socket.create_server((address.host, address.port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError) as fault:
        why = str(getattr(fault, "strerror", None) or fault).partition(" (while attempting to bind")[0]
        raise UsageFault(
            f"{address.host}:{address.port}: {why}", "Name another address with --host and --port."
        ) from fault
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


class _Patient(H11Protocol):
    """Closes a connection whose next request does not begin in time: uvicorn itself waits for ever."""

    _giving_up: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        super().connection_made(transport)
        self._give_time()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self._giving_up is None:
            self._give_time()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _give_time(self) -> None:
        self._giving_up = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _give_up(self) -> None:
        self._giving_up = None
        self.transport.close()

    def _stop_waiting(self) -> None:
        if self._giving_up is not None:
            self._giving_up.cancel()
            self._giving_up = None


class _PlacesOnly(logging.Formatter):
    """Tracebacks without the messages of exceptions, which may quote what was asked or found."""

    def formatException(self, ei: Any) -> str:  # noqa: N802 - logging's name
        """The frames and the exception's type."""
        kind: type[BaseException] | None = ei[0]
        trace: TracebackType | None = ei[2]
        return "".join(traceback.format_tb(trace)) + (kind.__name__ if kind else "")


def _log_places_only() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(_PlacesOnly("%(levelname)s %(name)s: %(message)s"))
    for name in ("uvicorn", "uvicorn.error"):
        logging.getLogger(name).setLevel(logging.WARNING)
    logger = logging.getLogger("uvicorn")
    logger.addHandler(handler)
    logger.propagate = False
