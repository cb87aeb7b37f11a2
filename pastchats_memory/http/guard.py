"""Who may ask, and how much: before anything of a request is looked at."""

from __future__ import annotations

import asyncio
import hmac
import re
from dataclasses import dataclass
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pastchats_memory.http.answers import Refused, error_answer

MOST_BYTES = 1 << 20
"""Of a request's body."""
BODY_SECONDS = 10.0
"""Within which all of it is to come."""
MOST_REQUESTS = 256
"""Under way at once."""
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/@\[\]]+)(:[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class Admission:
    """Who is let in."""

    token: str | None = None
    """What everybody has to show who asks for more than `/healthz`; None: nothing."""
    only_loopback_names: bool = True
    """The `Host` header must name this machine. A page whose name was made to point here (DNS rebinding) names itself;
    where the server is bound elsewhere it has other names, and the token, which no page has, stands in."""
    seconds: float = 600.0
    """That an answer may take in all."""


def is_loopback(name: str) -> bool:
    """Whether a host name or address, as a URL has it, means this machine alone."""
    name = name.removeprefix("[").removesuffix("]")
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name.lower() == "localhost"


class Guard:
    """Lets requests through to an application."""

    def __init__(self, app: ASGIApp, admission: Admission) -> None:
        self._app = app
        self._admission = admission
        self._under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As ASGI has it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self._under_way += 1
        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            async with asyncio.timeout(self._admission.seconds):
                await self._let_in(scope, receive, sending)
        except TimeoutError:
            if not started:
                late = Refused(504, "timeout", f"no answer within {self._admission.seconds:g} seconds", "Ask for less.")
                await error_answer(late)(scope, receive, send)
        finally:
            self._under_way -= 1

    async def _let_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._admit(scope["path"], Headers(scope=scope))
            received = await _whole_body(Headers(scope=scope), receive) if scope["method"] == "POST" else receive
        except Refused as refused:
            await error_answer(refused)(scope, receive, send)
            return
        await self._app(scope, received, send)

    def _admit(self, path: str, headers: Headers) -> None:
        """Raises Refused."""
        if self._under_way > MOST_REQUESTS:
            raise Refused(503, "busy", f"{MOST_REQUESTS} requests are under way", "Try again in a moment.")
        hosts = headers.getlist("host")
        named = _HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
        if named is None:
            raise Refused(400, "bad_host", "the Host header is missing, there twice, or no host")
        if self._admission.only_loopback_names and not is_loopback(named[1]):
            hint = "Use localhost or 127.0.0.1; under other names this memory is not served."
            raise Refused(421, "bad_host", "the Host header names another machine", hint)
        for origin in headers.getlist("origin"):
            if origin.lower() not in (f"http://{hosts[0].lower()}", f"https://{hosts[0].lower()}"):
                raise Refused(403, "bad_origin", "a page of another origin may not ask", "Ask without a browser.")
        if self._admission.token is not None and path != "/healthz":
            shown = headers.get("authorization", "").partition(" ")
            right = hmac.compare_digest(shown[2].strip().encode("latin-1"), self._admission.token.encode())
            if not right or shown[0].lower() != "bearer":
                hint = "Send `Authorization: Bearer TOKEN`, the token that the server was started with."
                raise Refused(401, "unauthorized", "the token is missing or wrong", hint)


async def _whole_body(headers: Headers, receive: Receive) -> Receive:
    """The body read to its end, as something that gives it and then what else comes. Raises Refused."""
    too_large = Refused(413, "too_large", f"the body is larger than {MOST_BYTES:,} bytes", "Send less.")
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length[:18]) > MOST_BYTES:
        raise too_large
    body = bytearray()
    more = True
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while more:
                message = await receive()
                body += message.get("body", b"")
                more = message.get("more_body", False)
                if len(body) > MOST_BYTES:
                    raise too_large
    except TimeoutError as fault:
        why = f"the body did not come within {BODY_SECONDS:g} seconds"
        raise Refused(408, "timeout", why, "Send it at once.") from fault
    waiting: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again
