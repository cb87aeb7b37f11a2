"""Check who may ask and how much, before anything else of a request is read."""

import asyncio
import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pastchats_memory.http.answers import RequestError, answer_error
from pastchats_memory.http.page.answers import respond_stranger
from pastchats_memory.http.page.session import OWN_SITES, Sessions

MAX_BYTES = 1 << 20
"""Size of a request's body."""
BODY_SECONDS = 10.0
"""Time limit for the whole body."""
MAX_REQUESTS = 256
"""Requests that run at once."""
TOKEN_HEADER = "x-memory-token"  # noqa: S105 - the name of a header # nosec B105
"""Header of the token; a chat client keeps `Authorization` for the key of its endpoint."""
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/@\[\]]+)(:[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class Admission:
    """Conditions of a request."""

    read_token: Callable[[], str | None]
    """Returns the token of programs as it is now; None lets no program in."""
    sessions: Sessions | None = None
    """Sessions of the page; None for a server without one."""
    open_paths: frozenset[str] = frozenset()
    """Paths that need neither token nor session."""
    only_loopback_names: bool = True
    """Whether the `Host` header must name this machine.

    A page whose name was made to point here (DNS rebinding) names itself. A server that is bound to another address has
    other names; then the token protects it, which no page has.
    """
    seconds: int | None = 600
    """Time limit for a whole answer; None for a stream without end."""

    def knows(self, scope: Scope, headers: Headers) -> bool:
        """Return whether a request shows the session of the page or, if it does not ask for a page, the token."""
        if self.sessions is not None and self.sessions.find(Request(scope)) is not None:
            return True
        shown = headers.get(TOKEN_HEADER)
        return not is_page(scope["path"]) and (
            self.is_bearer(headers.get("authorization")) if shown is None else self._is_token(shown)
        )

    def is_bearer(self, authorization: str | None) -> bool:
        """Return whether the value of an `Authorization` header is the token."""
        scheme, _, shown = (authorization or "").partition(" ")
        return scheme.lower() == "bearer" and self._is_token(shown)

    def _is_token(self, shown: str) -> bool:
        token = self.read_token()
        return token is not None and hmac.compare_digest(shown.strip().encode("latin-1"), token.encode())


def is_loopback(name: str) -> bool:
    """Return whether a host name or address of a URL means this machine alone."""
    name = name.removeprefix("[").removesuffix("]")
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name.lower() == "localhost"


class Guard:
    """Lets admitted requests through to an application."""

    def __init__(self, app: ASGIApp, admission: Admission) -> None:
        self._app = app
        self._admission = admission
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one ASGI connection."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        self._running += 1
        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            async with asyncio.timeout(self._admission.seconds):
                await self._pass_on(scope, receive, sending)
        except TimeoutError:
            if not started:
                problem = f"no answer within {self._admission.seconds} seconds"
                await answer_error(RequestError(504, "timeout", problem, "Ask for less."))(scope, receive, send)
        finally:
            self._running -= 1

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            headers = Headers(scope=scope)
            self._admit(scope, headers)
            received = receive
            if scope["method"] == "POST" and scope["path"] not in self._admission.open_paths:
                received = await _receive_body(headers, receive)
        except RequestError as error:
            is_stranger = error.kind == "unauthorized" and is_page(scope["path"])
            await (respond_stranger() if is_stranger else answer_error(error))(scope, receive, send)
            return
        await self._app(scope, received, send)

    def _admit(self, scope: Scope, headers: Headers) -> None:
        """Check a request's host, origin, site, and token or session. Raises RequestError."""
        if self._running > MAX_REQUESTS:
            raise RequestError(503, "busy", f"{MAX_REQUESTS} requests are under way", "Try again in a moment.")
        hosts = headers.getlist("host")
        named = _HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
        if named is None:
            raise RequestError(400, "bad_host", "the Host header is missing, there twice, or no host")
        if self._admission.only_loopback_names and not is_loopback(named[1]):
            hint = "Use localhost or 127.0.0.1; under other names this memory is not served."
            raise RequestError(421, "bad_host", "the Host header names another machine", hint)
        for origin in headers.getlist("origin"):
            if origin.lower() not in (f"http://{hosts[0].lower()}", f"https://{hosts[0].lower()}"):
                raise RequestError(403, "bad_origin", "a page of another origin may not ask", "Ask without a browser.")
        if not {*headers.getlist("sec-fetch-site")} <= OWN_SITES and not _follows_link(scope, headers):
            raise RequestError(403, "bad_origin", "a page of another site may not ask", "Ask without a browser.")
        if scope["path"] not in self._admission.open_paths and not self._admission.knows(scope, headers):
            hint = "Send `X-Memory-Token: TOKEN`; the server has printed where the token lies."
            raise RequestError(401, "unauthorized", "the token is missing or wrong", hint)


def _follows_link(scope: Scope, headers: Headers) -> bool:
    """Return whether a window follows a link with a token, such as that of the file that opens the page."""
    is_window = headers.getlist("sec-fetch-mode") == ["navigate"] and headers.getlist("sec-fetch-dest") == ["document"]
    return is_window and scope["method"] == "GET" and scope["path"] == "/" and b"token=" in scope["query_string"]


def is_page(path: str) -> bool:
    """Return whether a path belongs to the page, whose forms need a session: the token does not open it."""
    return path == "/" or path.startswith("/page/")


def require_json(headers: Headers) -> None:
    """Raise RequestError unless the body is declared as JSON.

    A page may send any other type to another origin without asking first.
    """
    types = headers.getlist("content-type")
    if len(types) != 1 or types[0].partition(";")[0].strip().lower() != "application/json":
        raise RequestError(415, "usage", "the body is not declared as JSON", "Send `Content-Type: application/json`.")


async def _receive_body(headers: Headers, receive: Receive) -> Receive:
    """Read the whole body, and return a channel that gives it, then what else arrives. Raises RequestError."""
    too_large = RequestError(413, "too_large", f"the body is larger than {MAX_BYTES:,} bytes", "Send less.")
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length[:18]) > MAX_BYTES:
        raise too_large
    body = bytearray()
    more = True
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while more:
                message = await receive()
                body += message.get("body", b"")
                more = message.get("more_body", False)
                if len(body) > MAX_BYTES:
                    raise too_large
    except TimeoutError as fault:
        why = f"the body did not come within {BODY_SECONDS:g} seconds"
        raise RequestError(408, "timeout", why, "Send it at once.") from fault
    waiting: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again
