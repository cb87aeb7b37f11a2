"""Serve the memory over HTTP: the application, and the process that runs it.

`cli.serve` alone imports this package.
"""

import asyncio
import logging
import signal
import socket
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from types import TracebackType
from typing import Any, ClassVar

import uvicorn
from httpx import AsyncClient
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.routing import Route as Path
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from pastchats_memory.config import Config, state_folder
from pastchats_memory.errors import UsageFault
from pastchats_memory.http import chat
from pastchats_memory.http.answers import RequestError, answer_error, answer_json, make_fault_handlers
from pastchats_memory.http.guard import Admission, Guard, is_loopback, require_json
from pastchats_memory.http.open_memory import OpenMemory
from pastchats_memory.http.openapi import CHAT, MODELS, describe
from pastchats_memory.http.opening import opening
from pastchats_memory.http.page import OPEN_PATHS as PAGE_PATHS
from pastchats_memory.http.page import answer_no_page, make_page
from pastchats_memory.http.page.session import Sessions
from pastchats_memory.http.routes import CHAT_CONTEXT, OPEN_PATHS, ROUTES, Route, read_arguments
from pastchats_memory.http.token import open_token
from pastchats_memory.memory import Memory
from pastchats_memory.memory.questions import FILTERS
from pastchats_memory.model.episodes import Context

Endpoint = Callable[[Request], Awaitable[Response]]

HEAD_SECONDS = 10.0
"""Time limit for the head of a request, and for a client that sends on after an answer."""
IDLE_SECONDS = 5
SHUTDOWN_SECONDS = 3
"""Time for running answers when the server stops."""
BACKLOG = 128
"""Connections that are accepted at a time."""
MAX_WAITING = 256
"""Connections that wait for the head of a request. With more of them the oldest ends, so that there are files for others."""
EVERY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104 - it is compared, not listened on # nosec B104
"""Hosts that stand for every address of the machine, and that not every browser opens."""


def make_application(
    memory: OpenMemory, read_token: Callable[[], str | None], upstream: chat.Upstream | None, sessions: Sessions,
    *, only_loopback_names: bool = True,
) -> ASGIApp:  # fmt: skip
    """Return the application behind its guard."""
    admission = Admission(read_token, sessions, PAGE_PATHS | OPEN_PATHS, only_loopback_names)
    description = describe(ROUTES)

    async def openapi(_: Request) -> Response:
        return answer_json(description)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await memory.begin()
        yield
        await memory.close()

    page = make_page(memory, sessions)
    paths = [Path(route.path.replace("}", ":path}"), _make_endpoint(memory, route)) for route in ROUTES]
    app = Starlette(
        routes=[
            *paths,
            Path("/openapi.json", openapi),
            *_make_chat_routes(memory, admission, upstream),
            Path("/", page),
            Mount("/page", page),
        ],
        lifespan=lifespan,
        exception_handlers={**make_fault_handlers(answer_error), HTTPException: _answer_no_route},
    )
    app.router.redirect_slashes = False
    return Guard(app, admission)


def _make_endpoint(memory: OpenMemory, route: Route) -> Endpoint:
    async def answer(request: Request) -> Response:
        given = read_arguments(route.parameters, request.query_params.multi_items())
        if route.in_path is not None:
            name = route.in_path.name
            given[name] = route.in_path.read(request.path_params[name])
        body = await memory.ask(lambda opened: route.answer(opened, given))
        if body is None:
            raise RequestError(404, "not_found", "there is no such item", "Take ids from the results of /search.")
        return answer_json(body)

    return answer


def _make_chat_routes(memory: OpenMemory, admission: Admission, upstream: chat.Upstream | None) -> list[Path]:
    client = None if upstream is None else upstream.make_client()

    def require_endpoint() -> tuple[AsyncClient, chat.Upstream]:
        if upstream is None or client is None:
            hint = "Set `chat_endpoint` in your own pastchats-memory.toml, or PASTCHATS_MEMORY_CHAT_ENDPOINT."
            raise RequestError(404, "no_chat_endpoint", "no chat endpoint is configured", hint)
        return client, upstream

    def read_key(request: Request) -> str | None:
        shown = request.headers.get("authorization")
        return None if admission.is_bearer(shown) else shown

    async def chat_completion(request: Request) -> Response:
        require_json(request.headers)
        client, upstream = require_endpoint()
        given = read_arguments(CHAT_CONTEXT, request.query_params.multi_items())
        body = chat.parse_request(await request.body())
        context = await memory.ask(lambda opened: _find_context(opened, chat.find_question(body), given))
        sources = chat.list_sources(context)
        return await chat.forward(client, upstream, chat.add_context(body, context), sources, read_key(request))

    async def models(request: Request) -> Response:
        client, upstream = require_endpoint()
        read_arguments((), request.query_params.multi_items())
        return await chat.list_models(client, upstream, request.path_params.get("name"), read_key(request))

    return [
        Path(CHAT, chat_completion, methods=["POST"]),
        Path(MODELS, models),
        Path(f"{MODELS}/{{name:path}}", models),
    ]


def _find_context(memory: Memory, question: str, given: dict[str, Any]) -> Context:
    """Assemble the context of a question.

    A blank question gets none, but wrong filters are still an error.
    """
    if not question.strip():
        memory.check_filters(**{name: given[name] for name in FILTERS if name in given})
        return Context((), "", 0)
    return memory.context(question, **given)


async def _answer_no_route(request: Request, fault: Exception) -> Response:
    if "text/html" in request.headers.get("accept", ""):  # a person typed the address
        return await answer_no_page(request, fault)
    assert isinstance(fault, HTTPException)  # noqa: S101 - it is registered for these
    kind, message = "usage", "this path does not allow this method"
    if fault.status_code == 404:  # noqa: PLR2004 - HTTP's number
        kind, message = "not_found", "there is no such path"
    error = RequestError(fault.status_code, kind, message, "See /openapi.json for the paths.")
    return answer_error(error, fault.headers)


def serve(
    config: Config, host: str, port: int, report: Callable[[str], None], *, with_new_token: bool = False,
    opens_page: bool = False,
) -> None:  # fmt: skip
    """Serve until SIGINT or SIGTERM, and with `opens_page` open the page in a browser.

    Port 0 means any free port. `report` gets the URL and what else the user should know.

    Raises UsageFault if the address cannot be used, or not without a token, or if the chat endpoint is not a URL.
    """
    local = is_loopback(host)
    if not local and config.server_token is None:
        hint = "Set PASTCHATS_MEMORY_TOKEN (or --token), or serve on 127.0.0.1, as without --host."
        raise UsageFault(f"whoever reaches {host} could read everything, and there is no token", hint)
    upstream = None
    if config.chat_endpoint is not None:
        upstream = chat.Upstream(config.chat_endpoint, config.chat_api_key, config.chat_timeout)
        report(f"Chats that are sent here go on to {upstream.host}, with what is remembered of their question.")
    with listen(host, port) as listener:
        port = listener.getsockname()[1]
        url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        sessions = Sessions(f"http://127.0.0.1:{port}" if host in EVERY_ADDRESS else url, port, report)
        token = open_token(config, is_new=with_new_token)
        app = make_application(OpenMemory(config, report), token.read, upstream, sessions, only_loopback_names=local)
        report(
            f"Serving on {url} (end with Ctrl-C); described at /openapi.json, for programs with the token in {token.place}"
        )
        sessions.report_link("Open the page with this link, which works once")
        server = uvicorn.Server(
            uvicorn.Config(
                app, http=_ImpatientProtocol, ws="none", lifespan="on", log_config=None, access_log=False, backlog=BACKLOG,
                server_header=False, proxy_headers=False, timeout_keep_alive=IDLE_SECONDS,
                timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            )
        )  # fmt: skip
        _log_without_content()
        signal.signal(signal.SIGTERM, lambda *_: None)  # uvicorn stops at SIGTERM, and then raises it once more
        with opening(state_folder(), sessions.link) if opens_page else nullcontext():
            server.run(sockets=[listener])


def listen(host: str, port: int) -> socket.socket:
    """Open a listener whose connections send without delay. Raises UsageFault.

    asyncio switches Nagle's algorithm off only if the socket says that its protocol is TCP. A socket from
    `create_server` does not: the second of the two sends of an answer then waited 40 ms for an acknowledgement.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError) as fault:
        why = str(getattr(fault, "strerror", None) or fault).partition(" (while attempting to bind")[0]
        raise UsageFault(f"{host}:{port}: {why}", "Name another address with --host and --port.") from fault
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


class _ImpatientProtocol(H11Protocol):
    """Closes a connection whose next request does not begin in time; uvicorn itself would wait for ever."""

    _waiting: ClassVar[dict["_ImpatientProtocol", None]] = {}
    """Those of this process whose timer runs, the oldest first."""
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # uvicorn's signature
        super().connection_made(transport)
        self._start_timer()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_timer()
        elif self._timer is None:
            self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _start_timer(self) -> None:
        self._timer = self.loop.call_later(HEAD_SECONDS, self._close)
        self._waiting[self] = None
        if len(self._waiting) > MAX_WAITING:
            next(iter(self._waiting))._close()  # noqa: SLF001 - of this class

    def _close(self) -> None:
        self._stop_timer()
        self.transport.close()

    def _stop_timer(self) -> None:
        self._waiting.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class _ContentFreeFormatter(logging.Formatter):
    """Formats tracebacks without the messages of exceptions, which may quote queries or results."""

    def formatException(self, ei: Any) -> str:  # noqa: N802 - logging's name
        """Return the frames and the exception's type."""
        kind: type[BaseException] | None = ei[0]
        trace: TracebackType | None = ei[2]
        return "".join(traceback.format_tb(trace)) + (kind.__name__ if kind else "")


def _log_without_content() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(_ContentFreeFormatter("%(levelname)s %(name)s: %(message)s"))
    for name in ("uvicorn", "uvicorn.error"):
        logging.getLogger(name).setLevel(logging.WARNING)
    logger = logging.getLogger("uvicorn")
    logger.addHandler(handler)
    logger.propagate = False
