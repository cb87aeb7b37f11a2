"""Refuse requests that a browser sends for a page of another site.

The SDK checks `Host` and `Origin`, but a browser sends no `Origin` with some requests.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

OWN_SITES = frozenset({b"same-origin", b"none"})
"""Values of `Sec-Fetch-Site` (https://www.w3.org/TR/fetch-metadata) for our own origin and for what a person typed."""


class SiteGuard:
    """Lets requests of our own site, and of programs, through to an application."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one ASGI connection."""
        sites = {value for name, value in scope.get("headers", ()) if name == b"sec-fetch-site"}
        if scope["type"] != "http" or sites <= OWN_SITES:
            await self._app(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 403, "headers": [(b"content-type", b"text/plain")]})
        await send({"type": "http.response.body", "body": b"A page of another site may not ask."})
