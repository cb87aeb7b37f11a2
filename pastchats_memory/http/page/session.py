"""Let in the person who started the server: a link that works once becomes a session of a browser."""

import hmac
from collections.abc import Callable
from hashlib import sha256
from secrets import token_bytes, token_urlsafe

from starlette.requests import Request
from starlette.responses import Response

OWN_SITES = frozenset({"same-origin", "none"})
"""Values of `Sec-Fetch-Site` (https://www.w3.org/TR/fetch-metadata) for our own pages and for what a person typed.

A browser sends it with requests that carry no `Origin`, such as those for images. Another port is another server of this
machine, although it is the same site.
"""
LINK_PARAMETER = "token"
"""Parameter of `/` with the token of a link."""


class Sessions:
    """The sessions of a running server. They end with it.

    Another account of the machine reaches the server, but neither the link nor the cookie.
    """

    def __init__(self, url: str, port: int, report: Callable[[str], None]) -> None:
        """Make the first link.

        Args:
            url: of the server, without a slash at the end.
            port: of the server. A browser sends a cookie to every port of a host, so the name of ours contains it.
            report: gets each new link.
        """
        self._url = url
        self._cookie = f"pastchats_memory_{port}"
        self._report = report
        self._key = token_bytes()
        self._known: set[str] = set()
        self._token = token_urlsafe()

    @property
    def link(self) -> str:
        """Return the link that works next."""
        return f"{self._url}/?{LINK_PARAMETER}={self._token}"

    def report_link(self, words: str) -> None:
        """Report the link that works next."""
        self._report(f"{words}: {self.link}")

    def redeem(self, token: str, response: Response) -> bool:
        """Start a session if the token is that of the present link, and report the next link."""
        if not hmac.compare_digest(token.encode(), self._token.encode()):
            return False
        self._token = token_urlsafe()
        session = token_urlsafe()
        self._known.add(session)
        response.set_cookie(self._cookie, session, httponly=True, samesite="strict")
        self.report_link("The link was used. For another browser")
        return True

    def find(self, request: Request) -> str | None:
        """Return the session of a request, None without one."""
        session = request.cookies.get(self._cookie)
        return session if session in self._known else None

    def make_form_token(self, session: str) -> str:
        """Return what every form of the session contains. A page of another site cannot read it."""
        return hmac.new(self._key, session.encode(), sha256).hexdigest()

    def is_form_token(self, session: str, shown: str) -> bool:
        """Return whether a form of the session shows its token."""
        return hmac.compare_digest(shown.encode(), self.make_form_token(session).encode())
