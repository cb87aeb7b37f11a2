"""Check who may ask and how much, before anything else of a request is read."""

from __future__ import annotations

import asyncio
import hmac
import re
from dataclasses import dataclass
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pastchats_memory.http.answers import RequestError, answer_error

MAX_BYTES = 1 << 20
"""Size of a request's body."""
BODY_SECONDS = 10.0
"""Time limit for the whole body."""
MAX_REQUESTS = 256
"""Requests that run at once."""
OWN_SITES = frozenset({"same-origin", "none"})
"""Values of `Sec-Fetch-Site` (https://www.w3.org/TR/fetch-metadata) for our own pages and for what a person typed.

A browser sends it with requests that carry no `Origin`, such as those for images. Another port is another server of this
machine, although it is the same site.
"""
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/@\[\]]+)(:[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class Admission:
    """Conditions of a request."""

    token: str | None = None
    """Token that every request must have, except `/healthz` and those of the page; None for no token."""
    only_loopback_names: bool = True
    """Whether the `Host` header must name this machine.

    A page whose name was made to point here (DNS rebinding) names itself. A server that is bound to another address has
    other names; then the token protects it, which no page has.
    """
    seconds: float = 600.0
    """Time limit for a whole answer."""


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
                late = RequestError(
                    504, "timeout", f"no answer within {self._admission.seconds:g} seconds", "Ask for less."
                )
                await answer_error(late)(scope, receive, send)
        finally:
            self._running -= 1

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            headers = Headers(scope=scope)
            self._admit(scope["path"], headers)
            received = receive
            if scope["method"] == "POST":
                received = await _receive_body(headers, receive)
        except RequestError as error:
            await answer_error(error)(scope, receive, send)
            return
        await self._app(scope, received, send)

    def _admit(self, path: str, headers: Headers) -> None:
        """Check a request's host, origin, site and token. Raises RequestError."""
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
        if not {*headers.getlist("sec-fetch-site")} <= OWN_SITES:
            raise RequestError(403, "bad_origin", "a page of another site may not ask", "Ask without a browser.")
        if self._admission.token is not None and path != "/healthz" and not is_page(path):
            shown = headers.get("authorization", "").partition(" ")
            right = hmac.compare_digest(shown[2].strip().encode("latin-1"), self._admission.token.encode())
            if not right or shown[0].lower() != "bearer":
                hint = "Send `Authorization: Bearer TOKEN`, the token that the server was started with."
                raise RequestError(401, "unauthorized", "the token is missing or wrong", hint)


def is_page(path: str) -> bool:
    """Return whether a path belongs to the page, which has sessions in place of the token."""
    return path == "/" or path.startswith("/page/")


def require_json(headers: Headers) -> None:
    """Raise RequestError unless the body is declared as JSON.

    A page may send any other type to another origin without asking first.
    """
    types = headers.getlist("content-type")
    if len(types) != 1 or types[0].partition(";")[0].strip().lower() != "application/json":
        hint = "Send `Content-Type: application/json`."
        raise RequestError(415, "usage", "the body is not declared as JSON", hint)


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
